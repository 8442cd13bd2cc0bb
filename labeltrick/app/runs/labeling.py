"""Choice of the nodes to label next: uncertain nodes near other uncertain nodes.

A label informs about its node and, through the propagation P, about the nodes around it. Node j
gains about P_ij times its uncertainty from the label of node i; the sum over j is one product with
Pᵀ. After each choice, the nodes near it count less, so that the choices are spread out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from ..._utils.checks import check_choice, check_count
from ...propagation.resolvent import Resolvent
from .fitting import open_run
from .folder import PREDICTIONS
from .predictions import number_columns, read_predictions, stored_rows

_ROUNDS = 20  # uncertainties are updated that many times
_DAMPING = 0.8
BY = ("reach", "uncertainty")


def uncertainty(frame: pl.DataFrame, model: Any, P: Any) -> np.ndarray:
    """Uncertainty from 0 to 1: the entropy of the class probabilities, or the mean entropy of the
    labels if nodes have several. For regression, whose
    intervals are equally wide everywhere, 1 minus the label mass that P brings to a node, relative
    to the largest."""
    if model.targets_.task == "regression":
        mass = np.asarray(P @ model.targets_.labeled.astype(np.float64))
        return 1 - mass / max(float(mass.max(initial=0.0)), 1e-12)
    p = np.clip(stored_rows(frame, model), 1e-12, 1.0)
    if model.targets_.task == "multilabel":
        q = np.clip(1 - p, 1e-12, 1.0)
        return -(p * np.log(p) + q * np.log(q)).mean(axis=1) / np.log(2)
    return -(p * np.log(p)).sum(axis=1) / np.log(max(p.shape[1], 2))


def choose_nodes(
    doubt: np.ndarray, open_nodes: np.ndarray, P: Any, count: int, by: str
) -> np.ndarray:
    """The nodes to label, in order, chosen from ``open_nodes``."""
    if by == "uncertainty":
        return open_nodes[np.argsort(-doubt[open_nodes], kind="stable")[:count]]
    left = doubt.copy()
    chosen: list[int] = []
    free = np.zeros(len(doubt), bool)
    free[open_nodes] = True
    per_round = max(1, -(-count // _ROUNDS))
    while len(chosen) < count and free.any():
        gain = np.asarray(P.T @ left)
        gain[~free] = -np.inf
        best = np.argsort(-gain, kind="stable")[: min(per_round, count - len(chosen))]
        best = best[free[best]]
        chosen += best.tolist()
        free[best] = False
        mark = np.zeros(len(doubt))
        mark[best] = 1.0
        # The share of a node's mass that would come from the chosen nodes is covered.
        left = left * (1 - np.clip(np.asarray(P @ mark), 0.0, 1.0))
        left[best] = 0.0
    return np.array(chosen, np.int64)


def nodes_to_label(run: Any, count: int, by: str = "reach") -> pl.DataFrame:
    """A table to fill in: id, prediction, uncertainty, reach, and blank target columns."""
    check_count("count", count, 1)
    check_choice("by", by, BY)
    folder, settings, model = open_run(run)
    frame = read_predictions(folder / PREDICTIONS, model)
    known = frame["labeled"].to_numpy().copy()
    known[model.validation_] = True
    open_nodes = np.flatnonzero(~known)
    if "test" in frame.columns:
        # Labels of test nodes would leave nothing to score on: choose them only if all others
        # have a label.
        others = np.flatnonzero(~known & ~frame["test"].to_numpy())
        open_nodes = others if len(others) else open_nodes
    if not len(open_nodes):
        raise ValueError(f"`{folder.path}` must have unlabeled nodes; all nodes have a label.")
    P = Resolvent(model.graph_, _DAMPING, norm="row")
    doubt = uncertainty(frame, model, P)
    nodes = choose_nodes(doubt, open_nodes, P, min(count, len(open_nodes)), by)
    reach = np.asarray(P.T @ doubt)
    chosen = frame[nodes.tolist()]
    id_name = settings.id or frame.columns[0]
    given = settings.target or "label"
    targets = (given,) if isinstance(given, str) else given
    said = ["prediction"] if "prediction" in frame.columns else number_columns(model.targets_)

    def ours(name: str) -> str:
        return f"labeltrick_{name}" if name in (id_name, *targets) else name

    return pl.DataFrame(
        {
            id_name: chosen.to_series(0),
            **{ours(name): chosen[name] for name in said},
            ours("uncertainty"): doubt[nodes].round(4),
            ours("reach"): reach[nodes].round(4),
            **{target: [None] * len(nodes) for target in targets},
        }
    )
