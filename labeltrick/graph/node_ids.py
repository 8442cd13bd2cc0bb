"""Node ids (strings, or integers in any order and with gaps) and their numbers 0…n−1."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import polars as pl

from .._utils.threads import get_num_threads, run_chunks
from . import bucket_kernels, name_kernels

Keys = tuple[np.ndarray, np.ndarray]  # two hashes of each string
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
    return None if _names_integers(series.head(1000)) is None else _names_integers(series)


def _names_integers(series: pl.Series) -> pl.Series | None:
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

    See Also
    --------
    io.tables.read_problem : Read a graph with columns and labels from files.
    io.tables.Problem : A graph with columns and labels.

    Examples
    --------
    >>> import polars as pl
    >>> from labeltrick.io.tables import NodeIds
    >>> ids = NodeIds(pl.Series(["ann", "bob", "cem"]))
    >>> ids.find(pl.Series(["cem", "dia"])).tolist()
    [2, -1]
    """

    ids: pl.Series

    def __len__(self) -> int:
        return len(self.ids)

    def find(self, wanted: pl.Series) -> np.ndarray:
        """The node number of each id; −1 for an id that no node has."""
        if not self.ids.dtype.is_integer():
            return _find_strings(self.ids, wanted.cast(pl.String))
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
        n_chunks = 4 * get_num_threads() if len(wanted) > 1_000_000 else 1  # else not worth it
        run_chunks(
            lambda first, stop: bucket_kernels.look_up(wanted, low, place, first, stop, found),
            np.linspace(0, len(wanted), n_chunks + 1).astype(np.int64),
        )
        return found
    order = np.argsort(ids, kind="stable")
    at = np.searchsorted(ids[order], wanted).clip(max=len(ids) - 1)
    return np.where(ids[order][at] == wanted, order[at], -1)


def number_edges(source: pl.Series, target: pl.Series) -> tuple[NodeIds, np.ndarray, np.ndarray]:
    """Number the nodes that edges name: the ids, and the number of each start and each end.

    Integer ids are numbered in ascending order, strings in order of appearance.
    """
    if source.dtype.is_integer() and len(source):
        bounds: list[Any] = [source.min(), target.min(), source.max(), target.max()]
        low, high = int(min(bounds[:2])), int(max(bounds[2:]))
        if high - low + 1 <= 64 * (2 * len(source) + 1_000_000):
            return _number_by_rank((source, target), low, high)
    if source.dtype == pl.String:
        return _number_strings(source, target)
    both = pl.concat([source.alias("id"), target.alias("id")]).unique(maintain_order=True)
    ids = NodeIds(both.sort())
    return ids, ids.find(source), ids.find(target)


def _number_by_rank(
    columns: tuple[pl.Series, pl.Series], low: int, high: int
) -> tuple[NodeIds, np.ndarray, np.ndarray]:
    """Number integers by a bit for each number from the smallest to the largest id, set if an edge
    has that id. Columns stay in pieces: copying them into one array would take longer."""
    pieces = [[chunk.to_numpy() for chunk in column.get_chunks()] for column in columns]
    values = [*pieces[0], *pieces[1]]
    n_groups = min(len(values), 4 * get_num_threads())
    groups = np.unique(np.linspace(0, len(values), n_groups + 1).astype(np.int64))

    def mark(first: int, stop: int) -> np.ndarray:
        mine = np.zeros(((high - low) >> 6) + 1, np.uint64)  # threads must not share a word
        for piece in values[first:stop]:
            bucket_kernels.mark_bits(piece, low, 0, len(piece), mine)
        return mine

    words = reduce(np.bitwise_or, run_chunks(mark, groups))
    ranks = np.empty(len(words), np.int64)
    n = bucket_kernels.ranks_of_words(words, ranks)
    found = [np.empty(len(column), np.int32 if n < 2**31 else np.int64) for column in columns]
    numbers = []
    for column, parts in zip(found, pieces, strict=True):
        numbers += np.split(column, np.cumsum([len(part) for part in parts])[:-1])

    def rank(first: int, stop: int) -> None:
        for k in range(first, stop):
            bucket_kernels.rank_values(values[k], low, words, ranks, 0, len(values[k]), numbers[k])

    run_chunks(rank, groups)
    bits = np.unpackbits(words.view(np.uint8), bitorder="little")[: high - low + 1]
    return NodeIds(pl.Series("id", np.flatnonzero(bits) + low)), found[0], found[1]


