"""Writes a graph folder row by row: graphs in memory, and the parts of larger ones."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from .. import _csr
from .._build import index_dtype
from .._fingerprint import Fingerprint
from ..graph import Graph
from .files import FORMAT, VERSION, ArrayWriter, new_folder

_ROWS_AT_ONCE = 1 << 20
_EDGES_AT_ONCE = 1 << 24


class RowWriter:
    """Takes the rows of a graph in order, some at a time."""

    def __init__(
        self, folder: Path, n_nodes: int, directed: bool, weight_dtype: Any = None
    ) -> None:
        folder.mkdir(exist_ok=True)
        self.folder, self.n_nodes, self.directed = folder, n_nodes, directed
        self.n_rows = self.nnz = 0
        self._mark = Fingerprint()
        kinds: dict[str, Any] = {
            "indptr": np.int64,
            "indices": index_dtype(n_nodes),
            "loops": np.int64,
        }
        if weight_dtype is not None:
            kinds |= {"weights": weight_dtype, "strengths": np.float64}
        self._files = {name: ArrayWriter(folder / f"{name}.npy", kind)
                       for name, kind in kinds.items()}  # fmt: skip
        self._files["indptr"].append(np.zeros(1))
        self._ranges = {"weights": [1.0, 1.0], "strengths": [np.inf, 0.0]}

    def append(
        self, degrees: np.ndarray, indices: np.ndarray, weights: np.ndarray | None = None
    ) -> None:
        """Rows with so many entries each; ``indices`` of one row after the other, ascending."""
        inner = np.concatenate([[0], np.cumsum(degrees, dtype=np.int64)])
        plain = np.ascontiguousarray(indices, self._files["indices"].dtype)
        self._files["indptr"].append(self.nnz + inner[1:])
        self._files["indices"].append(plain)
        loops = np.flatnonzero(_csr.loops_from(inner, plain, self.n_rows))
        self._files["loops"].append(loops + self.n_rows)
        typed = None if weights is None else weights.astype(self._files["weights"].dtype)
        self._mark.update(inner[1:] + self.nnz, plain, typed)
        strengths = degrees
        if weights is not None:
            strengths = _csr.row_sums(inner, weights)
            self._files["weights"].append(weights)
            self._files["strengths"].append(strengths)
            self._widen("weights", weights)
        self._widen("strengths", strengths[strengths > 0])
        self.n_rows += len(degrees)
        self.nnz += len(indices)

    def _widen(self, name: str, values: np.ndarray) -> None:
        if len(values):
            low, high = self._ranges[name]
            self._ranges[name] = [min(low, float(values.min())), max(high, float(values.max()))]

    def close(self) -> None:
        """Write meta.json; without it the folder counts as cut short."""
        for file in self._files.values():
            file.close()
        meta = {
            "format": FORMAT,
            "version": VERSION,
            "n_nodes": self.n_nodes,
            "nnz": self.nnz,
            "directed": self.directed,
            "fingerprint": self._mark.hexdigest(),
            "ranges": self._ranges,
            "files": {
                f"{name}.npy": {"dtype": file.dtype.str, "length": file.length}
                for name, file in self._files.items()
            },
        }
        if not np.isfinite(self._ranges["strengths"][0]):
            meta["ranges"] = self._ranges | {"strengths": [1.0, 1.0]}
        (self.folder / "meta.json").write_text(json.dumps(meta, indent=1))

    def __enter__(self) -> RowWriter:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            self.close()
            return
        for file in self._files.values():
            file._file.close()


def write_rows(graph: Graph, folder: Path) -> None:
    """The files of a graph, without those of its reverse."""
    dtype = None if graph.weights is None else graph.weights.dtype
    with RowWriter(folder, graph.n_nodes, graph.directed, dtype) as writer:
        row = 0
        while row < graph.n_nodes:
            most = graph.indptr[row] + _EDGES_AT_ONCE
            end = int(np.searchsorted(graph.indptr, most, side="right")) - 1
            end = min(max(end, row + 1), row + _ROWS_AT_ONCE, graph.n_nodes)
            edges = slice(int(graph.indptr[row]), int(graph.indptr[end]))
            weights = None if graph.weights is None else graph.weights[edges]
            writer.append(np.diff(graph.indptr[row : end + 1]), graph.indices[edges], weights)
            row = end


def save_graph(graph: Graph, folder: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Write a graph to a folder that `open_graph` reads, all of it or nothing.

    >>> import tempfile
    >>> from labeltrick import Graph, open_graph
    >>> with tempfile.TemporaryDirectory() as place:
    ...     folder = save_graph(Graph.from_edges([0, 1], [1, 2]), place + "/graph.lt")
    ...     print(open_graph(folder))
    StoredGraph(n_nodes=3, n_edges=2)
    """
    if not isinstance(graph, Graph):
        raise TypeError(f"`graph` must be a labeltrick.Graph; got {type(graph).__name__}.")
    if graph.relations or graph.node_types is not None:
        raise ValueError(
            "`graph` must have no types of nodes or edges to be stored; save each of "
            "graph.relations on its own."
        )
    target = Path(folder).expanduser()
    with new_folder(target, overwrite) as temporary:
        write_rows(graph, temporary)
        if graph.directed:
            write_rows(graph.T, temporary / "reversed")
    return target
