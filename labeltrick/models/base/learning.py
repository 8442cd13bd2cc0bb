"""The bases of estimators whose fit learns one model, which then predicts from any labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import _check_feature_names

from ..._utils.progress import Progress
from .feature_estimator import FeatureEstimator
from .node_inputs import NodeInputs
from .tables import Table, read_again, read_table
from .weights import tidy


class LearningEstimator(FeatureEstimator):
    """Base whose subclasses define `_settle`, which checks parameters and draws ``_seeds``, and
    `_learn(inputs, seed)`, whose result has ``rows(inputs)``: predictions of all nodes in the units
    of ``y``. Out-of-fold predictions learn again without the labels of a fold.
    """

    random_state: Any
    progress: Progress
    _seeds: np.ndarray
    model_: Any

    def _settle(self) -> None:
        raise TypeError(f"{type(self).__name__} must define _settle.")

    def _learn(self, inputs: NodeInputs, seed: int) -> Any:
        raise TypeError(f"{type(self).__name__} must define _learn.")

    def _fit(self, *data: Any) -> None:
        self._settle()
        self._start_feature_fit(*data)
        try:
            self._learn_all()
        except BaseException:
            del self.targets_  # the estimator is no longer fitted
            raise
        self._check_training()

    def _learn_all(self) -> None:
        """Learn from the labels of the fit."""
        self.model_ = self._learn(self.fitted_inputs, int(self._seeds[0]))

    def _check_training(self) -> None:
        """Raise an error if training diverged; the estimator keeps its best weights."""

    def scores_of(self, inputs: NodeInputs) -> np.ndarray:
        return tidy(self.model_.rows(inputs), inputs.targets.task)

    @property
    def _rows_use_own_label(self) -> bool:
        return self.sees_own_label

    @property
    def oof_rows_(self) -> np.ndarray:
        """Predictions of the labeled nodes, each fifth learned without its labels."""
        known, nodes = self.targets_, self.labeled_

        def predict_fold(inside: np.ndarray) -> np.ndarray:
            others = self._training_inputs(nodes[~inside])
            learned = self._learn(others, int(self._seeds[1]))
            given = others if self._rows_use_own_label else self.fitted_inputs
            return tidy(learned.rows(given)[nodes[inside]], known.task)

        return self._oof_by_folds(predict_fold, self.progress)


class TableEstimator(LearningEstimator):
    """Base for tables with categories and missing values."""

    categorical: Any
    unseen_categories: str
    features_: Table | None

    def _without_features(self) -> None:
        """Called if ``X`` is None; raises an error where features are needed."""

    def _check_features(self, X: Any, *, reset: bool) -> Table | None:
        if X is None:
            self._without_features()
            return None
        if reset:
            _check_feature_names(self, X, reset=True)
            return read_table(X, self.categorical)
        if self.features_ is None:
            raise ValueError("`X` must be None, as in fit; got features.")
        return read_again(X, self.features_, self.unseen_categories)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
