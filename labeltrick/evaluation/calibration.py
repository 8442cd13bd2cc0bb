"""Calibrated probabilities: a temperature fitted on out-of-fold predictions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, softmax

from .metrics import expected_calibration_error

_FEW_ROWS = 10  # with fewer rows, two parameters would be fitted to chance
_ENOUGH_ROWS = 20_000  # more rows do not move two parameters
_TINY = 1e-12


@dataclass(frozen=True)
class Calibration:
    """Temperature scaling with smoothing: p ↦ softmax(log((1−ε)p + ε/c) / T).

    It keeps the order of the classes.

    Attributes
    ----------
    temperature : float
        T; a temperature above 1 softens probabilities, one below 1 sharpens them.
    smoothing : float
        ε, the share of a uniform guess. Without it, p = 0 would stay 0.
    ece_before : float
        Expected calibration error of the predictions before calibration.
    ece_after : float
        Expected calibration error after calibration, on the predictions that T and ε were fitted
        on.

    See Also
    --------
    metrics.expected_calibration_error : Sum up the bins in one number.
    metrics.reliability_bins : Compare confidence with accuracy in bins.

    Examples
    --------
    >>> import numpy as np
    >>> from labeltrick import Calibration
    >>> sharper = Calibration(temperature=0.5)
    >>> sharper.apply(np.array([[0.6, 0.4]]), "classification").round(3).tolist()
    [[0.692, 0.308]]
    """

    temperature: float = 1.0
    smoothing: float = 0.0
    ece_before: float = float("nan")
    ece_after: float = float("nan")

    def apply(self, proba: np.ndarray, task: str) -> np.ndarray:
        """Calibrate probabilities.

        Parameters
        ----------
        proba : ndarray of shape (n, c)
            Probabilities, one row per node.
        task : {"classification", "multilabel"}
            Whether rows sum to 1, or each column is a label of its own.

        Returns
        -------
        proba : ndarray of shape (n, c)
            Calibrated probabilities.
        """
        if self.temperature == 1.0 and self.smoothing == 0.0:
            return proba
        return _transformed(proba, task, self.temperature, self.smoothing)


def _transformed(proba: np.ndarray, task: str, temperature: float, smoothing: float) -> np.ndarray:
    if task == "multilabel":
        p = (1 - smoothing) * proba + smoothing / 2
        odds = np.log(np.maximum(p, _TINY)) - np.log(np.maximum(1 - p, _TINY))
        return expit(odds / temperature)
    p = (1 - smoothing) * proba + smoothing / proba.shape[1]
    return softmax(np.log(np.maximum(p, _TINY)) / temperature, axis=1)


def some_rows(n_rows: int, keys: np.ndarray | None) -> np.ndarray:
    """All rows, or as many as are needed to fit a few numbers."""
    if n_rows <= _ENOUGH_ROWS:
        return np.arange(n_rows)
    order = np.random.default_rng(0).random(n_rows) if keys is None else keys
    return np.argpartition(order, _ENOUGH_ROWS)[:_ENOUGH_ROWS]


def _negative_log_likelihood(
    proba: np.ndarray, Y: np.ndarray, task: str, weight: np.ndarray
) -> float:
    if task == "multilabel":
        right = np.where(Y > 0.5, proba, 1 - proba)
        each = -np.log(np.maximum(right, _TINY)).sum(axis=1)
    else:
        each = -np.log(np.maximum(proba[np.arange(len(Y)), Y.argmax(axis=1)], _TINY))
    return float(np.average(each, weights=weight))


def _polished(loss: Callable[[np.ndarray], float], x: np.ndarray) -> np.ndarray:
    """A few Newton steps by finite differences, for two numbers that are near the minimum.

    A search that stops early stops elsewhere if rows are summed in another order.
    """
    h = 1e-3
    e, f = np.array([h, 0.0]), np.array([0.0, h])
    for _ in range(3):
        here = loss(x)
        right, left, up, down = loss(x + e), loss(x - e), loss(x + f), loss(x - f)
        slope = np.array([right - left, up - down]) / (2 * h)
        mixed = (loss(x + e + f) - loss(x + e - f) - loss(x - e + f) + loss(x - e - f)) / 4
        bend = np.array([[right + left - 2 * here, mixed], [mixed, up + down - 2 * here]]) / h**2
        if np.linalg.eigvalsh(bend)[0] <= 1e-6:  # flat: any point is as good
            break
        step = np.linalg.solve(bend, slope)
        if np.abs(step).max() > 0.5:
            break
        x = x - step
    return x


def fit_calibration(
    proba: np.ndarray,
    Y: np.ndarray,
    task: str,
    weight: np.ndarray | None = None,
    keys: np.ndarray | None = None,
) -> Calibration:
    """Temperature and smoothing of least log loss on out-of-fold predictions.

    ``proba`` must not have seen the labels ``Y`` (one-hot or indicators) of its rows. With few
    rows, one class, or no gain in calibration error, nothing is changed. If there are very many
    rows, those with the smallest ``keys`` are used (see `graph.node_keys`).
    """
    from scipy.optimize import minimize

    truth = Y if task == "multilabel" else Y.argmax(axis=1)
    before = expected_calibration_error(proba, truth) if len(Y) else float("nan")
    if len(Y) < _FEW_ROWS or (task == "classification" and Y.shape[1] < 2):
        return Calibration(ece_before=before, ece_after=before)
    weight = np.ones(len(Y)) if weight is None else weight
    rows = some_rows(len(Y), keys)
    p, t, w = proba[rows], Y[rows], weight[rows]

    def unpack(x: np.ndarray) -> tuple[float, float]:
        return float(np.exp(np.clip(x[0], -3, 3))), float(1 / (1 + np.exp(-np.clip(x[1], -14, 3))))

    def loss(x: np.ndarray) -> float:
        return _negative_log_likelihood(_transformed(p, task, *unpack(x)), t, task, w)

    start = np.array([0.0, -4.0])
    simplex = start + np.array([[0.0, 0.0], [0.5, 0.0], [0.0, 1.5]])
    options = {"initial_simplex": simplex, "xatol": 1e-2, "fatol": 1e-5, "maxiter": 150}
    near = minimize(loss, start, method="Nelder-Mead", options=options)
    temperature, smoothing = unpack(_polished(loss, near.x))
    after = expected_calibration_error(_transformed(proba, task, temperature, smoothing), truth)
    if after >= before:  # less log loss, but no better calibrated
        return Calibration(ece_before=before, ece_after=before)
    return Calibration(temperature, smoothing, before, after)
