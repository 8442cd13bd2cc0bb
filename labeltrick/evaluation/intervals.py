"""Prediction intervals from residuals of out-of-fold predictions.

The quantile is that of conformal prediction (Vovk et al., 2005), but there is no separate
calibration set: the residuals of the out-of-fold predictions take its place (the jackknife, or
cross-validation where a model is trained again for each fold). Coverage is therefore approximate.
"""

from __future__ import annotations

import math

import numpy as np


def fewest_labels(coverage: float) -> int:
    """Smallest number of labels that an interval of this coverage needs."""
    return math.ceil(round(coverage / (1 - coverage), 9))


def interval_radius(residual: np.ndarray, coverage: float) -> np.ndarray:
    """Half the width of intervals, one per column of ``residual`` (rows are labeled nodes).

    It is the ⌈(m + 1)·coverage⌉-th smallest of m absolute residuals. If nodes are exchangeable, a
    new node lies within it of its prediction with about the probability ``coverage``. This is not
    a guarantee: each out-of-fold residual comes from a slightly different set of labels than the
    prediction of the new node, and there are cases in which the jackknife covers too little.

    Examples
    --------
    >>> interval_radius(np.arange(-5.0, 5.0)[:, None], 0.8)
    array([4.])
    """
    m = len(residual)
    if m < 2:
        raise ValueError("prediction intervals need at least two labels; got one.")
    rank = math.ceil(round((m + 1) * coverage, 9))
    if rank > m:
        raise ValueError(
            f"`coverage` must be at most {m / (m + 1):.3g} for {m} labels; got {coverage:g}, which "
            f"needs {fewest_labels(coverage)} labels."
        )
    return np.sort(np.abs(residual), axis=0)[rank - 1]
