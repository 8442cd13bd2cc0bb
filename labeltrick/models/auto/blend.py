"""Blending of learners: shares that sum to one, and a correction by the residuals of others."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..._utils.targets import Targets
from ...evaluation.calibration import some_rows
from ...graph.graph import Graph
from ...propagation.resolvent import Resolvent
from ...self_exclusion.label_views import LabelViews
from ..base.node_inputs import NodeInputs
from ..base.weights import tidy
from .learners import losses, row_loss

_PARTS = 5  # shares are multiples of a fifth; finer ones would overfit
DAMPINGS, SIZES = (0.5, 0.8, 0.95), (0.25, 0.5, 0.75, 1.0)


def choose_shares(
    rows: Sequence[np.ndarray],
    Y: np.ndarray,
    weight: np.ndarray,
    task: str,
    keys: np.ndarray | None = None,
) -> tuple[float, ...]:
    """Shares of least loss for the out-of-fold predictions ``rows`` of each learner; ``keys`` draw
    a sample if there are many rows."""
    some = some_rows(len(Y), keys)
    rows, Y, weight = [part[some] for part in rows], Y[some], weight[some]
    every = itertools.product(range(_PARTS + 1), repeat=len(rows))
    choices = [tuple(part / _PARTS for part in parts) for parts in every if sum(parts) == _PARTS]
    return min(choices, key=lambda shares: row_loss(task, Y, mixed(rows, shares), weight))


def shares_by_all_labels(
    honest: Sequence[np.ndarray], known: Targets, validation: Targets
) -> tuple[float, ...]:
    """Shares chosen on validation nodes and on labeled nodes out of fold; more nodes make the
    choice less random. ``honest`` are each learner's (rows, rows with labeled nodes out of fold).
    """
    at, val = np.flatnonzero(known.labeled), np.flatnonzero(validation.labeled)
    Y = np.concatenate([known.Y[at], validation.Y[val]])
    weight = np.concatenate([known.weight[at], validation.weight[val]])
    rows = [np.concatenate([out_of_fold[at], plain[val]]) for plain, out_of_fold in honest]
    keys = None if known.keys is None else known.keys[np.concatenate([at, val])]
    return choose_shares(rows, Y, weight, known.task, keys)


def mixed(rows: Sequence[np.ndarray], shares: Sequence[float]) -> np.ndarray:
    used = [share * part for share, part in zip(shares, rows, strict=True) if share]
    return np.sum(used, axis=0)


@dataclass(frozen=True)
class Correction:
    """Adds a share of the residuals of nearby labeled nodes: the correction of Correct & Smooth,
    without a node's own residual. ``oof`` are the out-of-fold predictions of the labeled nodes of
    the fit, ``Y`` their labels."""

    damping: float
    size: float
    nodes: np.ndarray
    oof: np.ndarray
    Y: np.ndarray

    def apply(
        self, rows: np.ndarray, inputs: NodeInputs, views: LabelViews | None = None
    ) -> np.ndarray:
        """``views`` from `choose_correction` on the same graph save computing self-weights.

        Labels that were added after the fit have no residual: their predictions used the labels of
        their neighbors, and a residual would return each neighbor its own label.
        """
        known, there = inputs.targets, self.nodes < len(rows)
        nodes = self.nodes[there]
        same = known.labeled[nodes] & (known.Y[nodes] == self.Y[there]).all(axis=1)
        residual, counts = np.zeros_like(rows), np.zeros(len(rows), bool)
        residual[nodes[same]] = self.Y[there][same] - self.oof[there][same]
        counts[nodes[same]] = True
        if views is None:
            views = residual_views(inputs.graph, self.damping)
        nearby = nearby_residuals(residual, counts, views)
        return tidy(rows + self.size * nearby, known.task)


def residual_views(graph: Graph, damping: float) -> LabelViews:
    return LabelViews([Resolvent(graph, damping, norm="row", tol=1e-8)], tol=1e-5)


def nearby_residuals(residual: np.ndarray, labeled: np.ndarray, views: LabelViews) -> np.ndarray:
    """The mean residual of the nodes that reach a node; zero if there are none."""
    columns = np.column_stack([residual, labeled.astype(np.float64)])
    blank = np.zeros(residual.shape[1])
    return views.inputs(columns, blank=blank, progress=False).values[:, 0]


def choose_correction(
    rows: np.ndarray,
    oof: np.ndarray,
    inputs: NodeInputs,
    selection: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> tuple[Correction | None, np.ndarray, LabelViews | None]:
    """(the correction of least loss or None, its rows of all nodes, its views). ``rows`` predict
    all nodes, and out of fold those of ``selection``: (nodes, labels, weights).

    Dampings are tried in ascending order while the loss decreases, as self-weights of the last one
    may cost more than a learner. The result is None unless the gain exceeds its standard error.
    """
    known, (at, Y, weight) = inputs.targets, selection
    nodes = np.flatnonzero(known.labeled)
    residual = np.zeros_like(rows)
    residual[nodes] = known.Y[nodes] - oof
    task, best, best_rows, best_views = known.task, None, rows, None
    best_loss = row_loss(task, Y, rows[at], weight)
    for damping in DAMPINGS:
        views = residual_views(inputs.graph, damping)
        nearby = nearby_residuals(residual, known.labeled, views)
        for size in SIZES:
            found = tidy(rows + size * nearby, task)
            loss = row_loss(task, Y, found[at], weight)
            if loss < best_loss:
                best_loss, best_rows, best_views = loss, found, views
                best = Correction(damping, size, nodes, oof, known.Y[nodes])
        if damping > DAMPINGS[0] and (best is None or best.damping < damping):
            break
    if best is None:
        return None, rows, None
    gains = losses(task, Y, rows[at]) - losses(task, Y, best_rows[at])
    if gains.mean() < gains.std() / np.sqrt(len(gains)):
        return None, rows, None
    return best, best_rows, best_views
