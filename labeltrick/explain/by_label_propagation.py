"""Label propagation, exactly: F_i = Σ_j a_ij·y_j with a_ij = P_ij·w_j / Σ_k P_ik·w_k.

The shares a_ij sum to one, so that F_i = prior + Σ_j a_ij·(y_j − prior). The node's own label is no
part of the sum, nor of the prior.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..propagation.base import Propagation
from ..self_exclusion.rounding import accurate, certain_mass, solver_error
from .effects import Effects, Source
from .found import Found, Question, largest
from .rows_of_propagation import RowsOfP, batches, rows_of

_MOST_LABELS = 1000  # labels with an effect of their own; those of all others are summed


def suits(model: Any) -> bool:
    """Whether predictions are linear in the labels: labels that are kept fixed make others."""
    return type(model).__name__ == "LabelPropagation" and model.clamp is None


def explain_label_propagation(question: Question) -> list[Found]:
    """Exact contributions of labels."""
    model, graph = question.model, question.inputs.graph
    P, found = model.views_of(graph).kinds[0], []
    for nodes in batches(question.nodes, graph.n_nodes):
        rows = rows_of(P, nodes)
        found += [_explained(question, P, rows, place) for place in range(len(nodes))]
    return found


def _explained(question: Question, P: Propagation, rows: RowsOfP, place: int) -> Found:
    node, model = int(rows.nodes[place]), question.model
    known, start = question.inputs.targets, model.prior_
    if question.is_labeled(node):
        known = known.only(np.setdiff1d(np.flatnonzero(known.labeled), [node]))
        start = known.prior if known.labeled.any() else _even(known)
    effects, error = label_effects(known, start, P, rows, place, question.is_labeled(node))
    effects = effects.through(question.shown)
    return Found(effects.row, effects.start, effects, error=error)


def label_effects(
    known: Any, start: np.ndarray, P: Propagation, rows: RowsOfP, place: int, excluded: bool
) -> tuple[Effects, float]:
    """Effects of the labels ``known`` at a node, and a bound of their errors. ``excluded`` says
    that the node's own label was taken out of them."""
    others = np.flatnonzero(known.labeled)
    weight = known.weight[others]
    # In the scale in which the thresholds of label propagation are.
    weight = weight / weight.mean() if len(others) else weight
    mass = rows.values[place, 0, others] * weight
    total, most = float(mass.sum()), float(weight.max(initial=0.0))
    n_carrying = len(others) + 1 if excluded else 0
    floor = solver_error(accurate(P, n_carrying), np.float64) * most
    if excluded:
        floor *= certain_mass(P, n_carrying)
    if total <= max(floor, float(rows.error[place]) * most):
        return Effects(start, start.copy(), [], np.zeros((0, len(start)))), 0.0
    shares, away = mass / total, known.Y[others] - start
    row = start + shares @ away
    some = largest(shares * np.abs(away).max(axis=1), _MOST_LABELS)
    sources = [Source("label", int(others[k])) for k in some]
    values = shares[some, None] * away[some]
    off = float(rows.error[place]) * most
    error = 2 * off * float(np.abs(away).max()) / (total - off)
    return Effects(start, row, sources, values), error


def _even(known: Any) -> np.ndarray:
    """The row of a node if there are no other labels."""
    c = known.Y.shape[1]
    value = {"classification": 1 / c, "multilabel": 0.5, "regression": 0.0}[known.task]
    return np.full(c, value)
