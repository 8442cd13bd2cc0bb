"""Epochs of training."""

import math

import pytest

from labeltrick._utils.progress import ProgressBar

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")
from torch import nn  # noqa: E402

from labeltrick.nn.epochs import EpochScore, Stopping, run_epochs  # noqa: E402


# -- epochs ---------------------------------------------------------------------------------------
def epochs(losses, scores, **options):
    model = nn.Linear(1, 1, bias=False)
    states = iter(range(1, 100))

    def run_epoch():
        epoch = next(states)
        with torch.no_grad():
            model.weight.fill_(epoch)
        return losses[epoch - 1]

    ranks = iter(scores or [])

    def validate():
        score = next(ranks)
        return EpochScore(score, (score,))

    with ProgressBar(10, "test", False) as bar:
        stopping = Stopping(**{"max_epochs": 10, "patience": 3, "ceiling": 100.0, **options})
        training = run_epochs(model, run_epoch, validate if scores else None, stopping, bar)
    return training, float(model.weight)


def test_the_best_epoch_is_kept_and_patience_ends():
    training, weight = epochs([1.0] * 10, [1, 5, 2, 3, 4, 9, 9, 9, 9, 9])
    assert (training.best_epoch, weight, len(training.history)) == (2, 2.0, 5)
    training, weight = epochs([1.0] * 10, None)
    assert (training.best_epoch, weight, len(training.history)) == (10, 10.0, 10)


def test_some_epochs_need_no_score():
    training, weight = epochs([1.0] * 10, [1, 5, 2, 3], validate_every=2, patience=4)
    assert (training.best_epoch, weight, len(training.history)) == (4, 4.0, 8)
    assert [epoch for epoch, _, score in training.history if math.isnan(score)] == [1, 3, 5, 7]
    training, weight = epochs([1.0] * 3, [1, 5], validate_every=2, max_epochs=3)
    assert (training.best_epoch, weight) == (3, 3.0)  # the last one always is


@pytest.mark.parametrize("bad", [math.nan, math.inf, 101.0])
def test_a_loss_that_runs_away_stops(bad):
    training, weight = epochs([1.0, 1.0, bad] + [1.0] * 7, [3, 2, 9, 9, 9, 9, 9, 9, 9, 9])
    assert (training.diverged_at, training.best_epoch, weight) == (3, 1, 1.0)
    assert (
        epochs([101.0] + [1.0] * 9, None)[0].diverged_at is None
    )  # a bad start is no running away
