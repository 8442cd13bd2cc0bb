"""Prediction intervals from residuals of predictions that were made without the own label.

Conformal prediction (Vovk et al., 2005) without a part of the labels set aside: the residuals of
the left-out predictions take the place of those of a calibration set (the jackknife, by folds
where a model is learnt anew for each).
"""

from __future__ import annotations

import math

import numpy as np


def fewest_labels(coverage: float) -> int:
    """Labels that an interval of this coverage needs at least."""
    return math.ceil(round(coverage / (1 - coverage), 9))


def interval_radius(residual: np.ndarray, coverage: float) -> np.ndarray:
    """Half the width of intervals, one for each column of ``residual`` (rows: labeled nodes).

    The ⌈(m + 1)·coverage⌉-th smallest absolute residual of m: where nodes are exchangeable, a new
    one lies within it of its prediction at least so often.

    >>> interval_radius(np.arange(-5.0, 5.0)[:, None], 0.8)
    array([4.])
    """
    m = len(residual)
    if m < 2:
        raise ValueError("prediction intervals need two labels at least; got one.")
    rank = math.ceil(round((m + 1) * coverage, 9))
    if rank > m:
        raise ValueError(
            f"`coverage` must be at most {m / (m + 1):.3g} for {m} labels; got {coverage:g}, which "
            f"needs {fewest_labels(coverage)}."
        )
    return np.sort(np.abs(residual), axis=0)[rank - 1]
