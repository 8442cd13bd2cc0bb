"""The four ways to train linear weights on a `LabelProblem`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

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
from ..base.folds import N_FOLDS, by_folds
from ..base.weights import LinearFit, apply_link
from .problem import LabelProblem

_INNER_FOLDS = 3  # by which the split rate of an outer fold is chosen
Solve = Callable[[LabelProblem], list[np.ndarray]]
Without = Callable[[np.ndarray], LabelProblem]
"""The problem with which the labels of some nodes may be predicted: the same problem, or, with
learned edge weights, one whose weights have not seen those labels."""


@dataclass(frozen=True)
class SplitOptions:
    rates: tuple[float, ...]
    learning_rate: float
    max_epochs: int
    patience: int


def by_theorem(
    problem: LabelProblem, rates: tuple[float, ...], ridge: float, without: Without
) -> LinearFit:
    """Theorem 1's closed form at the best split rate, by validation or out-of-fold scores."""
    whole_u2 = _penalty_of(problem, problem.nodes)

    def solve(seen: LabelProblem) -> list[np.ndarray]:
        labels, at, root = seen.columns[:, :-1], seen.nodes, np.sqrt(seen.weight)[:, None]
        u2 = whole_u2 if seen.design is problem.design else _penalty_of(seen, problem.nodes)
        inputs = (labels[at] * root, seen.rows(at) * root, np.zeros((len(at), 0)))
        whole = LabelTrickProblem(*inputs, penalty_matrix(labels, at, u2[at]))
        return [found.labels for found in minimize(whole, rates, ridge=ridge)]

    def solve_at_best(seen: LabelProblem, n_folds: int) -> LinearFit:
        found, scores = solve(seen), {}
        if len(rates) > 1:
            scores = dict(zip(rates, _scores(seen, solve, found, n_folds), strict=True))
        best = max(range(len(rates)), key=lambda k: scores.get(rates[k], 0.0))
        return LinearFit(found[best], split_rate=rates[best], scores=scores)

    fit = solve_at_best(problem, N_FOLDS)
    # The rate of a fold is chosen without its labels, or the score of few labels would flatter.
    weights_of = lambda seen: [solve_at_best(seen, _INNER_FOLDS).weights]  # noqa: E731
    return replace(fit, oof=lambda: _folded(problem, weights_of, without=without)[0])


def _penalty_of(problem: LabelProblem, nodes: np.ndarray) -> np.ndarray:
    """u² of Theorem 1 at every node, for ``nodes`` as training nodes; in folds they are the same
    ones, because energies do not depend on labels."""
    P = problem.design.views.kinds[0]
    # Small problems can afford almost no error in the penalty either.
    rtol = 1e-6 if is_small(P.n_nodes, len(nodes)) else 1e-2
    tol = own_tolerance(P, nodes, 1e-4)
    weight = P.self_weight(nodes, tol=tol, rows=nodes, energy_rtol=rtol, progress=problem.progress)
    problem.design.views.remember(P, weight)
    weight = certify_columns(P, problem.columns[nodes, :-1], weight, rtol, problem.progress)
    u2 = np.zeros(P.n_nodes)
    u2[nodes] = penalty_weights(P, nodes, self_weight=weight)
    return u2


def _scores(
    problem: LabelProblem, solve: Solve, found: list[np.ndarray], n_folds: int
) -> list[float]:
    """Scores of several fits, on the validation nodes or else out of fold."""
    if problem.validation is not None:
        score = problem.validation_scorer()
        return [score(W) for W in found]
    return [problem.oof_score(rows) for rows in _folded(problem, solve, len(found), n_folds)]


def by_ridge(problem: LabelProblem, ridge: float, without: Without) -> LinearFit:
    """Squared loss on normalized views or on several views."""

    def solve(seen: LabelProblem) -> list[np.ndarray]:
        args = (seen.Y, seen.weight, problem.start(), problem.pull(ridge))
        return [weights.ridge_fit(seen.rows(seen.nodes), *args)]

    return LinearFit(solve(problem)[0], lambda: _folded(problem, solve, without=without)[0])


