"""Weights W_s and Ŵ_c of trainable Correct & Smooth for a base that is already fitted."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._utils.progress import Progress, ProgressBar
from ..._utils.targets import Targets, TargetScale
from ...evaluation import metrics
from ..base.draws import draw_split
from ..base.folds import draw_folds
from ..base.node_inputs import NodeInputs
from ..base.weights import (
    LinearFit,
    apply_link,
    best_rate,
    convex_fit,
    link_of,
    ridge_fit,
    stochastic_fit,
)
from .base import FittedBase
from .views import SideBySide, StepViews, rows_by_fold

_WITHOUT_VALIDATION = 0.5  # split rate if there are no validation nodes to choose one
_N_FOLDS = 10  # of rows without a node's own label, where they cannot be exact


@dataclass(frozen=True)
class StageOptions:
    """Settings of the training of the weights."""

    rates: tuple[float, ...]
    n_splits: int
    ridge: float
    epochs: dict[str, Any]  # learning rate, largest number and patience
    seed: int
    progress: Progress = None


@dataclass(frozen=True)
class TwoStage:
    """A fitted base, the two steps, and the weights of their outputs."""

    base: FittedBase
    views: StepViews | SideBySide
    target_scale: TargetScale
    fit: LinearFit

    @property
    def split_rate(self) -> float:
        return self.fit.split_rate

    def coefficients(self) -> tuple[np.ndarray, np.ndarray]:
        """W_s and Ŵ_c, those of several pairs of steps stacked."""
        c = self.fit.weights.shape[1]
        views = self.views.each if isinstance(self.views, SideBySide) else (self.views,)
        ends = np.cumsum([len(view.unit(c)) for view in views])
        blocks = np.split(self.fit.weights[: ends[-1]], ends[:-1])
        smooth, correct = [block[:c] for block in blocks], [block[c:] for block in blocks]
        return np.concatenate(smooth), np.concatenate(correct)

    def base_rows(self, inputs: NodeInputs) -> np.ndarray:
        return self.base.rows(inputs)

    def rows(self, inputs: NodeInputs) -> np.ndarray:
        views = self.views.on(inputs.graph)
        rows = stage_rows(views, self.base.rows(inputs), inputs.targets, self.target_scale)
        link = link_of(inputs.targets.task)
        return self.target_scale.back(apply_link(rows @ self.fit.weights, link))


def stage_rows(
    views: StepViews | SideBySide, base: np.ndarray, known: Targets, scale: TargetScale
) -> np.ndarray:
    """Rows at inference, with every known label as input."""
    rows = views.rows(scale.to(base), scale.inputs(known), known.labeled)
    return _with_constant(rows, known.task)


def _with_constant(rows: np.ndarray, task: str) -> np.ndarray:
    """Append a column of ones for regression, whose targets have no natural zero."""
    if task != "regression":
        return rows
    return np.concatenate([rows, np.ones((len(rows), 1), rows.dtype)], axis=1)


class StageProblem:
    """Labels, base predictions and validation nodes, in the units of training."""

    def __init__(
        self,
        views: StepViews | SideBySide,
        base: np.ndarray,
        known: Targets,
        validation: Targets | None,
        scale: TargetScale,
        options: StageOptions,
    ) -> None:
        self.views, self.known, self.options = views, known, options
        self.base, self.Y = scale.to(base), scale.inputs(known)
        self.nodes = np.flatnonzero(known.labeled)
        self.targets, weight = self.Y[self.nodes], known.weight[self.nodes]
        self.weight = weight / weight.mean()  # only ratios matter, relative to the ridge too
        self.link = link_of(known.task)
        c = self.Y.shape[1]
        self.unit = views.unit(c)
        if known.task == "regression":
            self.unit = np.concatenate([self.unit, np.zeros((1, c))])
        self.validation = None
        if validation is not None and validation.labeled.any():
            at = np.flatnonzero(validation.labeled)
            rows = stage_rows(views, base, known, scale)[at]
            self.validation = rows, scale.to(validation.Y[at]), validation.weight[at]

    def validate(self, W: np.ndarray) -> float:
        assert self.validation is not None
        rows, truth, weight = self.validation
        return metrics.score(self.known.task, truth, apply_link(rows @ W, self.link), weight)

    def deterministic(
        self, folds: Iterable[tuple[np.ndarray, np.ndarray]] | None = None
    ) -> LinearFit:
        """Fit on rows without the node's own label; no random splits.

        With ``folds`` (see `rows_by_fold`; predictions in the units of training) the base
        predictions of a row do not depend on the node's label either.
        """
        options = self.options
        if folds is not None:
            Z = rows_by_fold(self.views, folds, self.Y, self.known.labeled)
        else:
            fold = draw_folds(self.known, self.nodes, _N_FOLDS, options.seed)
            Z = self.views.oof_rows(self.base, self.Y, self.known.labeled, fold)
        Z = _with_constant(Z, self.known.task)
        ridge = np.full((len(self.unit), 1), options.ridge)
        if self.link == "identity":
            return LinearFit(ridge_fit(Z, self.targets, self.weight, self.unit, ridge))
        problem = (Z, self.targets, self.weight, self.unit, ridge, self.link)
        fit = convex_fit(*problem, progress=options.progress)
        return LinearFit(fit.weights, n_iter=fit.n_evaluations)

    def by_splits(self) -> LinearFit:
        """Fit as in the paper: splits of each rate are drawn once and cycled over; the validation
        nodes choose the rate."""
        rates, options = self.options.rates, self.options
        score = None if self.validation is None else lambda fit: self.validate(fit.weights)
        if score is None and len(rates) > 1:
            rates = (_WITHOUT_VALIDATION,)
        with ProgressBar(len(rates) * options.n_splits, "splits", options.progress) as bar:
            return best_rate(rates, lambda rate: self._at_rate(rate, bar), score)

    def _at_rate(self, rate: float, bar: ProgressBar) -> LinearFit:
        options = self.options
        rng = np.random.default_rng(options.seed)
        splits = []
        for _ in range(options.n_splits):
            split = draw_split(self.known, rate, rng)
            out = np.flatnonzero(split.out_mask)
            rows = self.views.rows(self.base, self.Y, split.in_mask)[out]
            places = np.searchsorted(self.nodes, out)
            splits.append((_with_constant(rows, self.known.task), places))
            bar.advance()
        turns = itertools.cycle(splits)
        first = max(splits, key=lambda split: len(split[1]))
        return stochastic_fit(
            lambda _: next(turns),
            first,
            self.targets,
            self.weight,
            self.unit,
            self.link,
            None if self.validation is None else self.validate,
            rng=rng,
            progress=options.progress,
            **options.epochs,
        )
