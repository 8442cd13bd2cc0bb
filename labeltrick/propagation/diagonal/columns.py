"""Diagonals from whole columns of P, many at a time through the propagation engine."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..._utils.progress import ProgressBar
from ..._utils.threads import run_chunks
from ...graph.normalized import NormalizedAdjacency
from ..engine.blocks import Block, run_blocks
from ..engine.chebyshev import chebyshev_rate, chebyshev_weight
from ..engine.products import layout_of
from ..engine.windows import Layout
from . import push_kernels
from .request import SelfWeightRequest


@dataclass(frozen=True)
class _UnitColumns:
    """A block whose base holds the unit vectors of some nodes, and its scales."""

    block: Block
    rows: np.ndarray  # of the nodes in the block
    right: np.ndarray
    inverse_factor: np.ndarray
    t2: np.ndarray  # t² = right/left of the nodes

    @property
    def own(self) -> tuple[np.ndarray, np.ndarray]:
        return self.rows, np.arange(len(self.rows))

    def product(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The inner product ⟨a, b⟩ of each column, in the symmetric scale."""
        return self.weighted(a, b, self.inverse_factor) / self.t2

    def weighted(self, a: np.ndarray, b: np.ndarray, weight: np.ndarray) -> np.ndarray:
        parts = run_chunks(partial(push_kernels.column_products, a, b, weight), self.block.cuts)
        return np.sum(parts, axis=0)[: len(self.rows)]


def _layout(S: NormalizedAdjacency) -> Layout:
    return layout_of(S, np.float64, reorder=S.reordering_pays)


def _for_unit_columns(
    S: NormalizedAdjacency,
    steps: int,
    request: SelfWeightRequest,
    process: Callable[[_UnitColumns, slice], None],
) -> None:
    """Call ``process`` with blocks of unit columns of all nodes, in float64."""
    layout, t2 = _layout(S), S.right / S.left

    def each(block: Block, first: int, count: int) -> None:
        chosen = request.nodes[first : first + count]
        rows = chosen if layout.position is None else layout.position[chosen]
        block.base[:] = 0
        block.base[rows, np.arange(count)] = layout.right[rows]
        unit = _UnitColumns(block, rows, layout.right, 1 / layout.row_factor, t2[chosen])
        process(unit, slice(first, first + count))

    run_blocks(
        layout,
        len(request.nodes),
        each,
        max_memory=request.max_memory,
        bar=lambda n_blocks: ProgressBar(steps * n_blocks, "columns", request.progress),
    )


def hop_diagonals(S: NormalizedAdjacency, n_steps: int, request: SelfWeightRequest) -> np.ndarray:
    """diag(S^k), k = 0…n_steps. Half the steps suffice if S is similar to a symmetric matrix."""
    moments = np.ones((len(request.nodes), n_steps + 1))
    symmetric = S.is_similar_to_symmetric

    def process(unit: _UnitColumns, place: slice) -> None:
        block = unit.block
        now, nxt, spare = block.base, block.first, block.second
        for k in range(1, n_steps + 1, 2 if symmetric else 1):
            block.step(now, nxt, 1.0)
            if symmetric:
                moments[place, k] = unit.product(now, nxt)
                if k < n_steps:
                    moments[place, k + 1] = unit.product(nxt, nxt)
            else:
                moments[place, k] = nxt[unit.own] / unit.right[unit.rows]
            now, nxt, spare = nxt, spare, now

    steps = -(-n_steps // 2) if symmetric else n_steps
    _for_unit_columns(S, steps, request, process)
    return moments


def resolvent_steps(lam: float, tol: float) -> int:
    """Steps after which the bound of `resolvent_columns` is certainly below ``tol``:
    ‖R‖ ≤ 2λ(1+λ)·rate^k, and the bound is quadratic in it."""
    allowed = math.sqrt(tol * (1 - lam) ** 2 * (1 + lam) / lam)
    steps = math.log(allowed / (2 * lam * (1 + lam))) / math.log(chebyshev_rate(lam))
    return max(2, math.ceil(steps))


def resolvent_columns(
    S: NormalizedAdjacency, lam: float, request: SelfWeightRequest
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """C and column energy of (1−λ)(I−λS)⁻¹ on an undirected graph: value, bound, energy, and the
    norm of the error of the column, which bounds the error of the energy.

    Chebyshev steps give X ≈ P e_i with residual R = (1−λ)e_i + λSX − X; then, exactly,
    C_ii = X_i + ⟨X, R⟩/(1−λ) + ⟨R, (I−λS)⁻¹R⟩/(1−λ), whose last term lies between ‖R‖²/(1−λ²)
    and ‖R‖²/(1−λ)²: the error is quadratic in the residual, and half the steps suffice.
    """
    n_steps = resolvent_steps(lam, request.tol)
    value, bound, energy, unseen = (np.empty(len(request.nodes)) for _ in range(4))
    layout, in_rows = _layout(S), request.row_mask(S.graph.n_nodes)
    row_weight = np.empty(len(in_rows))
    row_weight[slice(None) if layout.position is None else layout.position] = in_rows
    row_weight /= layout.right**2
    smallest = np.sqrt((S.right / S.left)[in_rows].min()) if in_rows.any() else 1.0

    def process(unit: _UnitColumns, place: slice) -> None:
        block, guess = unit.block, 1 - lam
        current, other = block.first, block.second
        block.step(block.base, current, lam * guess, own=1 - lam)
        omega = 1.0
        for k in range(2, n_steps + 1):
            omega = chebyshev_weight(lam, k, omega)
            block.step(
                current,
                other,
                omega * lam,
                base=omega * (1 - lam) + ((1 - omega) * guess if k == 2 else 0.0),
                previous=1 - omega if k > 2 else 0.0,
            )
            current, other = other, current
        block.step(current, other, lam, base=1 - lam)
        own = current[unit.own] / unit.right[unit.rows]
        # Without the own row: a difference of two energies would lose small ones.
        own_next = other[unit.own]
        other[unit.own] = 0
        energy[place] = unit.weighted(other, other, row_weight)
        other[unit.own] = own_next
        other -= current
        squared = unit.product(other, other)
        first_order = unit.product(current, other) / (1 - lam)
        value[place] = own + first_order + squared / ((1 - lam) ** 2 * (1 + lam))
        bound[place] = squared * lam / ((1 - lam) ** 2 * (1 + lam))
        unseen[place] = lam * np.sqrt(squared * unit.t2) / (1 - lam) / smallest

    _for_unit_columns(S, n_steps + 1, request, process)
    return value, bound, energy, unseen
