"""Graph folders: what is written is read again; the builder makes the graph of `from_edges`; bad
input is reported in one line and leaves nothing behind."""

import json
import os
import pickle
import shutil
import subprocess
import tempfile

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import labeltrick.graph.stored.build as building
import labeltrick.graph.stored.sorting as sorting
from labeltrick import Graph, build_graph, open_graph, save_graph
from labeltrick.io.tables import Roles, build_graph_folder
from labeltrick.propagation.engine.placing import estimated_bytes
from tests.support.people import invoke, run_command


def edges(n=50, m=300, seed=0, weighted=False):
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, m) / 2 if weighted else None
    return rng.integers(0, n, m), rng.integers(0, n, m), weights


def in_chunks(source, target, weights, size):
    def chunks():
        for first in range(0, len(source), size):
            part = slice(first, first + size)
            yield source[part], target[part], None if weights is None else weights[part]

    return chunks


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_saved_graph_is_the_same_when_opened(tmp_path, directed, weighted):
    source, target, weights = edges(weighted=weighted)
    graph = Graph.from_edges(source, target, weight=weights, directed=directed, n_nodes=55)
    stored = open_graph(save_graph(graph, tmp_path / "graph.lt"))
    assert stored == graph
    assert stored.T == graph.T
    assert stored.T.T is stored
    assert stored.fingerprint == graph.fingerprint
    for name in ("n_nodes", "nnz", "n_edges", "n_self_loops", "directed", "weighted"):
        assert getattr(stored, name) == getattr(graph, name), name
    np.testing.assert_array_equal(stored.out_strengths, graph.out_strengths)
    np.testing.assert_array_equal(stored.in_strengths, graph.in_strengths)
    again = pickle.loads(pickle.dumps(stored))
    assert again == graph
    assert len(pickle.dumps(stored)) < 2000  # by its folder, not by its arrays
    # as anybody's numpy reads it
    np.testing.assert_array_equal(np.load(tmp_path / "graph.lt" / "indices.npy"), graph.indices)


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


def test_cuts_hold_to_their_size(tmp_path):
    source, target, _ = edges(2000, 9000)
    graph = Graph.from_edges(source, target)
    stored = open_graph(save_graph(graph, tmp_path / "g.lt"))
    for most in (100, 1000, 10_000, 10**9):
        cuts = stored.cuts(most)
        assert cuts[0] == 0
        assert cuts[-1] == stored.n_nodes
        assert (np.diff(cuts) > 0).all()
        sizes = 4 * np.diff(graph.indptr[cuts]) + 8 * np.diff(cuts)
        assert ((sizes <= most) | (np.diff(cuts) == 1)).all()


def test_tables_of_edges_build_the_same_folder(tmp_path):
    rng = np.random.default_rng(0)
    source, target = rng.integers(0, 99, 400) * 7 + 3, rng.integers(0, 99, 400) * 7 + 3
    frame = pl.DataFrame({"to": target, "from": source})
    frame.write_parquet(tmp_path / "e.parquet")
    frame.write_csv(tmp_path / "e.csv")
    frame.write_ndjson(tmp_path / "e.jsonl")
    (tmp_path / "parts").mkdir()
    frame[:150].write_parquet(tmp_path / "parts" / "0.parquet")
    frame[150:].write_parquet(tmp_path / "parts" / "1.parquet")
    subprocess.run(["gzip", "-k", str(tmp_path / "e.csv")], check=True)
    ids = np.unique([source, target])
    expected = Graph.from_edges(np.searchsorted(ids, source), np.searchsorted(ids, target))
    for name in ("e.parquet", "e.csv", "e.csv.gz", "e.jsonl", "parts"):
        graph, _ = build_graph_folder(tmp_path / name, tmp_path / f"{name}.lt")
        assert graph == expected, name
        assert graph.ids().to_list() == ids.tolist()
    strings = frame.select(pl.all().cast(pl.String) + "x")
    strings.write_csv(tmp_path / "s.csv")
    graph, _ = build_graph_folder(tmp_path / "s.csv", tmp_path / "s.lt")
    assert graph.n_edges == expected.n_edges
    number = {name: place for place, name in enumerate(graph.ids().to_list())}
    assert number[f"{target[0]}x"] in graph.neighbors(number[f"{source[0]}x"])
    numbered, notes = build_graph_folder(
        tmp_path / "e.parquet", tmp_path / "n.lt", n_nodes=1000, roles=Roles(weight=None)
    )
    assert numbered.n_nodes == 1000
    assert numbered.ids() is None
    assert notes == []


def test_ids_that_are_far_apart_are_listed(tmp_path):
    frame = pl.DataFrame({"src": [5, 10**15, 7], "dst": [7, 5, 10**15]})
    frame.write_parquet(tmp_path / "e.parquet")
    graph, _ = build_graph_folder(tmp_path / "e.parquet", tmp_path / "g.lt")
    assert graph.ids().to_list() == [5, 7, 10**15]
    assert graph.n_edges == 3


def test_a_weight_column_is_used_and_told(tmp_path):
    pl.DataFrame({"src": [0, 1], "dst": [1, 2], "weight": [2.0, 3.0]}).write_csv(tmp_path / "e.csv")
    graph, notes = build_graph_folder(tmp_path / "e.csv", tmp_path / "g.lt")
    np.testing.assert_array_equal(graph.out_strengths, [2, 5, 3])
    assert "weighted" in notes[0]


