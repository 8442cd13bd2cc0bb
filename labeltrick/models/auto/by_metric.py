"""Shares of the blend by the metric that is asked for, where the loss prefers others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...evaluation import metrics
from .blend import mixed

_N_RESAMPLES, _ERRORS = 100, 2.0
# The loss prefers what these do, or is the less noisy way to them.
_BY_LOSS = ("log_loss", "rmse", "r2", "accuracy", "subset_accuracy")

Shares = tuple[float, ...]


def shares_by_metric(
    metric: str,
    by_loss: Shares,
    choices: Sequence[Shares],
    rows: Sequence[np.ndarray],
    Y: np.ndarray,
    keys: np.ndarray | None,
) -> Shares:
    """The shares of the best value of ``metric``, or those that were chosen ``by_loss`` if the gain
    over them is not clear.

    The gain must exceed two standard errors, found from resampled rows: a metric such as the area
    under the curve is not a mean over rows. ``keys`` order the rows, so that what is drawn does not
    depend on how nodes are numbered. Rows count alike, whatever their weights.
    """
    if metric in _BY_LOSS or len(choices) < 2:
        return by_loss
    order = np.arange(len(Y)) if keys is None else np.argsort(keys, kind="stable")
    rows, Y = [part[order] for part in rows], Y[order]
    sign = -1.0 if metrics.NAMES[metric] == "less" else 1.0

    def value(shares: Shares, at: np.ndarray) -> float:
        return sign * metrics.measure(metric, Y[at], mixed([part[at] for part in rows], shares))

    every = np.arange(len(Y))
    values = np.array([value(shares, every) for shares in choices])
    if np.isnan(values).all():
        return by_loss
    best = choices[int(np.nanargmax(values))]
    gain = value(best, every) - value(by_loss, every)
    if not gain > 0:
        return by_loss
    rng = np.random.default_rng(0)
    gains = []
    for _ in range(_N_RESAMPLES):
        at = rng.integers(0, len(Y), len(Y))
        gains.append(value(best, at) - value(by_loss, at))
    return best if gain > _ERRORS * np.nanstd(gains) else by_loss
