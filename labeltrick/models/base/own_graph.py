"""The graph of rows that came without one: nodes without edges, which keep the names of rows."""

from __future__ import annotations

from typing import Any

from ...graph.graph import Graph
from ...graph.names import NodeNames
from .node_inputs import n_rows
from .row_names import is_default, named_rows


def named_graph(X: Any, id: str | None) -> Graph | None:
    """A node without edges for each row, if rows have names of their own that tell them apart."""
    names = _own_names(X, id)
    return None if names is None else _without_edges(len(names)).named(names)


def graph_of_rows(X: Any, id: str | None, fitted: Graph) -> Graph:
    """The graph to predict rows on after a fit without edges: that of the fit if they are its
    nodes, else one of their own."""
    names = _own_names(X, id)
    if names is None:
        # An index that only counts rows does not say that they are those of the fit.
        counted = fitted.has_own_names and is_default(X, id)
        same = n_rows(X) == fitted.n_nodes and not counted
        return fitted if same else _without_edges(n_rows(X))
    known = (fitted.name_table.find(names.kept) >= 0).all()
    return (
        fitted
        if known and len(names) == fitted.n_nodes
        else _without_edges(len(names)).named(names)
    )


def _own_names(X: Any, id: str | None) -> NodeNames | None:
    if is_default(X, id):
        return None
    _, kept = named_rows("X", X, id)
    if kept is None:
        return None
    try:
        return NodeNames.of(kept)
    except ValueError:  # a name is missing or occurs twice, so names do not say what a row is
        return None


def _without_edges(n: int) -> Graph:
    return Graph.from_edges([], [], n_nodes=n)
