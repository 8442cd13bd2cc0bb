"""The base of all estimators: labels in, scores of every node out, like scikit-learn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags, RegressorTags, Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..._utils.checks import check_number
from ..._utils.targets import check_sample_weight, encode_targets
from ...evaluation.intervals import interval_radius
from ...graph.graph import Graph
from ...graph.node_keys import node_keys
from .alignment import AlignedInputs, Given, align
from .explained import Explained
from .extending import Extending
from .from_file import FromFile
from .new_nodes import PredictingNew
from .node_inputs import NodeInputs, check_validation, graph_for, other_inputs, warn_of_no_graph
from .out_of_fold import OutOfFold, decode, warn_of_used_labels
from .own_graph import named_graph
from .prediction_frame import PredictionFrames
from .row_names import frame_kind
from .unused_types import fitting, report_unused_types


def _predicts_classes(estimator: Any) -> bool:
    """Whether there are probabilities: known after a fit, otherwise from the parameter ``task``."""
    fitted = getattr(estimator, "targets_", None)
    if (estimator.task if fitted is None else fitted.task) == "regression":
        raise AttributeError("predict_proba is for classes; use predict for numbers.")
    return True


def _predicts_numbers(estimator: Any) -> bool:
    fitted = getattr(estimator, "targets_", None)
    if (estimator.task if fitted is None else fitted.task) not in ("regression", "auto"):
        raise AttributeError("predict_interval is for numbers; use predict_proba for classes.")
    return True


Self = TypeVar("Self", bound="GraphEstimator")


class GraphEstimator(
    AlignedInputs,
    PredictionFrames,
    Explained,
    Extending,
    PredictingNew,
    OutOfFold,
    FromFile,
    BaseEstimator,
):
    """Base of estimators whose `scores_of(inputs)` returns one row of predictions per node.

    Subclasses define `_fit`, which begins with `_start_fit`. It sets ``targets_`` and ``labeled_``
    (the labels that are inputs and their nodes), ``validation_targets_`` and ``validation_`` (those
    that only choose), ``graph_``, ``classes_`` and ``prior_``. Subclasses may define `oof_rows_`,
    the rows of the labeled nodes made without their own labels.
    """

    task: str = "auto"
    class_weight: Any = None
    sees_own_label = False  # whether predictions of labeled nodes use their own label
    # Whether predictions use the labels of validation nodes, which had no part in training.
    uses_validation_labels = False
    uses_types = False  # whether types of edges and nodes are used, or left out on request
    # Keys from another estimator that fits this one on computed columns: keys made from such
    # columns would depend on their rounding.
    _given_keys: np.ndarray | None = None

    def fit(
        self: Self,
        X: Any,
        y: Any,
        *,
        graph: Any = None,
        sample_weight: Any = None,
        validation: Any = None,
        id: str | None = None,
    ) -> Self:
        """Fit the estimator to the labels.

        Pandas objects are matched with the nodes of the graph by their index, and frames that
        have the column ``id`` by that column; arrays by position. Predictions follow the rows of
        ``X`` if it has names, and otherwise the nodes of the graph.

        Parameters
        ----------
        X : data frame, array-like or sparse matrix of shape (n, d), or None
            Features of all nodes. Estimators for tables take categories and missing values, and
            those with a base model whatever the base takes. Estimators that only use labels do not
            read them; pass None.
        y : array-like of shape (n,) or (n, c), Series, or dict
            Labels, one row per node. Missing labels are −1 among integers, None or NaN. Nodes
            without a row in a Series or dictionary, whose index or keys are names, are unlabeled.
        graph : Graph, networkx or igraph graph, default=None
            The graph. Without one, each row is a node without edges, and a warning says so.
        sample_weight : array-like of shape (n,), default=None
            Weight of each node's label, in the loss if there is one. Nodes of weight 0 count as
            unlabeled.
        validation : array-like of int, bool or names, default=None
            Numbers, mask or names of labeled nodes whose labels are no inputs of the fit. They
            choose the best epoch, split rate or setting, if there is a choice, and the calibration
            is fitted on them. Predictions of `AutoModel` use their labels as inputs afterwards.
            None uses out-of-fold predictions or, for the best epoch, a random
            ``validation_fraction`` of the labeled nodes.
        id : str, default=None
            Column of ``X`` (and of ``y``, if it is a frame) that holds the names of the nodes. It
            is not a feature.

        Returns
        -------
        self : estimator
            The fitted estimator.

        Raises
        ------
        FloatingPointError
            If a training by epochs diverges. The estimator then keeps its best epoch.
        """
        own = named_graph(X, id) if graph is None else None
        given = Given(X, y, graph if own is None else own, sample_weight, validation)
        if own is not None:
            warn_of_no_graph()
        found = align(given, id, regression=self._predicts_only_numbers())
        report_unused_types(self, found.graph)
        with fitting():
            self._fit(found.X, found.y, found.graph, found.sample_weight, found.validation)
        self._names_in = {
            "id": id,
            "frames": frame_kind(X, y),
            "moved": found.graph is not None and found.graph.is_permuted,
        }
        return self

    def _fit(
        self, X: Any, y: Any, graph: Graph | None, sample_weight: Any, validation: Any
    ) -> None:
        raise TypeError(f"{type(self).__name__} must define _fit.")

    def _start_fit(
        self,
        X: Any,
        y: Any,
        graph: Graph | None,
        sample_weight: Any = None,
        validation: Any = None,
        features: Any = None,
    ) -> None:
        """Check and keep labels and graph; ``features`` are numeric features to learn from."""
        if y is None:
            raise ValueError(
                f"`y` must be given: {type(self).__name__} requires y to be passed, but the target "
                "y is None. Mark unlabeled nodes as missing."
            )
        self._cache = {}
        self.graph_ = graph_for(graph, X, y, warn=True)
        known = encode_targets(y, self.graph_.n_nodes, self._asked_task())
        self.validation_ = check_validation(validation, known)
        kept = known.labeled.copy()
        kept[self.validation_] = False
        # Weighted without the validation labels: "balanced" must not count them.
        training = known.only(np.flatnonzero(kept))
        self.targets_ = training.weighted(sample_weight, self.class_weight)
        self.validation_targets_ = known.only(self.validation_).weighted(sample_weight, None)
        self._set_keys(features)
        self.validation_ = np.flatnonzero(self.validation_targets_.labeled)
        self.labeled_ = np.flatnonzero(self.targets_.labeled)
        self.prior_ = self.targets_.prior
        self.__dict__.pop("classes_", None)  # a refit may have another task
        if known.classes is not None:
            self.classes_ = known.classes
        if X is not None:
            shape = X.shape if hasattr(X, "shape") else np.asarray(X).shape
            self.n_features_in_ = shape[1] if len(shape) > 1 else 1

    def _set_keys(self, features: Any) -> None:
        """Set the keys of the nodes for random draws; labels of weight 0 do not count."""
        keys = self._given_keys
        if keys is None:
            part = 1 * self.targets_.labeled + 2 * self.validation_targets_.labeled
            keys = node_keys(self.graph_, features, part)
        self.targets_ = replace(self.targets_, keys=keys)
        self.validation_targets_ = replace(self.validation_targets_, keys=keys)

    def _asked_task(self) -> str:
        return self.task

    def inputs_of(self, X: Any, y: Any, graph: Graph | None) -> NodeInputs:
        """Labels, graph and features to predict from: those of the fit unless given."""
        check_is_fitted(self, "targets_")
        return other_inputs(self._default_inputs, X, y, graph, self.class_weight)

    @property
    def _default_inputs(self) -> NodeInputs:
        """What predictions are made from unless other labels or another graph are given."""
        return self.fitted_inputs

    @available_if(_predicts_classes)
    def predict_proba(self, X: Any = None, y: Any = None, *, graph: Any = None) -> np.ndarray:
        """Predict the probabilities of classes, or of each label being 1.

        They are calibrated unless ``calibrate=False``.

        Parameters
        ----------
        X : array-like, sparse matrix or None, default=None
            Features of all nodes. None uses those of the fit.
        y : array-like or None, default=None
            Known labels to predict from, one row per node. None uses those of the fit; on another
            graph, of the nodes that the fit knew by name.
        graph : Graph, networkx or igraph graph, default=None
            The graph to predict on. None uses that of the fit.

        Returns
        -------
        proba : ndarray of shape (n, c)
            One row per node; columns are in the order of ``classes_``.
        """
        with self._suspecting_its_file():
            inputs = self._inputs(X, y, graph)
            return self.calibration_.apply(self.scores_of(inputs), inputs.targets.task)

    def predict(self, X: Any = None, y: Any = None, *, graph: Any = None) -> np.ndarray:
        """Predict classes, indicators or numbers.

        Without arguments, every node of the fitted graph is predicted. With a new ``y`` or
        ``graph``, predictions use those labels and edges without further training.

        Parameters
        ----------
        X : array-like, sparse matrix or None, default=None
            Features of all nodes. None uses those of the fit.
        y : array-like or None, default=None
            Known labels to predict from, one row per node. None uses those of the fit; on another
            graph, of the nodes that the fit knew by name.
        graph : Graph, networkx or igraph graph, default=None
            The graph to predict on. None uses that of the fit.

        Returns
        -------
        prediction : ndarray of shape (n,) or (n, c)
            One row per node, in the form of ``y``.
        """
        with self._suspecting_its_file():
            inputs = self._inputs(X, y, graph)
            return decode(inputs.targets, self.scores_of(inputs))

    @available_if(_predicts_numbers)
    def predict_interval(
        self,
        X: Any = None,
        y: Any = None,
        *,
        graph: Any = None,
        coverage: float = 0.9,
    ) -> np.ndarray:
        """Predict intervals that contain a node's number with a given probability.

        All intervals of a target have the same width, which follows from the residuals of
        out-of-fold predictions; no labels are set aside. Labeled nodes get the same interval as
        unlabeled ones.

        Parameters
        ----------
        X : array-like, sparse matrix or None, default=None
            Features of all nodes. None uses those of the fit.
        y : array-like or None, default=None
            Known labels to predict from, one row per node. None uses those of the fit; on another
            graph, of the nodes that the fit knew by name.
        graph : Graph, networkx or igraph graph, default=None
            The graph to predict on. None uses that of the fit.
        coverage : float, default=0.9
            Probability in (0, 1) with which an interval should contain the number. It is met
            approximately, for nodes like the labeled ones.

        Returns
        -------
        interval : ndarray of shape (n, 2) or (n, c, 2)
            Lower and upper end for each node, and for each target if there are several.

        Examples
        --------
        >>> import numpy as np
        >>> from labeltrick import Graph, LabelPropagation
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
            inputs = self._inputs(X, y, graph)
            residual = self.targets_.Y[self.labeled_] - self.oof_rows_
            radius = interval_radius(residual, coverage)
            rows = self.scores_of(inputs)
        both = np.stack([rows - radius, rows + radius], axis=-1)
        return both[:, 0] if self.targets_.flat else both

    def rows_for(self, y: Any) -> np.ndarray:
        """Compute the rows of all nodes from other labels, before calibration, for `audit_leakage`.

        Parameters
        ----------
        y : array-like of shape (n,) or (n, c)
            Class numbers (−1 where unknown), indicators or values.

        Returns
        -------
        rows : ndarray of shape (n, c)
            Probabilities or values, one row per node.
        """
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

    def score(
        self,
        X: Any = None,
        y: Any = None,
        *,
        graph: Any = None,
        sample_weight: Any = None,
    ) -> float:
        """Score predictions on the nodes labeled in ``y``.

        The inputs are the labels of `fit`, never ``y``. Nodes that were labeled in `fit` may see
        their own labels here, and a warning counts them: score others, or use ``oof_score_``.

        Parameters
        ----------
        X : array-like, sparse matrix or None, default=None
            Features of all nodes. None uses those of the fit.
        y : array-like of shape (n,) or (n, c), default=None
            True labels, one row per node; nodes without a label are not scored. Required.
        graph : Graph, default=None
            The graph to predict on. None uses that of the fit.
        sample_weight : array-like of shape (n,), default=None
            Weight of each node.

        Returns
        -------
        score : float
            Accuracy, or R² for regression. With several labels per node, all of them must be
            correct.
        """
        from sklearn.metrics import accuracy_score, r2_score

        if y is None:
            raise ValueError("`y` must be given to score; got None. Call score(None, y).")
        given = self._aligned(X, y, graph, sample_weight)
        inputs = self.inputs_of(given.X, None, given.graph)
        predicted = decode(inputs.targets, self.scores_of(inputs))
        known = self.targets_
        truth = encode_targets(given.y, len(predicted), known.task, columns=known.columns)
        scored, expected = truth.labeled, decode(truth, truth.Y)
        warn_of_used_labels(scored, inputs.targets.labeled)
        measure = r2_score if truth.task == "regression" else accuracy_score
        weight = None
        if sample_weight is not None:
            weight = check_sample_weight(given.sample_weight, len(predicted))[scored]
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
