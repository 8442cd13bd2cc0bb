"""Rounds of boosting: gradients through the graph."""

import numpy as np
import pytest

from labeltrick.models.base.weights import apply_link
from labeltrick.models.boosting.rounds import BoostProblem, Steps, StepWeights, link_gradient
from tests.support.graphs import random_graph


# -- through the graph -------------------------------------------------------------------------
@pytest.mark.parametrize("link", ["identity", "softmax", "sigmoid"])
def test_gradient_through_both_propagations(link):
    _, graph = random_graph(0, n=20, n_edges=50)
    rng = np.random.default_rng(0)
    Y = np.eye(3)[rng.integers(0, 3, 20)] if link != "identity" else rng.normal(size=(20, 3))
    labeled = rng.random(20) < 0.7
    in_mask = labeled & (rng.random(20) < 0.5)
    steps = Steps(graph, 0.7, 0.4, tol=1e-12)
    Y = np.where(labeled[:, None], Y, 0)
    problem = BoostProblem(steps, Y, np.ones(20), labeled, None, link, 0.5)
    weights = StepWeights(
        np.eye(3) + 0.2 * rng.normal(size=(3, 3)), np.eye(3) + 0.1 * rng.normal(size=(3, 3))
    )
    F = rng.normal(size=(20, 3))
    n_out = int((labeled & ~in_mask).sum())
    _, gradient, by_weights = problem.gradient(F, weights, in_mask)

    def total(F, weights):
        return n_out * problem.gradient(F, weights, in_mask)[0]

    for row, column in [(0, 0), (3, 2), (11, 1), (17, 0), (19, 2)]:
        step = np.zeros_like(F)
        step[row, column] = 1e-5
        slope = (total(F + step, weights) - total(F - step, weights)) / 2e-5
        assert gradient[row, column] == pytest.approx(slope, abs=1e-5)
    step = np.zeros((3, 3))
    step[1, 2] = 1e-5
    up = StepWeights(weights.smooth, weights.correct + step)
    down = StepWeights(weights.smooth, weights.correct - step)
    slope = (total(F, up) - total(F, down)) / 2e-5
    assert n_out * by_weights.correct[1, 2] == pytest.approx(slope, abs=1e-5)


def test_identity_weights_are_plain_correct_and_smooth():
    from labeltrick import CorrectAndSmooth, Spread

    _, graph = random_graph(1, n=40, n_edges=100)
    rng = np.random.default_rng(1)
    truth, base = rng.normal(size=(2, 40))
    y = np.where(rng.random(40) < 0.5, truth, np.nan)
    steps = [Spread(lam, None, norm="row", clamp=False) for lam in (0.8, 0.3)]
    plain = CorrectAndSmooth(
        base, correct=steps[0], smooth=steps[1], scale="mean", task="regression"
    ).fit(None, y, graph=graph)
    known = ~np.isnan(y)
    views = Steps(graph, 0.8, 0.3, tol=1e-10).forward(
        base[:, None], np.where(known, y, 0)[:, None], known
    )
    found = StepWeights.identity(1, 1.0).scores(views)[:, 0]
    np.testing.assert_allclose(found, plain.predict(), atol=1e-5)


def test_links_have_their_gradients():
    rng = np.random.default_rng(0)
    F, G = rng.normal(size=(2, 5, 3))
    for link in ("identity", "softmax", "sigmoid"):
        found = link_gradient(apply_link(F, link), G, link)
        step = np.zeros_like(F)
        step[2, 1] = 1e-6
        slope = np.sum(G * (apply_link(F + step, link) - apply_link(F - step, link))) / 2e-6
        assert found[2, 1] == pytest.approx(slope, abs=1e-6)
