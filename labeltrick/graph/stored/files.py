"""Arrays in .npy files: written sequentially, read in windows."""

from __future__ import annotations

import hashlib
import mmap
import os
import tempfile
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..._utils.disk_full import no_space
from ..._utils.fingerprints import as_bytes
from ..._utils.memory import shown_bytes

HEADER = 128  # bytes before the numbers of each .npy file
_BLOCK = 1 << 20


def _header(dtype: np.dtype, length: int) -> bytes:
    described = {"descr": dtype.str, "fortran_order": False, "shape": (length,)}
    text = repr(described).encode()
    start = b"\x93NUMPY\x01\x00" + (HEADER - 10).to_bytes(2, "little")
    return start + text.ljust(HEADER - 11) + b"\n"


def data_checksum(path: Path, dtype: Any, length: int) -> str | None:
    """SHA-256 of the numbers in a .npy file; None if its header differs from the description."""
    digest, block = hashlib.sha256(), bytearray(_BLOCK)
    with path.open("rb", buffering=0) as file:
        if file.read(HEADER) != _header(np.dtype(dtype), length):
            return None
        while size := file.readinto(block):
            digest.update(memoryview(block)[:size])
    return digest.hexdigest()


class ArrayWriter:
    """Writes a one-dimensional .npy file whose length is known only at the end. The checksum, which
    is computed on the way, covers the numbers; the header follows from their type and length."""

    def __init__(self, path: Path, dtype: Any) -> None:
        self.dtype, self.length = np.dtype(dtype), 0
        self._digest = hashlib.sha256()
        self._file = path.open("wb")
        self._file.write(bytes(HEADER))

    def append(self, values: np.ndarray) -> None:
        plain = np.ascontiguousarray(values, self.dtype)
        self._file.write(plain.data)  # the errors of `tofile` do not state their cause
        self._digest.update(as_bytes(plain))
        self.length += len(values)

    @property
    def checksum(self) -> str:
        return self._digest.hexdigest()

    def close(self) -> None:
        self._file.seek(0)
        self._file.write(_header(self.dtype, self.length))
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def abandon(self) -> None:
        """Close a file that will not be used; on a full disk even that can fail."""
        with suppress(OSError):
            self._file.close()


class StoredArray:
    """A .npy file that is mapped when needed, completely or in windows."""

    def __init__(self, path: Path, dtype: str, length: int) -> None:
        self.path, self.dtype, self.length = path, np.dtype(dtype), length
        self.nbytes = length * self.dtype.itemsize

    def window(self, first: int, stop: int, *, ahead: bool = False) -> np.ndarray:
        """Values [first, stop), read-only; the map is closed with the last array that uses it.

        ``ahead`` asks the system to start reading them from disk.
        """
        if stop <= first:
            return np.empty(0, self.dtype)
        begin = HEADER + first * self.dtype.itemsize
        skipped = begin % mmap.ALLOCATIONGRANULARITY
        size = skipped + (stop - first) * self.dtype.itemsize
        with self.path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ, offset=begin - skipped)
        if ahead and hasattr(mmap, "MADV_WILLNEED"):
            mapped.madvise(mmap.MADV_WILLNEED)
        return np.frombuffer(mapped, self.dtype, stop - first, skipped)

    def read(self, first: int, stop: int) -> np.ndarray:
        """Values [first, stop), copied."""
        offset = HEADER + first * self.dtype.itemsize
        return np.fromfile(self.path, self.dtype, stop - first, offset=offset)

    @cached_property
    def whole(self) -> np.ndarray:
        return self.window(0, self.length)


def mapped_array(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An array in an unnamed temporary file, which is removed with the array in any case. The
    environment variable TMPDIR sets its folder."""
    size = int(np.prod(shape)) * dtype.itemsize
    with tempfile.TemporaryFile(prefix="labeltrick-") as file:
        try:
            if hasattr(os, "posix_fallocate"):  # or writing to the map would crash
                os.posix_fallocate(file.fileno(), 0, max(1, size))
            else:
                file.truncate(max(1, size))
        except OSError as error:
            advice = "set TMPDIR to a folder with more"
            raise no_space(error, tempfile.gettempdir(), shown_bytes(size), advice) from None
        mapped = mmap.mmap(file.fileno(), max(1, size))
    return np.frombuffer(mapped, dtype, size // dtype.itemsize).reshape(shape)
