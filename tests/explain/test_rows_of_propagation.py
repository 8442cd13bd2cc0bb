"""Rows of P by transposed products, and the bound of their errors."""

import numpy as np
import pytest

from labeltrick import Graph, Hops, HopSum, Iteration, Resolvent
from labeltrick.explain import rows_of_propagation
from labeltrick.explain.rows_of_propagation import batches, rows_of
from tests import reference

EDGES = [(0, 1), (1, 2), (2, 3), (3, 0), (1, 3), (4, 5), (5, 0), (6, 7)]


def dense(norm, directed):
    return reference.normalized(reference.adjacency(8, EDGES, directed=directed), norm)


def graph_of(directed):
    return Graph.from_edges(*zip(*EDGES, strict=True), n_nodes=8, directed=directed)


@pytest.mark.parametrize("norm", ["sym", "row", "col"])
@pytest.mark.parametrize("directed", [False, True])
def test_rows_are_those_of_the_matrix(norm, directed):
    nodes, S = np.array([3, 0, 6]), dense(norm, directed)
    steps = reference.iteration(S, 0.7, 4, np.eye(8))
    for P, expected in [
        (Resolvent(graph_of(directed), 0.8, norm=norm), reference.resolvent(S, 0.8)),
        (Iteration(graph_of(directed), 0.7, 4, norm=norm), steps),
        (HopSum(graph_of(directed), 3, norm=norm), sum(reference.power(S, k) for k in range(4))),
    ]:  # fmt: skip
        found = rows_of(P, nodes)
        np.testing.assert_allclose(found.values[:, 0], expected[nodes], atol=1e-11)


def test_hops_have_one_row_per_power():
    found = rows_of(Hops(graph_of(False), 3, norm="row"), np.array([1, 4]))
    S = dense("row", False)
    for k in range(3):
        expected = reference.power(S, k + 1)[[1, 4]]
        np.testing.assert_allclose(found.values[:, k], expected, atol=1e-13)


@pytest.mark.parametrize("norm", ["sym", "row", "col"])
@pytest.mark.parametrize("directed", [False, True])
def test_the_bound_holds_where_the_solver_stops_early(monkeypatch, norm, directed):
    monkeypatch.setattr(rows_of_propagation, "is_small", lambda *_: False)
    for tol in (0.3, 1e-2, 1e-5):
        found = rows_of(Resolvent(graph_of(directed), 0.9, norm=norm, tol=tol), np.arange(8))
        wrong = found.values[:, 0] - reference.resolvent(dense(norm, directed), 0.9)
        assert (np.abs(wrong).sum(axis=1) <= found.error).all()
        assert found.error.max() < 60 * tol


def test_batches_hold_each_node_once(monkeypatch):
    monkeypatch.setattr(rows_of_propagation, "_MOST_VALUES", 50)
    parts = list(batches(np.arange(12), 10, 2))
    assert [len(part) for part in parts] == [2] * 6
    assert np.concatenate(parts).tolist() == list(range(12))
