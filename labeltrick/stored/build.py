"""Builds a graph folder from edges that do not fit in memory, by an external sort.

One pass counts the entries of ranges of rows; ranges are joined to buckets that fit in memory; a
second pass deals the entries to a file for each bucket, as one number of row and column; at last
each bucket is read, sorted, freed of duplicates and written. Each edge is read twice and written
twice, in order: never more than a bucket and a chunk of edges are in memory.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from .._build import index_dtype
from .._check import check_count, check_edge_weights, check_node_ids, check_same_length
from .._compute import Compute, shown_bytes
from .._progress import Progress, ProgressBar, waiting
from .files import new_folder
from .writing import RowWriter

Chunk = tuple[Any, Any, Any]  # source, target, weights or None
Chunks = Callable[[], Iterable[Chunk]]

_RANGE_BITS = 6  # rows of a range, whose entries are counted together
_KEY_BYTES, _WEIGHT_BYTES = 8, 8
_SORTED_BYTES = {False: 22, True: 48}  # an entry while its bucket is sorted, by weighted
_AT_ONCE = 1 << 18


def build_graph(
    chunks: Chunks,
    folder: str | os.PathLike[str],
    *,
    n_nodes: int | None = None,
    directed: bool = False,
    max_memory: int | str | None = None,
    overwrite: bool = False,
    progress: Progress = None,
    also: Callable[[Path], object] | None = None,
) -> Path:
    """Write the graph of a stream of edges to a folder, all of it or nothing.

    Parameters
    ----------
    chunks : function that starts the stream anew each time it is called: it gives chunks of
        (source, target, weights or None), node numbers from 0. Chunks should be some hundred times
        smaller than ``max_memory``.
    n_nodes : default: the largest number plus one.
    directed : whether (u, v) is an edge from u to v alone; then the reversed graph is written too.
    max_memory : bytes, or text such as "2GB"; default 2 GiB.
    also : called with the folder while it is not in its place yet, to write further files.

    Duplicates are merged and their weights summed, as `Graph.from_edges` does.

    >>> import tempfile
    >>> from labeltrick import open_graph
    >>> with tempfile.TemporaryDirectory() as place:
    ...     chunks = [([0, 1], [1, 2], None), ([2], [0], None)]
    ...     folder = build_graph(lambda: chunks, place + "/graph.lt")
    ...     print(open_graph(folder))
    StoredGraph(n_nodes=3, n_edges=3)
    """
    target = Path(folder).expanduser()
    memory = Compute().over(max_memory=max_memory).memory_bytes
    with new_folder(target, overwrite) as temporary:
        with waiting("counting edges", progress):
            count = _Count(directed)
            for chunk in chunks():
                count.add(*_checked(chunk, n_nodes))
        size = count.n_nodes if n_nodes is None else check_count("n_nodes", n_nodes)
        _require_room(target.parent, count)
        try:
            sides = [(count.rows, not directed, False, temporary)]
            if directed:
                sides.append((count.columns, False, True, temporary / "reversed"))
            for ranges, both, swap, place in sides:
                sort = _ExternalSort(place, ranges, size, memory, count.weighted)
                with ProgressBar(2 * int(ranges.sum()), "building", progress) as bar:
                    for chunk in chunks():
                        source, end, weights = _checked(chunk, n_nodes)
                        sort.deal(*((end, source) if swap else (source, end)), weights, both, bar)
                    sort.write(directed, count.weight_dtype, bar)
            if also is not None:
                also(temporary)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            raise _no_room(target.parent, count.bytes_on_disk) from None
    return target


def _checked(chunk: Chunk, n_nodes: int | None) -> tuple[np.ndarray, np.ndarray, Any]:
    source = check_node_ids("source", chunk[0], n_nodes)
    target = check_node_ids("target", chunk[1], n_nodes)
    check_same_length("source", source, "target", target)
    if chunk[2] is None:
        return source, target, None
    weights = check_edge_weights("weights", chunk[2], len(source))
    some = weights > 0  # weight 0 means no edge
    return source[some], target[some], weights[some]


class _Count:
    """What the first pass finds: sizes, and the entries of each range of rows (of the reversed
    graph, of columns)."""

    def __init__(self, directed: bool) -> None:
        self.directed = directed
        self.n_nodes = 0
        self.weight_dtype: Any = None
        self.rows = self.columns = np.zeros(0, np.int64)

    @property
    def weighted(self) -> bool:
        return self.weight_dtype is not None

    @property
    def bytes_on_disk(self) -> int:
        entry = _KEY_BYTES + 4 + (2 * _WEIGHT_BYTES if self.weighted else 0)
        return entry * int(self.rows.sum() + self.columns.sum() * self.directed) + 8 * self.n_nodes

    def add(self, source: np.ndarray, target: np.ndarray, weights: Any) -> None:
        if weights is not None:
            self.weight_dtype = np.promote_types(self.weight_dtype or weights.dtype, weights.dtype)
        if not len(source):
            return
        self.n_nodes = max(self.n_nodes, int(source.max()) + 1, int(target.max()) + 1)
        self.rows = _added(self.rows, source)
        if self.directed:
            self.columns = _added(self.columns, target)
        else:
            self.rows = _added(self.rows, target[source != target])


def _added(counts: np.ndarray, rows: np.ndarray) -> np.ndarray:
    more = np.bincount(rows >> _RANGE_BITS, minlength=len(counts))
    more[: len(counts)] += counts
    return more


def _require_room(place: Path, count: _Count) -> None:
    if shutil.disk_usage(place).free < count.bytes_on_disk:
        raise _no_room(place, count.bytes_on_disk)


def _no_room(place: Path, needed: int) -> OSError:
    free = shutil.disk_usage(place).free
    return OSError(
        errno.ENOSPC,
        f"building the graph takes about {shown_bytes(needed)} in '{place}', where "
        f"{shown_bytes(free)} are free",
    )


class _ExternalSort:
    def __init__(
        self, folder: Path, ranges: np.ndarray, n_nodes: int, memory: int, weighted: bool
    ) -> None:
        self.folder, self.n_nodes, self.weighted = folder, n_nodes, weighted
        self.parts = folder / "parts"
        self.parts.mkdir(parents=True)
        self.bits = max(1, int(n_nodes - 1).bit_length())
        most = max(1, memory // 3 // _SORTED_BYTES[weighted])  # chunks take the rest
        widest = max(1, 1 << max(0, 63 - self.bits - _RANGE_BITS))  # a key must fit 64 bits
        self.cuts = _joined(ranges, most, widest)  # first range of each bucket

    def deal(
        self, source: np.ndarray, target: np.ndarray, weights: Any, both: bool, bar: ProgressBar
    ) -> None:
        """Append entries to the files of their buckets."""
        if both:
            turn = source != target
            source, target = (np.concatenate([source, target[turn]]),
                              np.concatenate([target, source[turn]]))  # fmt: skip
            weights = None if weights is None else np.concatenate([weights, weights[turn]])
        if not len(source):
            return
        bucket = np.searchsorted(self.cuts, source >> _RANGE_BITS, side="right") - 1
        # numpy sorts 16 bits by counting
        narrow = np.uint16 if len(self.cuts) < 2**16 else np.uint32
        order = np.argsort(bucket.astype(narrow), kind="stable")
        bucket, source, target = bucket[order], source[order], target[order]
        first_row = self.cuts[bucket] << _RANGE_BITS
        keys = ((source - first_row).astype(np.uint64) << np.uint64(self.bits)) | target.astype(
            np.uint64
        )
        weights = None if weights is None else weights[order].astype(np.float64)
        bounds = np.flatnonzero(np.diff(bucket)) + 1
        for low, high in zip([0, *bounds], [*bounds, len(keys)], strict=True):
            name = str(bucket[low])
            self._append(f"{name}.keys", keys[low:high])
            if weights is not None:
                self._append(f"{name}.weights", weights[low:high])
        bar.advance(len(keys))

    def _append(self, name: str, values: np.ndarray) -> None:
        with (self.parts / name).open("ab") as file:
            values.tofile(file)

    def write(self, directed: bool, weight_dtype: Any, bar: ProgressBar) -> None:
        """Sort the buckets and write their rows, one bucket after the other."""
        with RowWriter(self.folder, self.n_nodes, directed, weight_dtype) as writer:
            ends = [*(self.cuts[1:] << _RANGE_BITS), self.n_nodes]
            for place, end in enumerate(ends):
                first = int(self.cuts[place]) << _RANGE_BITS
                degrees, indices, weights = self._sorted(str(place), int(end) - first, bar)
                writer.append(degrees, indices, weights)
        self.parts.rmdir()

    def _sorted(
        self, name: str, n_rows: int, bar: ProgressBar
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """(degrees, columns, weights) of a bucket, whose files are removed."""
        keys = self._take(f"{name}.keys", np.uint64)
        count = len(keys)
        weights = self._take(f"{name}.weights", np.float64) if self.weighted else None
        if weights is None:
            keys.sort()
        else:
            order = np.argsort(keys, kind="stable")
            keys, weights = keys[order], weights[order]
            del order
        new = np.ones(len(keys), bool)
        np.not_equal(keys[1:], keys[:-1], out=new[1:])
        if weights is not None and len(keys):
            weights = np.add.reduceat(weights, np.flatnonzero(new))
        if not new.all():
            keys = keys[new]
        del new
        columns: np.ndarray = np.empty(len(keys), index_dtype(self.n_nodes))
        for first in range(0, len(keys), _AT_ONCE):  # without a copy of all keys
            part = slice(first, first + _AT_ONCE)
            columns[part] = keys[part] & np.uint64((1 << self.bits) - 1)
        keys >>= np.uint64(self.bits)
        degrees = np.bincount(keys.view(np.int64), minlength=n_rows)
        bar.advance(count)
        return degrees, columns, weights

    def _take(self, name: str, dtype: Any) -> np.ndarray:
        file = self.parts / name
        if not file.exists():
            return np.empty(0, dtype)
        values = np.fromfile(file, dtype)
        file.unlink()
        return values


def _joined(ranges: np.ndarray, most: int, widest: int) -> np.ndarray:
    """First range of each bucket: ranges joined while they hold at most so many entries."""
    cuts, held = [0], 0
    for place, count in enumerate(ranges.tolist()):
        full = held + count > most and held > 0
        if full or place - cuts[-1] >= widest:
            cuts.append(place)
            held = 0
        held += count
    return np.array(cuts, np.int64)
