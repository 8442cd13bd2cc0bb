"""Graphs that know their nodes by name."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeltrick import Graph, open_graph, save_graph
from tests.support.graphs import random_graph


def test_names_survive_what_keeps_the_nodes():
    graph = Graph.from_edges(["a", "b"], ["b", "c"], directed=True)
    assert repr(graph) == "Graph(n_nodes=3, n_edges=2, directed=True, named=True)"
    for same in (graph.T, graph.on(max_memory="1GB"), graph.T.T):
        assert same.names.tolist() == ["a", "b", "c"]
    assert graph.with_names(None).names is None
    assert graph.with_names(range(3)).names is None


def test_graphs_with_other_names_are_not_equal():
    graph = Graph.from_edges([0, 1], [1, 2])
    assert graph == Graph.from_edges([0, 1], [1, 2])
    assert graph != graph.with_names("abc"[k] for k in range(3))
    assert graph.with_names(["a", "b", "c"]) == graph.with_names(["a", "b", "c"])


def test_nodes_are_found_by_name():
    graph = Graph.from_edges([0, 1], [1, 2]).with_names([30, 10, 20])
    assert graph.index_of([10, 20, 10]).tolist() == [1, 2, 1]
    assert Graph.from_edges([0], [1]).index_of([1]).tolist() == [1]
    with pytest.raises(KeyError, match="no node is called 40"):
        graph.index_of([10, 40])
    with pytest.raises(KeyError, match="no node is called '10'. The first node is called 30"):
        graph.index_of(["10"])


def test_names_must_fit_the_nodes():
    with pytest.raises(ValueError, match=r"one name per node \(3\); got 2"):
        Graph.from_edges([0, 1], [1, 2]).with_names(["a", "b"])


@given(st.integers(0, 1000), st.booleans(), st.booleans())
def test_a_permuted_graph_has_the_same_edges(seed, weighted, directed):
    A, graph = random_graph(seed, n=8, n_edges=14, weighted=weighted, directed=directed)
    order = np.random.default_rng(seed).permutation(8)
    moved = graph.permuted(order)
    np.testing.assert_allclose(moved.to_scipy().toarray(), A[np.ix_(order, order)], rtol=1e-15)
    assert moved.name_table.values.tolist() == order.tolist()
    back = moved.permuted(moved.index_of(range(8)))
    assert back == graph
    assert all((np.diff(moved.neighbors(k)) > 0).all() for k in range(8))


def test_types_and_relations_move_with_the_nodes():
    kinds = dict(edge_type=["x", "y"], node_type=["p", "q", "r"])
    graph = Graph.from_edges([0, 1], [1, 2], **kinds).permuted([2, 1, 0])
    assert graph.node_types.tolist() == ["r", "q", "p"]
    assert graph.relations["x"].neighbors(2).tolist() == [1]
    with pytest.raises(ValueError, match="each of the 3 nodes once"):
        graph.permuted([0, 0, 1])


@pytest.mark.parametrize("names", [["a", "b", "c"], [7, 5, 9], None])
def test_folders_keep_names(tmp_path, names):
    graph = Graph.from_edges([0, 1], [1, 2], directed=True).with_names(names)
    opened = open_graph(save_graph(graph, tmp_path / "graph"), verify=True)
    assert opened.name_table.values.tolist() == graph.name_table.values.tolist()
    assert opened == graph
    assert opened.with_names(["x", "y", "z"]).names.tolist() == ["x", "y", "z"]


def test_folders_refuse_names_that_are_neither_integers_nor_strings(tmp_path):
    graph = Graph.from_edges([0], [1]).with_names([("a", 1), ("b", 2)])
    with pytest.raises(ValueError, match="all integers or all strings"):
        save_graph(graph, tmp_path / "graph")
    assert not (tmp_path / "graph").exists()
