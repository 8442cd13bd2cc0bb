"""Edges: the prediction of a node if one of its edges were not there."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph.stored.graph import StoredGraph
from .by_changes import own_hidden
from .changed_inputs import Change, Nearness, changed_rows
from .effects import Source
from .found import Question
from .rows_of_propagation import batches

# Values that one prediction propagates; on larger graphs edges are removed only on request.
_AFFORDABLE = 500_000
_Found = tuple[list[tuple[Source, np.ndarray]], list[str]]


def edges_are_affordable(question: Question) -> bool:
    """Whether removing edges takes seconds."""
    graph, c = question.inputs.graph, question.inputs.targets.Y.shape[1]
    n_rounds = question.top * min(len(question.nodes), 4)
    return _why_not(graph) is None and graph.nnz * c * n_rounds <= 20 * _AFFORDABLE


def _why_not(graph: Any) -> str | None:
    if graph.relations:
        return "edges are not removed from graphs with types of edges"
    if isinstance(graph, StoredGraph):
        return "edges are not removed from graph folders"
    return None


def edge_effects(question: Question) -> list[_Found]:
    """Effects of the edges to the neighbors that count most, and notes, for each node."""
    why_not = _why_not(question.inputs.graph)
    if why_not is not None:
        return [([], [why_not]) for _ in question.nodes]
    found: list[_Found] = []
    for nodes in batches(question.nodes, question.inputs.graph.n_nodes):
        part = Question(question.model, question.inputs, nodes, question.top)
        found += _of_some(part)
    return found


def _of_some(question: Question) -> list[_Found]:
    graph = question.inputs.graph
    near = Nearness(graph, question.nodes)
    changes, ends = [], []
    for place, node in enumerate(question.nodes.tolist()):
        own = own_hidden(question, place)
        neighbors = graph.neighbors(node)
        neighbors = neighbors[neighbors != node]
        order = np.argsort(-near.values[place, neighbors], kind="stable")[: question.top]
        for end in [None, *neighbors[order].tolist()]:
            changes.append(Change(place, own, edges=() if end is None else ((node, end),)))
            ends.append(end)
    rows = changed_rows(question, changes, near)
    found: list[_Found] = [([], []) for _ in question.nodes]
    base = {change.place: row for change, end, row in zip(changes, ends, rows, strict=True)
            if end is None}  # fmt: skip
    for change, end, row in zip(changes, ends, rows, strict=True):
        if end is not None:
            found[change.place][0].append((Source("edge", end), base[change.place] - row))
    return found