def by_convex(problem: LabelProblem, ridge: float, without: Without) -> LinearFit:
    """Cross-entropy to convergence."""
    Z, link, pull = problem.rows(problem.nodes), problem.link, problem.pull(ridge)
    args = (problem.Y, problem.weight, problem.start(), pull, link)
    fit = weights.convex_fit(Z, *args, progress=problem.progress)

    def solve(seen: LabelProblem) -> list[np.ndarray]:
        # With its own start: that of the full fit has seen the fold.
        rows = (seen.rows(seen.nodes), seen.Y, seen.weight)
        args = (*rows, problem.start(), pull, link)
        return [weights.convex_fit(*args, tol=1e-5, progress=False).weights]

    def oof() -> np.ndarray:
        return _folded(problem, solve, without=without)[0]

    return LinearFit(fit.weights, oof, n_iter=fit.n_evaluations)


def _folded(
    problem: LabelProblem,
    solve: Solve,
    n_fits: int = 1,
    n_folds: int = N_FOLDS,
    without: Without | None = None,
) -> list[np.ndarray]:
    """Predictions of the training nodes by weights from the other folds' labels, for each of
    several fits, in the units of ``y``.

    ``solve(problem of the other folds)`` returns the weights. Labels of the fold are not inputs
    there: where rows share what they see, weights that were trained with a label among the inputs
    of others could read it off what is missing in its own row.
    """

    def predict_fold(inside: np.ndarray) -> np.ndarray:
        fold = problem.nodes[inside]
        own = problem if without is None else without(fold)
        seen = own.without(fold)
        rows = [own.oof_predictions(seen, fold, W) for W in solve(seen)]
        return np.concatenate(rows, axis=1)

    plain = apply_link(problem.rows(problem.nodes) @ problem.start(), problem.link)
    otherwise = np.tile(problem.scale.back(plain), (1, n_fits))
    rows = by_folds(problem.folds(n_folds), predict_fold, otherwise, problem.progress)
    return np.split(rows, n_fits, axis=1)


def by_splits(problem: LabelProblem, options: SplitOptions, without: Without) -> LinearFit:
    """Random splits at each rate; the fit whose best epoch scores highest."""

    def fit_at_best(seen: LabelProblem) -> LinearFit:
        # All rows of the problem choose the best epoch and the rate.
        evaluate = _evaluator(seen)
        return weights.best_rate(
            options.rates,
            lambda rate: _one_rate(seen, options, rate, evaluate),
            lambda fit: evaluate(fit.weights),
        )

    fit = fit_at_best(problem)
    solve = lambda seen: [fit_at_best(seen).weights]  # noqa: E731
    return replace(fit, oof=lambda: _folded(problem, solve, without=without)[0])


def _evaluator(problem: LabelProblem) -> Callable[[np.ndarray], float]:
    """Score of weights on the validation nodes, otherwise on the training rows."""
    if problem.validation is not None:
        return problem.validation_scorer()
    Z = problem.rows(problem.nodes)
    return lambda W: problem.oof_score(problem.scale.back(apply_link(Z @ W, problem.link)))


def _one_rate(
    problem: LabelProblem,
    options: SplitOptions,
    rate: float,
    evaluate: Callable[[np.ndarray], float],
) -> LinearFit:
    draw = _split_drawer(problem, rate)
    rng = np.random.default_rng(problem.seed)
    first = draw(rng) if problem.link != "identity" else (np.zeros((0, 0)), np.zeros(0, int))
    return weights.stochastic_fit(
        draw,
        first,
        problem.Y,
        problem.weight,
        problem.start(),
        problem.link,
        evaluate,
        learning_rate=options.learning_rate,
        max_epochs=options.max_epochs,
        patience=options.patience,
        rng=rng,
        progress=problem.progress,
    )


def _split_drawer(problem: LabelProblem, rate: float) -> weights.Draw:
    """Function that draws a split and returns (inputs of its targets, their places in Y)."""
    known = problem.targets
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
