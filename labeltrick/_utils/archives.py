"""Reads compressed files and archives that cannot be trusted.

What an archive declares (names, sizes, shapes, types) is compared with its content before memory is
allocated, and every problem becomes one `ValueError` that names the file.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import math
import struct
import tarfile
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from . import memory
from .memory import shown_bytes

UNREADABLE: tuple[type[Exception], ...] = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, struct.error, OSError, ValueError,
    LookupError, OverflowError, MemoryError, RuntimeError, SyntaxError, tokenize.TokenError,
    tarfile.TarError,
)  # fmt: skip
"""What the standard library and NumPy raise for damaged, incomplete or hostile files."""

OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
"""How to open a compressed file, by its suffix."""

_BLOCK = 1 << 20
_MOST_MEMBERS = 10_000
_ENCRYPTED = 0x1
_LAST_LETTER = 0x10FFFF
_HEADERS: dict[tuple[int, int], Callable[..., Any]] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


@contextmanager
def refusing(path: Path | str, wanted: str, advice: str) -> Iterator[None]:
    """Turn errors of damaged files into one `ValueError` that names the file. Errors of missing
    files, and those that already name the file, pass unchanged."""
    try:
        yield
    except UNREADABLE as error:
        named = isinstance(error, ValueError) and str(path) in str(error)
        if named or isinstance(error, FileNotFoundError):
            raise
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:200].rstrip(".")
        if isinstance(error, MemoryError):
            reason = "more than fits in memory"
        elif isinstance(error, RecursionError):
            reason = "parts nested too deeply"
        raise ValueError(f"`{path}` must be {wanted}; got: {reason}. {advice}") from None


def unpack(path: Path, max_bytes: int | None = None) -> bytes:
    """The content of a ``.gz``, ``.bz2`` or ``.xz`` file, up to ``max_bytes`` (by default
    `memory.room`): a few megabytes can hold gigabytes of zeros."""
    limit = memory.room() if max_bytes is None else max_bytes
    blocks, size = [], 0
    with (
        refusing(path, "a file that can be unpacked", "Copy or export it again."),
        OPENERS[path.suffix.lower()](path, "rb") as packed,
    ):
        if not path.stat().st_size:  # decompressors accept an empty file
            raise EOFError("an empty file")
        while block := packed.read(_BLOCK):
            size += len(block)
            if size > limit:
                raise ValueError(f"more than {shown_bytes(limit)} in {path.stat().st_size:,} bytes")
            blocks.append(block)
    return b"".join(blocks)


class ArrayArchive:
    """A NumPy archive (``.npz``) that cannot be trusted.

    Arrays hold numbers or text, never objects, which would be unpickled. Together they unpack to
    at most ``max_bytes`` (by default `memory.room`).
    """

    def __init__(self, path: Path, advice: str, max_bytes: int | None = None) -> None:
        self.path = path
        self._advice = advice
        limit = memory.room() if max_bytes is None else max_bytes
        with self._refusing(), zipfile.ZipFile(path) as archive:
            self._members = _members(archive, limit)

    @property
    def names(self) -> list[str]:
        return list(self._members)

    def read(self, name: str) -> np.ndarray:
        """Read one array; a `ValueError` if it is missing or not what it claims to be."""
        with self._refusing(), zipfile.ZipFile(self.path) as archive:
            if name not in self._members:
                held = ", ".join(self.names) or "nothing"
                raise ValueError(f"no array {name!r} (it holds {held})")
            info = self._members[name]
            with archive.open(info) as stream:
                shape, dtype = _header(stream, name)
                if dtype.hasobject:
                    raise ValueError(f"{name!r} holds objects, which would have to be unpickled")
                if dtype.kind not in "biufUS":
                    raise ValueError(f"{name!r} holds {dtype}, neither numbers nor text")
                n_bytes = math.prod(shape) * dtype.itemsize
                left = info.file_size - stream.tell()
                if n_bytes != left:
                    raise ValueError(
                        f"{name!r} claims the shape {shape} of {dtype}, {n_bytes:,} bytes, and has "
                        f"{left:,}"
                    )
            with archive.open(info) as stream:
                array = np.lib.format.read_array(stream, allow_pickle=False)
                if stream.read(1):  # zip compares checksums at the end
                    raise ValueError("more bytes than declared")
        if dtype.kind == "b" and array.view(np.uint8).max(initial=0) > 1:
            raise ValueError(
                f"`{name}` in '{self.path}' must hold only true and false; got other bytes."
            )
        array = array.astype(dtype.newbyteorder("="), copy=False)
        # Python raises a SystemError if text holds a number that is not a character.
        if dtype.kind == "U" and n_bytes and array.ravel("K").view(np.uint32).max() > _LAST_LETTER:
            raise ValueError(f"`{name}` in '{self.path}' must hold text; got other bytes.")
        return array

    def holds_objects(self, name: str) -> bool:
        """Whether an array would have to be unpickled."""
        with (
            self._refusing(),
            zipfile.ZipFile(self.path) as archive,
            archive.open(self._members[name]) as stream,
        ):
            return _header(stream, name)[1].hasobject

    def read_all(self) -> dict[str, np.ndarray]:
        return {name: self.read(name) for name in self._members}

    def _refusing(self) -> Any:
        return refusing(self.path, "a NumPy archive without pickles", self._advice)


def _members(archive: zipfile.ZipFile, limit: int) -> dict[str, zipfile.ZipInfo]:
    """The entry of each array, after checking what all entries declare."""
    entries = archive.infolist()
    if len(entries) > _MOST_MEMBERS:
        raise ValueError(f"{len(entries):,} members, more than {_MOST_MEMBERS:,}")
    found: dict[str, zipfile.ZipInfo] = {}
    for entry in entries:
        name = entry.filename.removesuffix(".npy")
        if name == entry.filename:
            raise ValueError(f"a member {entry.filename!r}, which is not an array")
        if name in found:
            raise ValueError(f"two members {entry.filename!r}")
        if entry.flag_bits & _ENCRYPTED:
            raise ValueError(f"an encrypted member {entry.filename!r}")
        found[name] = entry
    total = sum(entry.file_size for entry in entries)
    if total > limit:
        raise ValueError(f"arrays of {total:,} bytes, more than the {shown_bytes(limit)} allowed")
    return found


def _header(stream: Any, name: str) -> tuple[tuple[int, ...], np.dtype]:
    version = np.lib.format.read_magic(stream)
    if version not in _HEADERS:
        raise ValueError(f"{name!r} in the unknown array format {version[0]}.{version[1]}")
    shape, _, dtype = _HEADERS[version](stream)
    if any(length < 0 for length in shape):
        raise ValueError(f"{name!r} claims the shape {shape}")
    return shape, dtype
