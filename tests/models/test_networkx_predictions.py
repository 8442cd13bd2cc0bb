"""Predictions on the nodes of networkx graphs."""

import networkx as nx
import numpy as np
import pytest

from labeltrick import Graph, LabelPropagation, to_networkx


def test_predictions_are_written_onto_a_copy():
    G = nx.karate_club_graph()
    known = {0: "Mr. Hi", 33: "Officer"}
    model = LabelPropagation(0.9).fit(None, known, graph=G)
    H = to_networkx(G, model)
    clubs = nx.get_node_attributes(G, "club")
    right = [H.nodes[node]["prediction"] == club for node, club in clubs.items()]
    assert np.mean(right) > 0.9
    assert H.nodes[0]["labeled"]
    assert H.nodes[5]["p_Officer"] + H.nodes[5]["p_Mr. Hi"] == pytest.approx(1)
    assert H.edges == G.edges
    assert "prediction" not in G.nodes[0]


def test_a_part_of_the_graph_and_a_graph_of_ours():
    graph = Graph.from_edges(["a", "b", "c"], ["b", "c", "d"])
    model = LabelPropagation(task="regression").fit(None, {"a": 1.5, "d": 3.0}, graph=graph)
    H = to_networkx(graph, model)
    part = to_networkx(H.subgraph(["b", "c"]), model)
    assert part.nodes["b"]["prediction"] == H.nodes["b"]["prediction"] == model.predict()[1]
    H.add_node("e")
    with pytest.raises(ValueError, match="'e' was not there"):
        to_networkx(H, model)
