import numpy as np
import pytest
from hypothesis import given

from labeltrick import Graph
from tests import reference
from tests.support.graphs import graphs, random_graph


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_from_edges_matches_the_dense_adjacency(weighted, directed):
    A, graph = random_graph(0, weighted=weighted, directed=directed)
    np.testing.assert_allclose(graph.to_scipy().toarray(), A, rtol=1e-15)
    assert graph.weighted == weighted
    assert graph.directed == directed


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


def test_undirected_weights_are_symmetric_bit_for_bit():
    _, graph = random_graph(3, n=10, n_edges=300, weighted=True)
    A = graph.to_scipy().toarray()
    np.testing.assert_array_equal(A, A.T)


def test_duplicates_are_merged_or_summed():
    merged = Graph.from_edges([0, 0, 1], [1, 1, 0])
    assert (merged.n_edges, merged.weights) == (1, None)
    summed = Graph.from_edges([0, 0], [1, 1], weight=[1, 2], directed=True)
    assert summed.weights.tolist() == [3.0]


def test_edges_of_weight_zero_are_no_edges():
    graph = Graph.from_edges([0, 1, 3], [1, 2, 3], weight=[1.0, 0.0, 0.0])
    assert (graph.n_nodes, graph.n_edges, graph.n_self_loops) == (4, 1, 0)
    assert graph.isolated.tolist() == [2, 3]


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


def test_components_and_summary():
    graph = Graph.from_edges([0, 1, 3], [1, 2, 4], n_nodes=6)
    assert graph.components.tolist() == [0, 0, 0, 1, 1, 2]
    summary = graph.summary(y=["a", "a", "b", "b", "b", None])
    assert (summary.n_components, summary.largest_component, summary.n_isolated) == (3, 3, 1)
    assert (summary.n_labeled, summary.n_classes) == (5, 2)
    assert summary.homophily == pytest.approx(2 / 3)
    assert "homophily" in str(summary)
    directed = Graph.from_edges([0, 2], [1, 1], directed=True)
    assert directed.summary().n_components == 1


@pytest.mark.parametrize(
    "y",
    [
        [0, 0, 1, -1],
        [0.0, 0.0, 1.0, np.nan],
        np.array(["x", "x", "y", None], dtype=object),
    ],
)
def test_homophily_ignores_unlabeled_nodes_and_loops(y):
    graph = Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 0], n_nodes=4)
    assert graph.homophily(y) == 0.5


def test_homophily_without_labeled_edges_is_nan():
    graph = Graph.from_edges([0], [1])
    assert np.isnan(graph.homophily([0, -1]))


def test_adjusted_homophily_is_one_for_perfect_and_near_zero_for_random_labels():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 600)
    src, dst = rng.integers(0, 600, (2, 6000))
    graph = Graph.from_edges(src, dst, n_nodes=600)
    assert abs(graph.summary(y).adjusted_homophily) < 0.03
    same = y[src] == y[dst]
    perfect = Graph.from_edges(src[same], dst[same], n_nodes=600)
    assert perfect.summary(y).adjusted_homophily == pytest.approx(1)


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


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (dict(src=[0, -1], dst=[1, 1]), ValueError, r"`src` .* ≥ 0; got -1 at row 1"),
        (dict(src=[0, 5], dst=[1, 1], n_nodes=3), ValueError, r"`src` .*n_nodes=3; got 5 at row 1"),
        (dict(src=[0.0, 1.5], dst=[1, 1]), TypeError, r"`src` .*float64 \(row 1: 1.5\)"),
        (dict(src=["a", "b"], dst=[1, 1]), TypeError, r"`src` must hold integer node ids"),
        (dict(src=[True, False], dst=[1, 1]), TypeError, r"`src` must hold integer node ids"),
        (dict(src=[[0, 1]], dst=[1, 1]), ValueError, r"`src` must be one-dimensional"),
        (dict(src=[0, 1], dst=[1]), ValueError, r"`src` and `dst` .* same length; got 2 and 1"),
        (dict(src=[0, 1], dst=[1, 2], weight=[1.0]), ValueError, r"`weight` .*one entry per edge"),
        (
            dict(src=[0, 1], dst=[1, 2], weight=[1.0, np.nan]),
            ValueError,
            r"`weight` .*got nan at row 1",
        ),
        (
            dict(src=[0, 1], dst=[1, 2], weight=[-1.0, 1.0]),
            ValueError,
            r"`weight` .*got -1.0 at row 0",
        ),
        (
            dict(src=[0, 1], dst=[1, 2], weight=[1.0, 1e-310]),
            ValueError,
            r"`weight` must hold zeros and weights between 1e-75 and 1e\+75; got 1e-310 at row 1",
        ),
        (dict(src=[0], dst=[1], weight=["a"]), TypeError, r"`weight` must hold numbers"),
        (dict(src=[0], dst=[1], n_nodes=-2), ValueError, r"`n_nodes` must be at least 0; got -2"),
        (dict(src=[0], dst=[1], n_nodes=2.0), TypeError, r"`n_nodes` must be an integer; got 2.0"),
        (dict(src=object(), dst=[1]), TypeError, r"`src` must be an array; got object"),
    ],
)
def test_bad_edges_get_an_error_that_names_the_argument_and_the_row(arguments, error, message):
    with pytest.raises(error, match=message):
        Graph.from_edges(**arguments)


