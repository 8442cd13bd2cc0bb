"""Trees grown through trainable Correct & Smooth. Each round draws a new split of the labels, and
fits a tree to the gradient of the loss after both propagations, at all nodes.

    Ŷ = P_s (Y_in + M_free Ỹ) W_s + P_s M_free γ(P_c (Y_in − M_in Ỹ)) W_c,   Ỹ = link(F)

F are the sums of the trees. γ divides by the mass of the residuals that arrive. Everything but the
link is then linear, and the gradient takes two transposed propagations.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..._utils.progress import ProgressBar
from ..._utils.targets import Targets
from ...graph.graph import Graph
from ...propagation.resolvent import Resolvent
from ..base.draws import draw_split
from ..base.weights import apply_link
from .node_columns import NodeColumns
from .trees import TreeOptions, dataset, threads_for, trimmed

_TOL = 1e-2  # of the propagations in training; trees are much coarser
_ARRIVED = 1e-6
_VALIDATE_EVERY = 5
_WEIGHT_RATE = 0.01
_FLAT = 0.05  # lower bound of p(1 − p) in the curvature of a link


@dataclass(frozen=True)
class Steps:
    """P_c and P_s on one graph, computed with the tolerance ``tol``."""

    graph: Graph
    correct: float
    smooth: float
    tol: float = _TOL

    @cached_property
    def P_c(self) -> Resolvent:
        return Resolvent(self.graph, self.correct, norm="row", tol=self.tol)

    @cached_property
    def P_s(self) -> Resolvent:
        return Resolvent(self.graph, self.smooth, norm="row", tol=self.tol)

    @cached_property
    def reach(self) -> np.ndarray:
        """P_s·1, by which rows are divided; it is one except at nodes without edges."""
        return (self.P_s @ np.ones(self.graph.n_nodes))[:, None]

    def forward(self, base: np.ndarray, Y: np.ndarray, in_mask: np.ndarray) -> Views:
        """Ŷ_s and Ŷ_c, with the labels of ``in_mask`` as inputs."""
        c, inside = base.shape[1], in_mask[:, None]
        residual = np.where(inside, Y - base, 0)
        columns = np.concatenate([residual, inside], axis=1).astype(base.dtype)
        spread = self.P_c.apply(columns, progress=False)
        mass = spread[:, c:]
        arrived = (mass > _ARRIVED) & ~inside
        mass = np.where(arrived, mass, 1)
        correction = np.where(arrived, spread[:, :c] / mass, 0)
        both = np.concatenate([np.where(inside, Y, base), correction], axis=1)
        found = self.P_s.apply(both, progress=False) / self.reach
        return Views(found[:, :c], found[:, c:], in_mask, arrived, mass)

    def backward(self, views: Views, smooth: np.ndarray, correct: np.ndarray) -> np.ndarray:
        """Gradient with respect to ``base`` from those with respect to Ŷ_s and Ŷ_c."""
        c, inside = smooth.shape[1], views.in_mask[:, None]
        both = np.concatenate([smooth, correct], axis=1) / self.reach
        back = self.P_s.T.apply(both, progress=False)
        through = np.where(views.arrived, back[:, c:] / views.mass, 0)
        residual = self.P_c.T.apply(through, progress=False)
        return np.where(inside, -residual, back[:, :c])


@dataclass(frozen=True)
class Views:
    """Ŷ_s and Ŷ_c, and what the backward pass needs."""

    smooth: np.ndarray
    correct: np.ndarray
    in_mask: np.ndarray
    arrived: np.ndarray
    mass: np.ndarray


@dataclass
class StepWeights:
    """The weights W_s and W_c."""

    smooth: np.ndarray
    correct: np.ndarray

    @classmethod
    def identity(cls, c: int, size: float) -> StepWeights:
        return cls(size * np.eye(c), size * np.eye(c))

    def scores(self, views: Views) -> np.ndarray:
        return views.smooth @ self.smooth + views.correct @ self.correct


def link_gradient(base: np.ndarray, gradient: np.ndarray, link: str) -> np.ndarray:
    """Gradient with respect to F from that with respect to link(F)."""
    if link == "identity":
        return gradient
    if link == "sigmoid":
        return gradient * base * (1 - base)
    return base * (gradient - (gradient * base).sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class BoostProblem:
    """Labels in the units of training, and the validation nodes, if any."""

    steps: Steps
    Y: np.ndarray
    weight: np.ndarray
    labeled: np.ndarray
    validation: tuple[np.ndarray, np.ndarray, np.ndarray] | None
    link: str
    split_rate: float
    known: Targets | None = None  # the labels that are split; needed to grow trees

    def gradient(
        self, F: np.ndarray, weights: StepWeights, in_mask: np.ndarray
    ) -> tuple[float, np.ndarray, StepWeights]:
        """(mean loss of the target labels, gradient of its sum with respect to F, gradient of the
        mean with respect to the weights)."""
        base = apply_link(F, self.link)
        views = self.steps.forward(base, self.Y, in_mask)
        out = np.flatnonzero(self.labeled & ~in_mask)
        rows = apply_link(weights.scores(views)[out], self.link)
        error = np.zeros_like(base)
        error[out] = (rows - self.Y[out]) * self.weight[out, None]
        total = max(float(self.weight[out].sum()), 1e-12)
        by_weights = StepWeights(
            views.smooth[out].T @ error[out] / total, views.correct[out].T @ error[out] / total
        )
        back = self.steps.backward(views, error @ weights.smooth.T, error @ weights.correct.T)
        loss = mean_loss(rows, self.Y[out], self.weight[out], self.link)
        return loss, link_gradient(base, back, self.link), by_weights

    def curvature(self) -> np.ndarray:
        """(n, 1) bound of the second derivative of the squared loss by F, averaged over all splits:
        PᵀMP is at most the diagonal matrix of its row sums."""
        n_out = self.labeled * self.weight * (1 - self.split_rate)
        found = self.steps.P_s.T @ (n_out / self.steps.reach[:, 0])
        return np.maximum(found, 1e-3 * found.max())[:, None]

    def validate(self, F: np.ndarray, weights: StepWeights) -> float:
        """Loss on the validation nodes, with every training label as input."""
        assert self.validation is not None
        nodes, truth, weight = self.validation
        views = self.steps.forward(apply_link(F, self.link), self.Y, self.labeled)
        rows = apply_link(weights.scores(views)[nodes], self.link)
        return mean_loss(rows, truth, weight, self.link)


def mean_loss(rows: np.ndarray, Y: np.ndarray, weight: np.ndarray, link: str) -> float:
    if not len(rows):
        return 0.0
    if link == "identity":
        each = ((rows - Y) ** 2).sum(axis=1) / 2
    else:
        right = np.where(Y > 0.5, rows, 1.0 if link == "softmax" else 1 - rows)
        each = -np.log(np.maximum(right, 1e-12)).sum(axis=1)
    return float(weight @ each / max(weight.sum(), 1e-300))


@dataclass(frozen=True)
class Grown:
    """Trees and weights of the best round."""

    booster: Any
    start: np.ndarray
    weights: StepWeights
    n_rounds: int

    def scores(self, values: Any) -> np.ndarray:
        """The scores F of any rows."""
        found = np.asarray(self.booster.predict(values, raw_score=True, **threads_for(values)))
        return found.reshape(len(found), -1) + self.start


def grow(
    problem: BoostProblem,
    columns: NodeColumns,
    start: np.ndarray,
    options: TreeOptions,
    n_rounds: int,
    rng: np.random.Generator,
    bar: ProgressBar,
) -> Grown:
    """Grow trees round by round. Validation nodes choose the best round, else the last is used."""
    import lightgbm

    n, c = problem.Y.shape
    classes = {"num_class": c} if c > 1 else {}
    own = {"objective": "none", "min_sum_hessian_in_leaf": 1e-3}
    parameters = options.parameters(columns, **own, **classes)
    booster = lightgbm.Booster(parameters, dataset(columns, np.zeros(n), None, parameters))
    size = 1.0 if problem.link == "identity" else 4.0
    weights, curvature = StepWeights.identity(c, size), problem.curvature()
    best: tuple[float, int, StepWeights] = (np.inf, 0, deepcopy(weights))
    done = 0

    def objective(raw: np.ndarray, _: Any) -> tuple[np.ndarray, np.ndarray]:
        nonlocal best
        F = raw.reshape(n, c, order="F" if raw.ndim == 1 else "C") + start
        if problem.validation is not None and done and done % _VALIDATE_EVERY == 0:
            loss = problem.validate(F, weights)
            if loss < best[0]:
                best = loss, done, deepcopy(weights)
        assert problem.known is not None
        in_mask = draw_split(problem.known, problem.split_rate, rng).in_mask
        _, gradient, by_weights = problem.gradient(F, weights, in_mask)
        weights.smooth -= _WEIGHT_RATE * size * by_weights.smooth
        weights.correct -= _WEIGHT_RATE * size * by_weights.correct
        bound = np.broadcast_to(curvature, (n, c))
        if problem.link != "identity":
            base = apply_link(F, problem.link)
            bound = bound * (size * np.maximum(base * (1 - base), _FLAT)) ** 2 / 4
        return _flat(gradient), _flat(bound)

    while done < n_rounds:
        booster.update(fobj=objective)
        done += 1
        bar.advance()
        if problem.validation is not None and done - best[1] > options.patience + _VALIDATE_EVERY:
            break
    n_kept = done if problem.validation is None else max(best[1], 1)
    kept = weights if problem.validation is None or not best[1] else best[2]
    return Grown(trimmed(booster, n_kept), start, kept, n_kept)


def _flat(values: np.ndarray) -> np.ndarray:
    """Gradients in LightGBM's form: (n,) for one output, else (n, c)."""
    return values[:, 0] if values.shape[1] == 1 else values
