"""Tables of edges that do not fit in memory: read in chunks, with nodes numbered 0…n−1."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ..._utils.checks import check_count
from ..._utils.memory import shown_bytes
from ..._utils.progress import Progress, waiting
from ..._utils.temporary_folders import Temporary
from ...graph import bucket_kernels
from ...graph.compute import Compute
from ...graph.node_ids import NodeIds, canonical_integers
from ...graph.stored import StoredGraph, build_graph, open_graph
from ...graph.stored.meta import IDS
from ...graph.stored.writing import made_parents, require_new
from .content import Sample
from .edge_columns import choose_edge_columns
from .edge_files import EdgeTable, edge_files
from .edges import notes_on_edges, require_ends, warnings_on_numbers, weights_of
from .kinds import Roles
from .missing_values import notes_on_unused
from .several_files import TableFiles
from .sources import Files, Source, refuse_cells
from .text_formats import TextFormat
from .written_numbers import numbers_as_written, read_written, units_of, written_alike

_BYTES_PER_EDGE = 400  # while a chunk is read, numbered and distributed
_FEWEST, _MOST = 1 << 14, 1 << 22  # edges per chunk
_HEAD = 1000  # rows that show which columns are the ends
_LEAST_MEMORY = 1_000_000  # open files need that much
_WORDS_AT_ONCE = 1 << 12  # words of 64 bits, one per id, while the ids that occur are written


def build_graph_folder(
    edges: Files,
    folder: str | os.PathLike[str],
    *,
    roles: Roles | None = None,
    n_nodes: int | None = None,
    directed: bool = False,
    text_format: TextFormat | None = None,
    max_memory: int | str | None = None,
    overwrite: bool = False,
    progress: Progress = None,
) -> tuple[StoredGraph, list[str]]:
    """Build a graph folder from a table of edges that may be larger than memory.

    Ids may be integers with gaps or strings; the folder keeps them in ``ids.parquet``. String ids
    need additional memory, about a hundred bytes per node.

    Parameters
    ----------
    edges : path or sequence of paths
        Table of edges: Parquet (or a folder of Parquet parts), CSV, TSV or JSON lines, compressed
        or not. Several tables with the same columns are read as one.
    folder : path
        The folder to write.
    roles : Roles, default=None
        The columns of the start, end and weight of an edge. None finds them by name or position.
    n_nodes : int, default=None
        If given, ids are node numbers from 0 to ``n_nodes - 1``, and nodes without edges are kept.
    directed : bool, default=False
        Whether edges have a direction.
    text_format : TextFormat, default=None
        Delimiter, encoding and decimal sign of text files, and values that mean missing. None finds
        the former from the content.
    max_memory : int or str, default=None
        Memory to use at most, in bytes or as text such as "2GB". None uses a share of the free
        memory.
    overwrite : bool, default=False
        Whether to replace a graph folder that exists.
    progress : bool or None, default=None
        Whether to show a progress bar. None shows one on a terminal.

    Returns
    -------
    graph : StoredGraph
        The graph, opened from the folder.
    notes : list of str
        What was decided while reading, such as which column holds the weights.

    See Also
    --------
    build_graph : Write a graph folder from a stream of edges.
    open_graph : Open a graph folder.
    io.tables.read_frame : Read one table.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from labeltrick.io.tables import build_graph_folder
    >>> with tempfile.TemporaryDirectory() as place:
    ...     edges = Path(place) / "edges.csv"
    ...     size = edges.write_text("source,target\\nann,bob\\nbob,cem\\n")
    ...     graph, notes = build_graph_folder(edges, f"{place}/graph.lt", max_memory="100MB")
    ...     print(graph.n_nodes, graph.n_edges, graph.ids().to_list())
    3 2 ['ann', 'bob', 'cem']
    """
    memory = Compute(max_memory=max_memory).memory_bytes
    if memory < _LEAST_MEMORY:
        raise ValueError(
            f"`max_memory` must be at least {shown_bytes(_LEAST_MEMORY)} to build a graph; got "
            f"{max_memory!r}. A number without a unit is in bytes; write 2GB."
        )
    n_nodes = None if n_nodes is None else check_count("--n-nodes", n_nodes, 1)
    files = edge_files(TableFiles.of(edges, "edges"))
    target = Path(folder).expanduser()
    require_new(target, overwrite)  # before the file is read, which may take hours
    place, how = target.resolve(), text_format or TextFormat()
    with made_parents(place), Temporary(place) as scratch:
        with waiting("reading edges", progress):
            table = EdgeTable.of(files, scratch, how)
            stream = _EdgeStream(table, roles or Roles(), memory)
            if n_nodes is not None:
                numbering: _Given | _Ranked | _Listed = _Given(table.source, n_nodes)
            else:
                numbering = _find_ids(stream, memory)

        def chunks() -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray | None]]:
            for first, source, end, weights in stream.chunks():
                yield numbering.find(source, first), numbering.find(end, first), weights

        build_graph(
            chunks,
            target,
            n_nodes=numbering.n_nodes,
            directed=directed,
            max_memory=memory,
            overwrite=overwrite,
            progress=progress,
            also=numbering.write,
        )
    graph = open_graph(target)
    unused = notes_on_unused(how.missing, table.source.given_missing)
    merged = notes_on_edges(stream.n_edges - stream.n_zero, stream.n_edges, graph)
    return graph, [*stream.notes, *unused, *merged, *numbering.warnings()]


class _EdgeStream:
    """The edges of a table, in chunks, as many times as needed."""

    def __init__(self, table: EdgeTable, roles: Roles, memory: int) -> None:
        self._table, self.source = table, table.source
        self.notes = list(table.source.notes)
        head = table.head(_HEAD)
        found = choose_edge_columns(self.source, Sample.of(head), roles, None)
        self.ends, self._weight = (found.source, found.target), found.weight
        self.notes += found.notes(roles)
        self._sign: str | None = None  # of weights that are not written as plain numbers
        if found.weight is not None:
            self._look_at_weights(head[found.weight])
        self.n_edges = table.n_rows
        self.n_zero = 0  # edges with weight 0, known after `chunks` has ended
        self._rows = int(np.clip(memory // _BYTES_PER_EDGE, _FEWEST, _MOST))
        self.integers = False

    def _look_at_weights(self, some: pl.Series) -> None:
        numbers, note = numbers_as_written(self.source, some, required=True)
        self.notes += [note] if note else []
        decimal = self.source.decimal
        if some.dtype == pl.String and (decimal == "," or numbers is not some):
            found = read_written(some, decimal)
            self._sign = (found and found.decimal) or decimal or "."
            self._units = units_of(some)

    def frames(self, columns: list[str]) -> Iterator[tuple[int, pl.DataFrame]]:
        """Yield the first row and the rows of each chunk."""
        some = self._table.select(columns)
        for first in range(0, self.n_edges, self._rows):
            yield first, some.slice(first, self._rows).collect()

    def ids(self) -> Iterator[pl.Series]:
        """Yield the starts and ends of each chunk: integers if all ids are, else strings."""
        for first, frame in self.frames(list(self.ends)):
            for name in self.ends:
                yield self._ids(frame[name], first)

    def chunks(self) -> Iterator[tuple[int, pl.Series, pl.Series, np.ndarray | None]]:
        """Yield the first row, starts, ends and weights of each chunk."""
        name, self.n_zero = self._weight, 0
        for first, frame in self.frames([*self.ends, *([name] if name else [])]):
            weights = self._weights(frame[name], first) if name else None
            if weights is not None:
                self.n_zero += len(weights) - int(np.count_nonzero(weights))
            source, end = (self._ids(frame[end], first) for end in self.ends)
            yield first, source, end, weights

    def _weights(self, series: pl.Series, first: int) -> np.ndarray:
        if self._sign is not None:
            numbers = written_alike(series, self._sign, self._units)
            must = "be a weight ≥ 0, written like the first ones"
            rest = ". Correct it, or drop the row."
            refuse_cells(self.source, series, numbers.is_null(), must, rest, first)
            series = numbers
        return weights_of(self.source, series, first)

    def _ids(self, series: pl.Series, first: int) -> pl.Series:
        if series.dtype.is_float():
            series = series.fill_nan(None)
        require_ends(self.source, series, first)
        if not self.integers:
            return series.cast(pl.String)
        whole = canonical_integers(series)
        assert whole is not None  # `look_at_ids` has checked all ids
        return whole

    def look_at_ids(self) -> tuple[int, int]:
        """The smallest and largest id if all are integers, else (0, −1)."""
        bounds: list[Any] = []
        for _, frame in self.frames(list(self.ends)):
            for name in self.ends:
                whole = canonical_integers(frame[name])
                if whole is None:
                    return 0, -1
                found = [*bounds, whole.min(), whole.max()]
                known = [bound for bound in found if bound is not None]
                bounds = [min(known), max(known)] if known else []
        self.integers = True
        return (bounds[0], bounds[1]) if bounds else (0, 0)


class _Given:
    """Numbering of ids that are node numbers already."""

    def __init__(self, source: Source, n_nodes: int) -> None:
        self._source, self.n_nodes = source, n_nodes

    def find(self, ids: pl.Series, first: int) -> np.ndarray:
        whole = canonical_integers(ids)
        if whole is None:
            raise ValueError(
                f"`--n-nodes` must be left out unless all ids are integers; '{self._source}' has "
                f"the id {ids[0]!r} in column {ids.name!r}."
            )
        most = self.n_nodes - 1
        rest = ". Give a larger --n-nodes, or leave it out for ids of any kind."
        outside = (whole < 0) | (whole > most)
        must = f"be a node number from 0 to {most}"
        refuse_cells(self._source, whole, outside, must, rest, first)
        return whole.to_numpy()

    def write(self, folder: Path) -> None: ...

    def warnings(self) -> list[str]:
        return []


class _Ranked:
    """Numbering of integer ids by a bit for each number from the smallest to the largest."""

    def __init__(self, stream: _EdgeStream, low: int, high: int) -> None:
        self._low, self._size = low, high - low + 1
        self._words = np.zeros(((high - low) >> 6) + 1, np.uint64)
        for ids in stream.ids():
            values = ids.to_numpy()
            bucket_kernels.mark_bits(values, low, 0, len(values), self._words)
        self._ranks = np.empty(len(self._words), np.int64)
        self.n_nodes = int(bucket_kernels.ranks_of_words(self._words, self._ranks))

    def find(self, ids: pl.Series, first: int) -> np.ndarray:
        values, found = ids.to_numpy(), np.empty(len(ids), np.int64)
        bucket_kernels.rank_values(
            values, self._low, self._words, self._ranks, 0, len(values), found
        )
        return found

    def write(self, folder: Path) -> None:
        if self._low == 0 and self.n_nodes == self._size:
            return  # the ids are the node numbers
        parts = folder / "ids"
        parts.mkdir()
        for place, first in enumerate(range(0, len(self._words), _WORDS_AT_ONCE)):
            words = self._words[first : first + _WORDS_AT_ONCE]
            bits = np.unpackbits(words.view(np.uint8), bitorder="little")
            ids = np.flatnonzero(bits) + (self._low + 64 * first)
            # Padded with zeros, so that names sort like numbers.
            pl.DataFrame({"id": ids}).write_parquet(parts / f"{place:012}.parquet")
        pl.scan_parquet(sorted(parts.iterdir()), glob=False).sink_parquet(folder / IDS)
        shutil.rmtree(parts)

    def warnings(self) -> list[str]:
        return []


class _Listed:
    """Numbering of any ids, kept as a list in memory."""

    def __init__(self, stream: _EdgeStream) -> None:
        seen: pl.Series | None = None
        for ids in stream.ids():
            fresh = ids.alias("id").unique(maintain_order=True)
            seen = fresh if seen is None else pl.concat([seen, fresh]).unique(maintain_order=True)
        assert seen is not None
        self._ids = NodeIds(seen.sort() if stream.integers else seen)
        self.n_nodes = len(self._ids)

    def find(self, ids: pl.Series, first: int) -> np.ndarray:
        return self._ids.find(ids)

    def write(self, folder: Path) -> None:
        pl.DataFrame({"id": self._ids.ids}).write_parquet(folder / IDS)

    def warnings(self) -> list[str]:
        return warnings_on_numbers(self._ids.ids)


def _find_ids(stream: _EdgeStream, memory: int) -> _Ranked | _Listed:
    low, high = stream.look_at_ids()
    if stream.integers and (high - low) // 8 * 2 < memory // 4 + (1 << 20):
        return _Ranked(stream, low, high)
    return _Listed(stream)
