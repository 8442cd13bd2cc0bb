"""What a node sees of the labels if one of them is hidden, without another propagation.

A view is a mean of labels, Σ_j a_j·y_j / Σ_j a_j, with the weights a of a row of P. With the row at
hand, a label is taken out of both sums at no cost; the node's own label is never in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..propagation.base import Propagation
from ..propagation.hops import Hops
from ..self_exclusion.label_views import LabelInputs
from ..self_exclusion.rounding import solver_error
from .found import largest
from .rows_of_propagation import rows_of

NOTHING, EVERYTHING = -1, -2  # in place of the number of the node whose label is hidden


@dataclass(frozen=True)
class LabelRows:
    """Weights of the labeled nodes ``at`` in each view of some nodes.

    Attributes
    ----------
    nodes : array of shape (b,)
    at : array of shape (m,), ascending
        The nodes that carry a label.
    columns : array of shape (m, c + 1)
        Labels times their weights, and the weights.
    weights : array of shape (b, views, m)
    floor : array of shape (b, views)
        Label mass that could be an error.
    """

    nodes: np.ndarray
    at: np.ndarray
    columns: np.ndarray
    weights: np.ndarray
    floor: np.ndarray

    @classmethod
    def of(
        cls,
        kinds: Sequence[Propagation],
        nodes: np.ndarray,
        at: np.ndarray,
        columns: np.ndarray,
    ) -> LabelRows:
        parts, floors = [], []
        for kind in kinds:
            rows = rows_of(kind, nodes)
            error = np.maximum(rows.error, solver_error(kind, np.float64))
            parts.append(rows.values[:, :, at])
            floors.append(np.repeat(error[:, None], parts[-1].shape[1], axis=1))
        weights = np.concatenate(parts, axis=1)
        own = np.searchsorted(at, nodes).clip(max=max(len(at) - 1, 0))
        for place in np.flatnonzero(at[own] == nodes) if len(at) else ():
            weights[place, :, own[place]] = 0.0
        floor = np.concatenate(floors, axis=1) * columns[:, -1].max(initial=0.0)
        return cls(nodes, at, columns, weights, floor)

    @cached_property
    def _sums(self) -> np.ndarray:
        """Sums of labels and of their mass, if none is hidden."""
        return np.matmul(self.weights, self.columns)

    def nearest(self, place: int, count: int) -> np.ndarray:
        """The labeled nodes with the largest weights at a node, over all views."""
        total = self.weights[place].sum(axis=1, keepdims=True)
        shares = (self.weights[place] / np.where(total > 0, total, 1.0)).sum(axis=0)
        return self.at[largest(shares, count)]

    def views(self, places: np.ndarray, hidden: np.ndarray) -> LabelInputs:
        """Views at nodes, each without the label of one other node."""
        sums = self._sums[places]
        taken = hidden >= 0
        where = np.searchsorted(self.at, hidden[taken])
        weight = self.weights[places[taken], :, where]
        sums[taken] -= weight[:, :, None] * self.columns[where][:, None]
        mass, before = sums[:, :, -1], self._sums[places, :, -1]
        # What is left of a difference of equal numbers is rounding.
        reached = mass > np.maximum(self.floor[places], 1e-12 * before)
        reached &= (hidden != EVERYTHING)[:, None]
        values = sums[:, :, :-1] / np.where(reached, mass, 1.0)[:, :, None]
        return LabelInputs(np.where(reached[:, :, None], values, 0.0), mass, reached)


def view_kinds(kinds: Sequence[Propagation]) -> int:
    """Number of views of some kinds."""
    return sum(kind.n_steps if isinstance(kind, Hops) else 1 for kind in kinds)
