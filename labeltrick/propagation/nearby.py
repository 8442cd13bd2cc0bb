"""P·F at a few nodes of a graph that has grown, from P·F of the graph before.

New nodes change few rows of S. Where F̃ was the solution before, its residual r = (1−λ)F + λSF̃ − F̃
is zero except at the ends of new edges, so that the solution at node v is F̃_v + Σ_u G_vu·r_u with
G = (I − λS)⁻¹. Row v of G is needed near v only: pushes find it there within milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..graph.graph import Graph
from ..graph.normalized import inverse_or_one
from . import row_kernels
from .resolvent import Resolvent

_BUDGET = 100_000  # edges; a millisecond for each 50,000
_LEAST = 1e-12  # threshold at which a row is exact up to rounding
_PASSES = 3  # over new nodes that are neighbors of each other
# If the last terms change the result by more than this share, it is computed from the whole graph.
_TRUSTED = 1e-3

SparseRow = tuple[np.ndarray, np.ndarray]
"""The nodes at which a row is not zero, and its values there."""


@dataclass(frozen=True)
class Spread:
    """P·F on the graph before it has grown: ``columns`` F and ``solved`` (1−λ)(I − λS)⁻¹F, one row
    per node, for the row-normalized S."""

    damping: float
    columns: np.ndarray
    solved: np.ndarray

    @classmethod
    def of(cls, graph: Graph, damping: float, columns: np.ndarray) -> Spread:
        kind = Resolvent(graph, damping, norm="row", tol=1e-8).for_any_strengths()
        return cls(damping, columns, kind.apply(columns, progress=False))


@dataclass(frozen=True)
class Nearby:
    """A grown graph, and the nodes of the smaller graph whose edges have changed.

    Parameters
    ----------
    graph : Graph
        The graph in memory.
    was : array of int of shape (n_old,)
        The degrees of the nodes that were there before, which are the first ones.
    changed : array of int
    """

    graph: Graph
    was: np.ndarray
    changed: np.ndarray

    @property
    def n_old(self) -> int:
        return len(self.was)

    @cached_property
    def _left(self) -> np.ndarray:
        return inverse_or_one(self.graph.out_strengths)

    def hop_rows(self, node: int, n_hops: int) -> list[SparseRow]:
        """The rows of S^0, …, S^n_hops at a node."""
        graph = self.graph
        rows = [(np.array([node], graph.indices.dtype), np.ones(1))]
        state = np.zeros(graph.n_nodes)
        found = np.empty(graph.n_nodes, graph.indices.dtype)
        for _ in range(n_hops):
            arrays = (graph.indptr, graph.indices, graph.weights, self._left)
            count = row_kernels.next_hop(*arrays, *rows[-1], state, found)
            nodes = found[:count].copy()
            rows.append((nodes, state[nodes]))
            state[nodes] = 0.0
        return rows

    def resolvent_at(self, nodes: np.ndarray, before: Spread) -> np.ndarray:
        """P·F at new nodes, for which F is zero."""
        guess = self._guess(before)
        support = np.concatenate([self.changed, np.arange(self.n_old, self.graph.n_nodes)])
        residual = np.stack([self._residual(before, guess, u) for u in support])
        return np.stack([self._resolvent_at(v, before, guess, support, residual) for v in nodes])

    def _guess(self, before: Spread) -> np.ndarray:
        """F̃ at the new nodes."""
        new = np.arange(self.n_old, self.graph.n_nodes)
        guess = np.zeros((len(new), before.columns.shape[1]))
        for _ in range(_PASSES):
            guess = np.stack(
                [before.damping * self._mean(before.solved, guess, int(v)) for v in new]
            )
        return guess

    def _mean(self, old: np.ndarray, new: np.ndarray, node: int) -> np.ndarray:
        """Row ``node`` of S times [old, new]."""
        near, weight = self._row(node)
        there = near < self.n_old
        total = weight[there] @ old[near[there]] + weight[~there] @ new[near[~there] - self.n_old]
        return total * self._left[node]

    def _row(self, node: int) -> tuple[np.ndarray, np.ndarray]:
        """The neighbors of a node, and their weights."""
        start, stop = self.graph.indptr[node], self.graph.indptr[node + 1]
        weights = self.graph.weights
        near = self.graph.indices[start:stop]
        return near, np.ones(len(near)) if weights is None else weights[start:stop]

    def _residual(self, before: Spread, guess: np.ndarray, node: int) -> np.ndarray:
        lam = before.damping
        if node >= self.n_old:
            return lam * self._mean(before.solved, guess, node) - guess[node - self.n_old]
        own, solved = (1 - lam) * before.columns[node], before.solved[node]
        near, _ = self._row(node)
        more = near >= self.n_old
        if int(self.was[node]) + more.sum() < len(near) or self.graph.weights is not None:
            return own + lam * self._mean(before.solved, guess, node) - solved
        # Its sum over old neighbors is known: hubs have thousands of them.
        total = self.was[node] * (solved - own) + lam * guess[near[more] - self.n_old].sum(axis=0)
        return own + total * self._left[node] - solved

    def _resolvent_at(
        self,
        node: int,
        before: Spread,
        guess: np.ndarray,
        support: np.ndarray,
        residual: np.ndarray,
    ) -> np.ndarray:
        if self.graph.directed:
            return self._by_whole_row(node, before)
        graph, lam = self.graph, before.damping
        state = np.zeros((graph.n_nodes, 2))
        touched = np.empty(graph.n_nodes + 1, graph.indices.dtype)
        arrays = (graph.indptr, graph.indices, graph.weights, self._left)
        count = row_kernels.push_row(*arrays, lam, node, _LEAST, _BUDGET, state, touched)
        pushed = state[support, row_kernels.SOLUTION]
        rest = self._of_the_rest(state[:, row_kernels.RESIDUAL], touched[:count], lam, support)
        last = rest @ residual
        found = guess[node - self.n_old] + pushed @ residual + last
        if np.abs(last).max(initial=0.0) > _TRUSTED * np.abs(found).max(initial=0.0):
            return self._by_whole_row(node, before)
        return found

    def _of_the_rest(
        self, rho: np.ndarray, touched: np.ndarray, lam: float, support: np.ndarray
    ) -> np.ndarray:
        """Most of ρG at ``support``: its first term ρ, and what arrives there from afar, where the
        shares of all nodes are those of their strengths."""
        strengths = self.graph.out_strengths
        afar = lam / (1 - lam) * rho[touched].sum() / strengths.sum()
        return rho[support] + afar * strengths[support]

    def _by_whole_row(self, node: int, before: Spread) -> np.ndarray:
        """From the row of P at the node, to full accuracy."""
        return self.row(node, before.damping)[: self.n_old] @ before.columns

    def row(self, node: int, damping: float) -> np.ndarray:
        """The row of P at a node, from the whole graph."""
        unit = np.zeros(self.graph.n_nodes)
        unit[node] = 1.0
        kind = Resolvent(self.graph, damping, norm="row", tol=1e-7)
        return kind.for_any_strengths().T.apply(unit, progress=False)
