"""Edges are removed, and the node predicted again."""

import numpy as np
import pytest

from labeltrick import Graph, LabelPropagation
from labeltrick.explain.changed_inputs import without_edges
from tests.explain.conftest import make_problem


def test_effects_of_edges_are_those_of_another_graph():
    graph, _, y = make_problem("regression")
    model = LabelPropagation(0.7).fit(None, y, graph=graph)
    node = int(np.flatnonzero(np.isnan(y))[0])
    item = model.explain(f"node {node}", top=3, edges=True)[0]
    edges = [each for each in item.contributions if each.kind == "edge"]
    assert len(edges) == 3
    for each in edges:
        end = int(each.source.removeprefix("node "))
        assert end in graph.neighbors(node)
        again = model.predict(None, y, graph=without_edges(graph, [(node, end)]))
        assert each.effect == pytest.approx(item.score - again[node], abs=1e-5)
        assert not each.adds_up
        assert each.is_neighbor


def test_edges_are_left_out_on_request_and_on_large_graphs(monkeypatch):
    graph, _, y = make_problem()
    model = LabelPropagation(0.7).fit(None, y, graph=graph)
    kinds = {each.kind for each in model.explain("node 2", edges=False)[0].contributions}
    assert "edge" not in kinds
    monkeypatch.setattr("labeltrick.explain.edges._AFFORDABLE", 1)
    kinds = {each.kind for each in model.explain("node 2")[0].contributions}
    assert "edge" not in kinds


def test_a_node_without_edges_has_none():
    graph = Graph.from_edges([0, 1], [1, 2], n_nodes=4)
    model = LabelPropagation().fit(None, [0, -1, 1, -1], graph=graph)
    assert model.explain(3, edges=True)[0].contributions == ()


def test_typed_edges_are_said_not_to_be_removed():
    edges = np.array([0, 1, 2]), np.array([1, 2, 3])
    graph = Graph.from_edges(*edges, edge_type=["a", "b", "a"])
    with pytest.warns(UserWarning, match="types"):
        model = LabelPropagation().fit(None, [0, -1, 1, -1], graph=graph)
    item = model.explain(1, edges=True)[0]
    assert item.notes == ("edges are not removed from graphs with types of edges",)
