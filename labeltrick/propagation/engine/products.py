"""Products S·F, and the layout of S from which the engine computes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._utils.progress import ProgressBar
from ...graph.normalized import NormalizedAdjacency, inverse_permutation
from ...graph.stored.graph import StoredGraph
from . import blocks
from .layout import WholeLayout
from .windows import Layout, StreamedLayout


def multiply(S: NormalizedAdjacency, F: np.ndarray) -> np.ndarray:
    """S·F for a vector or a matrix with one row per node."""
    columns = F if F.ndim == 2 else F.reshape(-1, 1)
    out = np.empty(columns.shape, F.dtype)
    blocks.run_blocks(
        layout_of(S, F.dtype),
        columns.shape[1],
        blocks.apply_to(columns, out, blocks.polynomial(np.array([0.0, 1.0]))),
        max_memory=S.compute.memory_bytes,
        bar=lambda n_blocks: ProgressBar(n_blocks, "product"),
    )
    return out if F.ndim == 2 else out[:, 0]


def layout_of(S: NormalizedAdjacency, dtype: Any, reorder: bool = False) -> Layout:
    """The engine's arrays of S, cached in S: in the graph's node order or, with ``reorder``, in one
    of better locality. A graph that stays on disk is read in windows."""
    dtype = S.layout_dtype(dtype)
    key = (dtype, reorder)
    if key not in S.layouts:
        if isinstance(S.graph, StoredGraph) and S.compute.engine == "disk":
            S.layouts[key] = StreamedLayout(S.graph, S, dtype)
        else:
            S.layouts[key] = _whole_layout(S, dtype, reorder)
    return S.layouts[key]


def _whole_layout(S: NormalizedAdjacency, dtype: np.dtype, reorder: bool) -> WholeLayout:
    graph, order = S.graph.reordered if reorder else (S.graph, None)

    def moved(values: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(values if order is None else values[order], dtype)

    return WholeLayout(
        indptr=graph.indptr,
        indices=graph.indices,
        weights=None if graph.weights is None else graph.weights.astype(dtype, copy=False),
        row_factor=moved(S.left * S.right),
        loop=moved(S.loop),
        right=moved(S.right),
        scale_in=S.right.astype(dtype),
        scale_out=(1 / S.right).astype(dtype),
        position=None if order is None else inverse_permutation(order),
    )
