"""`LabelFeatureRegression`, exactly: the row of a node is linear in labels and features.

    Σ_{j≠i} P_ij·y_j·W_y + (Σ_j P_ij·x_j − center)/spread·W_x + intercept

A column contributes as the node's own value (j = i) and as the values of the others. The center is
divided among nodes like P_ij: a value at the center contributes nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .effects import Effects, Source
from .found import Found, Question, largest
from .names import column_names, column_values
from .rows_of_propagation import RowsOfP, batches, rows_of

_MOST = 1000  # labels with an effect of their own


def suits(model: Any) -> bool:
    return type(model).__name__ == "LabelFeatureRegression"


def explain_regression(question: Question) -> list[Found]:
    """Exact contributions of labels, own columns and those of other nodes."""
    rows_of_model, found = question.model._rows, []
    graph = question.inputs.graph
    P = rows_of_model.on(graph)
    for nodes in batches(question.nodes, graph.n_nodes):
        rows = rows_of(P, nodes)
        found += [_explained(question, rows, place) for place in range(len(nodes))]
    return found


def _explained(question: Question, rows: RowsOfP, place: int) -> Found:
    model, node = question.model, int(rows.nodes[place])
    p, scale = rows.values[place, 0], model._target_scale
    start = scale.back(model.intercept_)
    columns, values = _column_effects(question, p, node)
    labels, label_values, total = _label_effects(question, p, node)
    without = start + values.sum(axis=0)
    joined = np.concatenate([values, label_values])
    effects = Effects(start, without + total, columns + labels, joined)
    off = float(rows.error[place])
    largest_weight = float(np.abs(model.coef_labels_).max(initial=0.0) * np.abs(scale.spread).max())
    size = float(np.abs(model._rows.label_inputs(question.inputs)).max(initial=0.0))
    shown = question.shown(without[None])[0]
    shown_effects = effects.through(question.shown)
    return Found(shown_effects.row, shown, shown_effects, error=off * largest_weight * size)


def _column_effects(question: Question, p: np.ndarray, node: int) -> tuple[list[Source], Any]:
    model, X = question.model, question.inputs.X
    scale = model._rows.feature_scale
    weights = model.coef_features_ / scale.spread[:, None] * model._target_scale.spread
    own = X[[node]].toarray()[0] if sp.issparse(X) else np.asarray(X[node], np.float64)
    every = np.asarray(p @ X).ravel()
    center = np.asarray(scale.center, np.float64) / p.sum()
    mine = p[node] * (own - center)
    others = every - p[node] * own - (p.sum() - p[node]) * center
    names, shown = column_names(model, X), column_values(model, X, node)
    sources = [Source("own column", name, value) for name, value in zip(names, shown, strict=True)]
    sources += [Source("neighbor column", name) for name in names]
    return sources, np.concatenate([mine[:, None] * weights, others[:, None] * weights])


def _label_effects(
    question: Question, p: np.ndarray, node: int
) -> tuple[list[Source], np.ndarray, np.ndarray]:
    """Effects of the labels with the largest, and the sum of all effects."""
    model, known = question.model, question.inputs.targets
    c = known.Y.shape[1]
    others = np.flatnonzero(known.labeled)
    others = others[others != node]
    if not model.label_trick or not len(others):
        return [], np.zeros((0, c)), np.zeros(c)
    Y = model._rows.label_inputs(question.inputs)[others]
    values = (p[others, None] * Y) @ model.coef_labels_ * model._target_scale.spread
    some = largest(np.abs(values).max(axis=1), _MOST)
    return [Source("label", int(others[k])) for k in some], values[some], values.sum(axis=0)
