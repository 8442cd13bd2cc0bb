"""Runs recurrences of fused steps over column blocks of a matrix.

All normalisations share one kernel. With S = diag(left)·A·diag(right) and H = right∘F,

    right∘(S F) = (left∘right)∘(A H) = M H,

so the engine works on H with M = diag(left∘right)·A, whose inner loop only adds rows, and
scales by ``right`` on the way in and its inverse on the way out. The way in and out also
changes the order of the nodes, which makes reordering free.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _gather, _kernels
from ._check import not_finite
from ._progress import ProgressBar
from ._threads import row_cuts, run_chunks

_N_BUFFERS = 3
_MAX_VECTORS = 8  # accumulators of a row: with its operands they fill 16 vector registers
_VECTOR_BYTES = 32


@dataclass(frozen=True)
class Layout:
    """The arrays of M in the engine's node order, in the dtype of the computation."""

    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray | None
    row_factor: np.ndarray  # left∘right
    loop: np.ndarray  # weight of the added self-loop of each node
    right: np.ndarray  # in the engine's order
    scale_in: np.ndarray  # right, in the user's order
    scale_out: np.ndarray  # 1/right, in the user's order
    position: np.ndarray | None  # engine's row of each of the user's nodes

    @property
    def dtype(self) -> np.dtype:
        return self.row_factor.dtype

    @property
    def n_nodes(self) -> int:
        return len(self.row_factor)


