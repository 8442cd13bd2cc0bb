"""How good predictions are: scores by task, and whether probabilities mean what they say."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._check import as_numpy, check_count


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
        hit = rows.argmax(axis=1) == Y.argmax(axis=1)
        return float(np.average(hit, weights=weight))
    if task == "multilabel":
        return float(np.average(((rows > 0.5) == (Y > 0.5)).all(axis=1), weights=weight))
    error = np.average((Y - rows) ** 2, axis=0, weights=weight)
    spread = np.average((Y - np.average(Y, axis=0, weights=weight)) ** 2, axis=0, weights=weight)
    nothing = 1e-24 * np.average(Y**2, axis=0, weights=weight) + np.finfo(float).tiny
    flat = spread <= nothing  # all targets equal: right or not
    ratio = np.where(flat, error > nothing, error / np.where(flat, 1.0, spread))
    return float(np.mean(1 - ratio))


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
    place = np.minimum((confidence * n_bins).astype(np.int64), n_bins - 1)
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
