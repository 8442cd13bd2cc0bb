"""Polynomials of the adjacency."""

import numpy as np
import pytest

from labeltrick import (
    Iteration,
)
from tests import reference
from tests.support.graphs import random_graph


def tolerance(dtype):
    return 1e-10 if dtype == np.float64 else 2e-5


@pytest.mark.parametrize("norm", ["sym", "row", "col"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_clamped_iteration(norm, dtype):
    A, graph = random_graph(9)
    S = reference.normalized(A, norm)
    F = np.random.default_rng(0).normal(size=(graph.n_nodes, 4)).astype(dtype)
    for clamp in [(0.0, 1.0), (-0.2, 0.1), (0.0, None)]:
        P = Iteration(graph, 0.9, 8, norm=norm, clamp=clamp)
        expected = reference.iteration(S, 0.9, 8, F.astype(float), clamp)
        np.testing.assert_allclose(P @ F, expected, atol=tolerance(dtype))
    with pytest.raises(ValueError, match="clamped iteration is not linear"):
        P.T