def block_shape(
    n_columns: int, column_bytes: int, itemsize: int, max_memory: int
) -> tuple[int, int]:
    """(lanes, vectors) of a block: as wide as registers and ``max_memory`` allow (at
    ``column_bytes`` a column, all buffers counted), but no wider than an equal share of the
    columns needs."""
    full_lanes = _VECTOR_BYTES // itemsize
    widest = full_lanes * _MAX_VECTORS
    affordable = max_memory // max(1, column_bytes)
    if affordable < full_lanes:
        widest = 1 << max(0, int(affordable).bit_length() - 1)
    else:
        widest = min(widest, affordable // full_lanes * full_lanes)
    n_blocks = max(1, -(-n_columns // widest))
    share = -(-n_columns // n_blocks)
    if share > full_lanes // 2:
        return full_lanes, -(-share // full_lanes)
    lanes = 1
    while lanes < share:
        lanes *= 2
    return lanes, 1


class Block:
    """The buffers and steps of one column block; handed to a recurrence.

    ``base`` holds the packed input F⁰; two more buffers hold iterates. A recurrence calls
    `step` and returns the buffer (and a factor) that holds its result.
    """

    def __init__(self, layout: Layout, lanes: int, vectors: int, bar: ProgressBar) -> None:
        self.layout = layout
        self.width = lanes * vectors
        self.largest = np.zeros(self.width)  # of |right∘F⁰| in each column
        self._lanes, self._vectors = (0,) * lanes, (0,) * vectors
        self.cuts = row_cuts(layout.indptr, self.width)
        self._bar = bar
        self.base, self.first, self.second = (self._buffer() for _ in range(_N_BUFFERS))

    def _buffer(self) -> np.ndarray:
        # Rows that start on cache lines are read with fewer lines.
        size = self.layout.n_nodes * self.width * self.layout.dtype.itemsize
        raw = np.empty(size + 64, np.uint8)
        start = -raw.ctypes.data % 64
        return raw[start : start + size].view(self.layout.dtype).reshape(-1, self.width)

    def step(
        self,
        source: np.ndarray,
        out: np.ndarray,
        product: float,
        own: float = 0.0,
        base: float = 0.0,
        previous: float = 0.0,
        *,
        residual_scale: float | None = None,
        clamp: tuple[float, float] | None = None,
    ) -> np.ndarray | None:
        """``out = product·M source + own·source + base·F⁰ + previous·out``, in one pass.

        With ``residual_scale`` = 1/ω the step was ω times a fixed-point map; returns each
        column's largest |map(source) − source|.
        """
        layout = self.layout
        low, high = clamp or (0.0, 0.0)
        check = residual_scale is not None
        coefficients = np.array(
            [product, own, base, previous, residual_scale or 0.0, low, high], layout.dtype
        )

        def chunk(first: int, end: int) -> np.ndarray:
            worst = np.zeros(self.width, layout.dtype)
            _gather.fused_step(
                self._lanes,
                self._vectors,
                layout.indptr,
                layout.indices,
                layout.weights,
                layout.row_factor,
                layout.loop,
                source,
                self.base,
                out,
                coefficients,
                worst,
                check,
                clamp is not None,
                layout.right,
                first,
                end,
            )
            return worst

        worst = run_chunks(chunk, self.cuts)
        self._bar.advance()
        return np.max(worst, axis=0) if check else None

    def pack(
        self,
        matrix: Any,
        first_column: int,
        n_columns: int,
        target: np.ndarray,
        scale: np.ndarray | None = None,
    ) -> None:
        """Scale (by the layout's way in, unless told) and reorder columns into a buffer."""
        layout = self.layout
        scale = layout.scale_in if scale is None else scale
        if sp.issparse(matrix):
            matrix = matrix[:, first_column : first_column + n_columns].toarray()
            first_column = 0

        def chunk(first: int, end: int) -> tuple[int, np.ndarray]:
            largest = np.zeros(self.width)
            bad = _kernels.pack(
                matrix,
                first_column,
                n_columns,
                scale,
                layout.position,
                target,
                largest,
                first,
                end,
            )
            return bad, largest

        results = run_chunks(chunk, self.cuts)
        bad_rows = [bad for bad, _ in results if bad >= 0]
        if bad_rows:
            raise not_finite("F", min(bad_rows))
        self.largest = np.max([largest for _, largest in results], axis=0)

    def unpack(
        self,
        buffer: np.ndarray,
        factor: float,
        matrix: np.ndarray,
        first_column: int,
        n_columns: int,
    ) -> None:
        """Undo the scale and order of a buffer and write it to columns of the user's matrix."""
        layout = self.layout
        run_chunks(
            partial(
                _kernels.unpack,
                buffer,
                first_column,
                n_columns,
                layout.scale_out,
                layout.position,
                layout.dtype.type(factor),
                matrix,
            ),
            self.cuts,
        )


Result = tuple[np.ndarray, float]
Recurrence = Callable[[Block], Result]
Process = Callable[[Block, int, int], None]


def run_blocks(
    layout: Layout,
    n_columns: int,
    process: Process,
    *,
    max_memory: int,
    bar: Callable[[int], ProgressBar],
    extra_buffers: int = 0,
) -> None:
    """Call ``process(block, first column, number of columns)`` for every column block.

    ``bar`` makes the progress bar for a number of blocks. The buffers are made once;
    ``extra_buffers`` of like size that the process makes itself count towards ``max_memory``.
    """
    if n_columns == 0 or layout.n_nodes == 0:
        return
    itemsize = layout.dtype.itemsize
    column_bytes = (_N_BUFFERS + extra_buffers) * itemsize * layout.n_nodes
    lanes, vectors = block_shape(n_columns, column_bytes, itemsize, max_memory)
    width = lanes * vectors
    starts = range(0, n_columns, width)
    with bar(len(starts)) as shown:
        block = Block(layout, lanes, vectors, shown)
        for first in starts:
            process(block, first, min(width, n_columns - first))


def apply_to(F: Any, out: np.ndarray, recurrence: Recurrence) -> Process:
    """The usual process: pack columns of F, run the recurrence, unpack its result."""
    if sp.issparse(F):
        F = F.tocsc()

    def process(block: Block, first: int, count: int) -> None:
        block.pack(F, first, count, block.base)
        result, factor = recurrence(block)
        block.unpack(result, factor, out, first, count)

    return process


def polynomial(coefficients: np.ndarray) -> Recurrence:
    """Σ_k c_k M^k F⁰ by Horner's rule.

    Geometric coefficients would underflow in float32 (0.1⁵⁰): they are written as ĉ_k·g^k
    with g the mean ratio, and g goes to the product.
    """
    degree = len(coefficients) - 1
    while degree > 0 and coefficients[degree] == 0:
        degree -= 1
    c = np.asarray(coefficients[: degree + 1], dtype=np.float64)
    ratio = 1.0
    if degree > 0 and c[0] != 0:
        mean = float(abs(c[degree] / c[0])) ** (1.0 / degree)
        ratio = mean if 1e-3 < mean < 1e3 else 1.0
    c = c / ratio ** np.arange(degree + 1)

    def recurrence(block: Block) -> Result:
        if degree == 0:
            return block.base, float(c[0])
        current, other = block.first, block.second
        block.step(block.base, current, ratio * c[degree], own=c[degree - 1])
        for k in range(degree - 2, -1, -1):
            block.step(current, other, ratio, base=c[k])
            current, other = other, current
        return current, 1.0

    return recurrence


def clamped_iteration(lam: float, n_steps: int, clamp: tuple[float, float]) -> Recurrence:
    """F ← clamp(λ M F + (1−λ) F⁰), n_steps times."""

    def recurrence(block: Block) -> Result:
        if n_steps == 0:
            return block.base, 1.0
        current, other = block.first, block.second
        block.step(block.base, current, lam, own=1 - lam, clamp=clamp)
        for _ in range(n_steps - 1):
            block.step(current, other, lam, base=1 - lam, clamp=clamp)
            current, other = other, current
        return current, 1.0

    return recurrence
