"""Batches of training, and averaged weights."""

import copy

import pytest

torch = pytest.importorskip("torch")

from labeltrick.nn.mlp import MLP  # noqa: E402
from labeltrick.nn.training import RunningAverage, n_batches  # noqa: E402


def test_batches():
    assert n_batches(100, None) == 3
    assert n_batches(10_000, None) == 20
    assert n_batches(1_000_000, None) == round(1_000_000 / 1024)
    assert n_batches(3, None) == 1
    assert n_batches(100, 1) == 50


def test_averaged_weights_are_the_weighted_sum_of_those_passed():
    average, learner = MLP(3, 2, hidden=4), MLP(3, 2, hidden=4)
    expected = {name: value.clone() for name, value in average.state_dict().items()}
    horizon = 5
    running = RunningAverage(average, learner, horizon)
    for step in range(1, 60):
        with torch.no_grad():
            for value in learner.parameters():
                value += torch.randn_like(value)
        learner.train()(torch.randn(6, 3))  # moves the running statistics
        running.follow()
        share = max(1 / horizon, 9 / (10 + step))
        for name, value in learner.state_dict().items():
            if value.is_floating_point():
                expected[name] = (1 - share) * expected[name] + share * value
            else:
                expected[name] = value.clone()
    found = average.state_dict()
    for name, value in expected.items():
        torch.testing.assert_close(found[name], value)


def test_averaged_weights_of_a_network_at_rest_are_its_own():
    learner = MLP(3, 2)
    average = copy.deepcopy(learner)
    RunningAverage(average, learner, 10).follow()
    for value, same in zip(average.parameters(), learner.parameters(), strict=True):
        torch.testing.assert_close(value, same)
