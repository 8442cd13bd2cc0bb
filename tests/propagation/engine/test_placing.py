"""Which engine computes a product."""

import pytest

from labeltrick import (
    Resolvent,
    open_graph,
    save_graph,
)
from labeltrick.graph.compute import Compute
from labeltrick.propagation.engine.placing import choose_engine, estimated_bytes
from tests.support.disk_products import hub_graph


def test_auto_goes_by_what_is_needed_and_says_so(tmp_path, caplog):
    graph = hub_graph()
    stored = open_graph(save_graph(graph, tmp_path / "g.lt"))
    needed = estimated_bytes(stored)
    assert Resolvent(graph, 0.5).engine == "memory"
    assert Resolvent(stored, 0.5).engine == "memory"
    assert Resolvent(stored.on(max_memory=needed), 0.5).engine == "memory"
    with caplog.at_level("INFO", "labeltrick"):
        P = Resolvent(stored.on(max_memory=needed // 2), 0.5)
    assert P.engine == "disk"
    assert "engine 'disk': about" in caplog.text
    assert "may be used" in caplog.text
    engine, why = choose_engine(graph, Compute(address="tcp://somewhere:1"))
    assert engine == "dask"
    assert "tcp://somewhere:1" in why


def test_wrong_settings_are_reported():
    graph = hub_graph()
    for wrong, message in (
        ({"engine": "gpu"}, "engine.*must be one of"),
        ({"max_memory": "a lot"}, "such as '8GB'"),
        ({"max_memory": 0}, "at least 1"),
        ({"address": "host"}, "tcp://host:8786"),
        ({"engine": "disk", "address": "tcp://host:8786"}, "must be 'dask'"),
    ):
        with pytest.raises(ValueError, match=message):
            graph.on(**wrong)
    with pytest.raises(TypeError, match="must be a path"):
        graph.on(checkpoint_dir=3)
