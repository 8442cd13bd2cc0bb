"""Folds of the labeled nodes: how they are drawn, and predictions of each fold by the others."""

from __future__ import annotations

import heapq
from collections.abc import Callable

import numpy as np

from ..._utils.progress import Progress, ProgressBar
from ..._utils.targets import Targets
from ...evaluation import metrics
from .draws import keys_of

N_FOLDS = 5  # of out-of-fold predictions


def draw_folds(known: Targets, nodes: np.ndarray, n_folds: int, seed: int) -> np.ndarray:
    """The fold of each node; there are at most ``len(nodes)`` folds, and none is empty."""
    n = len(nodes)
    n_folds = max(1, min(n_folds, n))
    keys = keys_of(known, nodes, seed)
    _, group, size = np.unique(keys, return_inverse=True, return_counts=True)
    size = np.where(size > n // n_folds, 1, size)  # too many to keep together
    fold = np.full(n, -1)
    filled = [(0, k) for k in range(n_folds)]
    together = np.flatnonzero(size > 1)
    members = np.split(np.argsort(group, kind="stable"), np.cumsum(np.bincount(group))[:-1])
    for g in together[np.argsort(-size[together], kind="stable")]:  # largest first
        count, k = heapq.heappop(filled)
        fold[members[g]] = k
        heapq.heappush(filled, (count + len(members[g]), k))
    counts = np.bincount(fold[fold >= 0], minlength=n_folds)
    wanted = n // n_folds + (np.arange(n_folds) < n % n_folds)
    room = np.repeat(np.arange(n_folds), np.maximum(wanted - counts, 0))
    single = np.flatnonzero(fold < 0)
    fold[single[np.argsort(keys[single], kind="stable")]] = room[: len(single)]
    return fold


def nodes_by_fold(known: Targets, n_folds: int, seed: int) -> list[np.ndarray]:
    """The labeled nodes of each fold; folds are empty if labels are fewer."""
    nodes = np.flatnonzero(known.labeled)
    fold = draw_folds(known, nodes, n_folds, seed) if len(nodes) else nodes
    return [nodes[fold == k] for k in range(n_folds)]


def by_folds(
    fold: np.ndarray,
    predict_fold: Callable[[np.ndarray], np.ndarray],
    otherwise: np.ndarray,
    progress: Progress = None,
) -> np.ndarray:
    """Predictions of each fold of the rows by weights trained on the others.

    ``fold`` is the fold of each row. ``predict_fold(mask of the fold)`` trains on the other rows
    and predicts those of the fold. With a single fold, the result is ``otherwise``.
    """
    n_folds = int(fold.max(initial=0)) + 1
    if n_folds < 2:
        return otherwise
    rows = np.empty_like(otherwise)
    with ProgressBar(n_folds, "cross-fitting", progress) as bar:
        for k in range(n_folds):
            rows[fold == k] = predict_fold(fold == k)
            bar.advance()
    return rows


def version_scores(known: Targets, rows: np.ndarray) -> list[float]:
    """Score of each version of predictions of the labeled nodes; versions stand side by side."""
    Y, weight = known.Y[known.labeled], known.weight[known.labeled]
    versions = np.split(rows, rows.shape[1] // Y.shape[1], axis=1)
    return [metrics.score(known.task, Y, version, weight) for version in versions]
