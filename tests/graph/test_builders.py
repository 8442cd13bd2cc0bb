"""Graphs from lists of edges and from other libraries."""

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from labeltrick import Graph
from tests.support.graphs import random_graph


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_from_edges_matches_the_dense_adjacency(weighted, directed):
    A, graph = random_graph(0, weighted=weighted, directed=directed)
    np.testing.assert_allclose(graph.to_scipy().toarray(), A, rtol=1e-15)
    assert graph.weighted == weighted
    assert graph.directed == directed


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


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (dict(src=[0, -1], dst=[1, 1]), ValueError, r"`src` .* ≥ 0; got -1 at row 1"),
        (dict(src=[0, 5], dst=[1, 1], n_nodes=3), ValueError, r"`src` .*n_nodes=3; got 5 at row 1"),
        (dict(src=[0.0, 1.5], dst=[1, 1]), TypeError, r"`src` .*float64 \(row 1: 1.5\)"),
        (dict(src=["a", "b"], dst=[1, 1]), TypeError, r"must hold names of one kind; got strings"),
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


# -- from other libraries, and to them -----------------------------------------------------------
@pytest.mark.parametrize("kind", [sp.csr_array, sp.coo_matrix, sp.csc_array, np.asarray])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_scipy_there_and_back(kind, weighted, directed):
    A, graph = random_graph(1, weighted=weighted, directed=directed)
    back = Graph.from_scipy(kind(A))
    assert back == graph


def test_scipy_symmetry_duplicates_zeros_and_copies():
    one_way = sp.coo_array((np.ones(2), ([0, 1], [1, 2])), shape=(3, 3))
    assert Graph.from_scipy(one_way).directed
    with pytest.raises(ValueError, match="must be symmetric for directed=False"):
        Graph.from_scipy(one_way, directed=False)
    symmetric = one_way + one_way.T
    assert not Graph.from_scipy(symmetric).directed
    assert Graph.from_scipy(symmetric, directed=True).directed
    twice = sp.coo_array((np.ones(2), ([0, 0], [1, 1])), shape=(2, 2))
    assert Graph.from_scipy(twice).weights.tolist() == [2.0]
    zero = sp.coo_array((np.array([0.0, 1.0]), ([0, 1], [1, 0])), shape=(2, 2))
    assert Graph.from_scipy(zero).nnz == 1
    A = sp.csr_array(symmetric)
    A.data[:] = 2.0
    graph = Graph.from_scipy(A)
    A.data[:] = 7.0
    assert graph.weights.tolist() == [2.0] * 4


def test_scipy_bad_input():
    with pytest.raises(ValueError, match=r"`matrix` must be square; got shape \(2, 3\)"):
        Graph.from_scipy(sp.csr_array((2, 3)))
    with pytest.raises(ValueError, match="finite weights ≥ 0; got -1.0"):
        Graph.from_scipy(np.array([[0, -1.0], [-1.0, 0]]))


def test_networkx():
    G = nx.karate_club_graph()
    graph = Graph.from_networkx(G)
    np.testing.assert_array_equal(graph.to_scipy().toarray(), nx.to_numpy_array(G))
    unweighted = Graph.from_networkx(G, weight=None)
    assert not unweighted.weighted
    assert unweighted.n_edges == 78
    D = nx.DiGraph([("a", "b"), ("b", "c")])
    directed = Graph.from_networkx(D)
    assert directed.directed
    np.testing.assert_array_equal(directed.to_scipy().toarray(), nx.to_numpy_array(D))
    assert Graph.from_networkx(nx.Graph()).n_nodes == 0


def test_pyg_data_and_edge_index():
    torch = pytest.importorskip("torch")
    pyg_data = pytest.importorskip("torch_geometric.data")
    one_way = torch.tensor([[0, 1], [1, 2]])
    both = torch.cat([one_way, one_way.flip(0)], dim=1)
    assert Graph.from_pyg(one_way).directed
    assert not Graph.from_pyg(both).directed
    assert Graph.from_pyg(one_way, directed=False) == Graph.from_pyg(both)
    data = pyg_data.Data(edge_index=both, num_nodes=5, edge_weight=torch.arange(4.0))
    graph = Graph.from_pyg(data)
    assert graph.n_nodes == 5
    assert graph.directed  # the weights of the two directions differ
    with pytest.raises(ValueError, match=r"shape \(2, edges\); got \(4, 2\). Transpose it."):
        Graph.from_pyg(both.T)
    with pytest.raises(ValueError, match="`data.edge_index` must be set"):
        Graph.from_pyg(pyg_data.Data(x=torch.zeros(2, 1)))


