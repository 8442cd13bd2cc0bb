import numpy as np
import pytest

from labeltrick import Hops, Iteration, Power, Resolvent, Unfolded
from labeltrick import self_excluded_form as dense_form
from tests.support.graphs import random_graph

torch = pytest.importorskip("torch")
from labeltrick.nn import propagate, self_excluded_form  # noqa: E402

KINDS = {
    "resolvent": lambda g: Resolvent(g, 0.6, tol=1e-13),
    "iteration": lambda g: Iteration(g, 0.7, 4, norm="row", self_loops=True),
    "power": lambda g: Power(g, 2, norm="col"),
    "hops": lambda g: Hops(g, 2),
    "unfolded": lambda g: Unfolded(g, 3, smoothness=1.5),
}


def tensor(seed, *shape):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).requires_grad_()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("directed", [False, True])
def test_value_and_gradient(kind, directed):
    if kind == "unfolded" and directed:
        pytest.skip("Unfolded has no energy on a directed graph")
    _, graph = random_graph(0, n=10, n_edges=20, directed=directed)
    P = KINDS[kind](graph)
    F = tensor(0, 10, 2)
    np.testing.assert_allclose(propagate(P, F).detach().numpy(), P @ F.detach().numpy())
    assert torch.autograd.gradcheck(lambda F: propagate(P, F), (F,))
    assert torch.autograd.gradgradcheck(lambda F: propagate(P, F) ** 2, (F,))


@pytest.mark.parametrize("kind", ["power", "hops", "unfolded"])
def test_self_excluded_form(kind):
    _, graph = random_graph(1, n=10, n_edges=20)
    P = KINDS[kind](graph)
    C = P.self_weight()
    known, blank = tensor(0, 10, 3), tensor(1, 10, 3)
    found = self_excluded_form(P, known, blank, C)
    expected = dense_form(P, known.detach().numpy(), blank.detach().numpy(), C)
    np.testing.assert_allclose(found.detach().numpy(), expected, atol=1e-12)
    assert torch.autograd.gradcheck(lambda a, b: self_excluded_form(P, a, b, C), (known, blank))
    torch.testing.assert_close(self_excluded_form(P, known, blank, C.value), found)


def test_dtype_is_kept():
    _, graph = random_graph(1)
    F = torch.ones(graph.n_nodes, 2, dtype=torch.float32)
    assert propagate(Power(graph, 1), F).dtype == torch.float32


def test_bad_input():
    _, graph = random_graph(1)
    P = Power(graph, 1)
    n = graph.n_nodes
    with pytest.raises(TypeError, match="`F` must be a torch tensor; got ndarray"):
        propagate(P, np.ones(n))
    with pytest.raises(TypeError, match="`F` must be float32 or float64; got torch.int64"):
        propagate(P, torch.ones(n, dtype=torch.int64))
    with pytest.raises(TypeError, match="`P` must be a Propagation; got ndarray"):
        propagate(np.eye(n), torch.ones(n))
    with pytest.raises(ValueError, match="must have the same shape"):
        self_excluded_form(P, torch.ones(n, 2), torch.ones(n, 3), P.self_weight())
    with pytest.raises(ValueError, match="Compute it for all nodes"):
        self_excluded_form(P, torch.ones(n, 2), torch.ones(n, 2), P.self_weight([0]))
