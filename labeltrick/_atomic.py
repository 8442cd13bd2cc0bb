"""Files that are written whole or not at all, and told from others by a checksum."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(target: Path, *, durable: bool = True) -> Iterator[Path]:
    """A temporary file beside ``target`` to write to; it takes the target's place at the end, or is
    removed if anything went wrong. ``durable`` waits until it is on the disk; files that need not
    outlive a crash of the machine can do without.

    >>> target = Path(tempfile.mkdtemp()) / "deep" / "a.txt"
    >>> with replacing(target) as file:
    ...     _ = file.write_text("all of it")
    >>> target.read_text(), [path.name for path in target.parent.iterdir()]
    ('all of it', ['a.txt'])
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        if durable:
            with temporary.open("rb") as written:
                os.fsync(written.fileno())
        temporary.chmod(0o644)  # temporary files are for their owner alone
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def checksum(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
