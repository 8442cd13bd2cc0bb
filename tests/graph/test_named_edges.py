"""Edges whose ends are names."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from labeltrick import Graph


@pytest.mark.parametrize("make", [list, np.array, pd.Series, pl.Series])
def test_edges_between_strings(make):
    graph = Graph.from_edges(make(["x", "y", "x"]), make(["y", "z", "z"]), weight=[1.0, 2.0, 3.0])
    assert graph.names.tolist() == ["x", "y", "z"]
    expected = np.array([[0, 1, 3], [1, 0, 2], [3, 2, 0]], float)
    np.testing.assert_array_equal(graph.to_scipy().toarray(), expected)


def test_names_set_the_order_and_add_nodes_without_edges():
    graph = Graph.from_edges(["x"], ["y"], names=["alone", "y", "x"], node_type=["p", "q", "q"])
    assert (graph.n_nodes, graph.isolated.tolist()) == (3, [0])
    assert graph.neighbors(1).tolist() == [2]
    assert graph.node_types.tolist() == ["p", "q", "q"]


def test_integers_are_names_only_where_names_are_given():
    assert Graph.from_edges([10], [12]).n_nodes == 13
    graph = Graph.from_edges([10], [12], names=[12, 11, 10])
    assert (graph.n_nodes, graph.neighbors(0).tolist()) == (3, [2])


def test_ends_may_be_any_hashable_objects():
    graph = Graph.from_edges([(0, 1), "b"], ["b", (2, 2)])
    assert graph.names.tolist() == [(0, 1), "b", (2, 2)]
    assert graph.neighbors(1).tolist() == [0, 2]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (dict(src=["a"], dst=["b"], n_nodes=5), ValueError, "`n_nodes` must be None"),
        (dict(src=["a"], dst=["b"], names=["a", "c"]), ValueError, "`dst`.*'b' at row 0"),
        (dict(src=["a", None], dst=["b", "b"]), ValueError, "`src` must have no missing.*row 1"),
        (dict(src=[0], dst=[1], names=["a", "b"]), ValueError, "`src`.*0 at row 0 is not one"),
        (dict(src=["a", "b"], dst=["b"]), ValueError, "same length"),
    ],
)
def test_what_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        Graph.from_edges(**arguments)
