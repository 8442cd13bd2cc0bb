"""The files of a graph folder: written from front to back, read a window at a time.

A folder holds ``meta.json`` and arrays as numpy's .npy files, which `numpy.load` can read too:

=================  ==========================================================================
indptr.npy         int64, n + 1: where each row begins in ``indices``
indices.npy        int32 (int64 from 2³¹ nodes on): the neighbours of each row, ascending
weights.npy        float32 or float64, only for a weighted graph: their weights
strengths.npy      float64, only for a weighted graph: the sum of each row's weights
loops.npy          int64: the nodes that have an edge to themselves, ascending
ids.parquet        only where nodes are not numbered 0…n−1 by their maker: ``id`` of each node
reversed/          only for a directed graph: the same files for the reversed edges
=================  ==========================================================================

``meta.json`` is written last and names every file with its length: a folder without it, or with
shorter files, was cut short.
"""

from __future__ import annotations

import errno
import json
import mmap
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from .._compute import shown_bytes

FORMAT, VERSION = "labeltrick graph", 1
REVERSED = "reversed"  # folder of the reversed edges
_HEADER = 128  # bytes before the numbers of each .npy file


def _header(dtype: np.dtype, length: int) -> bytes:
    described = {"descr": dtype.str, "fortran_order": False, "shape": (length,)}
    text = repr(described).encode()
    start = b"\x93NUMPY\x01\x00" + (_HEADER - 10).to_bytes(2, "little")
    return start + text.ljust(_HEADER - 11) + b"\n"


class ArrayWriter:
    """A .npy file of one dimension whose length is known at the end only."""

    def __init__(self, path: Path, dtype: Any) -> None:
        self.dtype, self.length = np.dtype(dtype), 0
        self._file = path.open("wb")
        self._file.write(bytes(_HEADER))

    def append(self, values: np.ndarray) -> None:
        np.ascontiguousarray(values, self.dtype).tofile(self._file)
        self.length += len(values)

    def close(self) -> None:
        self._file.seek(0)
        self._file.write(_header(self.dtype, self.length))
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def __enter__(self) -> ArrayWriter:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            self.close()
        else:
            self._file.close()


class StoredArray:
    """A .npy file that is mapped when asked for, all of it or a window."""

    def __init__(self, path: Path, dtype: str, length: int) -> None:
        self.path, self.dtype, self.length = path, np.dtype(dtype), length
        self.nbytes = length * self.dtype.itemsize

    def window(self, first: int, stop: int, *, ahead: bool = False) -> np.ndarray:
        """Values [first, stop), read-only; the map goes with the last array that uses it.

        ``ahead``: have the system read them from disk already.
        """
        if stop <= first:
            return np.empty(0, self.dtype)
        begin = _HEADER + first * self.dtype.itemsize
        skipped = begin % mmap.ALLOCATIONGRANULARITY
        size = skipped + (stop - first) * self.dtype.itemsize
        with self.path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ, offset=begin - skipped)
        if ahead and hasattr(mmap, "MADV_WILLNEED"):
            mapped.madvise(mmap.MADV_WILLNEED)
        return np.frombuffer(mapped, self.dtype, stop - first, skipped)

    def read(self, first: int, stop: int) -> np.ndarray:
        """Values [first, stop), copied."""
        offset = _HEADER + first * self.dtype.itemsize
        return np.fromfile(self.path, self.dtype, stop - first, offset=offset)

    @cached_property
    def whole(self) -> np.ndarray:
        return self.window(0, self.length)


def mapped_array(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An array in a file of its own. The file has no name: it goes with the array, whatever
    happens. Set TMPDIR for another place."""
    size = int(np.prod(shape)) * dtype.itemsize
    with tempfile.TemporaryFile(prefix="labeltrick-") as file:
        try:
            if hasattr(os, "posix_fallocate"):  # or writing to the map would crash
                os.posix_fallocate(file.fileno(), 0, max(1, size))
            else:
                file.truncate(max(1, size))
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            raise OSError(
                errno.ENOSPC,
                f"no space for {shown_bytes(size)} in '{tempfile.gettempdir()}': set TMPDIR to a "
                "folder with more",
            ) from None
        mapped = mmap.mmap(file.fileno(), max(1, size))
    return np.frombuffer(mapped, dtype, size // dtype.itemsize).reshape(shape)


def read_meta(folder: Path) -> dict[str, Any]:
    """``meta.json`` of a graph folder whose files are all there, and as long as they should be."""
    if not folder.exists():
        raise FileNotFoundError(
            f"`{folder}` must be a graph folder; it does not exist. Make one with: labeltrick "
            "graph build edges.parquet graph.lt"
        )
    file = folder / "meta.json"
    if not folder.is_dir() or not file.exists():
        raise ValueError(
            f"`{folder}` must be a graph folder; it has no meta.json: it is something else, or was "
            "cut short. Make it again with: labeltrick graph build"
        )
    try:
        meta = json.loads(file.read_text())
        kind, version, files = meta["format"], meta["version"], dict(meta["files"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"`{file}` must describe a graph; it cannot be read ({error}).") from None
    if kind != FORMAT or version != VERSION:
        raise ValueError(
            f"`{folder}` must be a graph folder of version {VERSION}; got {kind!r}, version "
            f"{version}. Make it again with this version of labeltrick."
        )
    for name, described in files.items():
        size = _HEADER + described["length"] * np.dtype(described["dtype"]).itemsize
        path = folder / name
        found = path.stat().st_size if path.exists() else 0
        if found != size:
            raise ValueError(
                f"`{path}` must have {size:,} bytes; it has {found:,}: the graph folder was cut "
                "short. Copy it again, or make it again with: labeltrick graph build"
            )
    return meta


@contextmanager
def new_folder(target: Path, overwrite: bool = False) -> Iterator[Path]:
    """A temporary folder beside ``target`` that takes its place at the end, or is removed."""
    if target.exists() and not overwrite:
        raise FileExistsError(
            f"`{target}` must be new; it exists. Choose another, or overwrite it."
        )
    if target.exists() and not (target / "meta.json").exists():
        raise FileExistsError(f"`{target}` must be new or a graph folder; it is something else.")
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        yield temporary
        temporary.chmod(0o755)
        if target.exists():
            shutil.rmtree(target)
        temporary.rename(target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
