"""Scores of each label."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from labeltrick.evaluation.metrics import measure, metric_for
from labeltrick.evaluation.multilabel import averages, label_scores


def cases(seed, n=60, c=4):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, c)) < 0.4).astype(float)
    rows = np.round(0.5 * Y + 0.5 * rng.random((n, c)), rng.integers(1, 4))  # with ties
    return Y, rows


@given(st.integers(0, 10_000))
def test_scores_are_those_of_scikit_learn(seed):
    Y, rows = cases(seed)
    found = label_scores(Y, rows)
    for k in range(Y.shape[1]):
        if 0 < Y[:, k].sum() < len(Y):
            assert found.roc_auc[k] == pytest.approx(roc_auc_score(Y[:, k], rows[:, k]))
            wanted = average_precision_score(Y[:, k], rows[:, k])
            assert found.average_precision[k] == pytest.approx(wanted)
            assert found.f1[k] == pytest.approx(f1_score(Y[:, k], rows[:, k] > 0.5))
    assert found.positives.tolist() == Y.sum(axis=0).tolist()


def test_averages_are_those_of_scikit_learn():
    Y, rows = cases(0)
    found = averages(Y, rows)
    for kind in ("macro", "micro"):
        assert found[f"roc_auc_{kind}"] == pytest.approx(roc_auc_score(Y, rows, average=kind))
        wanted = average_precision_score(Y, rows, average=kind)
        assert found[f"average_precision_{kind}"] == pytest.approx(wanted)
        wanted = f1_score(Y, rows > 0.5, average=kind)
        assert found[f"f1_{kind}"] == measure(f"f1_{kind}", Y, rows) == pytest.approx(wanted)
    assert measure("average_precision", Y, rows) == found["average_precision_macro"]


def test_labels_without_a_score_are_left_out_of_averages():
    Y, rows = cases(1)
    some = label_scores(Y, rows)
    wider = np.column_stack([Y, np.zeros(len(Y))]), np.column_stack([rows, np.zeros(len(Y))])
    found = label_scores(*wider)
    assert np.isnan([found.roc_auc[-1], found.average_precision[-1], found.f1[-1]]).all()
    assert averages(*wider)["f1_macro"] == pytest.approx(some.f1.mean())
    assert np.isnan(measure("roc_auc", np.zeros((3, 1)), np.zeros((3, 1))))


def test_two_labels_are_both_scored():
    Y = np.array([[1.0, 0], [0, 0], [1, 1], [0, 1]])
    rows = np.array([[0.1, 0.2], [0.9, 0.1], [0.2, 0.8], [0.8, 0.9]])
    assert measure("roc_auc", Y, rows) == 0.5  # the first label is always wrong


def test_metrics_of_other_tasks_are_refused():
    assert metric_for("multilabel", "f1_macro") == "f1_macro"
    for task, name in (("multilabel", "accuracy"), ("classification", "f1_macro")):
        with pytest.raises(ValueError, match="`metric` must be one of"):
            metric_for(task, name)
