"""Graphs that are written to folders."""

import pickle

import numpy as np
import pytest

from labeltrick import Graph, open_graph, save_graph


def edges(n=50, m=300, seed=0, weighted=False):
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, m) / 2 if weighted else None
    return rng.integers(0, n, m), rng.integers(0, n, m), weights


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


def test_types_are_not_stored_silently(tmp_path):
    typed = Graph.from_edges([0, 1], [1, 2], node_type=["a", "b", "a"])
    with pytest.raises(ValueError, match="no types of nodes or edges"):
        save_graph(typed, tmp_path / "never.lt")