def test_ids_with_huge_gaps_are_refused_before_memory_runs_out():
    for largest in (2**40, 2**31, 50_000_000):
        with pytest.raises(ValueError, match="must be numbered 0…n−1; got 2 edges and ids up to"):
            Graph.from_edges([0, 1], [1, largest])
    assert Graph.from_edges([0], [1], n_nodes=20_000_000).n_nodes == 20_000_000


def test_bad_labels_and_nodes():
    graph = Graph.from_edges([0], [1])
    with pytest.raises(ValueError, match="`y` must have one label per node"):
        graph.homophily([0, 1, 2])
    with pytest.raises(ValueError, match="`node` must be below n_nodes=2; got 7"):
        graph.neighbors(7)


@pytest.mark.parametrize("norm", ["sym", "row", "col"])
@pytest.mark.parametrize("self_loops", [False, True])
@given(pair=graphs())
def test_normalized_matches_the_reference(norm, self_loops, pair):
    A, graph = pair
    dense = reference.with_self_loops(A) if self_loops else A
    S = graph.normalized(norm, self_loops=self_loops)
    expected = reference.normalized(dense, norm)
    np.testing.assert_allclose(S.to_scipy().toarray(), expected, atol=1e-12)
    np.testing.assert_allclose(S.T.to_scipy().toarray(), expected.T, atol=1e-12)
    F = np.arange(1.0, graph.n_nodes + 1)
    np.testing.assert_allclose(S @ F, expected @ F, atol=1e-10)
    np.testing.assert_allclose(S.T @ F, expected.T @ F, atol=1e-10)


def test_normalized_rejects_bad_arguments():
    graph = Graph.from_edges([0], [1])
    with pytest.raises(ValueError, match="`norm` must be one of 'sym', 'row', 'col'; got 'both'"):
        graph.normalized("both")
    with pytest.raises(TypeError, match="`self_loops` must be True or False; got 2"):
        graph.normalized("sym", self_loops=2)


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


def test_types_of_a_heterogeneous_pyg_graph():
    torch = pytest.importorskip("torch")
    pyg = pytest.importorskip("torch_geometric.data")
    data = pyg.HeteroData()
    data["paper"].num_nodes, data["author"].num_nodes = 3, 2
    data["author", "writes", "paper"].edge_index = torch.tensor([[0, 1, 1], [0, 1, 2]])
    data["paper", "cites", "paper"].edge_index = torch.tensor([[0], [1]])
    graph = Graph.from_pyg(data.to_homogeneous())
    assert graph.n_nodes == 5
    assert len(graph.relations) == 2
    assert sorted(relation.nnz for relation in graph.relations.values()) == [1, 3]
    assert np.bincount(graph.node_types).tolist() == [3, 2]
