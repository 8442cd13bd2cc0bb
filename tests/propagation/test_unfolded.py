"""Unfolded gradient steps."""

import numpy as np
import pytest

from labeltrick import (
    Graph,
    Unfolded,
)
from tests import reference
from tests.support.graphs import random_graph


@pytest.mark.parametrize("precondition", [False, True])
@pytest.mark.parametrize("smoothness", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("self_loops", [False, True])
def test_unfolded_matches_the_gradient_steps(precondition, smoothness, self_loops):
    A, graph = random_graph(5)
    A = reference.with_self_loops(A) if self_loops else A
    F = np.random.default_rng(0).normal(size=(graph.n_nodes, 3))
    for step_size in (None, 0.3):
        P = Unfolded(
            graph,
            4,
            smoothness=smoothness,
            step_size=step_size,
            precondition=precondition,
            self_loops=self_loops,
        )
        dense = reference.unfolded(
            A, smoothness, 4, np.eye(len(A)), step_size, precondition=precondition
        )
        np.testing.assert_allclose(P @ F, dense @ F, atol=1e-12)
        np.testing.assert_allclose(P.T @ F, dense.T @ F, atol=1e-12)
        np.testing.assert_allclose(P.T.T @ F, dense @ F, atol=1e-12)


def test_unfolded_coefficients_and_bad_input():
    A, graph = random_graph(5)
    S = reference.normalized(reference.with_self_loops(A), "sym")
    P = Unfolded(graph, 3, smoothness=0.4, precondition=False)
    dense = sum(c * reference.power(S, k) for k, c in enumerate(P.coefficients()))
    np.testing.assert_allclose(dense, P @ np.eye(len(A)), atol=1e-12)
    row_wise = Unfolded(graph, 3, norm="row", precondition=False)
    np.testing.assert_allclose(row_wise.T @ np.eye(len(A)), (row_wise @ np.eye(len(A))).T)
    assert row_wise.recipe().parameters["norm"] == "row"
    with pytest.raises(ValueError, match="must be undirected for Unfolded"):
        Unfolded(random_graph(0, directed=True)[1])
    light = Graph.from_edges([0], [1], weight=[0.1])
    with pytest.raises(ValueError, match="`smoothness` must keep .* at node 0"):
        Unfolded(light, smoothness=2.0, self_loops=False)
