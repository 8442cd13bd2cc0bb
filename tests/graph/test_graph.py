import numpy as np
import pytest
from hypothesis import given

from labeltrick import Graph
from tests.support.graphs import graphs, random_graph


@given(graphs())
def test_rows_are_sorted_and_merged_and_statistics_hold(pair):
    A, graph = pair
    for i in range(graph.n_nodes):
        row = graph.neighbors(i)
        assert (np.diff(row) > 0).all()
        assert row.tolist() == np.flatnonzero(A[i]).tolist()
    np.testing.assert_allclose(graph.out_strengths, A.sum(axis=1))
    np.testing.assert_allclose(graph.in_strengths, A.sum(axis=0))
    loops = np.count_nonzero(np.diag(A))
    assert graph.n_self_loops == loops
    off = np.count_nonzero(A) - loops
    assert graph.n_edges == (off if graph.directed else off // 2) + loops
    others = A - np.diag(np.diag(A))
    alone = (others.sum(axis=0) == 0) & (others.sum(axis=1) == 0)
    assert graph.isolated.tolist() == np.flatnonzero(alone).tolist()


@given(graphs(directed=True))
def test_reverse_is_the_transpose_and_its_own_inverse(pair):
    A, graph = pair
    np.testing.assert_array_equal(graph.T.to_scipy().toarray(), A.T)
    assert graph.T.T is graph


def test_empty_graphs():
    for graph in (Graph.from_edges([], []), Graph.from_edges([], [], n_nodes=3)):
        assert graph.nnz == graph.n_edges == 0
        assert len(graph.isolated) == graph.n_nodes
        summary = graph.summary()
        assert summary.n_components == graph.n_nodes
        assert summary.max_degree == 0


def test_arrays_cannot_be_changed():
    _, graph = random_graph(0, weighted=True)
    for array in (graph.indptr, graph.indices, graph.weights, graph.degrees):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_index_types():
    _, graph = random_graph(0)
    assert graph.indptr.dtype == np.int64
    assert graph.indices.dtype == np.int32


def test_equal_graphs_cannot_be_keys():
    with pytest.raises(TypeError, match="unhashable"):
        {Graph.from_edges([0], [1])}


@pytest.mark.slow
def test_more_than_two_to_the_31_entries():
    """Takes 9 GB and a minute: a directed ring in which each node points to the next 36,000."""
    n, d = 60_000, 36_000
    indices = np.empty((n, d), np.int32)
    for i in range(n):
        indices[i] = (np.arange(d) + i) % n
    graph = Graph(np.arange(n + 1, dtype=np.int64) * d, indices.reshape(-1), None, True)
    assert graph.nnz > 2**31
    F = np.random.default_rng(0).random((n, 2), dtype=np.float32)
    sums = np.concatenate([np.zeros((1, 2)), np.cumsum(np.concatenate([F, F]).astype(float), 0)])
    expected = (sums[d : d + n] - sums[:n]) / d
    np.testing.assert_allclose(graph.normalized("row") @ F, expected, rtol=1e-6)


def test_reordered_graph_is_the_same_graph_renumbered():
    A, graph = random_graph(5, weighted=True, directed=True)
    moved, order = graph.reordered
    assert sorted(order.tolist()) == list(range(graph.n_nodes))
    np.testing.assert_array_equal(moved.to_scipy().toarray(), A[np.ix_(order, order)])
    assert order[0] == graph.degrees.argmax()


# -- types -------------------------------------------------------------------------------------
def test_relations_hold_the_edges_of_each_type():
    graph = Graph.from_edges(
        [0, 1, 2, 0], [1, 2, 3, 1], edge_type=["a", "b", "a", "b"], node_type=[0, 0, 1, 1]
    )
    assert list(graph.relations) == ["a", "b"]
    assert graph.n_edges == 3
    assert graph.relations["a"] == Graph.from_edges([0, 2], [1, 3], n_nodes=4)
    assert graph.relations["b"].n_nodes == 4
    assert graph.node_types.tolist() == [0, 0, 1, 1]
    assert repr(graph) == "Graph(n_nodes=4, n_edges=3, node_types=2, relations=2)"
    assert graph != Graph.from_edges([0, 1, 2], [1, 2, 3])
    one_way = Graph.from_edges([0, 1], [1, 2], edge_type=[5, 6], directed=True)
    assert one_way.T.relations[5] == one_way.relations[5].T
    with pytest.raises(ValueError, match="`edge_type` and `src` must have the same length"):
        Graph.from_edges([0, 1], [1, 2], edge_type=["a"])
    with pytest.raises(ValueError, match=r"`node_type` must have one type per node \(3\)"):
        Graph.from_edges([0, 1], [1, 2], node_type=["a"])
