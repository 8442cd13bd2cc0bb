import numpy as np
import pytest
from scipy.optimize import minimize

from labeltrick.models.base.convex import CrossEntropy, minimize_cross_entropy


@pytest.mark.parametrize("link", ["softmax", "sigmoid"])
def test_convex_fit_reaches_the_minimum(link):
    rng = np.random.default_rng(0)
    Z = rng.random((200, 4))
    Y = np.eye(3)[rng.integers(0, 3, 200)]
    weight = rng.uniform(0.5, 2, 200)
    start = rng.normal(size=(4, 3))
    problem = CrossEntropy(Z, Y, weight, start, 0.3, link)
    fit = minimize_cross_entropy(problem, start, tol=1e-10)
    assert fit.converged

    def dense(w):
        W = w.reshape(4, 3)
        scores = Z @ W
        if link == "softmax":
            each = np.log(np.exp(scores).sum(axis=1)) - (scores * Y).sum(axis=1)
        else:
            each = (np.log1p(np.exp(scores)) - scores * Y).sum(axis=1)
        return weight @ each + 0.15 * np.sum((W - start) ** 2)

    best = minimize(dense, start.ravel(), method="BFGS", options={"gtol": 1e-6})
    assert dense(fit.weights.ravel()) <= best.fun * (1 + 1e-8)
    np.testing.assert_allclose(fit.weights, best.x.reshape(4, 3), atol=1e-3)
    loss, gradient = problem(start)
    for i, j in ((0, 0), (2, 1)):
        moved = start.copy()
        moved[i, j] += 1e-6
        assert (problem(moved)[0] - loss) / 1e-6 == pytest.approx(gradient[i, j], abs=1e-3)
