"""Writes graph folders row by row, completely or not at all, from graphs in memory and from parts
of larger ones."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..._utils.disk_full import no_space
from ..._utils.fingerprints import as_bytes, joined
from ..._utils.temporary_folders import Temporary, make_folder, sweep
from .. import csr_kernels
from ..build import index_dtype
from ..graph import Graph
from .files import ArrayWriter
from .meta import IDS, REVERSED, foreign_entry, is_graph_folder, write_meta

_ROWS_AT_ONCE = 1 << 20
_EDGES_AT_ONCE = 1 << 24


def require_new(target: Path, overwrite: bool) -> None:
    """Refuse an existing path, unless it is an empty folder or, with ``overwrite``, a graph folder
    with nothing else in it."""
    if not target.exists():
        sweep(target.resolve().parent)  # a process that was killed may have moved it aside
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    if not overwrite:
        raise FileExistsError(
            f"`{target}` must be new or empty; it exists. Choose another folder, or overwrite it "
            "(--overwrite)."
        )
    if not is_graph_folder(target):
        raise FileExistsError(
            f"`{target}` must be new or a graph folder; it is something else. Choose another "
            "folder, or remove it by hand."
        )
    foreign = foreign_entry(target)
    if foreign is not None:
        raise FileExistsError(
            f"`{target}` must hold nothing but a graph to be replaced; it also holds '{foreign}'. "
            "Move that to another folder first."
        )


@contextmanager
def made_parents(target: Path) -> Iterator[None]:
    """Create the folders above ``target``; remove them again if anything goes wrong."""
    missing = [folder for folder in target.parents if not folder.exists()]
    make_folder(target.parent)
    try:
        yield
    except BaseException:
        for folder in missing:
            with suppress(OSError):  # another process has put a file there
                folder.rmdir()
        raise


@contextmanager
def new_folder(target: Path, overwrite: bool = False) -> Iterator[Path]:
    """A temporary folder next to ``target`` that replaces it at the end, or is removed."""
    require_new(target, overwrite)
    place = target.resolve()  # replaces what a link points to, not the link
    with made_parents(place):
        temporary = Temporary(place)
        with temporary:
            yield temporary.new_folder()
            require_new(target, overwrite)  # another process may have been faster
            temporary.take_place()


class RowWriter:
    """Writes the rows of a graph in order, some at a time."""

    def __init__(
        self,
        folder: Path,
        n_nodes: int,
        directed: bool,
        weight_dtype: Any = None,
        *,
        is_reverse: bool = False,
    ) -> None:
        folder.mkdir(exist_ok=True)
        self.folder, self.n_nodes, self.directed = folder, n_nodes, directed
        self.is_reverse = is_reverse
        self.n_rows = self.nnz = 0
        self._begun: Any = 0  # sum of the weights of an incomplete row
        self._ends = hashlib.sha256()  # of indptr without its leading 0
        columns = index_dtype(n_nodes)
        kinds: dict[str, Any] = {"indptr": np.int64, "indices": columns, "loops": np.int64}
        if weight_dtype is not None:
            kinds |= {"weights": weight_dtype, "strengths": np.float64}
        self._files = {name: ArrayWriter(folder / f"{name}.npy", kind)
                       for name, kind in kinds.items()}  # fmt: skip
        self._files["indptr"].append(np.zeros(1))
        self._ranges = {"weights": [1.0, 1.0], "strengths": [np.inf, 0.0]}

    def append(
        self,
        degrees: np.ndarray,
        indices: np.ndarray,
        weights: np.ndarray | None = None,
        *,
        goes_on: bool = False,
    ) -> None:
        """Append rows, given their degrees and the ascending indices of each row in sequence.

        With ``goes_on``, the next part begins with more entries of the last row.
        """
        inner = np.concatenate([[0], np.cumsum(degrees, dtype=np.int64)])
        complete = slice(0, len(degrees) - goes_on)
        plain = np.ascontiguousarray(indices, self._files["indices"].dtype)
        self._files["indices"].append(plain)
        loops = np.flatnonzero(csr_kernels.has_loop(inner, plain, self.n_rows))
        self._files["loops"].append(loops + self.n_rows)
        strengths = np.array(degrees, np.int64 if weights is None else np.float64)
        typed = None
        if weights is not None:
            typed = weights.astype(self._files["weights"].dtype, copy=False)
            self._files["weights"].append(typed)
            self._widen("weights", typed)
            strengths[:] = 0
        strengths[:1] += self._begun
        if typed is not None:
            csr_kernels.add_row_sums(inner, typed, strengths)
            self._files["strengths"].append(strengths[complete])
        self._begun = strengths[-1] if goes_on else 0
        self._widen("strengths", strengths[complete])
        inner += self.nnz
        ends = inner[1:][complete]
        self._files["indptr"].append(ends)
        self._ends.update(as_bytes(ends))
        self.n_rows += len(ends)
        self.nnz += len(indices)

    def _widen(self, name: str, values: np.ndarray) -> None:
        low, high = self._ranges[name]
        some = values > 0
        if some.any():
            least = float(values.min(where=some, initial=values.max()))
            self._ranges[name] = [min(low, least), max(high, float(values.max()))]

    def close(self) -> None:
        """Write meta.json; without it the folder is incomplete."""
        for file in self._files.values():
            file.close()
        files = {f"{name}.npy": {"dtype": file.dtype.str, "length": file.length,
                                 "sha256": file.checksum}
                 for name, file in self._files.items()}  # fmt: skip
        ranges = self._ranges
        if not np.isfinite(ranges["strengths"][0]):
            ranges = ranges | {"strengths": [1.0, 1.0]}
        meta = {
            "n_nodes": self.n_nodes,
            "nnz": self.nnz,
            "directed": self.directed,
            "is_reverse": self.is_reverse,
            "fingerprint": joined(self._ends.hexdigest(), *self._entries()),
            "ranges": ranges,
            "files": files,
        }
        write_meta(self.folder, meta)

    def _entries(self) -> tuple[str, str]:
        """Checksums of neighbors and weights, for the fingerprint of the graph."""
        weights = self._files.get("weights")
        nothing = hashlib.sha256().hexdigest()
        return self._files["indices"].checksum, nothing if weights is None else weights.checksum

    def __enter__(self) -> RowWriter:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            self.close()
            return
        for file in self._files.values():
            file.abandon()


def write_graph(graph: Graph, folder: Path) -> None:
    """Write the files of a graph and, if it is directed, of its reverse to an existing folder."""
    if graph.directed:
        _write_rows(graph.T, folder / REVERSED, is_reverse=True)
    _write_rows(graph, folder, is_reverse=False)


def _write_rows(graph: Graph, folder: Path, *, is_reverse: bool) -> None:
    dtype = None if graph.weights is None else graph.weights.dtype
    with RowWriter(folder, graph.n_nodes, graph.directed, dtype, is_reverse=is_reverse) as writer:
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
    """Write a graph to a folder that `open_graph` reads, completely or not at all.

    Parameters
    ----------
    graph : Graph
        A graph without types of nodes and edges. Names of its nodes must be integers or strings.
    folder : path
        The folder to write.
    overwrite : bool, default=False
        Whether to replace an existing graph folder.

    Returns
    -------
    pathlib.Path
        The folder.

    See Also
    --------
    open_graph : Open a graph folder.
    build_graph : Write a graph folder from a stream of edges.

    Examples
    --------
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
            "`graph` must have no types of nodes or edges; folders do not store them. Save each "
            "of graph.relations separately."
        )
    target = Path(folder).expanduser()
    with new_folder(target, overwrite) as temporary:
        try:
            if graph.node_names is not None:
                _write_ids(graph.node_names.kept, temporary / IDS)
            write_graph(graph, temporary)
        except OSError as error:
            raise no_space(error, temporary.parent, "the graph") from None
    return target


def _write_ids(names: Any, file: Path) -> None:
    import polars as pl

    if not isinstance(names, pl.Series):
        raise ValueError(
            "`graph` must have names that are all integers or all strings to be saved; it has "
            "others. Use graph.with_names([str(name) for name in graph.names])."
        )
    names.alias("id").to_frame().write_parquet(file)
