"""The four ways to train linear weights on a `LabelProblem`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ...self_exclusion.objective import (
    LabelTrickProblem,
    certify_columns,
    minimize,
    penalty_matrix,
    penalty_weights,
)
from ...self_exclusion.rounding import is_small, own_tolerance
from ..base import weights
from ..base.draws import draw_split
from ..base.folds import by_folds
from ..base.weights import LinearFit
from .problem import LabelProblem


@dataclass(frozen=True)
class SplitOptions:
    rates: tuple[float, ...]
    learning_rate: float
    max_epochs: int
    patience: int


Without = Callable[[np.ndarray], LabelProblem]
"""The problem with which the labels of some nodes may be predicted: the same problem, or, with
learned edge weights, one whose weights have not seen those labels."""


def by_theorem(
    problem: LabelProblem, rates: tuple[float, ...], ridge: float, without: Without
) -> LinearFit:
    """Theorem 1's closed form at the best split rate, by validation or out-of-fold scores."""
    nodes = problem.nodes
    whole_u2 = _penalty_of(problem)

    def solve(
        seen: LabelProblem, kept: np.ndarray, tried: tuple[float, ...] = rates
    ) -> list[np.ndarray]:
        labels, at = seen.columns[:, :-1], nodes[kept]
        u2 = whole_u2 if seen.design is problem.design else _penalty_of(seen)
        root = np.sqrt(problem.weight_at(kept))[:, None]
        inputs = (labels[at] * root, seen.rows(at) * root, np.zeros((len(at), 0)))
        whole = LabelTrickProblem(*inputs, penalty_matrix(labels, at, u2[kept]))
        return [found.labels for found in minimize(whole, tried, ridge=ridge)]

    found, score = solve(problem, np.ones(len(nodes), bool)), problem.scorer()
    oof = [np.zeros((0, 0))] * len(rates)
    if problem.validation is None:
        oof = _folded(problem, solve, len(rates), without)
    scores = [score(W, rows) for W, rows in zip(found, oof, strict=True)]
    best = int(np.argmax(scores))

    def make_oof() -> np.ndarray:
        if problem.validation is None:
            return oof[best]
        return _folded(problem, partial(solve, tried=(rates[best],)), 1, without)[0]

    return LinearFit(
        found[best],
        make_oof,
        split_rate=rates[best],
        scores=dict(zip(rates, scores, strict=True)),
    )


def _penalty_of(problem: LabelProblem) -> np.ndarray:
    """The penalty weight of each training node in Theorem 1."""
    P, nodes = problem.design.views.kinds[0], problem.nodes
    # Small problems can afford almost no error in the penalty either.
    rtol = 1e-6 if is_small(P.n_nodes, len(nodes)) else 1e-2
    tol = own_tolerance(P, nodes, 1e-4)
    weight = P.self_weight(nodes, tol=tol, rows=nodes, energy_rtol=rtol, progress=problem.progress)
    problem.design.views.remember(P, weight)
    weight = certify_columns(P, problem.columns[nodes, :-1], weight, rtol, problem.progress)
    return penalty_weights(P, nodes, self_weight=weight)


def by_ridge(problem: LabelProblem, ridge: float, without: Without) -> LinearFit:
    """Squared loss on normalized views or on several views."""

    def solve(seen: LabelProblem, kept: np.ndarray) -> list[np.ndarray]:
        Z = seen.rows(problem.nodes[kept])
        args = (problem.Y[kept], problem.weight_at(kept), problem.start(), problem.pull(ridge))
        return [weights.ridge_fit(Z, *args)]

    whole = solve(problem, np.ones(len(problem.nodes), bool))
    return LinearFit(whole[0], lambda: _folded(problem, solve, 1, without)[0])


def by_convex(problem: LabelProblem, ridge: float, without: Without) -> LinearFit:
    """Cross-entropy to convergence."""
    Z, link, pull = problem.rows(problem.nodes), problem.link, problem.pull(ridge)
    args = (problem.Y, problem.weight, problem.start(), pull, link)
    fit = weights.convex_fit(Z, *args, progress=problem.progress)

    def solve(seen: LabelProblem, kept: np.ndarray) -> list[np.ndarray]:
        # With its own start: that of the full fit has seen the fold.
        rows = (seen.rows(problem.nodes[kept]), problem.Y[kept], problem.weight_at(kept))
        args = (*rows, problem.start(), pull, link)
        return [weights.convex_fit(*args, tol=1e-5, progress=False).weights]

    def oof() -> np.ndarray:
        return _folded(problem, solve, 1, without)[0]

    return LinearFit(fit.weights, oof, n_iter=fit.n_evaluations)


