"""The engine's view of a graph on disk: windows of rows, mapped one after the other."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..._utils.threads import get_num_threads, row_cuts
from ...graph.stored.files import mapped_array
from ...graph.stored.graph import StoredGraph, window_bytes
from .layout import CACHE_LINE, Scales, WholeLayout, Window, aligned

if TYPE_CHECKING:
    from ...graph.normalized import NormalizedAdjacency

_ROWS_AT_ONCE = 1 << 18
_USUAL_WIDTH = 16  # columns that the chunks of threads are balanced for


class StreamedLayout:
    """M of a normalized adjacency, in the node order of the folder.

    An eighth of ``max_memory`` is for two windows of the graph, the rest for the iterates. If not
    even one cache line per row fits, the iterates are mapped files.
    """

    position: np.ndarray | None = None

    def __init__(self, graph: StoredGraph, S: NormalizedAdjacency, dtype: np.dtype) -> None:
        self.graph, self.S, self.dtype = graph, S, dtype
        self.window_bytes = window_bytes(S.compute.memory_bytes)
        self.buffers_in_files = False

    @property
    def n_nodes(self) -> int:
        return self.graph.n_nodes

    @cached_property
    def _bounds(self) -> np.ndarray:
        return self.graph.cuts(self.window_bytes)

    def widest(self, max_memory: int, column_bytes: int) -> int:
        """Number of columns that fit with two windows; at least a cache line of them, which
        may be in files."""
        line = CACHE_LINE // self.dtype.itemsize
        affordable = (max_memory - 2 * self.window_bytes) // max(1, column_bytes)
        self.buffers_in_files = affordable < line
        return max(line, affordable)

    def buffer(self, width: int) -> np.ndarray:
        if not self.buffers_in_files:
            return aligned(self.n_nodes, width, self.dtype)
        return mapped_array((self.n_nodes, width), self.dtype)

    def cuts(self, width: int) -> np.ndarray:
        """Bounds of chunks for work that takes equal time for all rows."""
        parts = 1 if self.n_nodes * width < 10**6 else 4 * get_num_threads()
        return np.unique(np.linspace(0, self.n_nodes, parts + 1).astype(np.int64))

    def windows(self, cuts: np.ndarray) -> Iterator[tuple[Window, np.ndarray]]:
        bounds = [int(bound) for bound in self._bounds]
        upcoming = self.graph.rows(bounds[0], bounds[1]) if len(bounds) > 1 else None
        for place, (first, end) in enumerate(itertools.pairwise(bounds)):
            assert upcoming is not None
            indptr, indices, weights = upcoming
            # The next window is read from disk while this one is used.
            more = place + 2 < len(bounds)
            upcoming = self.graph.rows(end, bounds[place + 2], ahead=True) if more else None
            left, right, loop = self.S.factors(first, end)
            weights = None if weights is None else weights.astype(self.dtype, copy=False)
            factors = (factor.astype(self.dtype) for factor in (left * right, loop, right))
            window = Window(first, int(indptr[0]), indptr, indices, weights, *factors)
            yield window, row_cuts(indptr - indptr[0], _USUAL_WIDTH) + first

    def scales(self) -> Iterator[Scales]:
        for first in range(0, self.n_nodes, _ROWS_AT_ONCE):
            end = min(first + _ROWS_AT_ONCE, self.n_nodes)
            right = self.S.factors(first, end)[1]
            yield Scales(first, end, right.astype(self.dtype), (1 / right).astype(self.dtype))

    # Needed for diagonals from whole columns: one number per node.
    @cached_property
    def right(self) -> np.ndarray:
        return self.S.right.astype(self.dtype)

    @cached_property
    def row_factor(self) -> np.ndarray:
        return (self.S.left * self.S.right).astype(self.dtype)


Layout = WholeLayout | StreamedLayout
