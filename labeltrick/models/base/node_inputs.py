"""What an estimator predicts from: labels, graph and features that belong together."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._utils.targets import Targets, encode_targets
from ...graph.graph import Graph
from ...propagation.diagonal.self_weight import check_nodes
from .draws import draw_part

_TO_THE_CALLER = 5  # frames between a warning about arguments and the call of `fit`
_FEWEST_TO_HOLD = 20  # labels below which none is set aside
_HOLD_AT_LEAST = 30  # or a quarter of the labels: fewer would tell next to nothing
_ROW_HINTS = {
    "X": "Predictions are for all nodes: index them, predict()[nodes]; if nodes without edges are "
    "missing in the graph, make it with n_nodes=….",
    "y": "Mark unlabeled nodes with −1 (integers), None (strings) or NaN (numbers); if nodes "
    "without edges are missing in the graph, make it with n_nodes=….",
}


@dataclass(frozen=True)
class NodeInputs:
    """Known labels, the graph, and features (None where the estimator uses none)."""

    targets: Targets
    graph: Graph
    X: Any = None


def n_rows(rows: Any) -> int:
    """Rows of an array, sparse matrix, data frame, list or anything numpy can read."""
    if hasattr(rows, "shape"):
        return int(rows.shape[0])
    return len(rows) if hasattr(rows, "__len__") else len(np.asarray(rows))


def wrong_row_count(name: str, rows: Any, graph: Graph) -> ValueError:
    return ValueError(
        f"`{name}` must have one row a node ({graph.n_nodes}); got {n_rows(rows)}. "
        + _ROW_HINTS[name]
    )


def graph_for(graph: Graph | None, X: Any, y: Any, *, warn: bool = False) -> Graph:
    """The graph; without one, a graph of as many nodes as there are rows, and no edges."""
    if graph is None:
        if X is None:
            raise ValueError(
                "`graph` must be given where there is no X; got None. "
                "Pass graph=Graph.from_edges(…)."
            )
        if isinstance(X, Graph):
            raise TypeError("`X` must be features or None; got a Graph. Pass it as graph=….")
        if warn:
            warnings.warn(
                "no graph was given: every node stands alone. Pass graph=Graph.from_edges(…).",
                stacklevel=_TO_THE_CALLER,
            )
        return Graph.from_edges([], [], n_nodes=n_rows(X))
    if not isinstance(graph, Graph):
        raise TypeError(
            f"`graph` must be a labeltrick.Graph; got {type(graph).__module__}."
            f"{type(graph).__name__}. "
            "Make one with Graph.from_edges, from_scipy, from_networkx, from_pyg, from_dgl."
        )
    for name, rows in (("X", X), ("y", y)):
        if rows is not None and n_rows(rows) != graph.n_nodes:
            raise wrong_row_count(name, rows, graph)
    return graph


def draw_validation(
    known: Targets, nodes: np.ndarray, share: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """(kept, drawn): some labeled nodes to validate on; none where labels are too few."""
    if not share or len(nodes) < _FEWEST_TO_HOLD:
        return nodes, nodes[:0]
    n_held = max(round(share * len(nodes)), min(_HOLD_AT_LEAST, len(nodes) // 4))
    n_held = min(n_held, len(nodes) - 2)
    return draw_part(known, nodes, n_held, rng)


def check_validation(validation: Any, known: Targets) -> np.ndarray:
    """Numbers of the validation nodes: labeled ones, and not all that are."""
    if validation is None:
        return np.zeros(0, np.int64)
    nodes = check_nodes("validation", validation, len(known.Y))
    if not len(nodes):
        raise ValueError("`validation` must hold at least one node; got none. Leave it out.")
    if not known.labeled[nodes].all():
        node = int(nodes[~known.labeled[nodes]][0])
        raise ValueError(
            f"`validation` must hold labeled nodes; node {node} has no label in y. Give y the "
            "labels of the validation nodes too: they serve selection only."
        )
    if len(nodes) == known.labeled.sum():
        raise ValueError("`validation` must leave labeled nodes to learn from; it holds them all.")
    return nodes


def other_inputs(
    fitted: NodeInputs, X: Any, y: Any, graph: Graph | None, class_weight: Any
) -> NodeInputs:
    """Labels and graph to predict with: those of the fit unless new ones are given.

    A new graph without ``y`` keeps the fitted labels for its first nodes; further nodes are
    unlabeled. Features are left to the caller: ``X`` of the result is the one given.
    """
    known = fitted.targets
    if X is not None and not isinstance(X, Graph):
        n_dimensions = len(X.shape) if hasattr(X, "shape") else np.asarray(X).ndim
        if n_dimensions < 2 and not _is_text(X):
            raise ValueError(
                f"`X` must have two dimensions; got {n_dimensions}. Reshape your data, or, for "
                "some of the nodes, index the predictions: predict()[nodes]."
            )
    if graph is None and (X is None or n_rows(X) == fitted.graph.n_nodes):
        graph = fitted.graph
    if graph is fitted.graph and y is None and X is None:
        return NodeInputs(known, graph)
    if graph is None and fitted.graph.nnz:
        raise wrong_row_count("X", X, fitted.graph)
    given = graph
    graph = graph_for(graph, X, y)
    if y is not None:
        return NodeInputs(_new_labels(known, y, graph.n_nodes, class_weight), graph, X)
    if graph is fitted.graph:
        return NodeInputs(known, graph, X)
    extra = graph.n_nodes - len(known.Y)
    if extra < 0 and given is not None:
        raise ValueError(
            f"`y` must be given for a graph with fewer nodes ({graph.n_nodes}) than that of "
            f"the fit ({len(known.Y)}): which labels are whose?"
        )
    if extra < 0:
        blank = np.zeros((graph.n_nodes, known.Y.shape[1]))
        none = np.zeros(graph.n_nodes, bool)
        return NodeInputs(Targets(known.task, blank, none, known.classes, known.flat), graph, X)
    longer = replace(
        known,
        Y=np.concatenate([known.Y, np.zeros((extra, known.Y.shape[1]))]),
        labeled=np.concatenate([known.labeled, np.zeros(extra, bool)]),
        weight=np.concatenate([known.weight, np.zeros(extra)]),
        before_balance=None,  # nothing is left out of labels to predict from
        keys=None
        if known.keys is None
        else np.concatenate([known.keys, np.zeros(extra, np.uint64)]),
    )
    return NodeInputs(longer, graph, X)


def _new_labels(known: Targets, y: Any, n_nodes: int, class_weight: Any) -> Targets:
    fresh = encode_targets(y, n_nodes, known.task, known.classes, allow_none=True)
    if fresh.Y.shape[1] != known.Y.shape[1]:
        raise ValueError(
            f"`y` must have the {known.Y.shape[1]} columns of the fit; got {fresh.Y.shape[1]}."
        )
    if known.keys is not None and n_nodes == len(known.keys):
        fresh = replace(fresh, keys=known.keys)  # the same nodes are dealt with alike
    return fresh.weighted(None, class_weight)


def _is_text(X: Any) -> bool:
    """One text a node, which some models take for features."""
    return np.asarray(X).dtype.kind in "OUS"
