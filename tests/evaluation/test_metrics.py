"""Metrics."""

import numpy as np
import pytest

from labeltrick.evaluation import metrics


def test_a_class_that_no_training_label_has_is_never_right():
    nobody = np.zeros((1, 2))
    assert metrics.measure("accuracy", nobody, np.array([[0.9, 0.1]])) == 0
    assert np.isfinite(metrics.measure("log_loss", nobody, np.array([[0.9, 0.1]])))


def test_metrics():
    Y, rows = np.eye(2)[[0, 1, 1, 0]], np.eye(2)[[0, 1, 0, 0]]
    assert metrics.score("classification", Y, rows) == 0.75
    assert metrics.score("classification", Y, rows, np.array([1, 1, 0, 1.0])) == 1.0
    assert metrics.score("multilabel", Y, rows) == 0.75
    assert metrics.score("regression", np.array([[1.0], [3.0]]), np.array([[2.0], [2.0]])) == 0.0
    bins = metrics.reliability_bins([[0.9, 0.1], [0.2, 0.8]], [0, 0], n_bins=10)
    assert bins.size.sum() == 2
    with pytest.raises(ValueError, match="`proba` must have one row for each of 3 labels"):
        metrics.expected_calibration_error([[1.0]], [0, 0, 0])
