"""Builds a graph folder from edges that do not fit in memory, by an external sort.

A first pass counts the entries of ranges of rows; a second one distributes them to files that fit
in memory, which are sorted one after the other; see `sorting`. Each edge is read twice and written
twice, sequentially (entries of hubs once or twice more). At most one bucket and one chunk of edges
are in memory.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ..._utils.checks import check_count, check_edge_weights, check_node_ids, check_same_length
from ..._utils.disk_full import no_space
from ..._utils.memory import shown_bytes
from ..._utils.progress import Progress, ProgressBar, waiting
from ..compute import Compute
from .meta import REVERSED
from .sorting import ExternalSort, with_counts
from .writing import new_folder

Chunk = tuple[Any, Any, Any]  # source, target, weights or None
Chunks = Callable[[], Iterable[Chunk]]

_KEY_BYTES, _WEIGHT_BYTES = 8, 8


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
    """Write the graph of a stream of edges to a folder, completely or not at all.

    Duplicates are merged and their weights summed, as in `Graph.from_edges`: the graph is the
    same, bit for bit.

    Parameters
    ----------
    chunks : callable
        Function without arguments that starts the stream again each time it is called. It
        returns an iterable of (source, target, weights or None), with node numbers from 0.
        Chunks should be some hundred times smaller than ``max_memory``.
    folder : path
        The folder to write.
    n_nodes : int or None, default=None
        Number of nodes. None means the largest number plus one.
    directed : bool, default=False
        Whether (u, v) is an edge only from u to v; then the reversed graph is written too.
    max_memory : int, str or None, default=None
        Bytes, or text such as "2GB". None means ``LABELTRICK_MAX_MEMORY``, or 2 GiB.
    overwrite : bool, default=False
        Whether to replace an existing graph folder.
    progress : bool, callable or None, default=None
        None shows a bar on a terminal after a second; True or False always or never shows one;
        a function is called as ``f(done, total)``.
    also : callable or None, default=None
        Called with the temporary folder before the graph is written, to add ``ids.parquet``.

    Returns
    -------
    pathlib.Path
        The folder.

    See Also
    --------
    save_graph : Write a graph to a folder.
    open_graph : Open a graph folder.
    io.tables.build_graph_folder : Build a graph folder from a table of edges.

    Examples
    --------
    >>> import tempfile
    >>> from labeltrick import open_graph
    >>> with tempfile.TemporaryDirectory() as place:
    ...     chunks = [([0, 1], [1, 2], None), ([2], [0], None)]
    ...     folder = build_graph(lambda: chunks, place + "/graph.lt")
    ...     print(open_graph(folder))
    StoredGraph(n_nodes=3, n_edges=3)
    """
    target = Path(folder).expanduser()
    memory = Compute(max_memory=max_memory).memory_bytes
    with new_folder(target, overwrite) as temporary:
        count = _counted(chunks, n_nodes, directed, progress)
        _require_room(temporary.parent, count)
        try:
            if also is not None:
                also(temporary)
            if directed:
                _write_side(chunks, temporary / REVERSED, count, memory, progress, swap=True)
            _write_side(chunks, temporary, count, memory, progress)
        except Exception as error:  # `also` may raise errors of other libraries
            what = f"the graph, which takes about {shown_bytes(count.bytes_on_disk)}"
            full = no_space(error, temporary.parent, what)
            if full is error:
                raise
            raise full from None
    return target


def _counted(chunks: Chunks, n_nodes: int | None, directed: bool, progress: Progress) -> _Count:
    if not callable(chunks):
        raise TypeError(
            "`chunks` must be a function that starts the stream of edges; got "
            f"{type(chunks).__name__}. For a list of chunks pass: lambda: chunks."
        )
    n_nodes = None if n_nodes is None else check_count("n_nodes", n_nodes)
    count = _Count(directed)
    with waiting("counting edges", progress):
        for chunk in chunks():
            count.add(*_checked(chunk, n_nodes))
    count.n_nodes = count.n_nodes if n_nodes is None else n_nodes
    return count


def _write_side(
    chunks: Chunks,
    place: Path,
    count: _Count,
    memory: int,
    progress: Progress,
    *,
    swap: bool = False,
) -> None:
    """Write the rows of the graph, or with ``swap`` of its reverse."""
    ranges, both = count.columns if swap else count.rows, not count.directed
    sort = ExternalSort(place, ranges, count.n_nodes, memory, count.weighted)
    expected = int(ranges.sum())
    with ProgressBar(2 * expected, "building", progress) as bar:
        for chunk in chunks():
            source, end, weights = _checked(chunk, None)
            if len(source) and not count.may_hold(source, end, weights):
                raise _another_stream("new edges")
            sort.deal(*((end, source) if swap else (source, end)), weights, both, bar)
        if sort.dealt != expected:
            raise _another_stream(f"{sort.dealt:,} entries instead of {expected:,}")
        sort.write(count.directed, count.weight_dtype, bar, is_reverse=swap)


def _another_stream(got: str) -> ValueError:
    return ValueError(
        "`chunks` must start the same stream each time it is called; the second time it gave "
        f"{got}. Make a new generator in each call, or open the file again."
    )


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
    """Result of the first pass: sizes, and the number of entries of each range of rows and, for
    the reversed graph, of columns."""

    def __init__(self, directed: bool) -> None:
        self.directed = directed
        self.n_nodes = self.n_chunks = 0
        self.unweighted = False
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
        self.n_chunks += 1
        if weights is not None:
            self.weight_dtype = np.promote_types(self.weight_dtype or weights.dtype, weights.dtype)
        self.unweighted |= weights is None and len(source) > 0
        if self.weighted and self.unweighted:
            raise ValueError(
                "`chunks` must have weights in all chunks or in none; chunk "
                f"{self.n_chunks} has {'none' if weights is None else 'some'}, unlike earlier "
                "ones. Give edges without a weight the weight 1."
            )
        if not len(source):
            return
        self.n_nodes = max(self.n_nodes, int(source.max()) + 1, int(target.max()) + 1)
        self.rows = with_counts(self.rows, source)
        if self.directed:
            self.columns = with_counts(self.columns, target)
        else:
            self.rows = with_counts(self.rows, target[source != target])

    def may_hold(self, source: np.ndarray, target: np.ndarray, weights: Any) -> bool:
        """Whether edges of the second pass can be among those that were counted."""
        largest = max(int(source.max()), int(target.max()))
        return largest < self.n_nodes and (weights is not None) == self.weighted


def _require_room(place: Path, count: _Count) -> None:
    free, needed = shutil.disk_usage(place).free, count.bytes_on_disk
    if free < needed:
        raise OSError(
            errno.ENOSPC,
            f"building the graph takes about {shown_bytes(needed)} in '{place}', where "
            f"{shown_bytes(free)} are free",
        )
