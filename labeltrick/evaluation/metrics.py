"""Scores for each task, and how well probabilities are calibrated.

Throughout, ``Y`` holds the truth as one-hot rows, indicators or values, and ``rows`` the
probabilities or values predicted for the same nodes, in the same columns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._utils.checks import as_numpy, check_choice, check_count
from .multilabel import label_scores, mean_defined

NAMES = {
    "accuracy": "more",
    "roc_auc": "more",
    "log_loss": "less",
    "subset_accuracy": "more",
    "average_precision": "more",
    "f1_macro": "more",
    "f1_micro": "more",
    "rmse": "less",
    "mae": "less",
    "r2": "more",
}
"""Names of scores, and whether more (higher) or less (lower) is better."""

_SCORE_OF = {"accuracy": "classification", "subset_accuracy": "multilabel", "r2": "regression"}


class ReliabilityBins(NamedTuple):
    """Reliability of predictions in bins of confidence of equal width.

    Parameters
    ----------
    confidence : ndarray of shape (n_bins,)
        Mean confidence in each bin; 0 in empty bins.
    accuracy : ndarray of shape (n_bins,)
        Share of correct predictions in each bin; 0 in empty bins.
    size : ndarray of shape (n_bins,)
        Number of predictions in each bin.

    See Also
    --------
    metrics.reliability_bins : Compare confidence with accuracy in bins.
    metrics.expected_calibration_error : Sum up the bins in one number.

    Examples
    --------
    >>> from labeltrick import metrics
    >>> bins = metrics.reliability_bins([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], [0, 1, 1], n_bins=2)
    >>> bins.size.tolist(), bins.confidence.round(2).tolist(), bins.accuracy.round(2).tolist()
    ([0, 3], [0.0, 0.8], [0.0, 0.67])
    """

    confidence: np.ndarray
    accuracy: np.ndarray
    size: np.ndarray


def score(task: str, Y: np.ndarray, rows: np.ndarray, weight: np.ndarray | None = None) -> float:
    """Accuracy, subset accuracy or R², depending on the task; higher is better.

    Parameters
    ----------
    task : {"classification", "multilabel", "regression"}
        With several labels per node, all of them must be correct. For regression, R² is averaged
        over the targets.
    Y : ndarray of shape (n, c)
        One-hot rows, indicators or values.
    rows : ndarray of shape (n, c)
        Predicted probabilities or values in the same columns.
    weight : ndarray of shape (n,), default=None
        Weight of each row.

    Returns
    -------
    score : float
        The weighted score.

    See Also
    --------
    metrics.measure : Compute a score by its name.
    metrics.default_metric : Name the default metric of a task.

    Examples
    --------
    >>> import numpy as np
    >>> from labeltrick import metrics
    >>> truth, probabilities = np.eye(2)[[0, 1, 1]], np.array([[0.9, 0.1], [0.4, 0.6], [0.7, 0.3]])
    >>> round(metrics.score("classification", truth, probabilities), 3)
    0.667
    """
    if task == "classification":
        # A class unknown to the fit has a row of zeros: no prediction is correct.
        hit = (rows.argmax(axis=1) == Y.argmax(axis=1)) & Y.any(axis=1)
        return float(np.average(hit, weights=weight))
    if task == "multilabel":
        return float(np.average(((rows > 0.5) == (Y > 0.5)).all(axis=1), weights=weight))
    error = np.average((Y - rows) ** 2, axis=0, weights=weight)
    spread = np.average((Y - np.average(Y, axis=0, weights=weight)) ** 2, axis=0, weights=weight)
    nothing = 1e-24 * np.average(Y**2, axis=0, weights=weight) + np.finfo(float).tiny
    flat = spread <= nothing  # all targets equal: 1 if predicted exactly, else 0
    ratio = np.where(flat, error > nothing, error / np.where(flat, 1.0, spread))
    return float(np.mean(1 - ratio))


def measure(name: str, Y: np.ndarray, rows: np.ndarray) -> float:
    """Compute a score by its name.

    Parameters
    ----------
    name : {"accuracy", "roc_auc", "log_loss", "subset_accuracy", "average_precision", \
            "f1_macro", "f1_micro", "rmse", "mae", "r2"}
        The score; ``metrics.NAMES`` lists which of them are better when lower. "roc_auc" is
        averaged over the columns that hold both values, and is NaN without any.
        "average_precision" and "f1_macro" are averaged over the labels for which they are defined.
    Y : ndarray of shape (n, c)
        One-hot rows, indicators or values.
    rows : ndarray of shape (n, c)
        Predicted probabilities or values in the same columns.

    Returns
    -------
    value : float
        The score.

    See Also
    --------
    metrics.score : The default score of a task.
    metrics.metric_for : Check a metric, or choose the default one.
    metrics.better : Compare two scores.

    Examples
    --------
    >>> measure("accuracy", np.eye(2), np.array([[0.8, 0.2], [0.6, 0.4]]))
    0.5
    """
    check_choice("metric", name, NAMES)
    if name == "rmse":
        return float(np.sqrt(np.mean((Y - rows) ** 2)))
    if name == "mae":
        return float(np.mean(np.abs(Y - rows)))
    if name in _SCORE_OF:
        return score(_SCORE_OF[name], Y, rows)
    if name == "log_loss":
        return float(-np.mean(np.log(np.clip((rows * Y).sum(axis=1), 1e-12, 1.0))))
    each = label_scores(Y, rows)
    if name == "average_precision":
        return mean_defined(each.average_precision)
    if name == "f1_macro":
        return mean_defined(each.f1)
    if name == "f1_micro":
        return float(label_scores(Y.reshape(-1, 1), rows.reshape(-1, 1)).f1[0])
    return mean_defined(each.roc_auc)  # of two classes, both have the same area


def default_metric(task: str) -> str:
    """Name of the default metric of a task.

    Parameters
    ----------
    task : {"classification", "multilabel", "regression"}
        The task.

    Returns
    -------
    name : str
        "accuracy", "subset_accuracy" or "rmse".

    See Also
    --------
    metrics.metric_for : Check a metric, or choose the default one.
    metrics.measure : Compute a score by its name.

    Examples
    --------
    >>> from labeltrick import metrics
    >>> metrics.default_metric("regression")
    'rmse'
    """
    names = {"classification": "accuracy", "multilabel": "subset_accuracy", "regression": "rmse"}
    return names[task]


def metric_for(task: str, name: str | None) -> str:
    """Check that a metric suits a task, or choose the default one.

    Parameters
    ----------
    task : {"classification", "multilabel", "regression"}
        The task.
    name : str or None
        A name from ``metrics.NAMES``; None means the default metric of the task.

    Returns
    -------
    name : str
        The name of the metric. A metric of another task raises a `ValueError`.

    See Also
    --------
    metrics.default_metric : Name the default metric of a task.
    metrics.measure : Compute a score by its name.

    Examples
    --------
    >>> metric_for("regression", None)
    'rmse'
    """
    fitting = {
        "classification": ("accuracy", "roc_auc", "log_loss"),
        "multilabel": ("subset_accuracy", "roc_auc", "average_precision", "f1_macro", "f1_micro"),
        "regression": ("rmse", "mae", "r2"),
    }[task]
    return default_metric(task) if name is None else check_choice("metric", name, fitting)


def better(name: str, a: float, b: float) -> bool:
    """Whether one score is better than another.

    Parameters
    ----------
    name : str
        A name from ``metrics.NAMES``.
    a : float
        The score in question.
    b : float
        The score it is compared with.

    Returns
    -------
    better : bool
        Whether ``a`` is strictly better than ``b``.

    See Also
    --------
    metrics.measure : Compute a score by its name.
    metrics.default_metric : Name the default metric of a task.

    Examples
    --------
    >>> from labeltrick import metrics
    >>> metrics.better("accuracy", 0.9, 0.8), metrics.better("rmse", 0.9, 0.8)
    (True, False)
    """
    return a < b if NAMES[name] == "less" else a > b


def reliability_bins(proba: Any, y: Any, n_bins: int = 15) -> ReliabilityBins:
    """Compare confidence with accuracy in bins of confidence.

    Parameters
    ----------
    proba : array-like of shape (n, c)
        Probabilities, one row per node.
    y : array-like of shape (n,) or (n, c)
        Class numbers (columns of ``proba``), or indicators if nodes have several labels; each
        indicator then counts as one prediction.
    n_bins : int, default=15
        Number of bins of equal width.

    Returns
    -------
    bins : ReliabilityBins
        Mean confidence, accuracy and size of each bin.

    See Also
    --------
    metrics.expected_calibration_error : Sum up the bins in one number.
    Calibration : Temperature scaling of probabilities.

    Examples
    --------
    >>> from labeltrick import metrics
    >>> proba = [[0.95, 0.05], [0.9, 0.1], [0.4, 0.6]]
    >>> bins = metrics.reliability_bins(proba, [0, 0, 0], n_bins=10)
    >>> bins.size.tolist()
    [0, 0, 0, 0, 0, 0, 1, 0, 0, 2]
    >>> bins.accuracy.tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
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
    # Shares such as 2/3 lie on edges of bins: rounding must not choose the bin.
    place = np.minimum((np.round(confidence, 9) * n_bins).astype(np.int64), n_bins - 1)
    count = np.bincount(place, minlength=n_bins)
    share = np.maximum(count, 1)
    return ReliabilityBins(
        np.bincount(place, confidence, n_bins) / share,
        np.bincount(place, right, n_bins) / share,
        count,
    )


def expected_calibration_error(proba: Any, y: Any, n_bins: int = 15) -> float:
    """Mean distance between confidence and accuracy over bins of confidence; 0 is calibrated.

    Parameters
    ----------
    proba : array-like of shape (n, c)
        Probabilities, one row per node.
    y : array-like of shape (n,) or (n, c)
        Class numbers (columns of ``proba``), or indicators if nodes have several labels.
    n_bins : int, default=15
        Number of bins of equal width.

    Returns
    -------
    error : float
        The distance, weighted by the size of the bins.

    See Also
    --------
    metrics.reliability_bins : Compare confidence with accuracy in bins.
    Calibration : Temperature scaling of probabilities.

    Examples
    --------
    >>> expected_calibration_error([[0.75, 0.25]] * 4, [0, 0, 0, 1])
    0.0
    >>> expected_calibration_error([[1.0, 0.0]] * 4, [0, 0, 0, 1])
    0.25
    """
    bins = reliability_bins(proba, y, n_bins)
    gaps = np.abs(bins.confidence - bins.accuracy)
    return float(np.average(gaps, weights=bins.size)) if bins.size.any() else 0.0
