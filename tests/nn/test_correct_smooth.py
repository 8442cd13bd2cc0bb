"""Correct and Smooth as a module, trained end to end."""

import numpy as np
import pytest

from tests import reference
from tests.support.correct_smooth import STEPS, dense, given, scale_of


def test_end_to_end_is_the_formula_and_its_gradient():
    torch = pytest.importorskip("torch")
    from labeltrick.nn.correct_smooth import CorrectSmoothNet

    graph, _, _, Y, train = given(5, n=12)
    rng = np.random.default_rng(5)
    X = torch.from_numpy(rng.normal(size=(12, 4)))
    in_mask = train & (np.arange(12) % 2 == 0)
    in_mask[0] = True
    for scale in ("auto", "mean", 1.5):
        net = CorrectSmoothNet(torch.nn.Linear(4, 3), 3, "softmax", scale).double()
        P_c, P_s = (step.linear(graph, tol=1e-13) for step in STEPS[0])
        mass = torch.ones(12, dtype=torch.float64)
        rest = (torch.from_numpy(Y), torch.from_numpy(in_mask), P_c, P_s, mass)
        base = net.base(X).softmax(dim=1).detach().numpy()
        residual = np.where(in_mask[:, None], Y - base, 0)
        gamma = scale_of(scale, residual, in_mask)
        if scale == "mean":
            received = dense(graph, STEPS[0][0]) @ in_mask.astype(float)

            def gamma(rows, received=received):
                some = received[:, None] > 1e-6
                return np.where(some, rows / np.maximum(received[:, None], 1e-6), 0)

        weights = (net.smooth_weight.detach().numpy(), net.correct_weight.detach().numpy())
        operators = [dense(graph, step) for step in STEPS[0]]
        expected = reference.trainable_correct_smooth(*operators, base, Y, in_mask, gamma, *weights)
        np.testing.assert_allclose(net(X, *rest).detach().numpy(), expected, atol=1e-9)

        names = [name for name, _ in net.named_parameters()]

        def run(*values, net=net, names=names, rest=rest):
            state = dict(zip(names, values, strict=True))
            return torch.func.functional_call(net, state, (X, *rest))

        values = tuple(value.detach().clone().requires_grad_() for value in net.parameters())
        assert torch.autograd.gradcheck(run, values, atol=1e-6)
