"""Runs recurrences of fused steps on column blocks of a matrix; see `layout` for the internal scale
and order of the nodes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._utils.checks import not_finite
from ..._utils.progress import ProgressBar
from ..._utils.threads import run_chunks
from . import block_kernels, fused_step
from .checkpoints import NO_TRAIL, Trail
from .layout import Scales, Window
from .windows import Layout

_N_BUFFERS = 3
_MAX_VECTORS = 8  # accumulators of a row; with their operands they fill 16 vector registers
_VECTOR_BYTES = 32


def block_shape(n_columns: int, affordable: int, itemsize: int) -> tuple[int, int]:
    """(lanes, vectors) of a block: as wide as registers and memory allow (``affordable`` columns,
    all buffers counted), but no wider than an equal share of the columns."""
    full_lanes = _VECTOR_BYTES // itemsize
    widest = full_lanes * _MAX_VECTORS
    if affordable < full_lanes:
        widest = 1 << max(0, int(affordable).bit_length() - 1)
    else:
        widest = min(widest, affordable // full_lanes * full_lanes)
    n_blocks = max(1, -(-n_columns // widest))
    share = -(-n_columns // n_blocks)
    if share > full_lanes // 2:
        return full_lanes, -(-share // full_lanes)
    return 1 << max(0, share - 1).bit_length(), 1


class Block:
    """The buffers and steps of one column block.

    ``base`` holds the packed input F⁰; two more buffers hold iterates. A recurrence calls
    `step` and returns the buffer that holds its result, and a factor.
    """

    base: Any  # arrays; on a cluster, files
    first: Any
    second: Any

    def __init__(self, layout: Layout, lanes: int, vectors: int, bar: ProgressBar) -> None:
        self.layout = layout
        self.width = lanes * vectors
        self.largest = np.zeros(self.width)  # of |right∘F⁰| in each column
        self._shape = (0,) * lanes, (0,) * vectors  # kernels are compiled for these lengths
        self.cuts = layout.cuts(self.width)
        self.trail: Trail = NO_TRAIL  # checkpoints, if any
        self._bar = bar
        buffers = (layout.buffer(self.width) for _ in range(_N_BUFFERS))
        self.base, self.first, self.second = buffers

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

        With ``residual_scale`` = 1/ω the step is ω times a fixed-point map; returns each
        column's largest |map(source) − source|.
        """
        check = residual_scale is not None
        if self.trail.is_known:  # from an earlier run
            self._bar.advance()
            return self.trail.recall()
        low, high = clamp or (0.0, 0.0)
        coefficients = np.array(
            [product, own, base, previous, residual_scale or 0.0, low, high], self.layout.dtype
        )
        worst = self._compute(source, out, coefficients, check, clamp is not None)
        largest = np.max(worst, axis=0) if check else None
        self._bar.advance()
        self.trail.note(largest, self.first, self.second)
        return largest

    def _compute(
        self, source: Any, out: Any, coefficients: np.ndarray, check: bool, clamp: bool
    ) -> list[np.ndarray]:
        """Compute a step; return the largest residuals of each chunk of rows."""
        worst = []
        for window, cuts in self.layout.windows(self.cuts):

            def chunk(first: int, end: int, window: Window = window) -> np.ndarray:
                mine = np.zeros(self.width, self.layout.dtype)
                first_row, first_edge, *M, right = window
                what = (source, self.base, out, coefficients, mine, check, clamp)
                offsets = (first_row, first_edge, 0)
                fused_step.fused_step(*self._shape, *M, *what, right, *offsets, first, end)
                return mine

            worst += run_chunks(chunk, cuts)
        return worst

    def pack(
        self,
        matrix: Any,
        first_column: int,
        n_columns: int,
        target: np.ndarray,
        times: np.ndarray | None = None,
    ) -> None:
        """Scale columns (also by ``times``) and reorder their rows into a buffer."""
        layout = self.layout
        if sp.issparse(matrix):
            matrix = matrix[:, first_column : first_column + n_columns].toarray()
            first_column = 0
        results: list[tuple[int, np.ndarray]] = []
        for rows in layout.scales():
            places = slice(rows.first_row, rows.end_row)
            factor = rows.scale_in if times is None else rows.scale_in * times[places]
            # Only a whole layout changes the order: a window has just its own rows.
            aim = target if layout.position is not None else target[places]
            fixed = (matrix[places], first_column, n_columns, factor, layout.position, aim)

            def chunk(first: int, end: int, fixed: Any = fixed, rows: Scales = rows) -> Any:
                largest = np.zeros(self.width)
                bad = block_kernels.pack(*fixed, largest, first, end)
                return bad if bad < 0 else bad + rows.first_row, largest

            results += run_chunks(chunk, self._cuts_of(rows))
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
        layout, number = self.layout, self.layout.dtype.type(factor)
        for rows in layout.scales():
            places = slice(rows.first_row, rows.end_row)
            source = buffer if layout.position is not None else buffer[places]
            scale = (rows.scale_out, layout.position, number)
            unpack = partial(block_kernels.unpack, source, first_column, n_columns, *scale)
            run_chunks(partial(unpack, matrix[places]), self._cuts_of(rows))

    def _cuts_of(self, rows: Scales) -> np.ndarray:
        """Bounds of chunks of the rows, counted from the first of them."""
        inside = self.cuts[(self.cuts > rows.first_row) & (self.cuts < rows.end_row)]
        return np.array([rows.first_row, *inside, rows.end_row], np.int64) - rows.first_row


