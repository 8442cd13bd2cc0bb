"""Graphs that stay on disk."""

import numpy as np
import pytest

import labeltrick.graph.stored.graph as stored_graph
from labeltrick import Graph, LabelPropagation, open_graph, save_graph
from labeltrick.graph.stored import meta


def random_graph(directed=False, n=60, m=300, seed=0):
    source, target = np.random.default_rng(seed).integers(0, n, (2, m))
    return Graph.from_edges(source, target, n_nodes=n, directed=directed)


@pytest.mark.parametrize("name", ["reversed", "g.lt"])
def test_a_directed_graph_may_have_any_name(tmp_path, name, monkeypatch):
    graph = random_graph(directed=True)
    save_graph(graph, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    stored = open_graph(name)
    assert stored.T == graph.T
    assert graph == open_graph(tmp_path / name / "reversed").T
    monkeypatch.chdir(tmp_path / name / "reversed")
    assert graph == open_graph(".").T


# -- windows -----------------------------------------------------------------------------------
@pytest.mark.parametrize("at_once", [1, 7, 100, 1 << 16])
def test_cuts_hold_to_their_size_however_rows_are_read(tmp_path, monkeypatch, at_once):
    graph = random_graph(n=2000, m=9000)
    stored = open_graph(save_graph(graph, tmp_path / "g.lt"))
    monkeypatch.setattr(stored_graph, "_ROWS_AT_ONCE", at_once)
    for most in (10, 100, 1000, 5000, 10**9):
        cuts = stored.cuts(most)
        sizes = 4 * np.diff(graph.indptr[cuts]) + 8 * np.diff(cuts)
        assert (cuts[0], cuts[-1]) == (0, stored.n_nodes)
        assert ((sizes <= most) | (np.diff(cuts) == 1)).all()
        # nor smaller than they need be
        assert len(cuts) == 2 or ((sizes[:-1] + sizes[1:]) > most).all()


def small_graph():
    source, target = np.random.default_rng(0).integers(0, 50, (2, 300))
    return Graph.from_edges(source, target, n_nodes=50)


def test_neighbors_that_are_no_nodes_are_reported_before_kernels_follow_them(tmp_path, monkeypatch):
    monkeypatch.setattr(meta, "_SMALL", 0)  # as in a large graph, whose arrays are not all read
    for engine in ("memory", "disk"):
        folder = save_graph(small_graph(), tmp_path / f"{engine}.lt")
        indices = np.load(folder / "indices.npy", mmap_mode="r+")
        indices[7] = 999_999_999
        indices.flush()
        with pytest.raises(ValueError, match="is damaged: .* Rebuild it"):
            graph = open_graph(folder).on(engine)
            LabelPropagation().fit(None, np.arange(50) % 2, graph=graph).predict()


def edges(n=50, m=300, seed=0, weighted=False):
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, m) / 2 if weighted else None
    return rng.integers(0, n, m), rng.integers(0, n, m), weights


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
