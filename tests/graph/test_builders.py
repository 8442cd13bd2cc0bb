"""Graphs from lists of edges."""

import numpy as np
import pytest

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
