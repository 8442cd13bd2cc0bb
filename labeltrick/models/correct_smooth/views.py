"""Inputs of trainable Correct & Smooth: Ŷ_s and Ŷ_c of the paper (appendix B.4).

    Ŷ_s = P_s (Y_in + M_free Ỹ),    Ŷ_c = P_s M_free γ(P_c (Y_in − M_in Ỹ))

where the labels of some nodes are inputs ("in") and all other nodes are free. In training, a node
is free in its own row, so that the row does not depend on its label.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..._utils.progress import Progress, ProgressBar
from ...graph.graph import Graph
from ...propagation.base import Propagation
from ...propagation.diagonal.self_weight import unit_block_width
from ...self_exclusion.rounding import is_small
from .steps import Spread, correction


@dataclass(frozen=True)
class StepViews:
    """Rows [Ŷ_s, Ŷ_c], or only Ŷ_s without a correction, on one graph.

    ``normalize`` divides rows by P_s·1, so that they are means at nodes of any degree.
    """

    graph: Graph
    correct: Spread | None
    smooth: Spread
    scale: str | float
    normalize: bool = True
    progress: Progress = None

    def on(self, graph: Graph) -> StepViews:
        return replace(self, graph=graph)

    def unit(self, c: int) -> np.ndarray:
        """The weights of plain Correct & Smooth."""
        return np.concatenate([np.eye(c)] * (1 if self.correct is None else 2))

    def rows(self, base: np.ndarray, Y: np.ndarray, in_mask: np.ndarray) -> np.ndarray:
        """Rows of all nodes, with the labels of ``in_mask`` as inputs."""
        inside = in_mask[:, None]
        parts = [np.where(inside, Y, base)]
        if self.correct is not None:
            args = (self.graph, self.correct, self.scale, self.progress)
            parts.append(np.where(inside, 0.0, correction(base, Y, in_mask, *args)))
        found = self._smoothing.apply(np.concatenate(parts, axis=1), progress=self.progress)
        return self._divide(found, slice(None))

    def oof_rows(
        self, base: np.ndarray, Y: np.ndarray, labeled: np.ndarray, fold: np.ndarray
    ) -> np.ndarray:
        """Rows of the labeled nodes, each without its own label.

        Exact by `excluded_rows` where the correction is linear and the cost is acceptable. Else
        the labels of a node's whole fold are excluded; ``fold`` is the fold of each labeled node.
        """
        if self._is_linear and self._affordable(int(labeled.sum())):
            return self.excluded_rows(base, Y, labeled)
        nodes = np.flatnonzero(labeled)
        folds = ((nodes[fold == k], base) for k in np.unique(fold))
        return rows_by_fold(self, folds, Y, labeled)

    def excluded_rows(self, base: np.ndarray, Y: np.ndarray, labeled: np.ndarray) -> np.ndarray:
        """Rows of the labeled nodes by self-exclusion; exact for a linear correction.

        If i is free instead of in, its own input y_i becomes ỹ_i + ẽ_i, and its residual e_i is
        missing wherever it had spread: at i itself (C_c) and through free nodes
        (Σ_j free P_s[i, j] P_c[j, i]).
        """
        nodes = np.flatnonzero(labeled)
        P_s, progress = self._smoothing, self.progress
        C_s = P_s.self_weight(nodes, tol=1e-6, progress=progress).value[:, None]
        inside, own = labeled[:, None], Y[nodes] - base[nodes]
        smooth = P_s.apply(np.where(inside, Y, base), progress=progress)[nodes] - C_s * own
        parts = [smooth]
        if self.correct is not None:
            P_c, gamma = self.correct.linear(self.graph), float(self.scale)
            C_c = P_c.self_weight(nodes, tol=1e-6, progress=progress).value[:, None]
            spread = P_c.apply(np.where(inside, Y - base, 0.0), progress=progress)
            through = P_s.apply(np.where(inside, 0.0, spread), progress=progress)[nodes]
            back = round_trips(P_s, P_c, nodes, ~labeled, progress)[:, None]
            parts.append(gamma * (through + C_s * (spread[nodes] - C_c * own) - back * own))
        return self._divide(np.concatenate(parts, axis=1), nodes)

    @property
    def _smoothing(self) -> Propagation:
        return self.smooth.linear(self.graph)

    def _divide(self, rows: np.ndarray, nodes: slice | np.ndarray) -> np.ndarray:
        if not self.normalize:
            return rows
        return rows / self._mass[nodes, None].astype(rows.dtype)

    @cached_property
    def _mass(self) -> np.ndarray:
        return self._smoothing @ np.ones(self.graph.n_nodes)

    @property
    def _is_linear(self) -> bool:
        """Whether γ(P_c ·) is a matrix: the scale is a number, and nothing is clamped."""
        if self.correct is None:
            return True
        return not isinstance(self.scale, str) and not self.correct.clamp

    def _affordable(self, n_labeled: int) -> bool:
        if self.correct is None or _same_and_symmetric(
            self._smoothing, self.correct.linear(self.graph)
        ):
            return True
        return is_small(self.graph.n_nodes, n_labeled)


@dataclass(frozen=True)
class SideBySide:
    """Rows of several pairs of steps, concatenated."""

    each: tuple[StepViews, ...]

    @property
    def graph(self) -> Graph:
        return self.each[0].graph

    def on(self, graph: Graph) -> SideBySide:
        return SideBySide(tuple(views.on(graph) for views in self.each))

    def unit(self, c: int) -> np.ndarray:
        """The weights of the mean of plain Correct & Smooth over the pairs."""
        return np.concatenate([views.unit(c) for views in self.each]) / len(self.each)

    def rows(self, base: np.ndarray, Y: np.ndarray, in_mask: np.ndarray) -> np.ndarray:
        return np.concatenate([views.rows(base, Y, in_mask) for views in self.each], axis=1)

    def oof_rows(
        self, base: np.ndarray, Y: np.ndarray, labeled: np.ndarray, fold: np.ndarray
    ) -> np.ndarray:
        args = (base, Y, labeled, fold)
        return np.concatenate([views.oof_rows(*args) for views in self.each], axis=1)


def rows_by_fold(
    views: StepViews | SideBySide,
    folds: Iterable[tuple[np.ndarray, np.ndarray]],
    Y: np.ndarray,
    labeled: np.ndarray,
) -> np.ndarray:
    """Rows of the labeled nodes; in those of a fold, all of its nodes are free.

    ``folds`` are pairs (nodes of the fold, base predictions of all nodes).
    """
    found = np.empty((len(Y), len(views.unit(Y.shape[1]))))
    for nodes, base in folds:
        in_mask = labeled.copy()
        in_mask[nodes] = False
        found[nodes] = views.rows(base, Y, in_mask)[nodes]
    return found[labeled]


def round_trips(
    P_s: Propagation,
    P_c: Propagation,
    nodes: np.ndarray,
    through: np.ndarray,
    progress: Progress = None,
) -> np.ndarray:
    """Σ_j P_s[i, j]·P_c[j, i] over the nodes j in the mask ``through``, for each of ``nodes``.

    This is the column energy if both are the same symmetric P. Otherwise it costs two propagations
    per block of nodes.
    """
    if not through.any():
        return np.zeros(len(nodes))
    if _same_and_symmetric(P_s, P_c):
        rows = np.flatnonzero(through)
        found = P_s.self_weight(nodes, tol=1e-13, rows=rows, energy_atol=1e-6, progress=progress)
        assert found.column_energy is not None
        return found.column_energy + np.where(through[nodes], found.value**2, 0.0)
    result = np.empty(len(nodes))
    width = unit_block_width(P_s.n_nodes, P_s.max_memory)
    with ProgressBar(len(nodes), "round trips", progress) as bar:
        for first in range(0, len(nodes), width):
            some = nodes[first : first + width]
            unit = np.zeros((P_s.n_nodes, len(some)))
            unit[some, np.arange(len(some))] = 1.0
            there, back = P_c.apply(unit, progress=False), P_s.T.apply(unit, progress=False)
            result[first : first + width] = (there[through] * back[through]).sum(axis=0)
            bar.advance(len(some))
    return result


def _same_and_symmetric(P: Propagation, Q: Propagation) -> bool:
    def key(p: Propagation) -> tuple:
        steps = getattr(p, "n_steps", None)
        return type(p), getattr(p, "damping", None), steps, p.norm, p.self_loops, id(p.graph)

    return key(P) == key(Q) and P.norm == "sym" and not P.graph.directed
