"""Sorts entries that do not fit in memory into the rows of a graph folder.

Rows are joined into buckets that fit in memory, based on the counts of an earlier pass. Entries are
distributed to one file per bucket, row and column as one number. Then each bucket is read, sorted,
freed of duplicates and written. A bucket that does not fit (a hub, or one edge repeated many times)
is distributed again to finer ones, until each fits or repeats a single entry.

Files keep the order of the entries, and the weights of equal entries are added one by one in that
order: sums equal those of `Graph.from_edges`, bit for bit, and are the same in both directions.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..._utils.progress import ProgressBar
from .. import csr_kernels
from ..build import index_dtype
from .writing import RowWriter

_RANGE_BITS = 6  # the entries of 2⁶ rows are counted together
_ENTRY_BYTES = {False: 22, True: 48}  # an entry while it is sorted, by weighted
_ROW_BYTES = 56  # a row while it is written
_FINER = 256  # number of finer buckets that replace one that does not fit
_AT_ONCE = 1 << 18
_KEY, _WEIGHT = np.dtype(np.uint64), np.dtype(np.float64)


def with_counts(counts: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Counts of the entries of each range of rows, with those of ``rows`` added."""
    more = np.bincount(rows >> _RANGE_BITS, minlength=len(counts))
    more[: len(counts)] += counts
    return more


class _Bucket(NamedTuple):
    """A file of keys from low to high, and a file of their weights."""

    name: str
    low: int
    high: int


