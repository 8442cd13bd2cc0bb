"""Boosted trees as a scikit-learn estimator: the base of Correct & Smooth on tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ..._utils.progress import Progress, ProgressBar
from .node_columns import NodeColumns
from .trees import TreeOptions, fit_trees


class TreeBase(BaseEstimator):
    """``options.n_rounds`` rounds of boosted trees.

    ``names`` are the names of the columns, for parameters that refer to them.
    """

    def __init__(
        self,
        task: str = "regression",
        options: TreeOptions | None = None,
        *,
        names: tuple[str, ...] = (),
        categorical: tuple[int, ...] = (),
        random_state: Any = None,
        progress: Progress = None,
    ) -> None:
        self.task = task
        self.options = options
        self.names = names
        self.categorical = categorical
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TreeBase:
        if self.task == "classification":
            self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
            Y = np.eye(len(self.classes_))[codes]
        else:
            Y = np.asarray(y, np.float64).reshape(len(y), -1)
            self.classes_ = np.arange(Y.shape[1])
        weight = np.ones(len(Y)) if sample_weight is None else np.asarray(sample_weight, float)
        options = replace(self.options or TreeOptions(), seed=int(self.random_state or 0))
        with ProgressBar(
            options.total_rounds(self.task, Y.shape[1]), "trees", self.progress
        ) as bar:
            self.trees_ = fit_trees(self._columns(X), Y, weight, None, self.task, options, bar)
        return self

    def _columns(self, X: Any) -> NodeColumns:
        names = list(self.names) or [f"column {k}" for k in range(X.shape[1])]
        return NodeColumns.own(X, names, list(self.categorical))

    def predict(self, X: Any) -> np.ndarray:
        rows = self.trees_.predict(X)
        return rows[:, 0] if rows.shape[1] == 1 else rows

    def predict_proba(self, X: Any) -> np.ndarray:
        return self.trees_.predict(X)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, RegressorTags

        tags = super().__sklearn_tags__()
        if self.task == "regression":
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        else:
            tags.estimator_type = "classifier"
            tags.classifier_tags = ClassifierTags(multi_label=True)
        tags.target_tags.multi_output = True
        return tags
