"""Any model: labels are hidden and columns replaced by their mean, and the node predicted again.

Effects of single changes do not add up: two labels that say the same replace each other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..models.base.tables import Table
from .changed_inputs import Change, Nearness, changed_rows, without_labels
from .effects import Source
from .found import Found, Question
from .names import column_names, column_values
from .rows_of_propagation import batches

ALL_COLUMNS = "all columns"


def explain_by_changes(question: Question) -> list[Found]:
    """Effects of the nearest labels, of a node's own columns and of its neighbors' columns."""
    found, without = [], without_labels(question)
    place = {int(node): k for k, node in enumerate(question.nodes)}
    for nodes in batches(question.nodes, question.inputs.graph.n_nodes):
        part = Question(question.model, question.inputs, nodes, question.top)
        found += _explained(part, without[[place[int(node)] for node in nodes]])
    return found


def own_hidden(question: Question, place: int) -> tuple[int, ...]:
    """The node itself, if its own label would be an input of its prediction."""
    node = int(question.nodes[place])
    return (node,) if question.is_labeled(node) else ()


def _explained(question: Question, without: np.ndarray) -> list[Found]:
    near = Nearness(question.inputs.graph, question.nodes)
    means = means_of(question.inputs.X)
    changes: list[Change] = []
    sources: list[Source | None] = []
    for place in range(len(question.nodes)):
        own = own_hidden(question, place)
        changes.append(Change(place, own))
        sources.append(None)
        for each, change in _candidates(question, near, place, own, means):
            changes.append(change)
            sources.append(each)
    rows = changed_rows(question, changes, near, means)
    base = rows[[k for k, source in enumerate(sources) if source is None]]
    found = [Found(row, before) for row, before in zip(base, without, strict=True)]
    for change, source, row in zip(changes, sources, rows, strict=True):
        if source is not None:
            found[change.place].changes.append((source, base[change.place] - row))
    if question.inputs.X is not None and means is None:
        for one in found:
            one.notes.append("effects of columns are not computed for features of this type")
    return found


def _candidates(
    question: Question, near: Nearness, place: int, own: tuple[int, ...], means: np.ndarray | None
) -> list[tuple[Source, Change]]:
    """What is changed at a node whose own label is hidden."""
    inputs, node = question.inputs, int(question.nodes[place])
    labels = near.of_labels(place, inputs.targets.labeled, 2 * question.top)
    found = [(Source("label", int(j)), Change(place, (*own, int(j)))) for j in labels if j != node]
    if means is None:
        return found
    names = column_names(question.model, inputs.X)
    values = column_values(question.model, inputs.X, node)
    for k in unusual_columns(inputs.X, node, means, 2 * question.top):
        cell = (node, int(k), float(means[k]))
        source = Source("own column", names[k], values[k])
        found.append((source, Change(place, own, cells=(cell,))))
    found.append((Source("own column", ALL_COLUMNS), Change(place, own, blank=(node,))))
    neighbors = tuple(int(u) for u in inputs.graph.neighbors(node) if u != node)
    if neighbors:
        source = Source("neighbor column", ALL_COLUMNS)
        found.append((source, Change(place, own, blank=neighbors)))
    return found


def means_of(X: Any) -> np.ndarray | None:
    """The mean of each column, or the most frequent level of a category; None if the features
    cannot be replaced."""
    if X is None:
        return None
    if isinstance(X, Table):
        found = _means(X.values)
        for k in X.categorical:
            codes = X.values[:, k]
            seen = codes[~np.isnan(codes)].astype(np.int64)
            found[k] = np.bincount(seen).argmax() if len(seen) else np.nan
        return found
    if sp.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiub"):
        # A mean in a table of integers would be cut off.
        return _means(X) if X.dtype.kind == "f" else np.round(_means(X))
    return None


def _means(values: Any) -> np.ndarray:
    if sp.issparse(values):
        return np.asarray(values.mean(axis=0), np.float64).ravel()
    known = ~np.isnan(values)
    total = np.where(known, values, 0.0).sum(axis=0, dtype=np.float64)
    return total / np.maximum(known.sum(axis=0), 1)


def unusual_columns(X: Any, node: int, means: np.ndarray, count: int) -> np.ndarray:
    """The columns whose value at a node is farthest from the mean, in standard deviations."""
    values = X.values if isinstance(X, Table) else X
    if sp.issparse(values):
        row = values[[node]].toarray()[0]
        squares = np.asarray(values.multiply(values).mean(axis=0)).ravel()
        spread = np.sqrt(np.maximum(squares - means**2, 0.0))
    else:
        row = np.asarray(values[node], np.float64)
        spread = np.sqrt(_means((np.asarray(values, np.float64) - means) ** 2))
    away = np.abs(np.nan_to_num(row - means, nan=0.0)) / np.where(spread > 0, spread, np.inf)
    some = np.argsort(-away, kind="stable")[:count]
    return some[away[some] > 0]
