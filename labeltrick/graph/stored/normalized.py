"""The normalized adjacency of a graph folder, with factors for some rows at a time."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._utils.checks import check_choice, check_flag
from ..normalized import NORMS, NormalizedAdjacency, inverse_or_one, is_tame, scalings

if TYPE_CHECKING:
    from .graph import StoredGraph


class StoredAdjacency(NormalizedAdjacency):
    """S of a `StoredGraph`. The arrays ``left``, ``right`` and ``loop`` are made when needed."""

    graph: StoredGraph

    def __init__(self, graph: StoredGraph, norm: str, self_loops: bool) -> None:
        self.graph = graph
        self.norm = check_choice("norm", norm, NORMS)
        self.self_loops = check_flag("self_loops", self_loops)
        self.compute = graph.compute
        self.layouts: dict[Any, Any] = {}

    def factors(self, first: int, end: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(left, right, loop) of the rows [first, end)."""
        graph = self.graph
        loop = np.zeros(end - first)
        if self.self_loops:
            loop[~graph.has_loops(first, end)] = 1
        rows = graph.strengths(first, end) + loop
        columns = graph.T.strengths(first, end) + loop if graph.directed else rows
        return (*scalings(self.norm, rows, columns), loop)

    @cached_property
    def _whole(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.factors(0, self.graph.n_nodes)

    @property
    def left(self) -> np.ndarray:  # type: ignore[override]
        return self._whole[0]

    @property
    def right(self) -> np.ndarray:  # type: ignore[override]
        return self._whole[1]

    @property
    def loop(self) -> np.ndarray:  # type: ignore[override]
        return self._whole[2]

    def _flipped(self, norm: str) -> StoredAdjacency:
        return StoredAdjacency(self.graph.T, norm, self.self_loops)

    @cached_property
    def _fits_float32(self) -> bool:
        """From the ranges of weights and of their sums in ``meta.json``."""
        ranges = [self.graph.meta["ranges"], self.graph.T.meta["ranges"]]
        bounds = np.array([value for found in ranges for value in found["weights"]])
        sums = np.array([value for found in ranges for value in found["strengths"]])
        return is_tame(bounds) and is_tame(inverse_or_one(sums + 1)) and is_tame(1 / sums)
