"""Inputs of the network of TWIRLS: the graph, or inputs that are already propagated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._utils.progress import Progress
from ...propagation.unfolded import Unfolded

Scorer = Callable[..., Any]
"""``f(network, shown=None)``: scores of some rows. By default all labels are inputs, and each
node's own is excluded from its row; otherwise the labels ``shown`` are inputs of every row."""


@dataclass(frozen=True)
class GraphInputs:
    """Inputs for a network that propagates all nodes at once.

    ``Y`` holds the input labels, None without the label trick; ``self_weight`` is C at the nodes
    ``labeled``.
    """

    P: Unfolded
    X: Any
    Y: Any = None
    labeled: Any = None
    self_weight: Any = None

    def n_computed(self, n_rows: int) -> int:
        """Number of rows that are computed for ``n_rows`` scores."""
        return self.P.n_nodes

    def scorer(self, rows: np.ndarray | slice) -> Scorer:
        def scores(network: Any, shown: Any = None) -> Any:
            labels = (self.Y, self.labeled, self.self_weight) if shown is None else (shown,)
            return network(self.P, self.X, *labels)[rows]

        return scores


@dataclass(frozen=True)
class PropagatedInputs:
    """P·X, P·1 and (P−C)·Y.

    A linear h₀ commutes with P: no epoch has to propagate, and rows are independent of each other.
    """

    P: Unfolded
    X: Any
    ones: Any
    Y: Any = None
    others: Any = None

    @classmethod
    def of(
        cls, given: GraphInputs, self_weight: np.ndarray, progress: Progress
    ) -> PropagatedInputs:
        """``self_weight`` is C in float64.

        What remains after an own label is subtracted may be far smaller than the rounding of that
        label in float32.
        """
        import torch

        X = spread(given.P, given.X, progress)
        ones = spread(given.P, np.ones(given.P.n_nodes, np.float32), progress)
        if given.Y is None:
            return cls(given.P, X, ones)
        Y, at = given.Y.double(), given.labeled
        others = spread(given.P, Y, progress)
        others[at] -= torch.from_numpy(self_weight)[:, None] * Y[at]
        return cls(given.P, X, ones, given.Y, others.float())

    def n_computed(self, n_rows: int) -> int:
        return n_rows

    def scorer(self, rows: np.ndarray | slice) -> Scorer:
        X, ones = self.X[rows], self.ones[rows]
        others = None if self.others is None else self.others[rows]

        def scores(network: Any, shown: Any = None) -> Any:
            Y = others if shown is None else spread(self.P, shown, False)[rows]
            return network(None, X, Y, ones=ones)

        return scores


def spread(P: Unfolded, values: Any, progress: Progress) -> Any:
    """P·values as a tensor."""
    import torch

    return torch.from_numpy(P.apply(np.asarray(values), progress=progress))
