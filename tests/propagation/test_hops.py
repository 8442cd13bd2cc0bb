"""All hops at once."""

import numpy as np
import pytest

from labeltrick import (
    Hops,
)
from tests import reference
from tests.support.graphs import random_graph


def tolerance(dtype):
    return 1e-10 if dtype == np.float64 else 2e-5


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_hops_and_their_transpose(directed, dtype):
    A, graph = random_graph(3, directed=directed)
    S = reference.normalized(A, "row")
    F = np.random.default_rng(0).normal(size=(graph.n_nodes, 3)).astype(dtype)
    P = Hops(graph, 3, norm="row")
    np.testing.assert_allclose(P @ F, reference.hops(S, 3, F), atol=tolerance(dtype))
    G = np.random.default_rng(1).normal(size=(graph.n_nodes, 12)).astype(dtype)
    expected = sum(reference.power(S.T, k) @ G[:, 3 * k : 3 * k + 3] for k in range(4))
    np.testing.assert_allclose(P.T @ G, expected, atol=tolerance(dtype))
    with pytest.raises(ValueError, match=r"multiple of n_steps \+ 1 = 4 columns"):
        P.T @ G[:, :5]
