"""Any classifier or regressor of scikit-learn as a learner."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from .protocol import Learner, Problem, Sizes
from .row_wise import RowLearner, spread_seconds
from .rows import Rows

_SPEED = 2e6  # values per second: a guess, since nothing is known about the estimator


def is_estimator(given: Any) -> bool:
    """Whether an object is a classifier or regressor in the sense of scikit-learn."""
    return not isinstance(given, type) and all(
        callable(getattr(given, name, None)) for name in ("fit", "predict", "get_params")
    )


@dataclass(frozen=True)
class EstimatorLearner(RowLearner):
    """An estimator on the columns of networks: numbers without missing values in one scale.

    It is cloned for each fold. Classifiers must have ``predict_proba``. Several labels or several
    numbers are fitted one by one.
    """

    estimator: Any = None
    storable: ClassVar[bool] = False

    def suits(self, problem: Problem) -> bool:
        from sklearn.base import is_classifier, is_regressor

        if problem.task == "regression":
            return not is_classifier(self.estimator)
        if is_regressor(self.estimator):
            return False
        if not hasattr(self.estimator, "predict_proba"):
            raise ValueError(
                f"`learners` must hold classifiers with `predict_proba`; {self.name} has none. "
                "Wrap it in sklearn.calibration.CalibratedClassifierCV."
            )
        return True

    def prepared(self, problem: Problem) -> Learner:
        return replace(self, recipe=problem.recipe(2, 2))

    def cost(self, sizes: Sizes, n_folds: int) -> float:
        rows, width = self.size_of_rows(sizes)
        fits = rows * width * sizes.n_outputs / _SPEED
        return spread_seconds(self.recipe, sizes) + n_folds * fits

    def fit_rows(self, rows: Rows) -> FittedEstimator:
        weight = rows.weight / rows.weight.mean()
        n_outputs = rows.Y.shape[1]
        if rows.task == "classification":
            codes = rows.Y.argmax(axis=1)
            return FittedEstimator([self._fitted(rows.X, codes, weight)], rows.task, n_outputs)
        columns = rows.Y.T if rows.task == "regression" else rows.Y.T.astype(np.int64)
        models = [self._fitted(rows.X, column, weight) for column in columns]
        return FittedEstimator(models, rows.task, n_outputs)

    def _fitted(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> Any:
        from sklearn.base import clone
        from sklearn.utils.validation import has_fit_parameter

        if y.dtype.kind == "i" and len(np.unique(y)) == 1:
            return int(y[0])  # many classifiers refuse a single class
        options = {}
        if has_fit_parameter(self.estimator, "sample_weight") and np.ptp(weight):
            options["sample_weight"] = weight
        return clone(self.estimator).fit(X, y, **options)


@dataclass(frozen=True)
class FittedEstimator:
    """One fitted estimator, or one per label or number. A class stands for itself where it was the
    only one."""

    models: list[Any]
    task: str
    n_outputs: int

    def predict(self, X: np.ndarray) -> np.ndarray:
        if self.task == "regression":
            return np.column_stack([np.asarray(model.predict(X)) for model in self.models])
        if self.task == "multilabel":
            return np.column_stack([_probabilities(m, X, 2)[:, 1] for m in self.models])
        return _probabilities(self.models[0], X, self.n_outputs)


def _probabilities(model: Any, X: np.ndarray, n_classes: int) -> np.ndarray:
    """Probabilities of all classes, also of those that the estimator has not seen."""
    found = np.zeros((len(X), n_classes))
    if isinstance(model, int):
        found[:, model] = 1.0
        return found
    rows = np.asarray(model.predict_proba(X), np.float64)
    classes = np.asarray(model.classes_, np.int64)
    if rows.shape != (len(X), len(classes)):
        raise ValueError(
            f"`predict_proba` must return shape {(len(X), len(classes))}; got {rows.shape}"
        )
    found[:, classes] = rows
    return found
