"""Pieces of training: dropout, averaged weights, batches."""

import copy

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from labeltrick.nn.dropout import Dropout, drop  # noqa: E402
from labeltrick.nn.mlp import MLP  # noqa: E402
from labeltrick.nn.training import RunningAverage, n_batches  # noqa: E402


@pytest.mark.parametrize("share", [0.1, 0.5, 0.93])
def test_dropout_drops_the_share_and_keeps_the_mean(share):
    torch.manual_seed(0)
    x = torch.ones(401, 501)  # no multiple of four
    found = drop(x, share)
    n = x.numel()
    assert abs(float((found == 0).float().mean()) - share) < 5 * np.sqrt(share * (1 - share) / n)
    assert float(found.max()) == pytest.approx(1 / (1 - share), rel=2e-4)
    assert set(np.unique(found)) == {0.0, float(found.max())}
    # Decisions that share a random number are no more alike than others.
    kept = (found.flatten()[: n - 1] > 0).double()
    pairs = torch.corrcoef(torch.stack([kept[:-1], kept[1:]]))
    assert abs(float(pairs[0, 1])) < 5 / np.sqrt(n)


def test_dropout_passes_gradients_where_it_passes_values():
    torch.manual_seed(1)
    x = torch.randn(64, 32, dtype=torch.float64, requires_grad=True)
    found = drop(x, 0.3)
    found.sum().backward()
    torch.testing.assert_close(found, x * x.grad)


def test_dropout_at_its_ends():
    x = torch.randn(10, 3)
    assert torch.equal(drop(x, 0.0), x)
    assert torch.equal(drop(x, 1.0), torch.zeros(10, 3))
    assert drop(x[:0], 0.5).shape == (0, 3)
    assert torch.equal(Dropout(0.5).eval()(x), x)
    torch.manual_seed(2)
    first = Dropout(0.5)(x)
    torch.manual_seed(2)
    assert torch.equal(Dropout(0.5)(x), first)


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


def test_batches():
    assert n_batches(100, None) == 3
    assert n_batches(10_000, None) == 20
    assert n_batches(1_000_000, None) == round(1_000_000 / 1024)
    assert n_batches(3, None) == 1
    assert n_batches(100, 1) == 50
