"""The guard against rounding: what remains of a node's own label after it was subtracted.

Self-exclusion computes P·Y − C·Y. Where a node sees little besides its own label, the difference is
mostly the error of C times that label, and a trained model could turn this residue back into the
label. Every view of labels passes through the functions here: small problems get self-weights that
are exact up to rounding, and possible residues are cut or rounded away.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..propagation.base import Propagation
from ..propagation.resolvent import ROUNDING, Resolvent

SMALL_PROBLEM = 30_000_000  # nodes × labeled nodes; below it, self-weights exact up to rounding
# The label mass that a node sees must exceed its error by this factor: at most the inverse of the
# factor remains of a change of the node's own label.
_CERTAIN, _CERTAIN_IF_LARGE = 100_000, 100
_RESIDUE = 10  # a residue is at most this many errors of the self-weight


def is_small(n_nodes: int, n_labeled: int) -> bool:
    """Whether self-weights that are exact up to rounding are affordable."""
    return n_nodes * n_labeled <= SMALL_PROBLEM


def certain_mass(kind: Propagation, n_labeled: int) -> int:
    """How many times its error a node's label mass must be to count as seen."""
    return _CERTAIN if is_small(kind.n_nodes, n_labeled) else _CERTAIN_IF_LARGE


def own_tolerance(P: Propagation, nodes: np.ndarray, otherwise: float) -> float:
    """The error that self-weights may have: rounding, or ``otherwise`` on large problems."""
    return ROUNDING if is_small(P.n_nodes, len(nodes)) else otherwise


def solver_error(kind: Propagation, dtype: Any) -> float:
    """The error of a product P·Y, relative to its largest label."""
    rounding = ROUNDING if dtype == np.float64 else 1e-6
    return max(kind.tol, rounding) if isinstance(kind, Resolvent) else rounding


def accurate(kind: Propagation, n_carrying: int) -> Propagation:
    """A propagation whose tolerance is relative to the labels' own scale.

    Where ``n_carrying`` own labels will be subtracted, it is exact up to rounding; on large
    problems the self-weights are no finer than its tolerance.
    """
    if not isinstance(kind, Resolvent):
        return kind
    if n_carrying and is_small(kind.n_nodes, n_carrying):
        return kind.to_rounding()
    return kind.for_any_strengths()


def cut_residues(view: np.ndarray, Y: np.ndarray, train: np.ndarray, error: float) -> None:
    """Set to zero, in place, entries that may be the residue of an own label.

    ``error`` is the error of the self-weights. The cut depends on the own label, so it must be as
    fine as they are.
    """
    own = np.abs(Y[train]).max(axis=1, keepdims=True)
    rows = view[train]
    rows[np.abs(rows) <= _RESIDUE * error * own] = 0.0
    view[train] = rows


def on_grid(values: np.ndarray, spread: np.ndarray, small: bool) -> np.ndarray:
    """Label means rounded to a grid, for trees, which split between any two different values.

    The residue is 1e-10 on small problems and up to 1e-4 on large ones. The grid depends only on
    the order of magnitude of the labels' spread, which no single label moves.
    """
    grid = 10.0 ** (np.floor(np.log10(spread)) - (6 if small else 3))
    return np.round(values / grid) * grid + 0.0


def twelve_digits(values: np.ndarray) -> np.ndarray:
    """Values rounded to twelve digits.

    Sums over neighbors round differently in another order of the nodes, and trees split between any
    two different values.
    """
    size = np.floor(np.log10(np.where(values == 0, 1.0, np.abs(values))))
    unit = 10.0 ** (size - 11)
    return np.round(values / unit) * unit
