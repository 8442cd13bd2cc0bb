"""New nodes of a large run, predicted without its tables: as with them."""

import numpy as np
import polars as pl
import pytest

from labeltrick.app.runs import only_new
from labeltrick.app.runs.applying import Given, apply_run
from tests.support.people import invoke


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run whose rows hold numbers and categories, and its tables."""
    folder, rng, n = tmp_path_factory.mktemp("large"), np.random.default_rng(0), 150
    color = rng.integers(0, 2, n)
    nodes = pl.DataFrame({
        "id": [f"n{k}" for k in range(n)],
        "height": (color + rng.normal(size=n)).round(3),
        "kind": np.where(rng.random(n) < 0.5, "oak", "elm").tolist(),
        "label": [["red", "blue"][c] if rng.random() < 0.5 else None for c in color],
    })  # fmt: skip
    source, target = rng.integers(0, n, (2, 900))
    near = (color[source] == color[target]) & (source != target)
    edges = pl.DataFrame({
        "from": [f"n{k}" for k in source[near]], "to": [f"n{k}" for k in target[near]]
    })  # fmt: skip
    nodes.write_csv(folder / "nodes.csv")
    edges.write_csv(folder / "edges.csv")
    invoke("fit", "--edges", folder / "edges.csv", "--nodes", folder / "nodes.csv", "--target",
           "label", "--learners", "trees", "--learners", "linear", "--out", folder / "run",
           "-q")  # fmt: skip
    return folder


def given(run, tmp_path, nodes=None, edges=None):
    rows = {"id": ["new", "newer"], "height": [0.2, None], "kind": ["oak", "elm"]}
    pl.DataFrame(rows | (nodes or {})).write_csv(tmp_path / "n.csv")
    ends = {"from": ["new", "n3", "newer"], "to": ["n1", "new", "n7"]}
    pl.DataFrame(edges or ends).write_csv(tmp_path / "e.csv")
    return Given(edges=(str(tmp_path / "e.csv"),), nodes=(str(tmp_path / "n.csv"),))


def test_equals_predicting_with_the_tables(run, tmp_path, monkeypatch):
    rows = given(run, tmp_path, {"more": [1, 2]})
    expected, _ = apply_run(run / "run", rows)
    monkeypatch.setattr(only_new, "_LARGE", 0)
    found, notes = apply_run(run / "run", rows)
    assert only_new.NOTE in notes
    assert "'more'" in notes[0]
    assert found.columns == expected.columns
    for name in found.columns:
        if found[name].dtype == pl.Float64:
            assert np.allclose(found[name], expected[name], atol=1e-6), name
        else:
            assert found[name].to_list() == expected[name].to_list(), name


@pytest.mark.parametrize(
    ("nodes", "edges"),
    [
        ({"id": ["new", "n5"]}, {"from": ["new"], "to": ["n1"]}),  # a known node
        ({"label": ["red", None]}, None),  # a label
        ({"kind": ["oak", "ash"]}, None),  # a category that the fit has not seen
        (None, {"from": ["new", "n1"], "to": ["n1", "n2"]}),  # an edge between known nodes
        (None, {"from": ["new", "n1"], "to": ["n1", "new"]}),  # an edge that is listed twice
        (None, {"from": ["new", "newer"], "to": ["n1", "newer"]}),  # from a node to itself
    ],
)
def test_the_tables_are_read_where_they_may_matter(run, tmp_path, monkeypatch, nodes, edges):
    rows = given(run, tmp_path, nodes, edges)
    expected, notes = apply_run(run / "run", rows)
    monkeypatch.setattr(only_new, "_LARGE", 0)
    found, now = apply_run(run / "run", rows)
    assert now == notes
    assert found.equals(expected)


def test_all_nodes_on_request_and_errors_as_ever(run, tmp_path, monkeypatch):
    monkeypatch.setattr(only_new, "_LARGE", 0)
    frame, _ = apply_run(run / "run", given(run, tmp_path), everything=True)
    assert frame.height == 152
    ends = {"from": ["new", "newer"], "to": ["n1", "nobody"]}
    with pytest.raises(ValueError, match="nobody"):
        apply_run(run / "run", given(run, tmp_path, edges=ends))
    rows = given(run, tmp_path)
    pl.read_csv(tmp_path / "n.csv").drop("height").write_csv(tmp_path / "n.csv")
    with pytest.raises(ValueError, match="'height' is missing"):
        apply_run(run / "run", rows)
