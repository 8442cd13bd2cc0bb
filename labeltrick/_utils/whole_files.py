"""Writes files completely or not at all, and computes their checksums."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .temporary_folders import Temporary


@contextmanager
def replacing(target: Path, *, durable: bool = True) -> Iterator[Path]:
    """A temporary file to write to, which replaces ``target`` at the end, or is removed if anything
    goes wrong. ``durable`` waits until it is on disk; files that need not survive a crash of the
    machine can do without.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "deep" / "a.txt"
    >>> with replacing(target) as file:
    ...     _ = file.write_text("all of it")
    >>> target.read_text(), [path.name for path in target.parent.iterdir()]
    ('all of it', ['a.txt'])
    """
    temporary = Temporary(target, sweeps=durable)
    with temporary:
        file = temporary.new_file()
        yield file
        if durable:
            with file.open("rb") as written:
                os.fsync(written.fileno())
        os.replace(file, target)


def checksum(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
