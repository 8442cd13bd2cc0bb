"""Rows of P at a few nodes: how much each of the other nodes counts there, with certified errors.

A row is a column of Pᵀ: one transposed product gives the rows of many nodes. For the resolvent, x ≈
eᵢᵀP has the residual r = (1−λ)eᵢ + λxS − x, and x − eᵢᵀP = −r(I − λS)⁻¹, so that ‖r‖/(1−λ) bounds
the error in any norm in which x ↦ xS is no expansion.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..propagation.base import Propagation
from ..propagation.hops import Hops
from ..propagation.resolvent import ROUNDING, Resolvent
from ..self_exclusion.rounding import is_small

_MOST_VALUES = 2**25  # of the rows that are computed together: 256 MB


@dataclass(frozen=True)
class RowsOfP:
    """Rows of P at some nodes.

    Attributes
    ----------
    nodes : array of int of shape (b,)
    values : array of shape (b, views, n)
        One row per view: `Hops` has one for each power from the first on, others have one.
    error : array of shape (b,)
        Certified bound of the sum of all errors of a row.
    """

    nodes: np.ndarray
    values: np.ndarray
    error: np.ndarray


def batches(nodes: np.ndarray, n_nodes: int, n_views: int = 1) -> Iterator[np.ndarray]:
    """The nodes in parts whose rows fit into memory together."""
    step = max(1, _MOST_VALUES // max(1, n_nodes * n_views))
    for first in range(0, len(nodes), step):
        yield nodes[first : first + step]


def rows_of(P: Propagation, nodes: np.ndarray) -> RowsOfP:
    """The rows of P at some nodes, up to rounding on small graphs."""
    nodes = np.asarray(nodes, np.int64)
    n, places = P.n_nodes, np.arange(len(nodes))
    unit = np.zeros((n, len(nodes)))
    unit[nodes, places] = 1.0
    if isinstance(P, Hops):
        return _rows_of_hops(P, nodes, unit)
    if not isinstance(P, Resolvent):
        found = np.asarray(P.T.apply(unit, progress=False))
        return RowsOfP(nodes, found.T[:, None], n * ROUNDING * np.abs(found).max(axis=0))
    kind = P.to_rounding() if is_small(n, len(nodes)) else P.for_any_strengths()
    found = np.asarray(kind.T.apply(unit, progress=False))
    return RowsOfP(nodes, found.T[:, None], _error_of_resolvent(kind, unit, found))


def _rows_of_hops(P: Hops, nodes: np.ndarray, unit: np.ndarray) -> RowsOfP:
    found, S = [unit], P.S.T
    for _ in range(P.n_steps):
        found.append(np.asarray(S @ found[-1]))
    values = np.stack(found[1:]).transpose(2, 0, 1) if P.n_steps else np.zeros((len(nodes), 0, 0))
    return RowsOfP(nodes, values, np.full(len(nodes), P.n_nodes * ROUNDING))


def _error_of_resolvent(P: Resolvent, unit: np.ndarray, found: np.ndarray) -> np.ndarray:
    lam, n = P.damping, P.n_nodes
    residual = (1 - lam) * unit + lam * np.asarray(P.S.T @ found) - found
    if P.norm == "row":  # rows of S sum to at most 1: no expansion of sums
        size = np.abs(residual).sum(axis=0)
    elif P.norm == "sym":  # ‖S‖₂ ≤ 1, and a sum is at most √n times the 2-norm
        size = np.sqrt(n) * np.linalg.norm(residual, axis=0)
    else:  # columns of S sum to at most 1: no expansion of the largest entry
        size = n * np.abs(residual).max(axis=0)
    return size / (1 - lam) + ROUNDING
