"""`StoredGraph`: a graph in a folder, of which only the needed parts are in memory."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..._utils.table_errors import refusing_table
from ..compute import Compute
from ..graph import Graph
from ..normalized import inverse_or_one
from .files import StoredArray
from .meta import IDS, REVERSED, read_meta, require_ids

if TYPE_CHECKING:
    from ..names import NodeNames

_ROWS_AT_ONCE = 1 << 16
_WINDOW_SHARE = 16  # a window takes 1/16 of the memory; two are mapped at a time
_LARGEST_WINDOW = 256 * 2**20


def window_bytes(memory: int) -> int:
    """Bytes of a window of rows; two windows are mapped at a time."""
    return max(1 << 16, min(_LARGEST_WINDOW, memory // _WINDOW_SHARE))


class Rows(NamedTuple):
    """Some rows of a graph."""

    indptr: np.ndarray  # counts the edges of the whole graph
    indices: np.ndarray
    weights: np.ndarray | None


class StoredGraph(Graph):
    """A graph folder as a `Graph`; made by `open_graph`.

    Its arrays are memory-mapped when first used, so it works wherever a `Graph` does, within the
    memory of the machine. The engines "disk" and "dask" read it in windows instead.

    Parameters
    ----------
    folder : pathlib.Path
        The graph folder.
    compute : Compute or None, default=None
        Where propagation is computed; see `Graph.on`. None chooses automatically.
    verify : bool, default=False
        Whether to compare the checksums of all files.

    See Also
    --------
    open_graph : Open a graph folder.
    Graph : A graph in memory.

    Examples
    --------
    >>> import tempfile
    >>> from labeltrick import Graph, Power, open_graph, save_graph
    >>> with tempfile.TemporaryDirectory() as place:
    ...     folder = save_graph(Graph.from_edges([0, 1], [1, 2]), f"{place}/graph.lt")
    ...     stored = open_graph(folder).on("disk", max_memory="1MB")
    ...     print((Power(stored, 1, norm="row") @ [1.0, 0.0, 3.0]).tolist())
    [0.0, 2.0, 0.0]
    """

    def __init__(
        self, folder: Path, compute: Compute | None = None, *, verify: bool = False
    ) -> None:
        # Does not call the parent's: arrays are properties here.
        self.folder = folder
        self.meta = read_meta(folder, verify=verify)
        self.directed = bool(self.meta["directed"])
        self.node_types = None
        self.relations = {}
        self.node_features = None
        self.is_permuted = False
        self.numbered_by_row = False
        self.gathered_per_edge = 0
        self.compute = Compute() if compute is None else compute
        self._sound: set[tuple[int, int]] = set()  # ranges of rows that were checked
        self._files = {
            name: StoredArray(folder / name, kind["dtype"], kind["length"])
            for name, kind in self.meta["files"].items()
        }

    def __reduce__(self) -> Any:
        return StoredGraph, (self.folder, self.compute)

    def __copy__(self) -> StoredGraph:
        other = object.__new__(StoredGraph)
        other.__dict__.update(self.__dict__)
        return other

    # -- arrays, mapped when first used ---------------------------------------------------
    @cached_property
    def indptr(self) -> np.ndarray:  # type: ignore[override]
        return self._files["indptr.npy"].whole

    @cached_property
    def indices(self) -> np.ndarray:  # type: ignore[override]
        whole = self._files["indices.npy"].whole
        if (0, self.n_nodes) not in self._sound:
            if int(self.indptr[0]) != 0 or int(self.indptr[-1]) != len(whole):
                self._require_sound(np.array([1, 0]), whole)
            self._require_sound(self.indptr, whole)
            self._sound.add((0, self.n_nodes))
        return whole

    @cached_property
    def weights(self) -> np.ndarray | None:  # type: ignore[override]
        return self._files["weights.npy"].whole if self.weighted else None

    @property
    def weighted(self) -> bool:
        return "weights.npy" in self._files

    @property
    def n_nodes(self) -> int:
        return int(self.meta["n_nodes"])

    @property
    def nnz(self) -> int:
        return int(self.meta["nnz"])

    @property
    def nbytes(self) -> int:
        """Size of the arrays in bytes."""
        return sum(file.nbytes for file in self._files.values())

    @property
    def fingerprint(self) -> str:
        return str(self.meta["fingerprint"])

    @property
    def factor_bounds(self) -> list[np.ndarray]:  # type: ignore[override]
        ranges = [self.meta["ranges"], self.T.meta["ranges"]]
        weights, sums = (
            np.array([found[name] for found in ranges]) for name in ("weights", "strengths")
        )
        return [weights, inverse_or_one(sums + 1), 1 / sums]

    @cached_property
    def loops(self) -> np.ndarray:
        """Nodes with an edge to themselves."""
        return self._files["loops.npy"].whole

    @cached_property
    def n_self_loops(self) -> int:
        return self._files["loops.npy"].length

    @cached_property
    def out_strengths(self) -> np.ndarray:
        return self._row_sums(0, self.n_nodes)

    @cached_property
    def in_strengths(self) -> np.ndarray:
        return self.T.out_strengths

    @cached_property
    def T(self) -> StoredGraph:
        if not self.directed:
            return self
        around = self.meta["is_reverse"]
        other = self.folder.absolute().parent if around else self.folder / REVERSED
        reverse = StoredGraph(other, self.compute)
        reverse.__dict__["T"] = self
        return reverse

    def ids(self) -> Any:
        """The original ids of the nodes as a polars column; None if they are 0…n−1."""
        if self.meta["ids"] is None:
            return None
        import polars as pl

        require_ids(self.folder, self.meta)  # the file is read completely anyway
        advice = "Rebuild the folder with: labeltrick graph build"
        with refusing_table(self.folder / IDS, "a table of ids", advice):
            ids = pl.read_parquet(self.folder / IDS, glob=False)["id"]
        if len(ids) != self.n_nodes:
            raise ValueError(
                f"`{self.folder / IDS}` must hold one id per node ({self.n_nodes}); it has "
                f"{len(ids)}. {advice}"
            )
        return ids

    @property
    def has_names(self) -> bool:  # without reading them, unless others were given
        if "node_names" in self.__dict__:
            return self.node_names is not None
        return self.meta["ids"] is not None

    @cached_property
    def node_names(self) -> NodeNames | None:  # type: ignore[override]
        from ..names import NodeNames

        ids = self.ids()
        return None if ids is None else NodeNames.of(ids, str(self.folder / IDS))

    # -- parts of the arrays --------------------------------------------------------------
    def _strengths(self, first: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        rows = self._row_sums(first, end)
        return rows, self.T._row_sums(first, end) if self.directed else rows

    def _row_sums(self, first: int, end: int) -> np.ndarray:
        if self.weighted:
            return self._files["strengths.npy"].read(first, end)
        return np.diff(self._files["indptr.npy"].read(first, end + 1)).astype(np.float64)

    def _has_loops(self, first: int, end: int) -> np.ndarray:
        found = np.zeros(end - first, bool)
        low, high = np.searchsorted(self.loops, [first, end])
        found[self.loops[low:high] - first] = True
        return found

    def rows(self, first: int, end: int, *, ahead: bool = False) -> Rows:
        """Rows [first, end); ``ahead`` asks the system to start reading them from disk."""
        indptr = self._files["indptr.npy"].window(first, end + 1)
        edges = int(indptr[0]), int(indptr[-1])
        weights = None
        if self.weighted:
            weights = self._files["weights.npy"].window(*edges, ahead=ahead)
        indices = self._files["indices.npy"].window(*edges, ahead=ahead)
        if (first, end) not in self._sound:
            self._require_sound(indptr, indices)
            self._sound.add((first, end))
        return Rows(indptr, indices, weights)

    def _require_sound(self, indptr: np.ndarray, indices: np.ndarray) -> None:
        """Refuse rows that would make kernels, which check nothing, read outside the arrays."""
        rising = bool((indptr[1:] >= indptr[:-1]).all())
        if not rising or (len(indices) and not 0 <= indices.min() <= indices.max() < self.n_nodes):
            raise ValueError(
                f"the graph folder '{self.folder}' is damaged: it holds neighbors that are not "
                "nodes. Rebuild it with: labeltrick graph build"
            )

    def cuts(self, most_bytes: int) -> np.ndarray:
        """Bounds of windows whose arrays take at most ``most_bytes``, or that hold one row."""
        entry = self._files["indices.npy"].dtype.itemsize
        if self.weighted:
            entry += self._files["weights.npy"].dtype.itemsize
        bounds, start = [0], 0  # bytes before the current window
        for first in range(0, self.n_nodes, _ROWS_AT_ONCE):
            end = min(first + _ROWS_AT_ONCE, self.n_nodes)
            begins = self._files["indptr.npy"].read(first, end + 1)
            before = begins * entry + np.arange(first, end + 1) * 8  # bytes before each row
            while True:
                fits = int(np.searchsorted(before, start + most_bytes, side="right")) - 1
                if first + fits >= end:
                    break  # the window may continue in the next rows
                cut = max(first + fits, bounds[-1] + 1)
                bounds.append(cut)
                start = int(before[cut - first])
        if bounds[-1] < self.n_nodes:
            bounds.append(self.n_nodes)
        return np.array(bounds, np.int64)

    def rows_both_ways(self, memory: int) -> Iterator[tuple[int, Any, Any]]:
        """(first row, arrays of the rows, the same of the reversed graph), in windows that fit
        in ``memory``."""
        size = window_bytes(memory)
        bounds = np.union1d(self.cuts(size), self.T.cuts(size)).tolist()
        for first, end in itertools.pairwise(bounds):
            yield first, self.rows(first, end), self.T.rows(first, end)

    def __repr__(self) -> str:
        return f"Stored{super().__repr__()}"


def open_graph(folder: str | os.PathLike[str], *, verify: bool = False) -> StoredGraph:
    """Open a graph folder made by `save_graph`, `build_graph` or ``labeltrick graph build``.

    Missing or incomplete files are an error, and so are changed files of up to 4 MB.

    Parameters
    ----------
    folder : path
        The graph folder.
    verify : bool, default=False
        Whether to read all files, at one or two gigabytes per second, and compare checksums.

    Returns
    -------
    StoredGraph

    See Also
    --------
    save_graph : Write a graph to a folder.
    build_graph : Write a graph folder from a stream of edges.
    StoredGraph : A graph folder as a graph.

    Examples
    --------
    >>> import tempfile
    >>> from labeltrick import save_graph
    >>> with tempfile.TemporaryDirectory() as place:
    ...     folder = save_graph(Graph.from_edges([0, 1], [1, 2]), place + "/graph.lt")
    ...     print(open_graph(folder, verify=True))
    StoredGraph(n_nodes=3, n_edges=2)
    """
    return StoredGraph(Path(folder).expanduser(), verify=verify)
