"""Graphs from networkx and igraph, with names, types and attributes."""

import datetime

import networkx as nx
import numpy as np
import pytest

from labeltrick import Graph


@pytest.fixture
def people():
    G = nx.DiGraph()
    G.add_node("ann", age=31, kind="person", when=datetime.date(2020, 1, 1), friends=["x"])
    G.add_node("bob", age=25.5, kind="person", nick="b")
    G.add_node("shop", kind="place")
    G.add_edge("bob", "ann", weight=2.0, how="knows")
    G.add_edge("ann", "shop", how="visits")
    return G


def test_everything_is_kept(people):
    graph = Graph.from_networkx(people, node_type="kind", edge_type="how")
    assert graph.names.tolist() == ["ann", "bob", "shop"]
    assert graph.node_types.tolist() == ["person", "person", "place"]
    np.testing.assert_array_equal(
        graph.to_scipy().toarray(), [[0, 0, 1], [2, 0, 0], [0, 0, 0]]
    )  # an edge without a weight has weight 1
    assert sorted(graph.relations) == ["knows", "visits"]
    assert graph.node_features.columns == ["age", "when", "nick"]
    assert graph.node_features["age"].to_list() == [31.0, 25.5, None]


def test_features_are_picked(people):
    graph = Graph.from_networkx(people, node_features=["nick", "age"])
    assert graph.node_features.columns == ["nick", "age"]
    assert graph.permuted([1, 0, 2]).node_features["nick"].to_list() == ["b", None, None]
    with pytest.raises(ValueError, match=r"got 'height'. The nodes have: 'age', 'kind'"):
        Graph.from_networkx(people, node_features=["height"])
    with pytest.raises(ValueError, match="'friends' holds other values"):
        Graph.from_networkx(people, node_features=["friends"])


def test_a_type_must_be_known_for_every_node(people):
    people.add_node("nobody")
    with pytest.raises(ValueError, match="no missing types; row 3"):
        Graph.from_networkx(people, node_type="kind")


def test_numbered_nodes_have_no_names_and_grids_have_pairs():
    assert Graph.from_networkx(nx.path_graph(4)).names is None
    assert Graph.from_networkx(nx.grid_2d_graph(2, 2)).names.tolist()[3] == (1, 1)
    assert Graph.from_networkx(nx.relabel_nodes(nx.path_graph(2), {0: 5})).names.tolist() == [5, 1]


def test_parallel_edges_are_summed():
    G = nx.MultiGraph([("a", "b", {"weight": 1.0}), ("a", "b", {"weight": 2.5})])
    assert Graph.from_networkx(G).weights.tolist() == [3.5, 3.5]


def test_there_and_back(people):
    graph = Graph.from_networkx(people, node_type="kind")
    back = graph.to_networkx()
    assert dict(back["bob"]["ann"]) == {"weight": 2.0}
    assert back.nodes["bob"] == {"age": 25.5, "nick": "b", "type": "person"}
    again = Graph.from_networkx(back, node_type="type")
    assert again == graph
    undirected = Graph.from_edges([0, 1, 2], [1, 2, 2])
    assert Graph.from_networkx(undirected.to_networkx()) == undirected


def test_igraph():
    igraph = pytest.importorskip("igraph")
    G = igraph.Graph([(0, 1), (1, 2)], directed=True)
    assert Graph.from_igraph(G) == Graph.from_edges([0, 1], [1, 2], directed=True)
    G.vs["name"], G.vs["age"], G.es["weight"] = ["a", "b", "c"], [1, 2, None], [0.5, 2.0]
    G.vs["kind"], G.es["how"] = ["p", "p", "q"], ["x", "y"]
    graph = Graph.from_igraph(G, node_type="kind", edge_type="how")
    assert graph.names.tolist() == ["a", "b", "c"]
    assert graph.weights.tolist() == [0.5, 2.0]
    assert graph.node_types.tolist() == ["p", "p", "q"]
    assert graph.node_features.columns == ["age"]
    with pytest.raises(TypeError, match="must be an igraph graph; got list"):
        Graph.from_igraph([])
