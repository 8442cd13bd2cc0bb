"""The arrays of a normalized adjacency as the engine reads them: whole, or window by window.

All normalizations share one form. With S = diag(left)·A·diag(right) and H = right∘F,

    right∘(S F) = (left∘right)∘(A H) = M H,

so the engine works on H with M = diag(left∘right)·A, whose inner loop only adds rows. It multiplies
by ``right`` when it reads the input and divides by it when it writes the result. Both also change
the order of the nodes, which makes reordering free.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..._utils.threads import row_cuts

CACHE_LINE = 64  # bytes


class Window(NamedTuple):
    """Some rows of M, from ``first_row`` on, and their edges, from ``first_edge`` on."""

    first_row: int
    first_edge: int
    indptr: np.ndarray  # counts the edges of the whole graph
    indices: np.ndarray
    weights: np.ndarray | None
    row_factor: np.ndarray  # left∘right
    loop: np.ndarray  # weight of the added self-loop of each node
    right: np.ndarray


class Scales(NamedTuple):
    """Factors of input and output for the rows [first_row, end_row) of the user's matrix."""

    first_row: int
    end_row: int
    scale_in: np.ndarray
    scale_out: np.ndarray


@dataclass(frozen=True)
class WholeLayout:
    """All of M in memory, in the engine's node order and dtype."""

    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray | None
    row_factor: np.ndarray
    loop: np.ndarray
    right: np.ndarray  # in the engine's order
    scale_in: np.ndarray  # right, in the user's order
    scale_out: np.ndarray  # 1/right, in the user's order
    position: np.ndarray | None  # the engine's row of each of the user's nodes

    @property
    def dtype(self) -> np.dtype:
        return self.row_factor.dtype

    @property
    def n_nodes(self) -> int:
        return len(self.row_factor)

    def cuts(self, width: int) -> np.ndarray:
        return row_cuts(self.indptr, width)

    @cached_property
    def _window(self) -> Window:
        parts = (self.indptr, self.indices, self.weights, self.row_factor, self.loop, self.right)
        return Window(0, 0, *parts)

    def windows(self, cuts: np.ndarray) -> Iterator[tuple[Window, np.ndarray]]:
        yield self._window, cuts

    def scales(self) -> Iterator[Scales]:
        yield Scales(0, self.n_nodes, self.scale_in, self.scale_out)

    def buffer(self, width: int) -> np.ndarray:
        return aligned(self.n_nodes, width, self.dtype)

    def widest(self, max_memory: int, column_bytes: int) -> int:
        """Number of columns whose buffers, of ``column_bytes`` each, fit in ``max_memory``."""
        return max_memory // max(1, column_bytes)


def aligned(n_rows: int, width: int, dtype: np.dtype) -> np.ndarray:
    """A matrix in memory that starts on a cache line, so that rows touch fewer lines."""
    size = n_rows * width * dtype.itemsize
    raw = np.empty(size + CACHE_LINE, np.uint8)
    start = -raw.ctypes.data % CACHE_LINE
    return raw[start : start + size].view(dtype).reshape(-1, width)
