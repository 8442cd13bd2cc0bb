"""A fitted model on its graph with further nodes, edges and labels, without training again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ..._utils.targets import Targets, encode_targets
from ...graph.graph import Graph
from ...graph.grown import grown
from ...graph.names import Kept, NodeNames, as_names, shown
from .alignment import other_type, placed
from .node_inputs import NodeInputs, labels_at, n_rows
from .out_of_fold import decode
from .prediction_frame import frame_of, prediction_columns
from .row_names import has_names, is_default, is_polars_frame, named_rows
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
        return frame_of(self.model, self.graph_.name_table.kept, columns, output)

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
            by its index; a known name replaces the features of that node. Rows without names, or
            with the index 0, 1, … that pandas makes by itself, are new nodes, numbered on from
            those of the fit. For a model without features: the names, or a frame that has them.
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
        inputs = extended(model, model.inputs_of(None, None, None), nodes, edges, labels, id)
        return ExtendedModel(model, inputs)


def extended(
    model: Any, inputs: NodeInputs, nodes: Any, edges: Any, labels: Any, id: str | None
) -> NodeInputs:
    """The inputs with further nodes, edges and labels."""
    names, X = _with_nodes(model, inputs, nodes, id)
    graph = _with_edges(inputs.graph, names, edges)
    n_old = inputs.graph.n_nodes
    at = np.where(np.arange(len(names)) < n_old, np.arange(len(names)), -1)
    targets = _with_labels(model, inputs.targets, at, names, labels, id)
    of_fit = at if inputs.of_fit is None else np.where(at < 0, -1, inputs.of_fit[at])
    return NodeInputs(targets, graph, X, of_fit)


# -- labels ------------------------------------------------------------------------------------
def _with_labels(
    model: Any, known: Targets, at: np.ndarray, names: NodeNames, labels: Any, id: str | None
) -> Targets:
    """The labels of all nodes; balanced weights are computed again from all of them."""
    balanced = isinstance(model.class_weight, str)
    if balanced:
        known = replace(known, weight=known.weight_before_balance)
    targets = labels_at(known, at)
    if labels is not None:
        _refuse_unnamed(labels, id, names)
        y = placed("labels", labels, id, names, targets.task == "regression")
        how: dict[str, Any] = {"columns": targets.columns, "allow_none": True}
        fresh = encode_targets(y, len(names), targets.task, targets.classes, **how)
        weight = None if balanced else model.class_weight
        targets = targets.joined(fresh.weighted(None, weight))
    return targets.weighted(targets.weight, model.class_weight) if balanced else targets


def _refuse_unnamed(labels: Any, id: str | None, names: NodeNames) -> None:
    if not has_names(labels, id):
        got = "a frame without id=…" if is_polars_frame(labels) else type(labels).__name__
        raise ValueError(
            f"`labels` must say which nodes they belong to; got {got}. Pass a dictionary "
            "{name: label}, a pandas Series with the names as index, or a frame with id=…."
        )
    if is_default(labels, id) and names.are_numbers and len(labels) != len(names):
        raise ValueError(
            "`labels` must say which nodes they belong to; its index only counts rows. Pass a "
            f"dictionary {{number: label}}; new nodes are numbered up to {len(names) - 1}."
        )


# -- nodes -------------------------------------------------------------------------------------
def _with_nodes(model: Any, inputs: NodeInputs, nodes: Any, id: str | None) -> tuple[Any, Any]:
    """The names and features of all nodes."""
    old, X = inputs.graph.name_table, inputs.X
    if nodes is None:
        return old, X
    rows, names = rows_and_names(inputs, nodes, id)
    at = old.find(names)
    new = np.flatnonzero(at < 0)
    everyone = NodeNames.of([*old.values.tolist(), *NodeNames(names).take(new).values.tolist()])
    if X is None:
        return everyone, None
    read = model._check_features(rows, reset=False)
    place = everyone.find(names)
    return everyone, _replaced(X, read, place, len(everyone))


def rows_and_names(inputs: NodeInputs, nodes: Any, id: str | None) -> tuple[Any, Kept]:
    """The features of given nodes, if there are any, and their names."""
    old, X = inputs.graph.name_table, inputs.X
    if X is not None or hasattr(nodes, "columns"):
        rows, names = named_rows("nodes", nodes, id)
    else:
        rows, names = None, as_names("nodes", nodes)
    if (X is not None or hasattr(nodes, "columns")) and is_default(nodes, id):
        names = None  # an index that only counts rows
    if names is None:
        if inputs.graph.has_names:
            raise ValueError(
                "`nodes` must have names, as in the fit; got rows without names. Pass a pandas "
                "frame with the names as index, or id=… with their column."
            )
        names = as_names("nodes", np.arange(len(old), len(old) + n_rows(nodes)))
    NodeNames.of(names, "the names of nodes")
    if other_type(names, old.kept):
        raise TypeError(
            f"`nodes` must have names of the same type as in the fit; got {shown(names, 0)}, and "
            f"the first node of the fit is called {shown(old.kept, 0)}. Convert them: the string "
            "'7' and the integer 7 are different names."
        )
    return rows, names


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
    made = graph
    if edges is not None or len(names) > graph.n_nodes:
        made = grown(graph, len(names), *new_edges(graph, names, edges))
    return made.named(None if names.are_numbers else names).with_compute(graph.compute)


def new_edges(
    graph: Graph, names: Any, edges: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Both ends of new edges between nodes of these names, and their weights if the graph has
    weights."""
    if edges is None:
        none = np.zeros(0, np.int64)
        return none, none, none.astype(np.float64) if graph.weighted else None
    *ends, more = _ends_of(edges)
    if (more is None) == graph.weighted:
        raise ValueError(
            "`edges` must have weights, like the graph of the fit; they have none. Add a column "
            "'weight', or pass (source, target, weight)."
            if graph.weighted
            else "`edges` must have no weights, as in the fit; they have some. Drop them."
        )
    source, target = (_found(names, end, edges, k) for k, end in enumerate(ends))
    if len(source) != len(target):
        raise ValueError(
            "`edges` must have as many sources as targets; got "
            f"{len(source)} and {len(target)}. Pass both ends of every edge."
        )
    return source, target, _weights(more, len(source)) if graph.weighted else None


def _found(names: NodeNames, end: Any, edges: Any, side: int) -> np.ndarray:
    """The nodes at one side of new edges."""
    side_of = ("source", "target")[side] if hasattr(edges, "columns") else side
    ends = as_names("edges", end)
    at = names.find(ends)
    if (at < 0).any():
        row, advice = int(np.argmax(at < 0)), "Add it to `nodes`, or drop the edge."
        if other_type(ends, names.kept):
            advice = f"Convert it: the first node is called {shown(names.kept, 0)}."
        raise ValueError(
            f"`edges` must connect nodes of the fit or of `nodes`; {shown(ends, row)} in row {row} "
            f"of edges[{side_of!r}] is neither. {advice}"
        )
    return at


def _weights(weight: Any, n_edges: int) -> np.ndarray:
    try:
        found = np.asarray(weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError("the weights of `edges` must be numbers; some are not.") from None
    if found.shape != (n_edges,):
        raise ValueError(
            f"`edges` must have one weight per edge ({n_edges}); got an array of shape "
            f"{found.shape}."
        )
    if not (np.isfinite(found) & (found >= 0)).all():
        row = int(np.argmax(~(np.isfinite(found) & (found >= 0))))
        raise ValueError(
            f"the weights of `edges` must be finite and ≥ 0; row {row} is {found[row]}."
        )
    return found


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
