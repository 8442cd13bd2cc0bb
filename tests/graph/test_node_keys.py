"""Keys of nodes by which draws do not depend on their order."""

import numpy as np
import scipy.sparse as sp

from labeltrick import Graph
from labeltrick.graph.node_keys import node_keys, renumbered
from tests.support.node_order import Problem


# -- keys and draws ------------------------------------------------------------------------------
def test_keys_are_renumbered_with_the_nodes_and_know_no_labels():
    problem = Problem(0, "classification", n=60)
    part = (problem.y >= 0).astype(int)
    order = np.random.default_rng(0).permutation(60)
    number = np.argsort(order)
    found = []
    for X in (problem.X, None):
        graph = Graph.from_edges(*problem.edges, weight=problem.weight, n_nodes=60)
        moved = Graph.from_edges(*number[problem.edges], weight=problem.weight, n_nodes=60)
        keys = node_keys(graph, X, part)
        there = node_keys(moved, None if X is None else X[order], part[order])
        np.testing.assert_array_equal(there, keys[order])
        found.append(keys)
    assert len(np.unique(found[0])) == 60
    few = np.where(problem.X > 1, problem.X, 0.0)
    sparse = node_keys(graph, sp.csr_array(few), part)
    np.testing.assert_array_equal(sparse, node_keys(graph, few, part))


def test_nodes_that_cannot_be_reported_apart_share_a_key():
    star = Graph.from_edges([0, 0, 0, 0], [1, 2, 3, 4], n_nodes=6)
    keys = node_keys(star, None, np.ones(6, int))
    assert len(np.unique(keys)) == 3  # the hub, its leaves, the node without edges
    assert len(np.unique(keys[1:5])) == 1
    path = Graph.from_edges(range(199), range(1, 200))
    assert len(np.unique(node_keys(path, None, np.ones(200, int)))) == 100  # mirror images
    arrow = Graph.from_edges(range(199), range(1, 200), directed=True)
    assert len(np.unique(node_keys(arrow, None, np.ones(200, int)))) == 200


def test_a_renumbered_graph_does_not_depend_on_the_numbers_before():
    """Not even in the order of neighbors, by which sums are rounded."""
    problem = Problem(0, "classification", n=60)
    for weight in (problem.weight, None):
        graph = Graph.from_edges(*problem.edges, weight=weight, n_nodes=60)
        order = np.random.default_rng(0).permutation(60)
        there = renumbered(graph, order)
        back = renumbered(there, np.argsort(order))
        same = renumbered(graph, np.arange(60))
        assert there.n_edges == graph.n_edges
        for name in ("indptr", "indices", "weights"):
            np.testing.assert_array_equal(getattr(back, name), getattr(same, name))
