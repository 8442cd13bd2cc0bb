"""Out-of-fold predictions of labeled nodes: scores, calibration and doubtful labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._utils.checks import check_count, warn_caller
from ..._utils.targets import Targets
from ...evaluation import metrics
from ...evaluation.calibration import Calibration, fit_calibration
from ...evaluation.suspicious_labels import SuspiciousLabels, rank_labels
from ...graph.graph import Graph
from .node_inputs import NodeInputs


class OutOfFold:
    """Base of estimators that predict labeled nodes without their own labels."""

    calibrate: bool = False
    targets_: Targets
    validation_targets_: Targets
    labeled_: np.ndarray
    validation_: np.ndarray
    graph_: Graph
    _cache: dict[str, Any]

    def scores_of(self, inputs: NodeInputs) -> np.ndarray:
        """One row of scores per node, before calibration."""
        raise TypeError(f"{type(self).__name__} must define scores_of.")

    @property
    def fitted_inputs(self) -> NodeInputs:
        """Labels, graph and features of the fit."""
        return NodeInputs(self.targets_, self.graph_)

    def _once(self, key: str, make: Callable[[], Any]) -> Any:
        """``make()``, kept until the next fit; saved models do not hold it."""
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]

    @property
    def oof_rows_(self) -> np.ndarray:
        """Scores of the labeled nodes, each made without its own label."""
        raise AttributeError(f"{type(self).__name__} has no out-of-fold predictions.")

    @property
    def has_oof(self) -> bool:
        """Whether there are out-of-fold predictions."""
        return True

    @property
    def oof_proba_(self) -> np.ndarray:
        """Probabilities of the labeled nodes, made without their own labels.

        In the order of ``labeled_``. Not calibrated: the temperature has seen all labels.
        """
        check_is_fitted(self, "targets_")
        if self.targets_.task == "regression":
            raise AttributeError("oof_proba_ is for classes; use oof_prediction_ for regression.")
        return self.oof_rows_

    @property
    def oof_prediction_(self) -> np.ndarray:
        """Predictions of the labeled nodes, made without their own labels."""
        check_is_fitted(self, "targets_")
        return decode(self.targets_, self.oof_rows_)

    @property
    def oof_score_(self) -> float:
        """Accuracy, or R² for regression, of these predictions; NaN for a single label."""
        check_is_fitted(self, "targets_")
        known = self.targets_
        if len(self.labeled_) < 2:
            return float("nan")
        Y, weight = known.Y[self.labeled_], known.weight[self.labeled_]
        return metrics.score(known.task, Y, self.oof_rows_, weight)

    def suspicious_labels(self, n: int | None = None) -> SuspiciousLabels:
        """Rank labels by how much the other labels contradict them.

        Parameters
        ----------
        n : int or None, default=None
            Number of labels to return. None returns all.

        Returns
        -------
        suspicious : SuspiciousLabels
            The most doubtful labels first.

        Examples
        --------
        >>> from labeltrick import Graph, LabelPropagation
        >>> graph = Graph.from_edges([0, 0, 0, 1, 1, 2], [1, 2, 3, 2, 3, 3])
        >>> model = LabelPropagation().fit(None, ["a", "a", "b", "a"], graph=graph)
        >>> model.suspicious_labels(1).nodes.tolist()
        [2]
        """
        check_is_fitted(self, "targets_")
        known = self.targets_
        rows = self.oof_rows_
        given = decode(known, known.Y)[self.labeled_]
        names = self.graph_.name_table.values
        ranked = rank_labels(known, rows, decode(known, rows), given, names)
        n = len(ranked) if n is None else check_count("n", n)
        return SuspiciousLabels(*(values[:n] for values in vars(ranked).values()))

    @property
    def calibration_(self) -> Calibration:
        """How probabilities are calibrated, with the calibration error before and after.

        Fitted on first use, on the validation nodes if there are any, otherwise on out-of-fold
        predictions. It changes nothing if there are neither.
        """
        check_is_fitted(self, "targets_")
        return self._once("calibration", self._fit_calibration)

    def _fit_calibration(self) -> Calibration:
        known, nodes = self.targets_, self.labeled_
        if not self.calibrate or known.task == "regression":
            return Calibration()
        if len(self.validation_):
            rows = self.scores_of(self.fitted_inputs)[self.validation_]
            known, nodes = self.validation_targets_, self.validation_
        elif self.has_oof:
            rows = self.oof_rows_
        else:
            return Calibration()
        keys = None if known.keys is None else known.keys[nodes]
        return fit_calibration(rows, known.Y[nodes], known.task, known.weight[nodes], keys)


def warn_of_used_labels(scored: np.ndarray, used: np.ndarray) -> None:
    """A score that flatters is not shown without saying so."""
    n = int(np.count_nonzero(scored & used))
    if n:
        warn_caller(
            f"The fit used the labels of {n:,} of the {np.count_nonzero(scored):,} scored nodes, "
            "so that the score flatters the model. Score other nodes, or use `oof_score_`."
        )


def decode(targets: Targets, scores: np.ndarray) -> np.ndarray:
    """Predictions in the form of `y` from rows of scores."""
    if targets.task == "classification":
        assert targets.classes is not None
        return targets.classes[scores.argmax(axis=1)]
    if targets.task == "multilabel":
        return (scores > 0.5).astype(np.int64)
    return scores[:, 0] if targets.flat else scores