def _folded(
    problem: LabelProblem,
    solve: Callable[[LabelProblem, np.ndarray], list[np.ndarray]],
    n_fits: int,
    without: Without,
) -> list[np.ndarray]:
    """Training rows by weights from the other folds' labels, for each of several fits.

    ``solve(problem without the fold's labels as inputs, mask of the other training rows)`` returns
    the weights. The inputs matter: where rows share what they see, weights that were trained with a
    label among the inputs of others could read it off what is missing in its own row.
    """
    Z = problem.rows(problem.nodes)

    def predict_fold(inside: np.ndarray) -> np.ndarray:
        fold = problem.nodes[inside]
        own = without(fold)
        found = solve(own.hiding(fold), ~inside)
        return np.concatenate([own.oof_predictions(fold, W) for W in found], axis=1)

    otherwise = np.tile(weights.apply_link(Z @ problem.start(), problem.link), (1, n_fits))
    rows = by_folds(problem.folds(), predict_fold, otherwise, problem.progress)
    return np.split(rows, n_fits, axis=1)


def by_splits(problem: LabelProblem, options: SplitOptions, without: Without) -> LinearFit:
    """Random splits at each rate; the fit whose best epoch scores highest."""
    evaluate = _evaluator(problem)
    best = weights.best_rate(
        options.rates,
        lambda rate: _one_rate(problem, options, rate, problem.weight, evaluate),
        lambda fit: evaluate(fit.weights),
    )
    rate = best.split_rate
    return replace(best, oof=lambda: cross_fitted_splits(problem, options, rate, without))


def _evaluator(problem: LabelProblem) -> Callable[[np.ndarray], float]:
    """Score of weights on the validation nodes, otherwise on the training rows."""
    Z, score, nothing = problem.rows(problem.nodes), problem.scorer(), np.zeros((0, 0))
    return lambda W: score(W, Z @ W if problem.validation is None else nothing)


def _one_rate(
    problem: LabelProblem,
    options: SplitOptions,
    rate: float,
    weight: np.ndarray,
    evaluate: Callable[[np.ndarray], float] | None,
) -> LinearFit:
    draw = _split_drawer(problem, rate)
    rng = np.random.default_rng(problem.seed)
    first = draw(rng) if problem.link != "identity" else (np.zeros((0, 0)), np.zeros(0, int))
    return weights.stochastic_fit(
        draw,
        first,
        problem.Y,
        weight,
        problem.start(),
        problem.link,
        evaluate,
        learning_rate=options.learning_rate,
        max_epochs=options.max_epochs,
        patience=options.patience,
        rng=rng,
        progress=problem.progress,
    )


def cross_fitted_splits(
    problem: LabelProblem, options: SplitOptions, rate: float, without: Without
) -> np.ndarray:
    """Training rows by weights trained on the targets of the other folds."""
    Z, link = problem.rows(problem.nodes), problem.link

    def predict_fold(inside: np.ndarray) -> np.ndarray:
        weight = np.zeros(len(inside))
        weight[~inside] = problem.weight_at(~inside)
        fold = problem.nodes[inside]
        own = without(fold)
        seen = own.hiding(fold)
        # The other rows choose the best epoch: if all did, it would depend on the fold.
        evaluate = _evaluator(replace(seen, weight=weight))
        fit = _one_rate(seen, options, rate, weight, evaluate)
        return own.oof_predictions(fold, fit.weights)

    otherwise = weights.apply_link(Z @ problem.start(), link)
    return by_folds(problem.folds(), predict_fold, otherwise, problem.progress)


def _split_drawer(problem: LabelProblem, rate: float) -> weights.Draw:
    """Function that draws a split and returns (inputs of its targets, their places in Y)."""
    known = problem.targets.only(np.flatnonzero(problem.columns[:, -1] > 0))
    place = np.full(len(known.labeled), -1)
    place[problem.nodes] = np.arange(len(problem.nodes))
    narrow = problem.columns.astype(np.float32)

    def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        split = draw_split(known, rate, rng)
        out = np.flatnonzero(split.out_mask)
        chosen = narrow * (split.in_mask / rate).astype(np.float32)[:, None]
        inputs = problem.view(chosen, out, exclude=False, dtype=np.float32, progress=False)
        return problem.matrix(inputs, out), place[out]

    return draw
