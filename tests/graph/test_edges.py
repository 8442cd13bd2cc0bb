import numpy as np
from hypothesis import given

from labeltrick import Graph
from labeltrick.graph.edges import EdgeList
from tests.support.graphs import graphs


@given(graphs())
def test_each_edge_is_listed_once(pair):
    A, graph = pair
    edges = EdgeList.of(graph)
    assert len(edges) == graph.n_edges
    wanted = A if graph.directed else np.triu(A)
    assert list(zip(edges.first, edges.second, strict=True)) == list(
        zip(*np.nonzero(wanted), strict=True)
    )


@given(graphs())
def test_other_weights_reach_both_entries_of_an_edge(pair):
    A, graph = pair
    edges = EdgeList.of(graph)
    np.testing.assert_array_equal(
        edges.reweighted(graph, edges.given_weights(graph)).to_scipy().toarray(), A
    )
    made = edges.reweighted(graph, np.arange(1.0, len(edges) + 1)).to_scipy().toarray()
    np.testing.assert_array_equal(made[edges.first, edges.second], np.arange(1, len(edges) + 1))
    assert graph.directed or np.array_equal(made, made.T)


def test_everything_else_is_kept():
    graph = Graph.from_edges([0, 1], [1, 2], node_type=["a", "b", "a"], edge_type=["x", "y"])
    graph = graph.on("memory", max_memory="1GB")
    made = EdgeList.of(graph).reweighted(graph, np.array([2.0, 3.0]))
    assert made.compute == graph.compute
    assert made.relations == graph.relations
    assert made.node_types.tolist() == ["a", "b", "a"]
