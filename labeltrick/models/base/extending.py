"""A fitted model on its graph with further nodes, edges and labels, without training again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ..._utils.targets import encode_targets
from ...graph.edges import EdgeList
from ...graph.graph import Graph
from ...graph.named_edges import numbered_ends
from ...graph.names import NodeNames, as_names
from .alignment import placed
from .node_inputs import NodeInputs, labels_at, n_rows
from .out_of_fold import decode
from .prediction_frame import frame_of, prediction_columns
from .row_names import is_default, named_rows
from .tables import Table

if TYPE_CHECKING:
    from .estimator import GraphEstimator


class ExtendedModel:
    """What `GraphEstimator.extend` returns: predictions of a fitted model on more nodes.

    Its nodes are those of the fit, followed by the new ones. The rules of the model stay as they
    were fitted.

    Parameters
    ----------
    model : estimator
        The fitted model.
    inputs : NodeInputs
        Labels, graph and features of all nodes.

    Attributes
    ----------
    graph_ : Graph
        The graph of all nodes.
    """

    def __init__(self, model: GraphEstimator, inputs: NodeInputs) -> None:
        self.model, self.inputs = model, inputs
        self.graph_ = inputs.graph

    def predict(self) -> np.ndarray:
        """Predict classes, indicators or numbers.

        Returns
        -------
        prediction : ndarray of shape (n,) or (n, c)
            One row per node, old nodes first.
        """
        return decode(self.inputs.targets, self.model.scores_of(self.inputs))

    def predict_proba(self) -> np.ndarray:
        """Predict the probabilities of classes, or of each label being 1.

        Returns
        -------
        proba : ndarray of shape (n, c)
            One row per node, old nodes first.
        """
        rows = self.model.scores_of(self.inputs)
        return self.model.calibration_.apply(rows, self.inputs.targets.task)

    def predict_frame(self, *, output: str | None = None, coverage: float = 0.9) -> Any:
        """Predict all nodes, as a data frame with one row per node.

        Parameters
        ----------
        output : {"pandas", "polars"} or None, default=None
            The kind of frame. None gives the kind that was passed to `fit`, or polars.
        coverage : float, default=0.9
            Probability in (0, 1) that the interval of a number contains it.

        Returns
        -------
        frame : pandas.DataFrame or polars.DataFrame
            As `GraphEstimator.predict_frame` returns it.
        """
        columns = prediction_columns(self.model, self.inputs, coverage)
        return frame_of(self.model, self.graph_, columns, output)

    def extend(
        self, nodes: Any = None, edges: Any = None, labels: Any = None, *, id: str | None = None
    ) -> ExtendedModel:
        """Add further nodes, edges and labels.

        Parameters
        ----------
        nodes : data frame or array-like, default=None
            Features of new nodes, or new features of known ones.
        edges : data frame or tuple of arrays, default=None
            New edges.
        labels : Series, dict or data frame, default=None
            Labels that have become known.
        id : str, default=None
            Column with the names. None uses the index of pandas objects.

        Returns
        -------
        ExtendedModel
        """
        return ExtendedModel(
            self.model, extended(self.model, self.inputs, nodes, edges, labels, id)
        )


class Extending:
    """Base of estimators that predict new nodes without training again."""

    def extend(
        self: Any,
        nodes: Any = None,
        edges: Any = None,
        labels: Any = None,
        *,
        id: str | None = None,
    ) -> ExtendedModel:
        """Add nodes, edges and labels to those of the fit, without training again.

        Parameters
        ----------
        nodes : data frame or array-like of shape (k, d), default=None
            Features of new nodes, with the columns of the fit. Rows of a pandas frame are named
            by its index; a known name replaces the features of that node. Rows without names are
            new nodes, numbered on from those of the fit. For a model without features, the names.
        edges : data frame or tuple of arrays, default=None
            New edges: a frame with the columns "source", "target" and, if the graph is weighted,
            "weight", or a tuple (source, target) or (source, target, weight) of names. An edge
            that is listed again is merged with the old one, and their weights are summed.
        labels : Series, dict or data frame, default=None
            Labels that have become known, by name. They replace older ones.
        id : str, default=None
            Column of ``nodes`` (and of ``labels``, if it is a frame) that holds the names.

        Returns
        -------
        ExtendedModel
            With `predict`, `predict_proba` and `predict_frame` for old and new nodes.

        Examples
        --------
        >>> from labeltrick import Graph, LabelPropagation
        >>> graph = Graph.from_edges(["ann", "bob"], ["bob", "cem"])
        >>> model = LabelPropagation().fit(None, {"ann": "tea", "cem": "coffee"}, graph=graph)
        >>> more = model.extend(["dia"], edges=(["dia"], ["cem"]))
        >>> more.predict_frame().row(3)[:2]
        ('dia', 'coffee')
        """
        model = getattr(self, "best_estimator_", self)  # of a search
        inputs = extended(model, model.fitted_inputs, nodes, edges, labels, id)
        return ExtendedModel(model, inputs)


def extended(
    model: Any, inputs: NodeInputs, nodes: Any, edges: Any, labels: Any, id: str | None
) -> NodeInputs:
    """The inputs with further nodes, edges and labels."""
    names, X = _with_nodes(model, inputs, nodes, id)
    graph = _with_edges(inputs.graph, names, edges)
    n_old = inputs.graph.n_nodes
    at = np.where(np.arange(len(names)) < n_old, np.arange(len(names)), -1)
    targets = labels_at(inputs.targets, at)
    if labels is not None:
        numbers = targets.task == "regression"
        y = placed("labels", labels, id, names, numbers) if _is_named(labels, id) else labels
        how: dict[str, Any] = {"columns": targets.columns, "allow_none": True}
        fresh = encode_targets(y, len(names), targets.task, targets.classes, **how)
        targets = targets.joined(fresh.weighted(None, model.class_weight))
    return NodeInputs(targets, graph, X)


def _is_named(labels: Any, id: str | None) -> bool:
    return named_rows("labels", labels, id)[1] is not None


# -- nodes -------------------------------------------------------------------------------------
def _with_nodes(model: Any, inputs: NodeInputs, nodes: Any, id: str | None) -> tuple[Any, Any]:
    """The names and features of all nodes."""
    old, X = inputs.graph.name_table, inputs.X
    if nodes is None:
        return old, X
    rows, names = (None, as_names("nodes", nodes)) if X is None else named_rows("nodes", nodes, id)
    if X is not None and is_default(nodes, id):
        names = None  # an index that only counts rows
    if names is None:
        if inputs.graph.has_names:
            raise ValueError(
                "`nodes` must have names, as in the fit; got rows without names. Pass a pandas "
                "frame with the names as index, or id=… with their column."
            )
        names = as_names("nodes", np.arange(len(old), len(old) + n_rows(nodes)))
    NodeNames.of(names, "the names of nodes")
    at = old.find(names)
    new = np.flatnonzero(at < 0)
    everyone = NodeNames.of([*old.values.tolist(), *NodeNames(names).take(new).values.tolist()])
    if X is None:
        return everyone, None
    read = model._check_features(rows, reset=False)
    place = everyone.find(names)
    return everyone, _replaced(X, read, place, len(everyone))


def _replaced(X: Any, rows: Any, place: np.ndarray, n: int) -> Any:
    """Features of n nodes: those of the fit, with the given rows at their places."""
    source = np.arange(n)  # rows of X, followed by the new rows
    source[place] = n_rows(X) + np.arange(len(place))
    if isinstance(X, Table):
        return replace(X, values=_replaced(X.values, rows.values, place, n))
    if sp.issparse(X):
        return sp.vstack([X, sp.csr_array(rows)], format="csr")[source]
    if hasattr(X, "iloc"):
        import pandas

        return pandas.concat([X, rows]).iloc[source]
    return np.concatenate([X, np.asarray(rows)])[source]


# -- edges -------------------------------------------------------------------------------------
def _with_edges(graph: Graph, names: NodeNames, edges: Any) -> Graph:
    if graph.relations or graph.node_types is not None:
        raise ValueError(
            "`extend` must be used on a graph without types; this one has types. Build the larger "
            "graph yourself, and use predict(X, graph=larger)."
        )
    old = EdgeList.of(graph)
    source, target = old.first, old.second
    weight = old.given_weights(graph) if graph.weighted else None
    if edges is not None:
        from_names, to_names, more = _ends_of(edges)
        if (more is None) != (weight is None):
            which = "must have weights, as in the fit" if more is None else "must have no weights"
            raise ValueError(f"`edges` {which}. The graph of the fit is the other way around.")
        _, starts, stops = numbered_ends(from_names, to_names, names.kept)
        source, target = np.concatenate([source, starts]), np.concatenate([target, stops])
        weight = None if weight is None else np.concatenate([weight, np.asarray(more, float)])
    how: dict[str, Any] = {"n_nodes": len(names), "directed": graph.directed}
    made = Graph.from_edges(source, target, weight=weight, **how)
    return made.named(None if names.are_numbers else names).with_compute(graph.compute)


def _ends_of(edges: Any) -> tuple[Any, Any, Any]:
    """(source, target, weight or None) of new edges."""
    if hasattr(edges, "columns"):
        lacking = [name for name in ("source", "target") if name not in edges.columns]
        if lacking:
            listed = ", ".join(repr(name) for name in list(edges.columns)[:10])
            raise ValueError(
                f"`edges` must have the column {lacking[0]!r}; it has: {listed}. Rename them."
            )
        weight = edges["weight"] if "weight" in edges.columns else None
        return edges["source"], edges["target"], weight
    if isinstance(edges, tuple) and len(edges) in (2, 3):
        return edges[0], edges[1], edges[2] if len(edges) == 3 else None
    raise TypeError(
        "`edges` must be a frame with the columns 'source' and 'target', or a tuple (source, "
        f"target); got {type(edges).__name__}."
    )
