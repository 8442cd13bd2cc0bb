"""Checks of the counts and sizes that a Parquet file declares, before polars allocates memory.

Polars trusts the numbers in page headers. A single flipped bit can make it request more memory than
there is, and the process ends without an exception. The footer of the file gives the same numbers
for each column chunk, so every page is compared with its chunk. The headers are structs of Thrift's
compact protocol. They are small, and the pages themselves are not read.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_MAGIC = b"PAR1"
_DEEPEST = 32
# Fields of the structs, by their numbers in parquet.thrift.
_ROW_GROUPS, _COLUMNS, _CHUNK_META = 4, 1, 3
_N_VALUES, _UNPACKED, _PACKED, _DATA_OFFSET, _DICTIONARY_OFFSET = 5, 6, 7, 9, 11
_PAGE_UNPACKED, _PAGE_PACKED, _PAGE_KINDS, _DICTIONARY = 2, 3, (5, 7, 8), 7
_PAGE_N_VALUES = 1


def check_pages(path: Path, room: int) -> None:
    """Raise `ValueError` if a page declares more values or bytes than its column chunk, or a chunk
    more than ``room``."""
    with path.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for chunk in _chunks(data):
            _check_chunk(data, chunk, room)


def _chunks(data: mmap.mmap) -> Iterator[dict[int, Any]]:
    size = len(data)
    if size < 12 or data[:4] != _MAGIC or data[-4:] != _MAGIC:
        raise ValueError("a file that does not begin and end like Parquet")
    footer = int.from_bytes(data[-8:-4], "little")
    if footer > size - 12:
        raise ValueError("a footer longer than the file")
    meta = _Thrift(data, size - 8 - footer, size - 8).struct()
    for group in _listed(meta, _ROW_GROUPS):
        for column in _listed(group, _COLUMNS):
            chunk = column.get(_CHUNK_META)
            if isinstance(chunk, dict):  # else it is in another file, which polars refuses
                yield chunk


def _check_chunk(data: mmap.mmap, chunk: dict[int, Any], room: int) -> None:
    n_values, unpacked = _number(chunk, _N_VALUES), _number(chunk, _UNPACKED)
    if max(n_values, unpacked) > room:
        raise ValueError(f"a column that declares {max(n_values, unpacked):,} bytes or values")
    # Some writers give 0 where there is no dictionary.
    start = chunk.get(_DICTIONARY_OFFSET) or _number(chunk, _DATA_OFFSET)
    end = start + _number(chunk, _PACKED)
    if not 4 <= start <= end <= len(data):
        raise ValueError("a column beyond the end of the file")
    seen = 0
    while start < end and seen < n_values:
        header = _Thrift(data, start, end)
        page, start = header.struct(), header.at
        packed, page_unpacked = _number(page, _PAGE_PACKED), _number(page, _PAGE_UNPACKED)
        if page_unpacked > unpacked or packed > end - start:
            raise ValueError("a page larger than its column")
        start += packed
        for kind in _PAGE_KINDS:
            if isinstance(page.get(kind), dict):
                count = _number(page[kind], _PAGE_N_VALUES)
                # A dictionary may hold values that no row has, but each takes at least a byte.
                if count > (page_unpacked if kind == _DICTIONARY else n_values):
                    raise ValueError("a page with more values than its column")
                seen += count * (kind != _DICTIONARY)


def _number(struct: dict[int, Any], field: int) -> int:
    value = struct.get(field)
    if not isinstance(value, int) or value < 0:
        raise ValueError("a count or size that is missing or negative")
    return value


def _listed(struct: dict[int, Any], field: int) -> list[dict[int, Any]]:
    found = struct.get(field, [])
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise ValueError("a damaged footer")
    return found


class _Thrift:
    """A reader of Thrift's compact protocol, from ``at`` to ``end``."""

    def __init__(self, data: mmap.mmap, at: int, end: int) -> None:
        self._data, self.at, self._end = data, at, end

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """A struct as a dict from field number to value."""
        if depth > _DEEPEST:
            raise ValueError("a header with too many levels")
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._signed()
            kind = head & 15
            # The type of a boolean field is its value.
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (4, 5, 6):
            return self._signed()
        if kind in (9, 10):
            return self._list(depth)
        if kind == 12:
            return self.struct(depth + 1)
        if kind in (1, 2, 3):
            self.at += 1
        elif kind == 7:
            self.at += 8
        elif kind == 8:  # bytes of names and statistics, which are not needed
            length = self._varint()
            self.at += length
        else:
            raise ValueError("a header with a field of an unknown kind")
        return None

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        length = self._varint() if head >> 4 == 15 else head >> 4
        if length > self._end - self.at:  # an element takes at least one byte
            raise ValueError("a list longer than its header")
        return [self._value(head & 15, depth) for _ in range(length)]

    def _byte(self) -> int:
        if self.at >= self._end:
            raise ValueError("a header cut short")
        self.at += 1
        return self._data[self.at - 1]

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("a number of more than 64 bits")

    def _signed(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)
