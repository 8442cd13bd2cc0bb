"""Changes that are made together must not be felt by each other's nodes."""

import numpy as np
import pytest
import scipy.sparse as sp

from labeltrick import Graph
from labeltrick.explain.changed_inputs import (
    Change,
    Nearness,
    rounds,
    with_cells,
    with_rows,
    without_edges,
)


def test_changes_far_apart_are_made_together():
    path = Graph.from_edges(range(99), range(1, 100))
    near = Nearness(path, np.array([10, 80, 12]))
    far = [Change(0, (11,)), Change(1, (79,))]
    assert rounds(far, near) == [[0, 1]]
    close = [Change(0, (11,)), Change(2, (13,))]
    assert rounds(close, near) == [[0], [1]]
    assert rounds([Change(0, (11,)), Change(0, (9,))], near) == [[0], [1]]


@pytest.mark.parametrize("directed", [False, True])
def test_edges_are_removed(directed):
    graph = Graph.from_edges(
        ["a", "b", "c"], ["b", "c", "a"], weight=[1.0, 2.0, 3.0], directed=directed
    )
    found = without_edges(graph, [(0, 1)])
    expected = graph.to_scipy().toarray()
    expected[0, 1] = 0
    if not directed:
        expected[1, 0] = 0
    np.testing.assert_array_equal(found.to_scipy().toarray(), expected)
    assert found.names.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(graph.to_scipy().toarray()[0, 1], 1.0)  # as before


@pytest.mark.parametrize("make", [np.array, sp.csr_array])
def test_cells_are_replaced_in_a_copy(make):
    X = make([[1.0, 0.0], [0.0, 2.0]])
    found = with_cells(X, [(0, 1, 5.0), (1, 1, 0.0)])
    dense = found.toarray() if sp.issparse(found) else found
    assert dense.tolist() == [[1.0, 5.0], [0.0, 0.0]]
    assert X[1, 1] == 2.0


@pytest.mark.parametrize("make", [np.array, sp.csr_array, sp.csr_matrix])
def test_rows_are_replaced_in_a_copy(make):
    X = make([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]])
    found = with_rows(X, [0, 2], np.array([0.5, 0.0]))
    assert type(found) is type(X)
    dense = found.toarray() if sp.issparse(found) else found
    assert dense.tolist() == [[0.5, 0.0], [0.0, 2.0], [0.5, 0.0]]
    assert X[0, 0] == 1.0
