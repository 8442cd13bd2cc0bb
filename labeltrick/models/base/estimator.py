"""What all estimators share: labels in, scores of every node out, in scikit-learn's manner."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags, RegressorTags, Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..._utils.checks import check_count, check_number
from ..._utils.targets import Targets, check_sample_weight, encode_targets
from ...evaluation import metrics
from ...evaluation.calibration import Calibration, fit_calibration
from ...evaluation.intervals import interval_radius
from ...evaluation.suspicious_labels import SuspiciousLabels, rank_labels
from ...graph.graph import Graph
from ...graph.node_keys import node_keys
from .node_inputs import NodeInputs, check_validation, graph_for, other_inputs


def _predicts_classes(estimator: Any) -> bool:
    """Whether there are probabilities: known after a fit, else by the parameter."""
    fitted = getattr(estimator, "targets_", None)
    if (estimator.task if fitted is None else fitted.task) == "regression":
        raise AttributeError("predict_proba is for classes; this is a regression. Use predict.")
    return True


def _predicts_numbers(estimator: Any) -> bool:
    fitted = getattr(estimator, "targets_", None)
    if (estimator.task if fitted is None else fitted.task) not in ("regression", "auto"):
        raise AttributeError("predict_interval is for numbers; use predict_proba for classes.")
    return True


class GraphEstimator(BaseEstimator):
    """Base of estimators whose `scores_of(inputs)` gives each node's row of predictions.

    Subclasses call `_start_fit` in `fit`, which sets ``targets_`` (the labels that are inputs),
    ``graph_``, ``classes_``, ``prior_``, ``labeled_`` and ``validation_``, and may define
    `oof_rows_`, the rows of the labeled nodes made without their own label.
    """

    task: str = "auto"
    class_weight: Any = None
    calibrate: bool = False
    sees_own_label = False  # whether predictions of labeled nodes take in their own label
    # Where another estimator fits this one on columns that it has computed: its own keys. Those of
    # computed columns would depend on their rounding.
    _given_keys: np.ndarray | None = None
    targets_: Targets
    graph_: Graph

    def scores_of(self, inputs: NodeInputs) -> np.ndarray:
        raise TypeError(f"{type(self).__name__} must define scores_of.")

    @property
    def oof_rows_(self) -> np.ndarray:
        raise AttributeError(f"{type(self).__name__} has no leave-one-out predictions.")

    def _start_fit(
        self,
        X: Any,
        y: Any,
        graph: Graph | None,
        sample_weight: Any = None,
        validation: Any = None,
        features: Any = None,
    ) -> None:
        """``features`` are those of ``X`` that are learned from, as numbers."""
        if y is None:
            raise ValueError(
                f"`y` must be given: {type(self).__name__} requires y to be passed, but the target "
                "y is None. Mark unlabeled nodes in it as missing."
            )
        self._cache: dict[str, Any] = {}  # what is made when first asked for
        self.graph_ = graph_for(graph, X, y, warn=True)
        known = encode_targets(y, self.graph_.n_nodes, self._asked_task())
        self.validation_ = check_validation(validation, known)
        kept = known.labeled.copy()
        kept[self.validation_] = False
        # Weights after the validation labels are gone: "balanced" must not count them.
        training = known.only(np.flatnonzero(kept))
        self.targets_ = training.weighted(sample_weight, self.class_weight)
        self.validation_targets_ = known.only(self.validation_).weighted(sample_weight, None)
        self._set_keys(features)
        self.validation_ = np.flatnonzero(self.validation_targets_.labeled)
        self.labeled_ = np.flatnonzero(self.targets_.labeled)
        self.prior_ = self.targets_.prior
        self.__dict__.pop("classes_", None)  # a refit may be of another task
        if known.classes is not None:
            self.classes_ = known.classes
        if X is not None:
            shape = X.shape if hasattr(X, "shape") else np.asarray(X).shape
            self.n_features_in_ = shape[1] if len(shape) > 1 else 1

    def _set_keys(self, features: Any) -> None:
        """Marks of the nodes for random draws; labels without weight are none."""
        keys = self._given_keys
        if keys is None:
            part = 1 * self.targets_.labeled + 2 * self.validation_targets_.labeled
            keys = node_keys(self.graph_, features, part)
        self.targets_ = replace(self.targets_, keys=keys)
        self.validation_targets_ = replace(self.validation_targets_, keys=keys)

    def _asked_task(self) -> str:
        return self.task

    def inputs_of(self, X: Any, y: Any, graph: Graph | None) -> NodeInputs:
        """What to predict from: labels, graph and features of `fit` unless new ones are given."""
        check_is_fitted(self, "targets_")
        return other_inputs(self.fitted_inputs, X, y, graph, self.class_weight)

    @property
    def fitted_inputs(self) -> NodeInputs:
        return NodeInputs(self.targets_, self.graph_)

    @contextmanager
    def _suspecting_its_file(self) -> Iterator[None]:
        """A model that was read from a file and fails where a fitted one cannot: parts of it do not
        fit together, which no check of single parts can see."""
        try:
            yield
        except (ValueError, TypeError, ImportError, OSError):
            raise
        except Exception as error:
            file = getattr(self, "_cache", {}).get("file")
            if file is None:
                raise
            reason = next(iter(str(error).splitlines()), "")[:200]
            raise ValueError(
                f"the model in `{file}` must be as save_model wrote it; it cannot be used "
                f"({type(error).__name__}: {reason}). Copy it again, or fit again."
            ) from error

    @available_if(_predicts_classes)
    def predict_proba(
        self, X: Any = None, y: Any = None, *, graph: Graph | None = None
    ) -> np.ndarray:
        """Probabilities of the classes (or of each label being 1), one row a node.

        Calibrated on the leave-one-out predictions, unless ``calibrate=False``.
        """
        with self._suspecting_its_file():
            inputs = self.inputs_of(X, y, graph)
            return self.calibration_.apply(self.scores_of(inputs), inputs.targets.task)

    def predict(self, X: Any = None, y: Any = None, *, graph: Graph | None = None) -> np.ndarray:
        """Classes, indicators or numbers, one a node.

        Without arguments: every node of the fitted graph. With new ``y`` or ``graph``: from
        those labels and edges, without training again.
        """
        with self._suspecting_its_file():
            inputs = self.inputs_of(X, y, graph)
            return decode(inputs.targets, self.scores_of(inputs))

    @available_if(_predicts_numbers)
    def predict_interval(
        self,
        X: Any = None,
        y: Any = None,
        *,
        graph: Graph | None = None,
        coverage: float = 0.9,
    ) -> np.ndarray:
        """Lower and upper end, (n, 2), of intervals that hold a node's number so often; (n, c, 2)
        for c numbers a node, each on its own.

        As wide everywhere as the residuals of the predictions made without the own label say: no
        labels are set aside. A node whose number is known gets the interval of one that is not.

        >>> from labeltrick import LabelPropagation
        >>> graph = Graph.from_edges(range(99), range(1, 100))
        >>> height = np.sin(np.arange(100) / 5)
        >>> some = np.where(np.arange(100) % 3, height, np.nan)
        >>> model = LabelPropagation(0.8, task="regression").fit(None, some, graph=graph)
        >>> low, high = model.predict_interval(coverage=0.8).T
        >>> hidden = np.isnan(some)
        >>> bool(np.mean((low <= height) & (height <= high), where=hidden) > 0.7)
        True
        """
        check_number("coverage", coverage, 0.0, 1.0)
        with self._suspecting_its_file():
            inputs = self.inputs_of(X, y, graph)
            residual = self.targets_.Y[self.labeled_] - self.oof_rows_
            radius = interval_radius(residual, coverage)
            rows = self.scores_of(inputs)
        both = np.stack([rows - radius, rows + radius], axis=-1)
        return both[:, 0] if self.targets_.flat else both

    def rows_for(self, y: Any) -> np.ndarray:
        """Predicted rows of all nodes from other labels, before calibration: numbers of classes
        (−1: not known) or values. What `audit_leakage` watches."""
        known = self.targets_
        if known.task == "classification":
            codes = np.asarray(y)
            Y = np.zeros_like(known.Y)
            there = np.flatnonzero(codes >= 0)
            Y[there, codes[there]] = 1.0
            targets = replace(known, Y=Y, labeled=codes >= 0)
        else:
            Y = np.asarray(y, np.float64).reshape(known.Y.shape)
            targets = replace(known, Y=np.where(known.labeled[:, None], Y, 0.0))
        return self.scores_of(replace(self.fitted_inputs, targets=targets))

    @property
    def calibration_(self) -> Calibration:
        """How probabilities are calibrated, with the calibration error before and after.

        Made when first asked for, on the validation nodes if there are any. Changes nothing
        where there are no honest predictions to fit on.
        """
        check_is_fitted(self, "targets_")
        if "calibration" not in self._cache:
            found = Calibration()
            if self.calibrate and self.targets_.task != "regression":
                found = self._fit_calibration()
            self._cache["calibration"] = found
        return self._cache["calibration"]

    def _fit_calibration(self) -> Calibration:
        known, nodes = self.targets_, self.labeled_
        if len(self.validation_):
            rows = self.scores_of(self.fitted_inputs)[self.validation_]
            known, nodes = self.validation_targets_, self.validation_
        elif self.has_oof:
            rows = self.oof_rows_
        else:
            return Calibration()
        keys = None if known.keys is None else known.keys[nodes]
        return fit_calibration(rows, known.Y[nodes], known.task, known.weight[nodes], keys)

    @property
    def has_oof(self) -> bool:
        return True

    @property
    def oof_proba_(self) -> np.ndarray:
        """Probabilities of the labeled nodes (in the order of ``labeled_``), made without
        their own label. Not calibrated: the temperature has seen all labels."""
        check_is_fitted(self, "targets_")
        if self.targets_.task == "regression":
            raise AttributeError("oof_proba_ is for classes; use oof_prediction_ for regression.")
        return self.oof_rows_

    @property
    def oof_prediction_(self) -> np.ndarray:
        """Predictions of the labeled nodes, made without their own label."""
        check_is_fitted(self, "targets_")
        return decode(self.targets_, self.oof_rows_)

    @property
    def oof_score_(self) -> float:
        """Accuracy (R² for numbers) of the predictions made without the own label; NaN for a
        single label."""
        check_is_fitted(self, "targets_")
        known = self.targets_
        if len(self.labeled_) < 2:
            return float("nan")
        Y, weight = known.Y[self.labeled_], known.weight[self.labeled_]
        return metrics.score(known.task, Y, self.oof_rows_, weight)

    def suspicious_labels(self, n: int | None = None) -> SuspiciousLabels:
        """The labels that the other labels contradict most, worst first; all if ``n`` is None.

        >>> from labeltrick import LabelPropagation
        >>> graph = Graph.from_edges([0, 0, 0, 1, 1, 2], [1, 2, 3, 2, 3, 3])
        >>> model = LabelPropagation().fit(None, ["a", "a", "b", "a"], graph=graph)
        >>> model.suspicious_labels(1).nodes.tolist()
        [2]
        """
        check_is_fitted(self, "targets_")
        known = self.targets_
        rows = self.oof_rows_
        given = decode(known, known.Y)[self.labeled_]
        ranked = rank_labels(known, rows, decode(known, rows), given)
        if n is None:
            return ranked
        n = check_count("n", n)
        fields = (ranked.nodes[:n], ranked.given[:n], ranked.suggested[:n], ranked.doubt[:n])
        return SuspiciousLabels(*fields)

    def score(
        self,
        X: Any = None,
        y: Any = None,
        *,
        graph: Graph | None = None,
        sample_weight: Any = None,
    ) -> float:
        """Accuracy on the nodes labeled in ``y`` (R² for regression; of several labels a node,
        all must be right).

        The inputs are the labels of `fit`, never ``y``. Nodes that were labeled in `fit` may
        see their own label here: score others, or use ``oof_score_``.
        """
        from sklearn.metrics import accuracy_score, r2_score

        if y is None:
            raise ValueError("`y` must be given to score; got None. Call score(None, y).")
        predicted = self.predict(X, graph=graph)
        truth = encode_targets(y, len(predicted), self.targets_.task)
        scored, expected = truth.labeled, decode(truth, truth.Y)
        measure = r2_score if truth.task == "regression" else accuracy_score
        weight = None
        if sample_weight is not None:
            weight = check_sample_weight(sample_weight, len(predicted))[scored]
        return float(measure(expected[scored], predicted[scored], sample_weight=weight))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        if getattr(self, "task", "auto") == "regression":
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        else:
            tags.estimator_type = "classifier"
            tags.classifier_tags = ClassifierTags(multi_label=True)
        return tags


def decode(targets: Targets, scores: np.ndarray) -> np.ndarray:
    """Predictions in the terms of `y` from rows of scores."""
    if targets.task == "classification":
        assert targets.classes is not None
        return targets.classes[scores.argmax(axis=1)]
    if targets.task == "multilabel":
        return (scores > 0.5).astype(np.int64)
    return scores[:, 0] if targets.flat else scores
