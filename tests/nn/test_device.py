"""Propagation by torch's own products."""

import numpy as np
import pytest

from labeltrick import (
    Hops,
    HopSum,
    Iteration,
    Power,
    Resolvent,
    Unfolded,
)
from tests.support.graphs import random_graph

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from labeltrick.nn.device import applied_on_device  # noqa: E402


# -- propagation by torch's products --------------------------------------------------------------
@pytest.mark.parametrize(
    "kind",
    [
        lambda g: Power(g, 3, norm="row"),
        lambda g: HopSum(g, 3, self_loops=True),
        lambda g: Iteration(g, 0.7, 5),
        lambda g: Resolvent(g, 0.6, tol=1e-12),
        lambda g: Hops(g, 3),
        lambda g: Unfolded(g, 3),
        lambda g: Unfolded(g, 3, precondition=False),
    ],
    ids=["power", "sum", "iteration", "resolvent", "hops", "unfolded", "plain unfolded"],
)
def test_the_path_of_a_gpu_gives_the_same(kind):
    """The path is taken by CUDA tensors; its arithmetic can be checked anywhere."""
    _, graph = random_graph(2, n=20, n_edges=50, weighted=True)
    P = kind(graph)
    F = torch.randn(20, 3, dtype=torch.float64)
    result = applied_on_device(P, F)
    np.testing.assert_allclose(result.numpy(), P @ F.numpy(), atol=1e-10)
    back = torch.randn_like(result)
    found = applied_on_device(P.T, back)
    np.testing.assert_allclose(found.numpy(), P.T @ back.numpy(), atol=1e-10)