def test_edge_index_there_and_back():
    torch = pytest.importorskip("torch")
    _, graph = random_graph(2)
    index = graph.to_edge_index()
    assert index.shape == (2, graph.nnz)
    assert Graph.from_pyg(index, n_nodes=graph.n_nodes) == graph
    tensor = graph.to_edge_index("torch")
    assert tensor.dtype == torch.int64
    assert tensor.tolist() == index.tolist()
    with pytest.raises(ValueError, match="`backend` must be one of"):
        graph.to_edge_index("jax")


def test_directed_edges_carry_values_as_pyg_does():
    torch = pytest.importorskip("torch")
    conv = pytest.importorskip("torch_geometric.nn").SimpleConv(aggr="mean")
    edge_index = torch.tensor([[0, 1, 0, 3], [1, 2, 2, 2]])
    x = torch.tensor([[1.0], [2.0], [4.0], [8.0]])
    graph = Graph.from_pyg(edge_index, n_nodes=4)
    expected = conv(x, edge_index).numpy()
    np.testing.assert_allclose(graph.normalized("row") @ x.numpy(), expected)
    again = Graph.from_pyg(graph.to_edge_index(), n_nodes=4)
    assert again == graph


def test_pyg_list_with_some_edges_both_ways_keeps_its_weights():
    index = np.array([[0, 1, 1], [1, 0, 2]])
    graph = Graph.from_pyg(index, edge_weight=[1.0, 1.0, 1.0], directed=False)
    assert graph.weights.tolist() == [1.0] * 4
    assert not graph.directed


def test_arrays_of_other_kinds():
    assert Graph.from_edges(np.array([0, 1], ">i8"), np.array([1, 2], ">i4")).n_edges == 2
    with pytest.raises(TypeError, match="`src` must be a plain array; got a masked array"):
        Graph.from_edges(np.ma.array([0, 1], mask=[0, 1]), [1, 2])
    with pytest.raises(TypeError, match="`directed` must be True or False; got 'no'"):
        Graph.from_edges([0], [1], directed="no")
    many = Graph.from_edges(
        np.zeros(10**6, int), np.ones(10**6, int), weight=np.full(10**6, 0.1, np.float32)
    )
    assert many.weights[0] == pytest.approx(1e5, rel=1e-6)


class LooksLikeDGL:
    def __init__(self):
        self.tensor = pytest.importorskip("torch").tensor
        self.edata = {"w": self.tensor([1.0, 2.0])}

    def edges(self):
        return self.tensor([0, 1]), self.tensor([1, 2])

    def num_nodes(self):
        return 4


def test_dgl_by_its_looks():
    graph = Graph.from_dgl(LooksLikeDGL(), weight="w")
    assert (graph.n_nodes, graph.directed) == (4, True)
    assert graph.weights.tolist() == [1.0, 2.0]
    assert not Graph.from_dgl(LooksLikeDGL(), directed=False).directed
    with pytest.raises(TypeError, match="must be a DGL graph; got int"):
        Graph.from_dgl(3)


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


@pytest.mark.parametrize(
    "column",
    [
        list,
        np.array,
        lambda v: np.array(v, np.uint8),
        pl.Series,
        pd.Series,
        lambda v: pytest.importorskip("torch").tensor(v),
        lambda v: pd.Series(v, dtype="Int64"),
    ],
    ids=["list", "numpy", "uint8", "polars", "pandas", "torch", "pandas-nullable"],
)
def test_from_edges_takes_any_column(column):
    graph = Graph.from_edges(column([0, 1, 2]), column([1, 2, 0]), weight=column([1, 2, 3]))
    expected = Graph.from_edges([0, 1, 2], [1, 2, 0], weight=[1.0, 2.0, 3.0])
    assert graph == expected
