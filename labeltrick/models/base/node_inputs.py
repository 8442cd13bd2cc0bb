"""The inputs of predictions: labels, graph and features that belong together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._utils.checks import warn_caller
from ..._utils.targets import Targets, encode_targets
from ...graph.graph import Graph
from ...propagation.diagonal.self_weight import check_nodes
from .draws import draw_part

_FEWEST_LABELS = 20  # with fewer labels, none is used for validation only
_LEAST_VALIDATION = 30  # or a quarter of the labels: fewer would say almost nothing
_ROW_HINTS = {
    "X": "Predictions are for all nodes; select from them: predict()[nodes] or "
    "predict_frame(). For another graph, pass graph=….",
    "y": "Mark unlabeled nodes with −1 (integers), None (strings) or NaN (numbers).",
}


@dataclass(frozen=True)
class NodeInputs:
    """Known labels, the graph, and features (None if the estimator does not use any)."""

    targets: Targets
    graph: Graph
    X: Any = None
    # For each node, the same node of the fit, or −1; None: the nodes of the fit in their order.
    of_fit: np.ndarray | None = None


def n_rows(rows: Any) -> int:
    """Number of rows of an array, sparse matrix, data frame, list or anything numpy can read."""
    if hasattr(rows, "shape"):
        return int(rows.shape[0])
    return len(rows) if hasattr(rows, "__len__") else len(np.asarray(rows))


def wrong_row_count(name: str, rows: Any, graph: Graph) -> ValueError:
    return ValueError(
        f"`{name}` must have one row per node ({graph.n_nodes}); got {n_rows(rows)}. "
        f"{_ROW_HINTS[name]} If the graph lacks nodes without edges, build it with n_nodes=…."
    )


def graph_for(graph: Graph | None, X: Any, y: Any, *, warn: bool = False) -> Graph:
    """The graph; without one, a graph without edges that has one node per row."""
    if graph is None:
        if X is None:
            raise ValueError(
                "`graph` must be given if X is None; got None. Pass graph=Graph.from_edges(…)."
            )
        if isinstance(X, Graph):
            raise TypeError("`X` must be features or None; got a Graph. Pass it as graph=….")
        if warn:
            warn_of_no_graph()
        return Graph.from_edges([], [], n_nodes=n_rows(X))
    for name, rows in (("X", X), ("y", y)):
        if rows is not None and n_rows(rows) != graph.n_nodes:
            raise wrong_row_count(name, rows, graph)
    return graph


def warn_of_no_graph() -> None:
    warn_caller("no graph was given, so nodes have no edges. Pass graph=Graph.from_edges(…).")


def draw_validation(
    known: Targets, nodes: np.ndarray, share: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """(kept nodes, drawn nodes): labeled nodes to validate on; none if there are too few labels."""
    n = len(nodes)
    if not share or n < _FEWEST_LABELS:
        return nodes, nodes[:0]
    n_drawn = max(round(share * n), min(_LEAST_VALIDATION, n // 4))
    return draw_part(known, nodes, min(n_drawn, n - 2), rng)


def with_validation(
    known: Targets, validation: Targets, fraction: float, rng: np.random.Generator
) -> tuple[Targets, Targets | None]:
    """(labels to train on, labels that choose): validation nodes if there are any, else a random
    fraction of the labels."""
    if validation.labeled.any():
        return known, validation
    kept, drawn = draw_validation(known, np.flatnonzero(known.labeled), fraction, rng)
    return (known.only(kept), known.only(drawn)) if len(drawn) else (known, None)


def check_validation(validation: Any, known: Targets) -> np.ndarray:
    """Numbers of the validation nodes: labeled nodes, but not all of them."""
    if validation is None:
        return np.zeros(0, np.int64)
    nodes = check_nodes("validation", validation, len(known.Y))
    if not len(nodes):
        raise ValueError("`validation` must hold at least one node; got none. Omit it.")
    if not known.labeled[nodes].all():
        node = int(nodes[~known.labeled[nodes]][0])
        raise ValueError(
            f"`validation` must hold labeled nodes; node {node} has no label in y. Include the "
            "labels of the validation nodes in y: they are used for selection only."
        )
    if len(nodes) == known.labeled.sum():
        raise ValueError("`validation` must not hold all labeled nodes; some must be learned from.")
    return nodes


def other_inputs(
    fitted: NodeInputs, X: Any, y: Any, graph: Graph | None, class_weight: Any
) -> NodeInputs:
    """Labels and graph to predict with: those of the fit unless new ones are given.

    On another graph without ``y``, nodes that the fit knew by name keep their labels; all others
    are unlabeled. The caller checks the features: ``X`` of the result is the one given.
    """
    known = fitted.targets
    if X is not None and not isinstance(X, Graph):
        n_dimensions = len(X.shape) if hasattr(X, "shape") else np.asarray(X).ndim
        # Some models accept one text per node.
        if n_dimensions < 2 and np.asarray(X).dtype.kind not in "OUS":
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
    at = nodes_of_fit(fitted.graph, graph)
    edges = graph.nnz or fitted.graph.nnz  # without edges, labels say nothing about other nodes
    if y is not None:
        targets = _new_labels(known, y, graph.n_nodes, at, class_weight)
        return NodeInputs(targets, graph, X, np.full(graph.n_nodes, -1) if at is None else at)
    if at is None:
        if given is not None and edges:
            warn_caller(
                "no labels are used: `graph` is not the graph of the fit, and names do not say "
                "which nodes are the same (numbers 0…n−1 are no names). Pass y=… with the labels "
                "that are known there, or add to the fitted graph with model.extend."
            )
        at = np.full(graph.n_nodes, -1)
    elif edges and len(at) and (at < 0).all():
        warn_caller(
            "no labels are used: no node of `graph` has a name of the fit, whose first node is "
            f"called {fitted.graph.name_table.values[0]!r}. Pass y=… with the labels that are "
            "known there, or correct the names."
        )
    return NodeInputs(known if graph is fitted.graph else labels_at(known, at), graph, X, at)


def nodes_of_fit(fitted: Graph, graph: Graph) -> np.ndarray | None:
    """For each node of a graph, the same node of the fitted graph, or −1 if it was not there; None
    if that is unknown: node 7 of one graph need not be node 7 of another. Nodes that only have
    numbers are the same if all edges are."""
    if graph is fitted:
        return np.arange(graph.n_nodes)
    if graph.has_own_names and fitted.has_own_names:
        return fitted.name_table.find(graph.name_table.kept)
    same_size = (graph.n_nodes, graph.nnz) == (fitted.n_nodes, fitted.nnz)
    if graph.has_own_names or fitted.has_own_names or not same_size:
        return None
    at = fitted.name_table.find(graph.name_table.kept)
    moved = not np.array_equal(at, np.arange(len(at)))
    return at if graph == (fitted.permuted(at) if moved else fitted) else None


def labels_at(known: Targets, at: np.ndarray) -> Targets:
    """Labels of other nodes: those of node ``at[k]`` at node k, and none where ``at`` is −1."""
    if np.array_equal(at, np.arange(len(known.Y))):
        return known
    there = at >= 0

    def moved(values: np.ndarray) -> np.ndarray:
        found = np.zeros((len(at), *values.shape[1:]), values.dtype)
        found[there] = values[at[there]]
        return found

    return replace(
        known,
        Y=moved(known.Y),
        labeled=moved(known.labeled),
        weight=moved(known.weight),
        before_balance=None,  # no label is excluded from those to predict from
        keys=None if known.keys is None else moved(known.keys),
    )


def _new_labels(
    known: Targets, y: Any, n_nodes: int, at: np.ndarray | None, class_weight: Any
) -> Targets:
    """Labels of nodes that are node ``at`` of the fit, or new (−1); None: not known which."""
    fresh = encode_targets(
        y, n_nodes, known.task, known.classes, columns=known.columns, allow_none=True
    )
    if fresh.Y.shape[1] != known.Y.shape[1]:
        raise ValueError(
            f"`y` must have the {known.Y.shape[1]} columns of the fit; got {fresh.Y.shape[1]}."
        )
    fresh = replace(fresh, columns=known.columns)
    # Equal draws for equal nodes. Nothing but draws depends on keys, so without names the same
    # number of nodes is enough: the tables of a fit, read again, give its predictions again.
    if known.keys is not None and at is None and n_nodes == len(known.keys):
        fresh = replace(fresh, keys=known.keys)
    elif known.keys is not None and at is not None and (at >= 0).all():
        fresh = replace(fresh, keys=known.keys[at])
    return fresh.weighted(None, class_weight)
