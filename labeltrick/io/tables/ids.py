"""Node ids (strings, or integers in any order and with gaps) and their numbers 0…n−1."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ..._utils.threads import get_num_threads, run_chunks
from ...graph import bucket_kernels
from .frames import cell_name

_DENSE = 4  # ids are looked up in a table if their range is at most that many times their count


def canonical_integers(series: pl.Series) -> pl.Series | None:
    """Ids as integers, or None if some are not: "7" is an integer, "007" and "7a" are names."""
    if series.dtype.is_integer():
        whole = series.cast(pl.Int64, strict=False)  # unsigned ones may not fit
        return whole if whole.null_count() == series.null_count() else None
    if series.dtype.is_float():
        series = series.fill_nan(None)
        whole = series.cast(pl.Int64, strict=False)  # infinity becomes null
        same = (whole.cast(pl.Float64) == series).fill_null(True).all()
        return whole if same and whole.null_count() == series.null_count() else None
    if series.dtype != pl.String:
        return None
    whole = series.cast(pl.Int64, strict=False)
    same = (whole.cast(pl.String) == series) | series.is_null()
    return whole if same.fill_null(False).all() else None


@dataclass(frozen=True)
class NodeIds:
    """The ids of the nodes.

    Attributes
    ----------
    ids : polars.Series
        One id per node, in the order of the nodes.
    """

    ids: pl.Series

    def __len__(self) -> int:
        return len(self.ids)

    def find(self, wanted: pl.Series) -> np.ndarray:
        """The node number of each id; −1 for an id that no node has."""
        if not self.ids.dtype.is_integer():
            mine = pl.DataFrame({"id": self.ids, "at": np.arange(len(self.ids))})
            asked = pl.DataFrame({"id": wanted.cast(pl.String)})
            found = asked.join(mine, on="id", how="left", maintain_order="left")["at"]
            return found.fill_null(-1).to_numpy()
        return _find_integers(self.ids.to_numpy(), wanted.to_numpy())


def _find_integers(ids: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    if not len(ids) or not len(wanted):
        return np.full(len(wanted), -1)
    low, high = int(ids.min()), int(ids.max())
    width = high - low + 1
    if width == len(ids) and np.array_equal(ids, np.arange(low, high + 1)):
        found = wanted - low if low else wanted
        outside = (wanted < low) | (wanted > high)
        return np.where(outside, -1, found) if outside.any() else found
    if width <= _DENSE * len(ids) + 1_000_000:
        place = np.full(width, -1, np.int32 if len(ids) < 2**31 else np.int64)
        place[ids - low] = np.arange(len(ids), dtype=place.dtype)
        found = np.empty(len(wanted), place.dtype)
        run_chunks(
            lambda first, stop: bucket_kernels.look_up(wanted, low, place, first, stop, found),
            _cuts(len(wanted)),
        )
        return found
    order = np.argsort(ids, kind="stable")
    at = np.searchsorted(ids[order], wanted).clip(max=len(ids) - 1)
    return np.where(ids[order][at] == wanted, order[at], -1)


def _cuts(n: int) -> np.ndarray:
    """Boundaries of chunks for threads; a single chunk where threads would not pay off."""
    parts = 4 * get_num_threads() if n > 1_000_000 else 1
    return np.linspace(0, n, parts + 1).astype(np.int64)


@dataclass(frozen=True)
class _Pieces:
    """The consecutive arrays of a polars column. Copying a large column into one array would take
    longer than numbering it."""

    arrays: list[np.ndarray]
    starts: list[int]
    size: int

    @classmethod
    def of(cls, series: pl.Series) -> _Pieces:
        arrays = [chunk.to_numpy() for chunk in series.get_chunks()]
        ends = np.cumsum([len(array) for array in arrays]).tolist()
        return cls(arrays, [0, *ends[:-1]], len(series))

    def groups(self) -> np.ndarray:
        """Boundaries of groups of arrays, one group per thread."""
        parts = min(len(self.arrays), 4 * get_num_threads())
        return np.unique(np.linspace(0, len(self.arrays), parts + 1).astype(np.int64))


def _marked(columns: tuple[_Pieces, _Pieces], low: int, high: int) -> np.ndarray:
    """A bit for each number from the smallest to the largest id, set if an edge has that id."""
    n_words = ((high - low) >> 6) + 1
    words = np.zeros(n_words, np.uint64)
    for column in columns:

        def mark(first: int, stop: int, column: _Pieces = column) -> np.ndarray:
            mine = np.zeros(n_words, np.uint64)  # threads must not share a word
            for values in column.arrays[first:stop]:
                bucket_kernels.mark_bits(values, low, 0, len(values), mine)
            return mine

        for part in run_chunks(mark, column.groups()):
            words |= part
    return words


def number_edges(source: pl.Series, target: pl.Series) -> tuple[NodeIds, np.ndarray, np.ndarray]:
    """Number the nodes that edges name: the ids, and the number of each start and each end.

    Integer ids are numbered in ascending order, strings in order of appearance.
    """
    if source.dtype.is_integer() and len(source):
        bounds: list[Any] = [source.min(), target.min(), source.max(), target.max()]
        low, high = int(min(bounds[:2])), int(max(bounds[2:]))
        if high - low + 1 <= 64 * (2 * len(source) + 1_000_000):
            return _number_by_rank((_Pieces.of(source), _Pieces.of(target)), low, high)
    both = pl.concat([source.alias("id"), target.alias("id")]).unique(maintain_order=True)
    ids = NodeIds(both.sort() if source.dtype.is_integer() else both)
    return ids, ids.find(source), ids.find(target)


def _number_by_rank(
    columns: tuple[_Pieces, _Pieces], low: int, high: int
) -> tuple[NodeIds, np.ndarray, np.ndarray]:
    words = _marked(columns, low, high)
    ranks = np.empty(len(words), np.int64)
    n = bucket_kernels.ranks_of_words(words, ranks)
    found = []
    for column in columns:
        out = np.empty(column.size, np.int32 if n < 2**31 else np.int64)

        def rank(first: int, stop: int, column: _Pieces = column, out: np.ndarray = out) -> None:
            for k in range(first, stop):
                values, start = column.arrays[k], column.starts[k]
                mine = out[start : start + len(values)]
                bucket_kernels.rank_values(values, low, words, ranks, 0, len(values), mine)

        run_chunks(rank, column.groups())
        found.append(out)
    bits = np.unpackbits(words.view(np.uint8), bitorder="little")[: high - low + 1]
    return NodeIds(pl.Series("id", np.flatnonzero(bits) + low)), found[0], found[1]


def require_known(
    file: Path, columns: tuple[str, str], found: tuple[np.ndarray, np.ndarray], ids: Any
) -> None:
    """Raise `ValueError` for the first end of an edge that is not a node."""
    for name, numbers, values in zip(columns, found, ids, strict=True):
        unknown = numbers < 0
        if unknown.any():
            row = int(np.argmax(unknown))
            raise ValueError(
                f"{cell_name(file, row, name)} must be a node of the node table; got "
                f"{values[row]!r}, which it does not list ({int(unknown.sum()):,} such cells in "
                "this column). Add the node there, or pass --unknown-nodes add (to add nodes "
                "without columns) or drop (to leave such edges out)."
            )