class ExternalSort:
    """Distributes entries to buckets (`deal`), then sorts and writes them (`write`)."""

    def __init__(
        self, folder: Path, counts: np.ndarray, n_nodes: int, memory: int, weighted: bool
    ) -> None:
        self.folder, self.n_nodes, self.weighted = folder, n_nodes, weighted
        self.dealt = 0
        self.parts = folder / "parts"
        self.parts.mkdir(parents=True)
        self.bits = max(1, int(n_nodes - 1).bit_length())
        room = memory // 3  # chunks take the rest
        self.most = max(1, room // _ENTRY_BYTES[weighted])
        widest = 1 << max(0, 63 - self.bits - _RANGE_BITS)  # a key must fit 64 bits
        ranges = np.zeros(((n_nodes - 1) >> _RANGE_BITS) + 1, np.int64)
        ranges[: len(counts)] = counts
        cost = ranges * _ENTRY_BYTES[weighted] + (_ROW_BYTES << _RANGE_BITS)
        self.cuts = _joined(cost, room, widest)  # first range of each bucket

    def deal(
        self, source: np.ndarray, target: np.ndarray, weights: Any, both: bool, bar: ProgressBar
    ) -> None:
        """Append entries to the files of their buckets."""
        if both:  # an edge's two entries are adjacent: both are summed in the order of edges
            kept = np.ones(2 * len(source), bool)
            kept[1::2] = source != target
            source, target = (np.column_stack([source, target]).ravel()[kept],
                              np.column_stack([target, source]).ravel()[kept])  # fmt: skip
            weights = None if weights is None else np.repeat(weights, 2)[kept]
        if not len(source):
            return
        bucket = np.searchsorted(self.cuts, source >> _RANGE_BITS, side="right") - 1
        source = source - (self.cuts[bucket] << _RANGE_BITS)
        keys = (source.astype(_KEY) << np.uint64(self.bits)) | target.astype(_KEY)
        self._spread("", bucket, len(self.cuts), keys, weights)
        self.dealt += len(keys)
        bar.advance(len(keys))

    def _spread(
        self, prefix: str, bucket: np.ndarray, n_buckets: int, keys: np.ndarray, weights: Any
    ) -> None:
        # NumPy sorts 16 bits by counting.
        narrow = np.uint16 if n_buckets <= 2**16 else np.uint32
        order = np.argsort(bucket.astype(narrow), kind="stable")
        bucket, keys = bucket[order], keys[order]
        weights = None if weights is None else weights[order].astype(_WEIGHT)
        bounds = np.flatnonzero(np.diff(bucket)) + 1
        for low, high in zip([0, *bounds], [*bounds, len(keys)], strict=True):
            name = f"{prefix}{bucket[low]}"
            self._append(f"{name}.keys", keys[low:high])
            if weights is not None:
                self._append(f"{name}.weights", weights[low:high])

    def _append(self, name: str, values: np.ndarray) -> None:
        with (self.parts / name).open("ab") as file:
            file.write(values.data)

    def write(
        self, directed: bool, weight_dtype: Any, bar: ProgressBar, *, is_reverse: bool
    ) -> None:
        """Sort the buckets and write their rows."""
        with RowWriter(
            self.folder, self.n_nodes, directed, weight_dtype, is_reverse=is_reverse
        ) as writer:
            ends = [*(self.cuts[1:] << _RANGE_BITS).tolist(), self.n_nodes]
            for place, end in enumerate(ends):
                first = int(self.cuts[place]) << _RANGE_BITS
                bucket = _Bucket(str(place), 0, ((end - first) << self.bits) - 1)
                self._write_rows(bucket, end - first, writer, bar)
        self.parts.rmdir()

    def _write_rows(
        self, bucket: _Bucket, n_rows: int, writer: RowWriter, bar: ProgressBar
    ) -> None:
        row = 0  # the first row that may get more entries
        for keys, weights in self._merged(bucket, bar):
            columns: np.ndarray = np.empty(len(keys), index_dtype(self.n_nodes))
            for first in range(0, len(keys), _AT_ONCE):  # without a copy of all keys
                part = slice(first, first + _AT_ONCE)
                columns[part] = keys[part] & np.uint64((1 << self.bits) - 1)
            keys >>= np.uint64(self.bits)
            rows = keys.view(np.int64)
            rows -= row
            degrees = np.bincount(rows)
            writer.append(degrees, columns, weights, goes_on=True)
            row += len(degrees) - 1
        none = np.zeros(0) if self.weighted else None
        writer.append(np.zeros(n_rows - row, np.int64), np.zeros(0, np.int32), none)

    def _merged(
        self, bucket: _Bucket, bar: ProgressBar
    ) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
        """(keys, weights) of a bucket, ascending and without duplicates, in parts that fit in
        memory. Removes its files."""
        count = self._count(bucket)
        if not count:
            return
        if count > self.most and bucket.low < bucket.high:
            for finer in self._finer(bucket):
                yield from self._merged(finer, bar)
            return
        yield self._sorted(bucket) if count <= self.most else self._single(bucket)
        bar.advance(count)

    def _count(self, bucket: _Bucket) -> int:
        file = self.parts / f"{bucket.name}.keys"
        return file.stat().st_size // _KEY.itemsize if file.exists() else 0

    def _read(self, bucket: _Bucket, kind: str) -> Iterator[np.ndarray]:
        """The numbers of a file, in parts that fit in memory; then removes the file."""
        file = self.parts / f"{bucket.name}.{kind}"
        dtype = _KEY if kind == "keys" else _WEIGHT
        with file.open("rb") as opened:
            while len(values := np.fromfile(opened, dtype, self.most)):
                yield values
        file.unlink()

    def _both(self, bucket: _Bucket) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
        keys = self._read(bucket, "keys")
        if self.weighted:
            yield from zip(keys, self._read(bucket, "weights"), strict=True)
        else:
            yield from ((part, None) for part in keys)

    def _finer(self, bucket: _Bucket) -> list[_Bucket]:
        step = (bucket.high - bucket.low) // _FINER + 1
        lows = list(range(bucket.low, bucket.high + 1, step))
        for keys, weights in self._both(bucket):
            place = ((keys - np.uint64(bucket.low)) // np.uint64(step)).astype(np.int64)
            self._spread(f"{bucket.name}.", place, len(lows), keys, weights)
        return [_Bucket(f"{bucket.name}.{place}", low, min(low + step - 1, bucket.high))
                for place, low in enumerate(lows)]  # fmt: skip

    def _sorted(self, bucket: _Bucket) -> tuple[np.ndarray, np.ndarray | None]:
        [(keys, weights)] = self._both(bucket)
        if weights is None:
            keys.sort()
        else:
            order = np.argsort(keys, kind="stable")
            keys, weights = keys[order], weights[order]
            del order
        whole = np.array([0, len(keys)])
        size = csr_kernels.merge_duplicates(whole, keys, weights, np.empty_like(whole))
        return keys[:size], None if weights is None else weights[:size]

    def _single(self, bucket: _Bucket) -> tuple[np.ndarray, np.ndarray | None]:
        """A bucket that repeats one key."""
        (self.parts / f"{bucket.name}.keys").unlink()
        key = np.array([bucket.low], _KEY)
        if not self.weighted:
            return key, None
        total = np.zeros(1)
        for weights in self._read(bucket, "weights"):
            csr_kernels.add_row_sums(np.array([0, len(weights)]), weights, total)
        return key, total


def _joined(cost: np.ndarray, most: int, widest: int) -> np.ndarray:
    """First range of each bucket: ranges are joined while they cost at most ``most``."""
    ends = np.cumsum(cost)
    cuts = [0]
    while True:
        spent = int(ends[cuts[-1] - 1]) if cuts[-1] else 0
        fits = int(np.searchsorted(ends, spent + most, side="right"))
        cut = max(cuts[-1] + 1, min(fits, cuts[-1] + widest))
        if cut >= len(cost):
            return np.array(cuts, np.int64)
        cuts.append(cut)
