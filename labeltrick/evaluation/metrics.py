"""How good predictions are: scores by task, and whether probabilities mean what they say."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._utils.checks import as_numpy, check_choice, check_count

NAMES = {
    "accuracy": "more",
    "roc_auc": "more",
    "log_loss": "less",
    "subset_accuracy": "more",
    "rmse": "less",
    "mae": "less",
    "r2": "more",
}
"""Names of scores, and whether more or less is better."""


class ReliabilityBins(NamedTuple):
    """Mean confidence, share right and number of predictions, in bins of equal width."""

    confidence: np.ndarray
    accuracy: np.ndarray
    size: np.ndarray


def score(task: str, Y: np.ndarray, rows: np.ndarray, weight: np.ndarray | None = None) -> float:
    """Accuracy, R² of numbers (mean over targets); more is better. Of several labels a node, all
    must be right.

    ``Y`` is one-hot, indicators or values, ``rows`` the predicted rows in the same columns.
    """
    if task == "classification":
        # A class that nobody could know has a row of zeros: no prediction is right.
        hit = (rows.argmax(axis=1) == Y.argmax(axis=1)) & Y.any(axis=1)
        return float(np.average(hit, weights=weight))
    if task == "multilabel":
        return float(np.average(((rows > 0.5) == (Y > 0.5)).all(axis=1), weights=weight))
    error = np.average((Y - rows) ** 2, axis=0, weights=weight)
    spread = np.average((Y - np.average(Y, axis=0, weights=weight)) ** 2, axis=0, weights=weight)
    nothing = 1e-24 * np.average(Y**2, axis=0, weights=weight) + np.finfo(float).tiny
    flat = spread <= nothing  # all targets equal: right or not
    ratio = np.where(flat, error > nothing, error / np.where(flat, 1.0, spread))
    return float(np.mean(1 - ratio))


def measure(name: str, Y: np.ndarray, rows: np.ndarray) -> float:
    """A score by its name; see `NAMES`. Rows as for `score`.

    >>> measure("accuracy", np.eye(2), np.array([[0.8, 0.2], [0.6, 0.4]]))
    0.5
    """
    from sklearn.metrics import roc_auc_score

    check_choice("metric", name, NAMES)
    if name == "rmse":
        return float(np.sqrt(np.mean((Y - rows) ** 2)))
    if name == "r2":
        return score("regression", Y, rows)
    if name == "mae":
        return float(np.mean(np.abs(Y - rows)))
    if name == "accuracy":
        return score("classification", Y, rows)
    if name == "subset_accuracy":
        return score("multilabel", Y, rows)
    if name == "log_loss":
        return float(-np.mean(np.log(np.clip((rows * Y).sum(axis=1), 1e-12, 1.0))))
    known = np.ptp(Y, axis=0) > 0  # classes of which there are some, and not all
    if not known.any():
        return float("nan")
    if Y.shape[1] == 2 and known.all():
        return float(roc_auc_score(Y[:, 1], rows[:, 1]))
    return float(np.mean([roc_auc_score(Y[:, k], rows[:, k]) for k in np.flatnonzero(known)]))


def default_metric(task: str) -> str:
    """What a task is scored by where nobody says otherwise."""
    kinds = {"classification": "accuracy", "multilabel": "subset_accuracy", "regression": "rmse"}
    return kinds[task]


def metric_for(task: str, name: str | None) -> str:
    """The metric asked for, or the usual one; a `ValueError` if it is of another task.

    >>> metric_for("regression", None)
    'rmse'
    """
    numbers = ("rmse", "mae", "r2")
    classes = ("accuracy", "roc_auc", "log_loss", "subset_accuracy")
    fitting = numbers if task == "regression" else classes
    return default_metric(task) if name is None else check_choice("metric", name, fitting)


def better(name: str, a: float, b: float) -> bool:
    """Whether score ``a`` is better than ``b``."""
    return a < b if NAMES[name] == "less" else a > b


def reliability_bins(proba: Any, y: Any, n_bins: int = 15) -> ReliabilityBins:
    """Confidence against accuracy of the most probable class.

    Parameters
    ----------
    proba : (n, c) probabilities, one row a node.
    y : class numbers (columns of ``proba``), or indicators of shape (n, c) for several labels a
        node, where each entry is a prediction of its own.
    """
    rows, truth = as_numpy("proba", proba), as_numpy("y", y)
    n_bins = check_count("n_bins", n_bins, 1)
    if rows.ndim != 2 or len(rows) != len(truth):
        raise ValueError(
            f"`proba` must have one row for each of {len(truth)} labels; got shape {rows.shape}."
        )
    if truth.ndim == 2:
        confidence = np.maximum(rows, 1 - rows).ravel()
        right = ((rows > 0.5) == (truth > 0.5)).ravel()
    else:
        confidence, right = rows.max(axis=1), rows.argmax(axis=1) == truth
    # Shares such as 2/3 are ends of bins: their rounding must not choose the bin.
    place = np.minimum((np.round(confidence, 9) * n_bins).astype(np.int64), n_bins - 1)
    count = np.bincount(place, minlength=n_bins)
    share = np.maximum(count, 1)
    return ReliabilityBins(
        np.bincount(place, confidence, n_bins) / share,
        np.bincount(place, right, n_bins) / share,
        count,
    )


def expected_calibration_error(proba: Any, y: Any, n_bins: int = 15) -> float:
    """Mean distance of confidence and accuracy over bins of confidence; 0 is calibrated.

    >>> expected_calibration_error([[0.75, 0.25]] * 4, [0, 0, 0, 1])
    0.0
    >>> expected_calibration_error([[1.0, 0.0]] * 4, [0, 0, 0, 1])
    0.25
    """
    bins = reliability_bins(proba, y, n_bins)
    gaps = np.abs(bins.confidence - bins.accuracy)
    return float(np.average(gaps, weights=bins.size)) if bins.size.any() else 0.0
