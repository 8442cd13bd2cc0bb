"""Training of linear weights: in closed form, by convex optimization, or on random splits.

Rows Z are self-excluded views, and Y holds the labels of the same nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg
import scipy.special

from ..._utils.checks import check_choice, check_number
from ..._utils.progress import Progress, ProgressBar
from ..._utils.threads import one_blas_thread
from .convex import ConvexFit, CrossEntropy, minimize_cross_entropy, scaled_identity

NO_RIDGE = np.zeros((1, 1))
PAPER_SPLIT_RATES = tuple(round(0.05 * k, 2) for k in range(1, 20))


def check_split_rates(value: Any, *, limit: bool = False) -> tuple[float, ...]:
    """Split rates to try: those given, or the paper's for "auto"; ``limit`` admits α = 1."""
    if isinstance(value, str):
        check_choice("split_rate", value, ("auto",))
        return (*PAPER_SPLIT_RATES, 1.0) if limit else PAPER_SPLIT_RATES
    rates = tuple(np.atleast_1d(np.asarray(value, float)).tolist())
    for rate in rates or (float("nan"),):
        if rate != 1 or not limit:
            check_number("split_rate", rate, 0.0, 1.0)
    return rates


@dataclass(frozen=True)
class LinearFit:
    """Weights and how they were found.

    ``oof()`` predicts the training rows by weights that were trained without their labels.
    """

    weights: np.ndarray
    oof: Callable[[], np.ndarray] | None = None
    split_rate: float = 1.0
    n_iter: int = 1
    best_epoch: int = 0
    scores: dict[float, float] | None = None
    history: list[tuple[float, ...]] | None = None


def link_of(task: str) -> str:
    """The function that turns scores into predictions of a task."""
    return {"classification": "softmax", "multilabel": "sigmoid", "regression": "identity"}[task]


def apply_link(scores: np.ndarray, link: str) -> np.ndarray:
    if link == "identity":
        return scores
    if link == "sigmoid":
        return scipy.special.expit(scores)
    return scipy.special.softmax(scores, axis=1)


def tidy(rows: np.ndarray, task: str) -> np.ndarray:
    """Probabilities from rows of shares, which rounding may leave slightly outside of [0, 1]."""
    if task == "regression":
        return rows
    rows = np.clip(rows, 0.0, 1.0)
    if task == "multilabel":
        return rows
    total = rows.sum(axis=1, keepdims=True)
    return np.where(total > 0, rows / np.where(total > 0, total, 1.0), 1.0 / rows.shape[1])


# -- squared loss: closed forms ----------------------------------------------------------------
def ridge_fit(
    Z: np.ndarray, Y: np.ndarray, weight: np.ndarray, start: np.ndarray, ridge: np.ndarray
) -> np.ndarray:
    """Minimizer of Σ w_i‖y_i − z_i W‖² + ‖√ridge (W − start)‖², with one ridge per input."""
    system = (Z * weight[:, None]).T @ Z
    system[np.diag_indices_from(system)] += ridge[:, 0]
    right = (Z * weight[:, None]).T @ (Y - Z @ start)
    return start + scipy.linalg.lstsq(system, right)[0]


# -- cross-entropy: convex ---------------------------------------------------------------------
def convex_fit(
    Z: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray,
    unit: np.ndarray,
    ridge: np.ndarray,
    link: str,
    *,
    tol: float = 1e-6,
    progress: Progress = None,
) -> ConvexFit:
    """Cross-entropy to convergence, from the scaled identity and regularized towards it."""
    problem = CrossEntropy(Z, Y, weight, unit, ridge, link)
    problem.start = scaled_identity(problem, unit)
    return minimize_cross_entropy(problem, problem.start, tol=tol, progress=progress)


# -- random splits ---------------------------------------------------------------------------
class Adam:
    """Adam (Kingma and Ba, 2015) on one array."""

    def __init__(self, W: np.ndarray, learning_rate: float) -> None:
        self.W, self.rate = W.copy(), learning_rate
        self.first, self.second, self.n = np.zeros_like(W), np.zeros_like(W), 0

    def step(self, gradient: np.ndarray) -> None:
        self.n += 1
        self.first += 0.1 * (gradient - self.first)
        self.second += 0.001 * (gradient**2 - self.second)
        size = np.sqrt(self.second / (1 - 0.999**self.n)) + 1e-8
        self.W -= self.rate * self.first / (1 - 0.9**self.n) / size


Split = tuple[np.ndarray, np.ndarray]
Draw = Callable[[np.random.Generator], Split]


def stochastic_fit(
    draw: Draw,
    first: Split,
    Y: np.ndarray,
    weight: np.ndarray,
    start: np.ndarray,
    link: str,
    validate: Callable[[np.ndarray], float] | None,
    *,
    learning_rate: float,
    max_epochs: int,
    patience: int,
    rng: np.random.Generator,
    progress: Progress = None,
) -> LinearFit:
    """Adam on a fresh random split in each epoch.

    The result has the weights of the epoch that ``validate`` scores highest, or of the last epoch
    without it. ``draw(rng)`` returns (rows of inputs, places of those rows in Y). For classes,
    training starts from the multiple of ``start`` that fits the split ``first`` best.
    """
    Z, places = first
    if link != "identity" and len(places):
        split = CrossEntropy(Z, Y[places], weight[places], start, NO_RIDGE, link)
        start = scaled_identity(split, start)
    adam = Adam(start, learning_rate)
    best, best_score, best_epoch = start, -np.inf if validate is None else validate(start), 0
    history: list[tuple[float, ...]] = []
    with one_blas_thread(), ProgressBar(max_epochs, "random splits", progress) as bar:
        for epoch in range(1, max_epochs + 1):
            Z, places = draw(rng)
            loss, gradient = 0.0, np.zeros_like(start)
            if len(places):
                loss, gradient = _loss_and_gradient(Z, Y[places], weight[places], adam.W, link)
            adam.step(gradient)
            score = float(epoch) if validate is None else validate(adam.W)
            history.append((epoch, loss, score))
            if score > best_score:
                best, best_score, best_epoch = adam.W.copy(), score, epoch
            elif epoch - best_epoch >= patience:
                break
            bar.advance()
    return LinearFit(best, n_iter=len(history), best_epoch=best_epoch, history=history)


def best_rate(
    rates: Sequence[float],
    fit_at: Callable[[float], LinearFit],
    score: Callable[[LinearFit], float] | None,
) -> LinearFit:
    """The fit at the split rate of the highest score, or at the first without a ``score``."""
    fits = {rate: replace(fit_at(rate), split_rate=rate) for rate in rates}
    scores = {} if score is None else {rate: score(fit) for rate, fit in fits.items()}
    best = max(scores, key=scores.__getitem__) if scores else rates[0]
    return replace(fits[best], scores=scores)


def _loss_and_gradient(
    Z: np.ndarray, Y: np.ndarray, weight: np.ndarray, W: np.ndarray, link: str
) -> tuple[float, np.ndarray]:
    """Mean loss over the rows and its gradient."""
    mass = max(float(weight.sum()), 1e-300)
    if link == "identity":
        residual = (Z @ W - Y) * weight[:, None]
        loss = float(np.sum(residual * (Z @ W - Y)))
        return loss / mass, 2 * (Z.T @ residual) / mass
    problem = CrossEntropy(Z, Y, weight, W, NO_RIDGE, link)
    loss, gradient = problem(W)
    return loss / mass, gradient / mass