# -- strings -----------------------------------------------------------------------------------
class _Numbering:
    """Numbers of strings in the order in which they first appear.

    Strings are compared by 96 bits of hashes with random seeds: among a hundred million strings,
    the probability that any two different ones agree is below 1e-13, less than that of an error in
    memory. Hashing and numbering take a third of the time of polars' joins.
    """

    def __init__(self, seeds: tuple[int, int]) -> None:
        self.seeds = seeds
        self.slots = np.zeros((1 << 12, 2), np.uint64)
        self.firsts = np.empty(1 << 11, np.int64)
        self.n_known = 0

    def keys(self, column: pl.Series) -> Keys:
        first, second = (column.hash(seed).to_numpy() for seed in self.seeds)
        return first, second

    def insert(self, keys: Keys) -> np.ndarray:
        """The number of each key; new keys are added."""
        codes = np.empty(len(keys[0]), np.int32)
        row = 0
        while True:
            state = (self.slots, self.n_known, self.firsts, codes)
            row, self.n_known = name_kernels.insert(*keys, row, *state)
            if row == len(codes):
                return codes
            self._grow()

    def _grow(self) -> None:
        old, self.slots = self.slots, np.zeros((4 * len(self.slots), 2), np.uint64)
        self.firsts = np.resize(self.firsts, len(self.slots) // 2)
        name_kernels.move(old, self.slots)

    def find(self, keys: Keys) -> np.ndarray:
        """The number of each key; −1 if it is not known."""
        codes = np.empty(len(keys[0]), np.int32)
        cuts = np.linspace(0, len(codes), get_num_threads() + 1).astype(np.int64)
        table = self.slots
        run_chunks(lambda a, b: name_kernels.find(*keys, table, a, b, codes), np.unique(cuts))
        return codes


def _random_seeds() -> tuple[int, int]:
    return secrets.randbits(63), secrets.randbits(63)


def _find_strings(ids: pl.Series, wanted: pl.Series) -> np.ndarray:
    if not len(ids) or not len(wanted):
        return np.full(len(wanted), -1)
    table = _Numbering(_random_seeds())
    table.insert(table.keys(ids))
    found = table.find(table.keys(wanted)).astype(np.int64)  # ids differ: numbers are their rows
    found[wanted.is_null().to_numpy()] = -1
    return found


def _number_strings(source: pl.Series, target: pl.Series) -> tuple[NodeIds, np.ndarray, np.ndarray]:
    """Starts and ends are numbered at the same time; then the names of ends get the numbers of
    equal names of starts. A single thread numbers them one after the other, which is less work."""
    if get_num_threads() == 1:
        return _number_in_turn(source, target)
    seeds = _random_seeds()
    tables = [_Numbering(seeds), _Numbering(seeds)]
    columns = (source, target)

    def number(first: int, stop: int) -> list[tuple[np.ndarray, Keys]]:
        found = []
        for k in range(first, stop):
            keys = tables[k].keys(columns[k])
            codes = tables[k].insert(keys)
            rows = tables[k].firsts[: tables[k].n_known]
            found.append((codes, (keys[0][rows], keys[1][rows])))
        return found

    (starts, _), (ends, theirs) = (x for part in run_chunks(number, np.arange(3)) for x in part)
    same = tables[0].find(theirs)
    new = np.flatnonzero(same < 0)
    same[new] = tables[0].n_known + np.arange(len(new))
    names = [source.gather(tables[0].firsts[: tables[0].n_known])]
    names.append(target.gather(tables[1].firsts[: tables[1].n_known][new]))
    return NodeIds(pl.concat(name.alias("id") for name in names)), starts, same[ends]


def _number_in_turn(source: pl.Series, target: pl.Series) -> tuple[NodeIds, np.ndarray, np.ndarray]:
    table = _Numbering(_random_seeds())
    starts = table.insert(table.keys(source))
    n_starts = table.n_known
    ends = table.insert(table.keys(target))
    firsts = table.firsts[: table.n_known]
    names = [source.gather(firsts[:n_starts]), target.gather(firsts[n_starts:])]
    return NodeIds(pl.concat(name.alias("id") for name in names)), starts, ends
