"""Predictions with a label hidden, a column replaced or an edge removed, for any model.

Each change needs a prediction of the whole graph. Changes for different nodes are made together if
neither can be felt at the node of the other: where a row of the propagation is below a hundredth of
its largest entry.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..graph.graph import Graph
from ..models.base.node_inputs import NodeInputs
from ..models.base.tables import Table
from ..propagation.polynomials import Series
from .found import Question
from .rows_of_propagation import rows_of

_FELT = 0.01
_DAMPING, _N_STEPS = 0.8, 6  # of the short walks that find what is near
Edge = tuple[int, int]
Cell = tuple[int, int, float]


@dataclass(frozen=True)
class Change:
    """What is different for the prediction of the node at ``place``.

    Attributes
    ----------
    place : int
        Place of the node among those that are asked about.
    hidden : tuple of int
        Nodes whose labels are hidden.
    cells : tuple of (node, column, value)
        Values that are replaced in the features.
    blank : tuple of int
        Nodes whose features are all replaced by their means.
    edges : tuple of (node, node)
        Edges that are removed.
    """

    place: int
    hidden: tuple[int, ...] = ()
    cells: tuple[Cell, ...] = ()
    blank: tuple[int, ...] = ()
    edges: tuple[Edge, ...] = ()

    @property
    def touched(self) -> list[int]:
        ends = [node for edge in self.edges for node in edge]
        return [*self.hidden, *(cell[0] for cell in self.cells), *self.blank, *ends]


class Nearness:
    """How much nodes count at those that are asked about, by short walks."""

    def __init__(self, graph: Graph, nodes: np.ndarray) -> None:
        P = Series(graph, _DAMPING, _N_STEPS, norm="row")
        rows = rows_of(P, nodes).values[:, 0]
        rows[np.arange(len(nodes)), nodes] = 0.0
        self.values = rows / np.maximum(rows.max(axis=1, keepdims=True), 1e-300)
        self.nodes = nodes

    def of_labels(self, place: int, labeled: np.ndarray, count: int) -> np.ndarray:
        """The labeled nodes that count most at a node."""
        at = np.flatnonzero(labeled & (self.values[place] > 0))
        return at[np.argsort(-self.values[place, at], kind="stable")[:count]]

    def together(self, a: Change, b: Change) -> bool:
        """Whether neither change is felt at the node of the other."""
        return not (self._felt(a, b.place) or self._felt(b, a.place))

    def _felt(self, change: Change, place: int) -> bool:
        node = self.nodes[place]
        far = self.values[place]
        return any(each == node or far[each] > _FELT for each in change.touched)


def changed_rows(
    question: Question,
    changes: list[Change],
    near: Nearness,
    means: np.ndarray | None = None,
) -> np.ndarray:
    """The prediction of each change at its node, of shape (changes, c). ``means`` replace the
    features of blank nodes."""
    c = question.inputs.targets.Y.shape[1]
    rows = np.empty((len(changes), c))
    for some in rounds(changes, near):
        inputs = _changed(question, [changes[k] for k in some], means)
        every = _model_for(question, [changes[k] for k in some]).scores_of(inputs)
        nodes = question.nodes[[changes[k].place for k in some]]
        rows[some] = question.shown(every[nodes])
    return rows


def rounds(changes: list[Change], near: Nearness) -> list[list[int]]:
    """Numbers of changes that are made together, each in the first round that it fits into."""
    found: list[list[int]] = []
    for k, change in enumerate(changes):
        for some in found:
            if all(near.together(change, changes[other]) for other in some):
                some.append(k)
                break
        else:
            found.append([k])
    return found


def _model_for(question: Question, changes: list[Change]) -> Any:
    """The model, whose prior for nodes that no label reaches has not seen their own labels."""
    nodes = question.nodes
    own = [int(nodes[each.place]) for each in changes if nodes[each.place] in each.hidden]
    return _without_prior_of(question, own)


def _without_prior_of(question: Question, own: list[int]) -> Any:
    """The model with the prior of all other labels."""
    known = question.inputs.targets
    others = np.setdiff1d(np.flatnonzero(known.labeled), own)
    if not own or not len(others):
        return question.model
    model = copy(question.model)
    model.prior_ = known.only(others).prior
    return model


def _changed(question: Question, changes: list[Change], means: np.ndarray | None) -> NodeInputs:
    inputs = question.inputs
    hidden = [node for change in changes for node in change.hidden]
    if hidden:
        keep = inputs.targets.labeled.copy()
        keep[hidden] = False
        inputs = replace(inputs, targets=inputs.targets.only(np.flatnonzero(keep)))
    cells = [cell for change in changes for cell in change.cells]
    if cells:
        inputs = replace(inputs, X=with_cells(inputs.X, cells))
    blank = sorted({node for change in changes for node in change.blank})
    if blank and means is not None:
        inputs = replace(inputs, X=with_rows(inputs.X, blank, means))
    edges = [edge for change in changes for edge in change.edges]
    if edges:
        at = inputs.of_fit
        if at is None and inputs.graph is question.model.graph_:
            at = np.arange(inputs.graph.n_nodes)
        inputs = replace(inputs, graph=without_edges(inputs.graph, edges), of_fit=at)
    return inputs


def without_labels(question: Question) -> np.ndarray:
    """Predictions of the nodes without any labels as inputs."""
    inputs = question.inputs
    none = inputs.targets.only(np.zeros(0, np.int64))
    blind = replace(inputs, targets=none)
    rows = question.model.scores_of(blind)[question.nodes]
    own = np.flatnonzero(inputs.targets.labeled[question.nodes])
    if len(own):
        nodes = question.nodes[own]
        rows[own] = _without_prior_of(question, nodes.tolist()).scores_of(blind)[nodes]
    return question.shown(rows)


def with_cells(X: Any, cells: list[Cell]) -> Any:
    """Features with some values replaced."""
    if isinstance(X, Table):
        return replace(X, values=with_cells(X.values, cells))
    rows, columns, values = (list(part) for part in zip(*cells, strict=True))
    if sp.issparse(X):
        made = sp.lil_array(X)
        made[rows, columns] = values
        return type(X)(made.tocsr())
    made = X.copy()
    made[rows, columns] = values
    return made


def with_rows(X: Any, nodes: list[int], row: np.ndarray) -> Any:
    """Features with the rows of some nodes replaced by one row."""
    if isinstance(X, Table):
        return replace(X, values=with_rows(X.values, nodes, row))
    if not sp.issparse(X):
        made = X.copy()
        made[nodes] = row
        return made
    keep = np.ones(X.shape[0])
    keep[nodes] = 0.0
    first = sp.csr_array((np.ones(len(nodes)), (nodes, np.zeros(len(nodes), np.int64))),
                         shape=(X.shape[0], 1))  # fmt: skip
    made = sp.diags_array(keep) @ sp.csr_array(X) + first @ sp.csr_array(row[None])
    return type(X)(made.astype(X.dtype))


def without_edges(graph: Graph, edges: list[Edge]) -> Graph:
    """The graph without some edges, in both directions unless it is directed."""
    pairs = set(edges) if graph.directed else {*edges, *((v, u) for u, v in edges)}
    gone = []
    for u, v in pairs:
        start, stop = int(graph.indptr[u]), int(graph.indptr[u + 1])
        gone += [start + int(k) for k in np.flatnonzero(graph.indices[start:stop] == v)]
    keep = np.ones(graph.nnz, bool)
    keep[gone] = False
    kept = np.concatenate([[0], np.cumsum(keep)])
    indptr = kept[graph.indptr].astype(graph.indptr.dtype)
    weights = None if graph.weights is None else np.asarray(graph.weights)[keep]
    made = Graph(indptr, np.asarray(graph.indices)[keep], weights, graph.directed)
    return made.named(graph.node_names).with_compute(graph.compute)
