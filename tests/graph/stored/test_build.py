"""Graph folders: what is written is read again; the builder makes the graph of `from_edges`; bad
input is reported in one line and leaves nothing behind."""

import os
import shutil
import tempfile

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import labeltrick.graph.stored.build as building
import labeltrick.graph.stored.sorting as sorting
from labeltrick import Graph, build_graph, open_graph, save_graph
from labeltrick.io.tables import build_graph_folder
from tests.support.chunks import in_chunks


def edges(n=50, m=300, seed=0, weighted=False):
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, m) / 2 if weighted else None
    return rng.integers(0, n, m), rng.integers(0, n, m), weights


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 40), st.integers(1, 120), st.booleans(), st.booleans(), st.integers(0, 10_000)
)
def test_the_builder_makes_the_graph_of_from_edges(n, m, directed, weighted, seed):
    source, target, weights = edges(n, m, seed, weighted)
    expected = Graph.from_edges(source, target, weight=weights, directed=directed, n_nodes=n)
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as place:
        patch.setattr(sorting, "_RANGE_BITS", 2)  # many buckets
        folder = build_graph(
            in_chunks(source, target, weights, 17),
            f"{place}/graph.lt",
            n_nodes=n,
            directed=directed,
            max_memory=600,
        )
        assert open_graph(folder) == expected
        assert open_graph(folder).T == expected.T


def test_nothing_half_written_stays_behind(tmp_path, monkeypatch):
    graph = Graph.from_edges([0, 1], [1, 2])
    folder = save_graph(graph, tmp_path / "g.lt")
    with pytest.raises(FileExistsError, match="must be new"):
        save_graph(graph, folder)
    save_graph(Graph.from_edges([0], [1]), folder, overwrite=True)
    assert open_graph(folder).n_nodes == 2
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("keep")
    with pytest.raises(FileExistsError, match="something else"):
        save_graph(graph, tmp_path / "other", overwrite=True)
    before = sorted(os.listdir(tmp_path))

    def broken():
        yield [0, 1], [1, 2], None
        raise RuntimeError("the stream broke")

    with pytest.raises(RuntimeError, match="the stream broke"):
        build_graph(broken, tmp_path / "new.lt")
    with pytest.raises(ValueError, match="node ids ≥ 0"):
        build_graph(lambda: [([0], [-1], None)], tmp_path / "new.lt")
    with pytest.raises(ValueError, match="below n_nodes=2"):
        build_graph(lambda: [([0], [5], None)], tmp_path / "new.lt", n_nodes=2)
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(building.shutil, "disk_usage", lambda place: usage._replace(free=10))
    with pytest.raises(OSError, match=r"takes about .* where 10 B are free"):
        build_graph(lambda: [([0], [1], None)], tmp_path / "new.lt")
    assert sorted(os.listdir(tmp_path)) == before
    assert (tmp_path / "other" / "mine.txt").read_text() == "keep"


@pytest.fixture(scope="module", autouse=True)
def _compiled(tmp_path_factory):
    """Compiling takes memory of its own."""
    place = tmp_path_factory.mktemp("compiled")
    for weights in (None, np.ones(1)):
        edges = np.zeros(1, np.int64), np.ones(1, np.int64), weights
        build_graph(lambda edges=edges: [edges], place / f"{weights is None}.lt")
    pl.DataFrame({"src": [5, 7], "dst": [9, 5]}).write_parquet(place / "e.parquet")
    build_graph_folder(place / "e.parquet", place / "e.lt")


# -- streams -----------------------------------------------------------------------------------
def test_a_stream_that_can_be_read_only_once_is_reported(tmp_path):
    source, target = np.random.default_rng(0).integers(0, 50, (2, 300))
    once = in_chunks(source, target, size=100)()
    with pytest.raises(ValueError, match="gave 0 entries instead of"):
        build_graph(lambda: once, tmp_path / "g.lt")
    with pytest.raises(TypeError, match="must be a function that starts the stream"):
        build_graph(once, tmp_path / "g.lt")
    streams = iter([[([0], [1], None)], [([0], [900], None)]])
    with pytest.raises(ValueError, match="the second time it gave new edges"):
        build_graph(lambda: next(streams), tmp_path / "g.lt")
    streams = iter([[([0], [1], None)], [([0], [1], [2.0])]])
    with pytest.raises(ValueError, match="the second time it gave new edges"):
        build_graph(lambda: next(streams), tmp_path / "g.lt")
    assert list(tmp_path.iterdir()) == []


def test_chunks_with_and_without_weights_are_reported(tmp_path):
    mixed = [([0, 1], [1, 2], None), ([2], [0], [2.0])]
    with pytest.raises(ValueError, match="in all chunks or in none; chunk 2 has some"):
        build_graph(lambda: mixed, tmp_path / "g.lt")
    with pytest.raises(ValueError, match="in all chunks or in none; chunk 2 has none"):
        build_graph(lambda: mixed[::-1], tmp_path / "g.lt")
    nothing = [([], [], None), ([0], [1], [2.0])]
    folder = build_graph(lambda: nothing, tmp_path / "g.lt")
    assert open_graph(folder).weights.tolist() == [2.0, 2.0]
