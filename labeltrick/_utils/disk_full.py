"""Error messages for full disks, and how to detect one before writing to a mapped file."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# A full disk, an exceeded quota, a file that is too large
_FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}


def is_full(error: Exception) -> bool:
    """Whether an error means that there is no space for a file."""
    return error_number(error) in _FULL


def error_number(error: Exception) -> int | None:
    """The errno of an error; Rust libraries give it only in their message."""
    number = error.errno if isinstance(error, OSError) else None
    if number is None and (found := re.search(r"\(os error (\d+)\)", str(error))):
        number = int(found[1])
    return number


def no_space(
    error: Exception, where: str | os.PathLike[str], what: str = "", advice: str = ""
) -> Exception:
    """The same message for all full disks; other errors are returned unchanged.

    ``raise no_space(error, folder) from None`` can therefore handle any failed write.

    >>> no_space(OSError(errno.ENOSPC, "No space left on device"), "/data", "the graph")
    OSError(28, "no space for the graph in '/data' (No space left on device)")
    >>> no_space(ValueError("a typing error"), "/data")
    ValueError('a typing error')
    """
    number = error_number(error)
    if number is None or number not in _FULL:
        return error
    wanted = f"no space for {what}" if what else "no space left"
    said = f"{wanted} in '{os.fspath(where)}' ({os.strerror(number)})"
    return OSError(number, f"{said}: {advice}" if advice else said)


@contextmanager
def told_if_full(what: str, folder: str | os.PathLike[str], advice: str) -> Iterator[None]:
    """`no_space` for a block of code.

    >>> with told_if_full("the graph", "somewhere", "set TMPDIR to a folder with more"):
    ...     raise OSError(errno.ENOSPC, "No space left on device")
    Traceback (most recent call last):
    OSError: [Errno 28] no space for the graph in 'somewhere' (No space left on device): set TMPDIR to a folder with more
    """  # noqa: E501
    try:
        yield
    except OSError as error:
        raise no_space(error, folder, what, advice) from None


def reserve(file: Path) -> None:
    """Allocate disk space for a whole file: writing to a mapped sparse file on a full disk would
    kill the process."""
    if hasattr(os, "posix_fallocate"):
        with file.open("r+b") as opened:
            os.posix_fallocate(opened.fileno(), 0, max(1, file.stat().st_size))