def test_wrong_folders_are_told(tmp_path):
    graph = Graph.from_edges(*edges()[:2])
    folder = save_graph(graph, tmp_path / "g.lt")
    with pytest.raises(FileNotFoundError, match="must be a graph folder; it does not exist"):
        open_graph(tmp_path / "none.lt")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="has no meta.json"):
        open_graph(tmp_path / "empty")
    os.truncate(folder / "indices.npy", 300)
    with pytest.raises(ValueError, match=r"indices.npy` must have .* it has 300: .* incomplete"):
        open_graph(folder)
    (folder / "indices.npy").unlink()
    with pytest.raises(ValueError, match="it has 0"):
        open_graph(folder)
    meta = json.loads((folder / "meta.json").read_text())
    (folder / "meta.json").write_text(json.dumps({**meta, "version": 99}))
    with pytest.raises(ValueError, match="version 99"):
        open_graph(folder)
    (folder / "meta.json").write_text("{")
    with pytest.raises(ValueError, match="cannot be read"):
        open_graph(folder)


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


def test_wrong_tables_of_edges_are_told(tmp_path):
    pl.DataFrame({"src": ["a", None], "dst": ["b", "c"]}).write_csv(tmp_path / "gap.csv")
    with pytest.raises(ValueError, match="row 3, column 'src' must be a node; it is missing"):
        build_graph_folder(tmp_path / "gap.csv", tmp_path / "g.lt")
    pl.DataFrame({"src": [1, 2], "dst": [2, 3], "weight": [1.0, -1.0]}).write_csv(
        tmp_path / "w.csv"
    )
    with pytest.raises(ValueError, match="row 3, column 'weight' must be a weight"):
        build_graph_folder(tmp_path / "w.csv", tmp_path / "g.lt")
    (tmp_path / "e.xlsx").write_text("no")
    with pytest.raises(ValueError, match="its ending is '.xlsx'"):
        build_graph_folder(tmp_path / "e.xlsx", tmp_path / "g.lt")
    (tmp_path / "bad.parquet").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match="bad.parquet` must be a table that can be read"):
        build_graph_folder(tmp_path / "bad.parquet", tmp_path / "g.lt")
    (tmp_path / "head.csv").write_text("src,dst\n")
    with pytest.raises(ValueError, match="must have rows"):
        build_graph_folder(tmp_path / "head.csv", tmp_path / "g.lt")
    with pytest.raises(ValueError, match="a number of bytes or text such as '8GB'"):
        build_graph_folder(tmp_path / "w.csv", tmp_path / "g.lt", max_memory="plenty")
    assert not (tmp_path / "g.lt").exists()
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


def test_types_are_not_stored_silently(tmp_path):
    typed = Graph.from_edges([0, 1], [1, 2], node_type=["a", "b", "a"])
    with pytest.raises(ValueError, match="no types of nodes or edges"):
        save_graph(typed, tmp_path / "never.lt")


def test_the_command_builds_and_tells(tmp_path):
    pl.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3]}).write_parquet(tmp_path / "e.parquet")
    done = run_command("graph", "build", tmp_path / "e.parquet", tmp_path / "g.lt", "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert (facts["nodes"], facts["edges"]) == (4, 3)
    assert facts["bytes_in_memory"] == estimated_bytes(open_graph(tmp_path / "g.lt"))
    told = run_command("graph", "info", tmp_path / "g.lt")
    assert "to propagate in memory" in told.stdout
    wrong = run_command("graph", "build", tmp_path / "e.parquet", tmp_path / "g.lt")
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("labeltrick: ")
    assert len(wrong.stderr.splitlines()) == 1


def test_a_graph_folder_serves_as_edges_of_a_problem(tmp_path):
    rng = np.random.default_rng(0)
    n = 60
    group = np.arange(n) % 3
    source, target = rng.integers(0, n, (2, 900))
    kept = group[source] == group[target]
    names = np.array([f"n{k}" for k in range(n)])
    pl.DataFrame({"src": names[source[kept]], "dst": names[target[kept]]}).write_csv(
        tmp_path / "e.csv"
    )
    label = [None if k % 4 == 0 else f"g{group[k]}" for k in range(n)]
    pl.DataFrame({"id": names, "label": label}).write_csv(tmp_path / "nodes.csv")
    build_graph_folder(tmp_path / "e.csv", tmp_path / "g.lt")
    options = ("--nodes", tmp_path / "nodes.csv", "--target", "label", "--quiet")
    options += ("--model", "label-propagation")
    invoke("fit", "--edges", tmp_path / "e.csv", *options, "--out", tmp_path / "a")
    options += ("--set", "engine=disk", "--set", "max_memory=1MB")
    done = run_command("fit", "--edges", tmp_path / "g.lt", *options, "--out", tmp_path / "b")
    assert done.returncode == 0, done.stderr
    found = [
        pl.read_parquet(tmp_path / out / "predictions.parquet").sort("id") for out in ("a", "b")
    ]
    assert found[0]["id"].to_list() == found[1]["id"].to_list()
    probabilities = [column for column in found[0].columns if found[0][column].dtype.is_float()]
    assert probabilities
    for column in probabilities:
        np.testing.assert_allclose(found[0][column], found[1][column], atol=2e-6)
