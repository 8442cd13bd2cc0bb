"""Shares of the blend by the metric that is asked for."""

import numpy as np
import pytest

from labeltrick.evaluation import metrics
from labeltrick.models.auto import choosing
from labeltrick.models.auto.blend import choose_shares, mixed, possible_shares
from labeltrick.models.auto.by_metric import shares_by_metric
from tests.support.auto import quick
from tests.support.graphs import blocks

N = 600


def rare_class(seed=0):
    """One learner ranks well and is too sure, the other knows only how rare the class is."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(N) < 0.1).astype(int)
    score = 2.0 * truth + rng.normal(size=N)
    ranking = 0.02 + 0.96 / (1 + np.exp(-4 * (score - 0.5)))
    constant = 0.1 + 0.001 * rng.normal(size=N)
    rows = [np.column_stack([1 - p, p]) for p in (ranking, constant)]
    return rows, np.eye(2)[truth]


def shares_for(metric, rows, Y, keys=None):
    by_loss = choose_shares(rows, Y, np.ones(len(Y)), "classification", keys)
    return by_loss, shares_by_metric(metric, by_loss, possible_shares(len(rows)), rows, Y, keys)


@pytest.mark.parametrize("metric", ["average_precision", "f1_macro"])
def test_the_metric_chooses_where_it_clearly_prefers_other_shares(metric):
    rows, Y = rare_class()
    by_loss, found = shares_for(metric, rows, Y)
    better = metrics.measure(metric, Y, mixed(rows, found))
    assert better >= metrics.measure(metric, Y, mixed(rows, by_loss))
    if metric == "f1_macro":  # half of a rank and half of a constant never exceed one half
        assert found != by_loss
        assert found[0] > by_loss[0]


@pytest.mark.parametrize("metric", ["log_loss", "accuracy", "rmse", "r2"])
def test_the_loss_is_enough_for_what_it_measures(metric):
    rows, Y = rare_class()
    by_loss, found = shares_for(metric, rows, Y)
    assert found == by_loss


def test_a_gain_by_chance_does_not_count():
    changed = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        Y = np.eye(2)[rng.integers(0, 2, 60)]
        rows = [p / p.sum(axis=1, keepdims=True) for p in rng.random((3, 60, 2)) + 0.5]
        by_loss, found = shares_for("roc_auc", rows, Y)
        changed.append(found != by_loss)
    assert np.mean(changed) < 0.5


def test_an_error_is_made_small():
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(N, 1))
    # Few gross errors count for the squared error and hardly for the absolute one.
    gross = Y + np.where(rng.random((N, 1)) < 0.03, 12.0, 0.05)
    rows = [gross, Y + rng.normal(size=(N, 1))]
    by_loss = choose_shares(rows, Y, np.ones(N), "regression")
    found = shares_by_metric("mae", by_loss, possible_shares(2), rows, Y, None)
    assert found[0] > by_loss[0]


def test_the_order_of_the_rows_does_not_matter():
    rows, Y = rare_class(3)
    keys = np.random.default_rng(1).permutation(N).astype(np.uint64)
    order = np.random.default_rng(2).permutation(N)
    found = shares_for("f1_macro", rows, Y, keys)
    again = shares_for("f1_macro", [part[order] for part in rows], Y[order], keys[order])
    assert found == again


def test_a_metric_without_a_value_leaves_the_loss_to_choose():
    rows, _ = rare_class()
    one_class = np.eye(2)[np.zeros(N, int)]
    by_loss, found = shares_for("roc_auc", rows, one_class)
    assert found == by_loss


def test_a_model_asks_its_metric(monkeypatch):
    asked = []

    def note(metric, by_loss, *more):
        asked.append(metric)
        return by_loss

    monkeypatch.setattr(choosing, "shares_by_metric", note)
    graph, X, _, y = blocks(3, n=90)
    quick(learners=["linear"]).fit(X, y, graph=graph)
    assert not asked  # the loss decides
    quick(learners=["linear"], metric="f1_macro").fit(X, y, graph=graph)
    assert set(asked) == {"f1_macro"}
