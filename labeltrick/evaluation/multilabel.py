"""Scores of each label where nodes have several."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class LabelScores(NamedTuple):
    """Scores of each label; NaN where a score is not defined.

    Parameters
    ----------
    positives : ndarray of shape (c,)
        Number of nodes that have the label.
    roc_auc : ndarray of shape (c,)
        Area under the ROC curve; not defined if all nodes or no nodes have the label.
    average_precision : ndarray of shape (c,)
        Average precision; not defined if no node has the label.
    f1 : ndarray of shape (c,)
        F1 of predictions above 0.5; not defined if the label is neither true nor predicted.
    """

    positives: np.ndarray
    roc_auc: np.ndarray
    average_precision: np.ndarray
    f1: np.ndarray


def label_scores(Y: np.ndarray, rows: np.ndarray) -> LabelScores:
    """Score each label by itself.

    Parameters
    ----------
    Y : ndarray of shape (n, c)
        Indicators: 1 where a node has a label, 0 where it does not.
    rows : ndarray of shape (n, c)
        Predicted probabilities in the same columns.

    Returns
    -------
    scores : LabelScores
        One value per label and score.

    Examples
    --------
    >>> Y, rows = np.array([[1, 0], [0, 0], [1, 0]]), np.array([[0.9, 0], [0.2, 0], [0.4, 0]])
    >>> scores = label_scores(Y, rows)
    >>> scores.roc_auc.tolist(), scores.f1.round(3).tolist()
    ([1.0, nan], [0.667, nan])
    """
    truth = np.asarray(Y) > 0.5
    precision = [_average_precision(truth[:, k], rows[:, k]) for k in range(truth.shape[1])]
    return LabelScores(
        truth.sum(axis=0), _roc_auc(truth, rows), np.array(precision, float), _f1(truth, rows)
    )


def averages(Y: np.ndarray, rows: np.ndarray) -> dict[str, float]:
    """Average the scores of all labels.

    Parameters
    ----------
    Y : ndarray of shape (n, c)
        Indicators.
    rows : ndarray of shape (n, c)
        Predicted probabilities in the same columns.

    Returns
    -------
    averages : dict of str to float
        "macro" is the mean over the labels whose score is defined, each with the same weight.
        "micro" treats each pair of a node and a label as one prediction.
    """
    each = label_scores(Y, rows)
    all_pairs = label_scores(np.reshape(Y, (-1, 1)), np.reshape(rows, (-1, 1)))
    found = {}
    for name in ("roc_auc", "average_precision", "f1"):
        found[f"{name}_macro"] = mean_defined(getattr(each, name))
        found[f"{name}_micro"] = float(getattr(all_pairs, name)[0])
    return found


def mean_defined(values: np.ndarray) -> float:
    """The mean of the values that are not NaN; NaN if there are none.

    Parameters
    ----------
    values : ndarray of float
        The values.

    Returns
    -------
    mean : float
        Their mean.
    """
    there = values[~np.isnan(values)]
    return float(there.mean()) if len(there) else float("nan")


def _roc_auc(truth: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Mann and Whitney's statistic of each column; ties count half."""
    from scipy.stats import rankdata

    n_true = truth.sum(axis=0).astype(float)
    pairs = n_true * (len(truth) - n_true)
    ranks = np.where(truth, rankdata(rows, axis=0), 0.0).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(pairs > 0, (ranks - n_true * (n_true + 1) / 2) / pairs, np.nan)


def _average_precision(truth: np.ndarray, score: np.ndarray) -> float:
    """Sum of precision times gain in recall over all thresholds; equal scores share one."""
    if not truth.any():
        return float("nan")
    order = np.argsort(-score, kind="stable")
    last = np.append(np.flatnonzero(np.diff(score[order])), len(score) - 1)
    hits = np.cumsum(truth[order])[last]
    return float(np.sum(np.diff(hits, prepend=0) * hits / (last + 1)) / truth.sum())


def _f1(truth: np.ndarray, rows: np.ndarray) -> np.ndarray:
    said = rows > 0.5
    total = truth.sum(axis=0) + said.sum(axis=0)
    both = (truth & said).sum(axis=0)
    return np.where(total > 0, 2 * both / np.maximum(total, 1), np.nan)
