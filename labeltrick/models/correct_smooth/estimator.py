"""Base class of the Correct & Smooth estimators: base predictions, out-of-fold predictions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone, is_regressor
from sklearn.utils.validation import check_is_fitted

from ..._utils.checks import check_choice, check_count, check_flag
from ..._utils.feature_tables import check_features
from ..._utils.frame_columns import in_columns_of_fit
from ..._utils.sparse_checks import check_sparse
from ...graph.graph import Graph
from ..base.estimator import GraphEstimator
from ..base.learning import LearningEstimator
from ..base.node_inputs import NodeInputs, labels_at, nodes_of_fit
from .base import FittedBase, can_be_fitted, fit_base, is_module, settle_base


class CorrectSmoothEstimator(LearningEstimator):
    """Base class; ``base_rows(inputs)`` of what `_learn` returns are the base predictions."""

    sees_own_label = True

    base: Any
    base_predictions: str
    n_folds: int
    validation_labels: bool
    _base_choices: tuple[str, ...] = ("in_sample", "out_of_fold", "auto")

    def _settle(self) -> None:
        self._seeds = np.random.default_rng(self.random_state).integers(2**31, size=3)
        self._base = settle_base(self.base, int(self._seeds[2]), self.progress)
        self._fits_base = can_be_fitted(self._base)
        if self._fits_base:
            self._base = clone(self._base)  # the caller may fit the original later
        check_choice("base_predictions", self.base_predictions, self._base_choices)
        check_flag("validation_labels", self.validation_labels)
        check_count("n_folds", self.n_folds, 2)

    @property
    def uses_types(self) -> bool:  # type: ignore[override]
        """Whether the base does; errors and labels are passed along all edges alike."""
        return bool(getattr(self.base, "uses_types", False))

    def __sklearn_clone__(self) -> Any:
        """Keep a base that is already fitted, which scikit-learn's clone would reset."""
        parameters = self.get_params(deep=False)
        base = parameters.pop("base")
        kept = base if isinstance(base, str) or not can_be_fitted(base) else clone(base)
        copied = {name: clone(value, safe=False) for name, value in parameters.items()}
        return type(self)(base=kept, **copied)

    def _check_features(self, X: Any, *, reset: bool) -> Any:
        """Features of a network must be numbers; other bases check their own."""
        if isinstance(self._base, np.ndarray):
            return None
        if X is None and isinstance(self._base, GraphEstimator) and not isinstance(self.base, str):
            return None  # it may use labels and edges only
        if X is None or isinstance(self.base, str) or is_module(self._base):
            return check_features(self, X, reset=reset)
        if sp.issparse(X):
            return check_sparse("X", X).tocsr()  # rows are selected from it
        X = X if hasattr(X, "shape") else np.asarray(X)
        if isinstance(X, np.ndarray) and np.iscomplexobj(X):
            raise ValueError("`X` must contain real numbers: Complex data not supported.")
        return in_columns_of_fit(self, X, reset=reset)

    def _fit_base(self, inputs: NodeInputs, seed: int) -> FittedBase:
        n_folds = self.n_folds if self._out_of_fold or self._by_fold else 0
        return fit_base(self._base, inputs, self.validation_targets_, n_folds=n_folds, seed=seed)

    @property
    def _by_fold(self) -> bool:
        return False

    @property
    def _out_of_fold(self) -> bool:
        if self.base_predictions == "auto":
            return self._fits_base
        return self.base_predictions == "out_of_fold"

    def _asked_task(self) -> str:
        """With a regressor as base, integers in ``y`` are numbers, not classes."""
        if self.task == "auto" and hasattr(self._base, "fit") and is_regressor(self._base):
            return "regression"
        return self.task

    def _predicts_only_numbers(self) -> bool:
        base = self.base
        return super()._predicts_only_numbers() or (hasattr(base, "fit") and is_regressor(base))

    # -- predictions ----------------------------------------------------------------------
    @property
    def base_prediction_(self) -> np.ndarray:
        """Base predictions of the fitted nodes, of shape (n, c)."""
        check_is_fitted(self, "targets_")
        return self._once("base", lambda: self.model_.base_rows(self.fitted_inputs))

    def inputs_of(self, X: Any, y: Any, graph: Graph | None) -> NodeInputs:
        inputs = super().inputs_of(X, y, graph)
        if not self.validation_labels or y is not None:
            return inputs
        at = nodes_of_fit(self.graph_, inputs.graph)
        if at is None:
            return inputs
        more = labels_at(self.validation_targets_, at)
        return replace(inputs, targets=inputs.targets.joined(more))

    @property
    def has_oof(self) -> bool:
        return self._fits_base or self._out_of_fold

    @property
    def oof_rows_(self) -> np.ndarray:
        """Predictions of the labeled nodes, each fifth learned without its labels."""
        if not self.has_oof:
            raise AttributeError(
                "out-of-fold predictions need a base that can be fitted again without a fold. If "
                "the given predictions of labeled nodes were made without their labels, pass "
                "base_predictions='out_of_fold'."
            )
        return super().oof_rows_
