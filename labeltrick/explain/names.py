"""Nodes that are asked about, by name or number, and the names and values of columns."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._utils.targets import Targets
from ..graph.graph import Graph
from ..graph.names import as_names, shown
from ..models.base.tables import Table
from ..propagation.diagonal.self_weight import check_nodes

_MOST_COMPARED = 20_000  # names that are compared with one that no node has


def nodes_asked(nodes: Any, graph: Graph) -> np.ndarray:
    """Numbers of the nodes, which are given by name if the nodes have names."""
    scalar = isinstance(nodes, str | bytes) or np.ndim(nodes) == 0
    asked = [nodes] if scalar else nodes
    if isinstance(asked, np.ndarray) and asked.dtype.kind == "b":
        return _some(check_nodes("nodes", asked, graph.n_nodes))
    if not graph.has_names:
        kinds = {type(each) for each in (asked if isinstance(asked, list | tuple) else ())}
        if any(issubclass(kind, str) for kind in kinds):
            raise ValueError(
                f"`nodes` must be numbers from 0 to {graph.n_nodes - 1}, because the nodes of the "
                f"graph have no names; got {asked[0]!r}. Name them with graph.with_names(…)."
            )
        return _some(check_nodes("nodes", np.asarray(asked), graph.n_nodes))
    wanted = as_names("nodes", asked)
    found = graph.name_table.find(wanted)
    if len(found) and (found < 0).any():
        strange = wanted[int(np.argmax(found < 0))]
        raise ValueError(
            f"`nodes` must be names of nodes; no node is called "
            f"{shown(wanted, int(np.argmax(found < 0)))}.{suggestion(strange, graph)}"
        )
    return _some(found)


def _some(nodes: np.ndarray) -> np.ndarray:
    if not len(nodes):
        raise ValueError("`nodes` must hold at least one node; got none. Name the nodes.")
    return np.asarray(nodes, np.int64)


def suggestion(name: Any, graph: Graph) -> str:
    """A question that names a node with a similar name, or says what the first one is called."""
    kept = graph.name_table.kept
    first = shown(kept, 0) if graph.n_nodes else "nothing"
    text = str(name)
    values = [str(each) for each in graph.name_table.values.tolist()]
    same = [each for each in values if each.casefold().strip() == text.casefold().strip()]
    like = same or [each for each in values if abs(len(each) - len(text)) <= 1
                    and each[:1].casefold() == text[:1].casefold()]  # fmt: skip
    near = same[:1] or get_close_matches(text, like[:_MOST_COMPARED], 1, 0.6)
    if near and near[0] == text:  # a name of another type
        return f" The names are of another type: the first node is called {first}."
    return f" Did you mean {near[0]!r}?" if near else f" The first node is called {first}."


def column_names(model: Any, X: Any) -> list[str]:
    """The names of the columns of features as a model reads them."""
    if isinstance(X, Table):
        return X.names
    given = getattr(model, "feature_names_in_", None)
    width = 1 if getattr(X, "ndim", 2) == 1 else X.shape[1]
    if given is not None and len(given) == width:
        return [str(name) for name in given]
    return [f"column {k}" for k in range(width)]


def column_values(model: Any, X: Any, node: int) -> list[Any]:
    """The values of a node's columns: numbers, or the levels of categories; None if missing."""
    table = X.values if isinstance(X, Table) else X
    row = table[[node]].toarray()[0] if sp.issparse(table) else np.asarray(table[node])
    columns = X.columns if isinstance(X, Table) else [None] * len(row)
    return [_value(each, column) for each, column in zip(row.tolist(), columns, strict=True)]


def _value(value: Any, column: Any) -> Any:
    if isinstance(value, float) and np.isnan(value):
        return None
    levels = getattr(column, "levels", None)
    if levels is not None:
        return str(levels[int(value)]) if 0 <= int(value) < len(levels) else None
    return value


def output_names(known: Targets) -> list[Any]:
    """The names of the columns of a prediction: classes, labels or numbers."""
    if known.task == "classification":
        assert known.classes is not None
        return known.classes.tolist()
    if known.columns is not None:
        return list(known.columns)
    return list(range(known.Y.shape[1]))


def label_of(known: Targets, node: int, output: int) -> Any:
    """The label of a node as ``y`` has it; of several, that of one output."""
    if known.task == "classification":
        assert known.classes is not None
        return known.classes[known.Y[node].argmax()].item() if hasattr(
            known.classes[0], "item") else known.classes[known.Y[node].argmax()]  # fmt: skip
    value = float(known.Y[node, output])
    return int(value) if known.task == "multilabel" else value