Result = tuple[np.ndarray, float]
Recurrence = Callable[[Block], Result]
Process = Callable[[Block, int, int], None]


def run_blocks(
    layout: Any,
    n_columns: int,
    process: Process,
    *,
    max_memory: int,
    bar: Callable[[int], ProgressBar],
    extra_buffers: int = 0,
    make: Callable[..., Block] = Block,
) -> None:
    """Call ``process(block, first column, number of columns)`` for every column block.

    ``bar`` makes the progress bar for a number of blocks, ``make`` the block of a layout.
    The buffers are allocated once; ``extra_buffers`` of the same size that the process allocates
    count towards ``max_memory``.
    """
    if n_columns == 0 or layout.n_nodes == 0:
        return
    itemsize = layout.dtype.itemsize
    column_bytes = (_N_BUFFERS + extra_buffers) * itemsize * layout.n_nodes
    lanes, vectors = block_shape(n_columns, layout.widest(max_memory, column_bytes), itemsize)
    width = lanes * vectors
    starts = range(0, n_columns, width)
    with bar(len(starts)) as shown:
        block = make(layout, lanes, vectors, shown)
        for first in starts:
            process(block, first, min(width, n_columns - first))


def apply_to(
    F: Any,
    out: np.ndarray,
    recurrence: Recurrence,
    trail_of: Callable[[Block, int], Trail] = lambda block, first: NO_TRAIL,
) -> Process:
    """The usual process: pack columns of F, run the recurrence, unpack its result.

    ``trail_of(block, first column)`` returns the trail that records the steps of a block.
    """
    if sp.issparse(F):
        F = F.tocsc()

    def process(block: Block, first: int, count: int) -> None:
        block.pack(F, first, count, block.base)
        block.trail = trail_of(block, first)
        try:
            result, factor = recurrence(block)
            block.trail.finish(block.first, block.second)
        finally:
            block.trail = NO_TRAIL
        block.unpack(result, factor, out, first, count)

    return process


def polynomial(coefficients: np.ndarray) -> Recurrence:
    """Σ_k c_k M^k F⁰ by Horner's rule.

    Geometric coefficients would underflow in float32 (0.1⁵⁰). They are written as ĉ_k·g^k with g
    the mean ratio, and g multiplies the product.
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
