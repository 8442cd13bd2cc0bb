"""The base of estimators that use features beside the labels."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from ..._utils.feature_tables import check_features
from ..._utils.progress import Progress
from ..._utils.targets import Targets, TargetScale
from ...graph.graph import Graph
from ...graph.names import shown
from .estimator import GraphEstimator
from .folds import N_FOLDS, by_folds, draw_folds
from .node_inputs import NodeInputs, n_rows, nodes_of_fit, wrong_row_count
from .tables import Table
from .weights import tidy

TRICKS = (None, "deterministic", "stochastic")

Self = TypeVar("Self", bound="FeatureEstimator")


class FeatureEstimator(GraphEstimator):
    """Base of estimators that also check and keep ``X``.

    Predictions use the features of the fit unless new ones are given.
    """

    _target_scale: TargetScale

    def _start_feature_fit(
        self, X: Any, y: Any, graph: Graph | None, sample_weight: Any, validation: Any
    ) -> None:
        # Features first: scikit-learn expects their errors even if y is wrong too.
        features = self._check_features(X, reset=True)
        numbers = features if features is None else getattr(features, "values", features)
        table: Any = numbers if sp.issparse(numbers) else np.asarray(numbers)
        numeric = table.ndim == 2 and table.dtype.kind in "biuf"  # others are for base models
        self._start_fit(X, y, graph, sample_weight, validation, table if numeric else None)
        self.features_ = features
        self._target_scale = TargetScale.of(self.targets_)

    def _check_features(self, X: Any, *, reset: bool) -> Any:
        return check_features(self, X, reset=reset)

    @property
    def fitted_inputs(self) -> NodeInputs:
        return NodeInputs(self.targets_, self.graph_, self.features_)

    def inputs_of(self, X: Any, y: Any, graph: Graph | None) -> NodeInputs:
        inputs = super().inputs_of(X, y, graph)
        n_nodes = inputs.graph.n_nodes
        if X is not None:
            features = self._check_features(X, reset=False)
        elif inputs.graph is self.graph_ or self.features_ is None:
            features = self.features_
        else:
            features = self._features_on(inputs.graph)
        if features is not None and n_rows(features) != n_nodes:
            raise wrong_row_count("X", features, inputs.graph)
        return replace(inputs, X=features)

    def _features_on(self, graph: Graph) -> Any:
        """The features of the fit on another graph, if all of its nodes were there."""
        at = nodes_of_fit(self.graph_, graph)
        if at is None or (at < 0).any():
            reason = "names do not say which nodes are the same as in the fit"
            if at is not None:
                new = shown(graph.name_table.kept, int(np.argmax(at < 0)))
                n_new = int((at < 0).sum())
                such = "1 such node" if n_new == 1 else f"{n_new:,} such nodes"
                reason = f"node {new} was not in the fit ({such})"
            raise ValueError(
                f"`X` must be given for another graph: {reason}. Pass the features of all its "
                f"{graph.n_nodes} nodes."
            )
        if isinstance(self.features_, Table):
            return replace(self.features_, values=self.features_.values[at])
        return self.features_[at]

    # -- folds ----------------------------------------------------------------------------
    def _training_inputs(self, nodes: np.ndarray) -> NodeInputs:
        """Inputs of a training on the targets of ``nodes``: with their labels and no others."""
        return NodeInputs(self.targets_.only(nodes), self.graph_, self.features_)

    def _once_in_any_units(self, key: str, make: Callable[[], Any]) -> Any:
        """``make()``, kept until the next fit, for `_without_fold` too: what does not depend on the
        units of the targets."""
        shared = self._once("in any units", dict)
        if key not in shared:
            shared[key] = make()
        return shared[key]

    def _without_fold(self: Self, others: Targets) -> Self:
        """The estimator in units that only the labels outside of a fold have set.

        A scale from all labels would show a node its own. Classes are not scaled.
        """
        if others.task != "regression":
            return self
        found = copy(self)
        found._target_scale = TargetScale.of(others)
        found._cache = {"in any units": self._once("in any units", dict)}
        return found

    def _oof_by_folds(
        self, predict_fold: Callable[[np.ndarray], np.ndarray], progress: Progress
    ) -> np.ndarray:
        """Rows of the labeled nodes, each fifth of them from ``predict_fold(mask of the fold)``.

        Computed once. A single label is predicted by a blind guess.
        """
        return self._once("oof", lambda: self._cross_fitted(predict_fold, progress))

    def _cross_fitted(
        self,
        predict_fold: Callable[[np.ndarray], np.ndarray],
        progress: Progress,
        n_versions: int = 1,
    ) -> np.ndarray:
        """`_oof_by_folds`, not kept; ``predict_fold`` returns so many versions side by side."""
        known, n = self.targets_, len(self.labeled_)
        c = known.Y.shape[1]
        guess = {"classification": 1 / c, "multilabel": 0.5, "regression": 0.0}[known.task]
        fold = draw_folds(known, self.labeled_, N_FOLDS, 0)
        otherwise = np.full((n, c * n_versions), guess)
        return by_folds(fold, predict_fold, otherwise, progress=progress)

    def _finish(self, rows: np.ndarray) -> np.ndarray:
        """Predictions in the units of ``y`` from those of training."""
        return tidy(self._target_scale.back(rows), self.targets_.task)
