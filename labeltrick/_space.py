"""What to say where a disk is full, and how to find out before a mapped file is written to."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def told_if_full(what: str, folder: str | os.PathLike[str], remedy: str) -> Iterator[None]:
    """A full disk as one line that says for what, where, and what to do; other errors as they are.

    >>> with told_if_full("the graph", "somewhere", "set TMPDIR to a folder with more"):
    ...     raise OSError(errno.ENOSPC, "No space left on device")
    Traceback (most recent call last):
    OSError: [Errno 28] no space for the graph in 'somewhere': set TMPDIR to a folder with more
    """
    try:
        yield
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise OSError(
            errno.ENOSPC, f"no space for {what} in '{os.fspath(folder)}': {remedy}"
        ) from None


def reserve(file: Path) -> None:
    """Have the disk keep room for all of a file as long as it is: writing to the map of a file with
    gaps on a full disk would end the process."""
    if hasattr(os, "posix_fallocate"):
        with file.open("r+b") as opened:
            os.posix_fallocate(opened.fileno(), 0, max(1, file.stat().st_size))
