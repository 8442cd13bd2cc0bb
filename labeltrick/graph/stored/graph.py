"""`StoredGraph`: a graph in a folder, of which no more is in memory than is asked for."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..._utils.table_errors import refusing_table
from ..compute import Compute
from ..graph import Graph
from .files import StoredArray
from .meta import IDS, REVERSED, read_meta, require_ids
from .normalized import StoredAdjacency

_ROWS_AT_ONCE = 1 << 16
_WINDOW_SHARE = 16  # a window takes this part of the memory; two are mapped at a time
_LARGEST_WINDOW = 256 * 2**20


def window_bytes(memory: int) -> int:
    """Bytes of a window of rows, of two that are mapped at a time."""
    return max(1 << 16, min(_LARGEST_WINDOW, memory // _WINDOW_SHARE))


class Rows(NamedTuple):
    """Rows [first_row, end_row) of a graph; ``indptr`` counts from the graph's first edge."""

    first_row: int
    end_row: int
    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray | None


class StoredGraph(Graph):
    """A graph folder as a `Graph`; made by `open_graph`.

    Its arrays are memory-mapped when first asked for: whatever takes a `Graph` takes this one,
    within the memory of the machine. The engines "disk" and "dask" read it in windows instead.
    """

    def __init__(
        self, folder: Path, compute: Compute | None = None, *, verify: bool = False
    ) -> None:
        # Not the parent's: arrays are properties here.
        self.folder = folder
        self.meta = read_meta(folder, verify=verify)
        self.directed = bool(self.meta["directed"])
        self.node_types = None
        self.relations = {}
        self.gathered_per_edge = 0
        self.compute = Compute() if compute is None else compute
        self._sound: set[tuple[int, int]] = set()  # ranges of rows that were looked over
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

    # -- arrays, mapped when asked for ----------------------------------------------------
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
        """Bytes of the arrays."""
        return sum(file.nbytes for file in self._files.values())

    @property
    def fingerprint(self) -> str:
        return str(self.meta["fingerprint"])

    @cached_property
    def loops(self) -> np.ndarray:
        """Nodes with an edge to themselves."""
        return self._files["loops.npy"].whole

    @cached_property
    def n_self_loops(self) -> int:
        return self._files["loops.npy"].length

    @cached_property
    def out_strengths(self) -> np.ndarray:
        return self.strengths(0, self.n_nodes)

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
        """The nodes' own ids as a polars column; None where they are 0…n−1."""
        if self.meta["ids"] is None:
            return None
        import polars as pl

        require_ids(self.folder, self.meta)  # it is read whole anyway
        advice = "Make the folder again with: labeltrick graph build"
        with refusing_table(self.folder / IDS, "a table of ids", advice):
            ids = pl.read_parquet(self.folder / IDS, glob=False)["id"]
        if len(ids) != self.n_nodes:
            raise ValueError(
                f"`{self.folder / IDS}` must hold one id a node ({self.n_nodes}); it has "
                f"{len(ids)}. Make the folder again with: labeltrick graph build"
            )
        return ids

    # -- a part of it ---------------------------------------------------------------------
    def strengths(self, first: int, end: int) -> np.ndarray:
        """Sums of the weights of rows [first, end); the degrees if unweighted."""
        if self.weighted:
            return self._files["strengths.npy"].read(first, end)
        return np.diff(self._files["indptr.npy"].read(first, end + 1)).astype(np.float64)

    def has_loops(self, first: int, end: int) -> np.ndarray:
        """Whether rows [first, end) hold an edge to themselves."""
        found = np.zeros(end - first, bool)
        low, high = np.searchsorted(self.loops, [first, end])
        found[self.loops[low:high] - first] = True
        return found

    def rows(self, first: int, end: int, *, ahead: bool = False) -> Rows:
        indptr = self._files["indptr.npy"].window(first, end + 1)
        edges = int(indptr[0]), int(indptr[-1])
        weights = None
        if self.weighted:
            weights = self._files["weights.npy"].window(*edges, ahead=ahead)
        indices = self._files["indices.npy"].window(*edges, ahead=ahead)
        if (first, end) not in self._sound:
            self._require_sound(indptr, indices)
            self._sound.add((first, end))
        return Rows(first, end, indptr, indices, weights)

    def _require_sound(self, indptr: np.ndarray, indices: np.ndarray) -> None:
        """Rows that kernels can follow: they check nothing, and would read beside the arrays."""
        rising = bool((indptr[1:] >= indptr[:-1]).all())
        if not rising or (len(indices) and not 0 <= indices.min() <= indices.max() < self.n_nodes):
            raise ValueError(
                f"the graph folder '{self.folder}' is damaged: it holds neighbors that are no "
                "nodes. Make it again with: labeltrick graph build"
            )

    def cuts(self, most_bytes: int) -> np.ndarray:
        """Bounds of windows of rows whose arrays take at most so many bytes, or a single row."""
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
                    break  # the window may go on in the next rows
                cut = max(first + fits, bounds[-1] + 1)
                bounds.append(cut)
                start = int(before[cut - first])
        if bounds[-1] < self.n_nodes:
            bounds.append(self.n_nodes)
        return np.array(bounds, np.int64)

    def rows_both_ways(self, memory: int) -> Iterator[tuple[int, Any, Any]]:
        """(first row, its and the following rows' arrays, the same of the reversed graph), in
        windows that ``memory`` has room for."""
        size = window_bytes(memory)
        bounds = np.union1d(self.cuts(size), self.T.cuts(size)).tolist()
        for first, end in itertools.pairwise(bounds):
            yield first, self.rows(first, end)[2:], self.T.rows(first, end)[2:]

    def normalized(self, norm: str = "sym", *, self_loops: bool = False) -> StoredAdjacency:
        return StoredAdjacency.of(self, norm, self_loops)

    def __repr__(self) -> str:
        return f"Stored{super().__repr__()}"


def open_graph(folder: str | os.PathLike[str], *, verify: bool = False) -> StoredGraph:
    """The graph in a folder made by `save_graph` or ``labeltrick graph build``.

    Files that are missing or too short are an error, and so are changed ones of up to 4 MB; larger
    ones are not read. ``verify`` reads all of them, at one or two gigabytes per second, and
    compares their checksums.
    """
    return StoredGraph(Path(folder).expanduser(), verify=verify)
