"""Linear models on rows."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...._utils.threads import one_blas_thread, run_blocks
from ...base.weights import apply_link, link_of
from .protocol import Learner, Problem, Sizes
from .row_wise import RowLearner, spread_seconds
from .rows import Rows, row_loss

_SMALL_TABLE = 4_000_000  # numbers
_MANY_ROWS = 20_000  # with more, the penalty hardly matters
_SPEED, _ITERATIONS = 3e9, 300  # operations per second of a typical core


@dataclass(frozen=True)
class LinearLearner(RowLearner):
    """Logistic regression or least squares on the columns of networks."""

    def prepared(self, problem: Problem) -> Learner:
        return replace(self, recipe=problem.recipe(2, 2))

    def cost(self, sizes: Sizes, n_folds: int) -> float:
        rows, width = self.size_of_rows(sizes)
        fits = 3 * rows * width * sizes.n_outputs * _ITERATIONS / _SPEED
        return spread_seconds(self.recipe, sizes) + n_folds * fits

    def fit_rows(self, rows: Rows) -> Linear:
        return fit_linear(rows)


@dataclass(frozen=True)
class Linear:
    """A linear model with a link function."""

    weights: np.ndarray
    bias: np.ndarray
    link: str

    def predict(self, X: np.ndarray) -> np.ndarray:
        def block(start: int, stop: int) -> np.ndarray:
            return X[start:stop].astype(np.float64) @ self.weights + self.bias

        return apply_link(run_blocks(block, len(X)), self.link)


def fit_linear(rows: Rows, *, penalties: tuple[float, float] = (0.05, 0.5)) -> Linear:
    """Fit least squares for numbers or logistic regression for classes. Validation rows choose the
    penalty; without any, it is the second, and with many rows the first."""
    found = []
    tried = penalties if rows.validation is not None else penalties[1:]
    if len(rows.Y) > _MANY_ROWS:
        tried = penalties[:1]
    for penalty in tried:
        # Small products gain little from threads, and lose time if cores are busy.
        with one_blas_thread() if rows.X.size < _SMALL_TABLE else nullcontext():
            model = _fit_linear(rows, penalty)
        loss = 0.0
        if rows.validation is not None:
            X, Y, weight = rows.validation
            loss = row_loss(rows.task, Y, model.predict(X), weight)
        found.append((loss, model))
    return min(found, key=lambda pair: pair[0])[1]


def _fit_linear(rows: Rows, penalty: float) -> Linear:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression, Ridge

    X, Y, weight = rows.X, rows.Y, rows.weight / rows.weight.mean()
    link, c = link_of(rows.task), Y.shape[1]
    with warnings.catch_warnings():
        # If it does not converge, it is a weaker learner, which validation shows.
        warnings.simplefilter("ignore", ConvergenceWarning)
        if rows.task == "regression":
            model = Ridge(penalty * 10).fit(X.astype(np.float64), Y, weight)
            coefficients = np.asarray(model.coef_).reshape(c, -1).T
            return Linear(coefficients, np.broadcast_to(model.intercept_, (c,)).copy(), link)
        weights, bias = np.zeros((X.shape[1], c)), np.full(c, -30.0)
        # In float32 like the rows: half the time, and the same weights to five digits.
        options: dict[str, Any] = {"C": 1 / (10 * penalty), "max_iter": 80}
        if rows.task == "multilabel":
            for k in range(c):
                if len(np.unique(Y[:, k])) < 2:
                    bias[k] = 30.0 if Y[0, k] else -30.0
                    continue
                model = LogisticRegression(**options).fit(X, Y[:, k], weight)
                weights[:, k], bias[k] = model.coef_[0], model.intercept_[0]
            return Linear(weights, bias, link)
        codes = Y.argmax(axis=1)
        present = np.unique(codes)
        if len(present) == 1:
            bias[present] = 0.0
            return Linear(weights, bias, link)
        model = LogisticRegression(**options).fit(X, codes, weight)
        coefficients, intercept = model.coef_, model.intercept_
        if len(present) == 2:  # one row for the second of two classes
            coefficients = np.concatenate([0 * coefficients, coefficients])
            intercept = np.concatenate([0 * intercept, intercept])
        weights[:, present], bias[present] = coefficients.T, intercept
        return Linear(weights, bias, link)
