"""Blending of learners: shares that sum to one, and a correction by the residuals of others."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..._utils.allowance import steps
from ...evaluation.calibration import some_rows
from ...graph.graph import Graph
from ...propagation.resolvent import Resolvent
from ...self_exclusion.label_views import LabelViews
from ..base.node_inputs import NodeInputs
from ..base.weights import tidy
from .learners.rows import losses, row_loss

_PARTS = 5  # shares are multiples of a fifth; finer ones would overfit
DAMPINGS, SIZES = (0.5, 0.8, 0.95), (0.25, 0.5, 0.75, 1.0)


def choose_shares(
    rows: Sequence[np.ndarray],
    Y: np.ndarray,
    weight: np.ndarray,
    task: str,
    keys: np.ndarray | None = None,
) -> tuple[float, ...]:
    """Shares of least loss for the out-of-fold predictions ``rows`` of each learner, or equal ones
    if the gain is not clear; ``keys`` draw a sample if there are many rows."""
    some = some_rows(len(Y), keys)
    rows, Y, weight = [part[some] for part in rows], Y[some], weight[some]
    choices = possible_shares(len(rows))
    best = min(choices, key=lambda shares: row_loss(task, Y, mixed(rows, shares), weight))
    equal = (1 / len(rows),) * len(rows)
    gains = losses(task, Y, mixed(rows, equal)) - losses(task, Y, mixed(rows, best))
    return best if is_gain(gains * weight) else equal


def possible_shares(n_learners: int) -> list[tuple[float, ...]]:
    every = itertools.product(range(_PARTS + 1), repeat=n_learners)
    return [tuple(part / _PARTS for part in parts) for parts in every if sum(parts) == _PARTS]


def is_gain(gains: np.ndarray, errors: float = 2.0) -> bool:
    """Whether the mean of paired gains is clear: above so many of its standard errors."""
    return bool(gains.mean() > errors * gains.std() / np.sqrt(max(len(gains), 1)))


def mixed(rows: Sequence[np.ndarray], shares: Sequence[float]) -> np.ndarray:
    used = [share * part for share, part in zip(shares, rows, strict=True) if share]
    return np.sum(used, axis=0)


@dataclass(frozen=True)
class Correction:
    """Adds a share of the residuals of nearby labeled nodes: the correction of Correct & Smooth,
    without a node's own residual. ``oof`` are the out-of-fold predictions of the labeled nodes of
    the fit and those of validation nodes, ``Y`` their labels."""

    damping: float
    size: float
    nodes: np.ndarray
    oof: np.ndarray
    Y: np.ndarray

    def with_more(self, nodes: np.ndarray, rows: np.ndarray, Y: np.ndarray) -> Correction:
        """The same with the residuals of further nodes, which count where their labels are
        inputs."""
        return replace(
            self,
            nodes=np.concatenate([self.nodes, nodes]),
            oof=np.concatenate([self.oof, rows]),
            Y=np.concatenate([self.Y, Y]),
        )

    def moved(self, at: np.ndarray) -> Correction:
        """The same residuals on another graph, whose node k is node ``at[k]`` of the fit, or a new
        one if that is −1."""
        place = np.full(max(int(self.nodes.max(initial=-1)), int(at.max(initial=-1))) + 1, -1)
        place[at[at >= 0]] = np.flatnonzero(at >= 0)
        nodes = place[self.nodes]
        there = nodes >= 0
        return replace(self, nodes=nodes[there], oof=self.oof[there], Y=self.Y[there])

    def apply(
        self,
        rows: np.ndarray,
        inputs: NodeInputs,
        views: LabelViews | None = None,
        at: np.ndarray | None = None,
    ) -> np.ndarray:
        """``rows`` are those of the nodes ``at``, by default of all. ``views`` from
        `choose_correction` on the same graph save computing self-weights.

        Labels that were added after the fit have no residual: their predictions used the labels of
        their neighbors, and a residual would return each neighbor its own label.
        """
        known = inputs.targets
        there = self.nodes < len(known.Y)
        nodes = self.nodes[there]
        same = known.labeled[nodes] & (known.Y[nodes] == self.Y[there]).all(axis=1)
        residual, counts = np.zeros((len(known.Y), rows.shape[1])), np.zeros(len(known.Y), bool)
        residual[nodes[same]] = self.Y[there][same] - self.oof[there][same]
        counts[nodes[same]] = True
        if views is None:
            views = residual_views(inputs.graph, self.damping)
        nearby = nearby_residuals(residual, counts, views, at)
        return tidy(rows + self.size * nearby, known.task)


def residual_views(graph: Graph, damping: float) -> LabelViews:
    return LabelViews([Resolvent(graph, damping, norm="row", tol=1e-8)])


def nearby_residuals(
    residual: np.ndarray, labeled: np.ndarray, views: LabelViews, at: np.ndarray | None = None
) -> np.ndarray:
    """The mean residual of the nodes that reach a node; zero if there are none."""
    columns = np.column_stack([residual, labeled.astype(np.float64)])
    blank = np.zeros(residual.shape[1])
    return views.inputs(columns, at, blank=blank, progress=False).values[:, 0]


def choose_correction(
    rows: np.ndarray,
    nodes: np.ndarray,
    oof: np.ndarray,
    inputs: NodeInputs,
    selection: tuple[np.ndarray, np.ndarray, np.ndarray],
    views_at: dict[float, LabelViews],
    errors: float = 2.0,
) -> tuple[Correction | None, np.ndarray]:
    """(the correction of least loss or None, its rows). ``rows`` predict ``nodes``, and out of fold
    those of ``selection``: (rows, labels, weights). ``views_at`` keeps the views
    of each damping, because their self-weights are costly.

    Dampings are tried in ascending order while the loss decreases, as self-weights of the last one
    may cost more than a learner. The result is None unless the gain exceeds ``errors`` of its
    standard errors.
    """
    known, (at, Y, weight) = inputs.targets, selection
    labeled = np.flatnonzero(known.labeled)
    residual = np.zeros((len(known.Y), rows.shape[1]))
    residual[labeled] = known.Y[labeled] - oof
    task, best, best_rows = known.task, None, rows
    best_loss, another = row_loss(task, Y, rows[at], weight), steps()
    if not another():  # no time for a correction
        return None, rows
    for damping in DAMPINGS:
        if damping not in views_at:
            views_at[damping] = residual_views(inputs.graph, damping)
        nearby = nearby_residuals(residual, known.labeled, views_at[damping], nodes)
        for size in SIZES:
            found = tidy(rows + size * nearby, task)
            loss = row_loss(task, Y, found[at], weight)
            if loss < best_loss:
                best_loss, best_rows = loss, found
                best = Correction(damping, size, labeled, oof, known.Y[labeled])
        if damping > DAMPINGS[0] and (best is None or best.damping < damping):
            break
        if not another():
            break
    gains = losses(task, Y, rows[at]) - losses(task, Y, best_rows[at])
    if best is None or not is_gain(gains * weight, errors):
        return None, rows
    return best, best_rows


def in_words(shares: dict[str, float]) -> str:
    """The shares of a blend as a sentence."""
    if len(shares) > 1 and len(set(shares.values())) == 1:
        return "equal parts of " + ", ".join(shares)
    return " + ".join(f"{share:.0%} {name}" for name, share in shares.items())
