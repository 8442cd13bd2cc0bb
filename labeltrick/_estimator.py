"""What all estimators share: labels in, scores of every node out, in scikit-learn's manner."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags, RegressorTags, Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .graph import Graph
from .targets import Targets, encode_targets


def n_rows(rows: Any) -> int:
    """Rows of an array, sparse matrix, data frame, list or anything numpy can read."""
    if hasattr(rows, "shape"):
        return int(rows.shape[0])
    return len(rows) if hasattr(rows, "__len__") else len(np.asarray(rows))


def graph_for(graph: Graph | None, X: Any, y: Any) -> Graph:
    """The graph; without one, a graph of as many nodes as there are rows, and no edges."""
    if graph is None:
        rows = y if X is None else X
        if rows is None:
            raise ValueError("`graph` must be given where there is neither X nor y; got None.")
        return Graph.from_edges([], [], n_nodes=n_rows(rows))
    if not isinstance(graph, Graph):
        raise TypeError(
            f"`graph` must be a labeltrick.Graph; got {type(graph).__name__}. "
            "Make one with Graph.from_edges, from_scipy, from_networkx, from_pyg, from_dgl."
        )
    for name, rows in (("X", X), ("y", y)):
        if rows is not None and n_rows(rows) != graph.n_nodes:
            raise ValueError(
                f"`{name}` must have one row a node ({graph.n_nodes}); got {n_rows(rows)}."
            )
    return graph


def _predicts_classes(estimator: Any) -> bool:
    """Whether there are probabilities: known after a fit, else by the parameter."""
    fitted = getattr(estimator, "targets_", None)
    if (estimator.task if fitted is None else fitted.task) == "regression":
        raise AttributeError("predict_proba is for classes; this is a regression. Use predict.")
    return True


class GraphEstimator(BaseEstimator):
    """Base of estimators whose `_scores(targets, graph)` gives each node's row of predictions.

    Subclasses set in `fit`: ``targets_``, ``graph_``, ``classes_``, ``prior_``.
    """

    task: str = "auto"
    targets_: Targets
    graph_: Graph

    def _scores(self, targets: Targets, graph: Graph) -> np.ndarray:
        raise TypeError(f"{type(self).__name__} must define _scores.")

    def _start_fit(self, X: Any, y: Any, graph: Graph | None) -> None:
        if y is None:
            raise ValueError(
                f"`y` must be given: {type(self).__name__} requires y to be passed, but the target "
                "y is None. Mark unlabelled nodes in it as missing."
            )
        self.graph_ = graph_for(graph, X, y)
        self.targets_ = encode_targets(y, self.graph_.n_nodes, self.task)
        self.prior_ = self.targets_.prior
        if self.targets_.classes is not None:
            self.classes_ = self.targets_.classes
        if X is not None:
            shape = X.shape if hasattr(X, "shape") else np.asarray(X).shape
            self.n_features_in_ = shape[1] if len(shape) > 1 else 1

    def _inputs(self, X: Any, y: Any, graph: Graph | None) -> tuple[Targets, Graph]:
        """Labels and graph to predict with: those of `fit` unless new ones are given.

        A new graph without ``y`` keeps the fitted labels for its first nodes; further nodes
        are unlabelled.
        """
        check_is_fitted(self, "targets_")
        known = self.targets_
        if graph is None and y is None and X is None:
            return known, self.graph_
        if graph is None and n_rows(X if y is None else y) == self.graph_.n_nodes:
            graph = self.graph_
        graph = graph_for(graph, X, y)
        if y is not None:
            return encode_targets(y, graph.n_nodes, known.task, known.classes), graph
        if graph is self.graph_:
            return known, graph
        extra = graph.n_nodes - len(known.Y)
        if extra < 0:
            Y, labelled = np.zeros((graph.n_nodes, known.Y.shape[1])), np.zeros(graph.n_nodes, bool)
        else:
            Y = np.concatenate([known.Y, np.zeros((extra, known.Y.shape[1]))])
            labelled = np.concatenate([known.labelled, np.zeros(extra, bool)])
        return Targets(known.task, Y, labelled, known.classes, known.flat), graph

    @available_if(_predicts_classes)
    def predict_proba(
        self, X: Any = None, y: Any = None, *, graph: Graph | None = None
    ) -> np.ndarray:
        """Probabilities of the classes (or of each label being 1), one row a node."""
        return self._scores(*self._inputs(X, y, graph))

    def predict(self, X: Any = None, y: Any = None, *, graph: Graph | None = None) -> np.ndarray:
        """Classes, indicators or numbers, one a node.

        Without arguments: every node of the fitted graph. With new ``y`` or ``graph``: from
        those labels and edges, without training again.
        """
        targets, on = self._inputs(X, y, graph)
        return decode(targets, self._scores(targets, on))

    def score(self, X: Any = None, y: Any = None, *, graph: Graph | None = None) -> float:
        """Accuracy on the nodes labelled in ``y`` (R² for regression).

        The inputs are the labels of `fit`, never ``y``. Nodes that were labelled in `fit` see
        their own label here: score others, or use ``loo_prediction_``.
        """
        from sklearn.metrics import accuracy_score, r2_score

        predicted = self.predict(X, graph=graph)
        truth = encode_targets(y, len(predicted), self.targets_.task)
        judged, expected = truth.labelled, decode(truth, truth.Y)
        measure = r2_score if truth.task == "regression" else accuracy_score
        return float(measure(expected[judged], predicted[judged]))

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
