"""Files that are written whole or not at all, and told from others by a checksum."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# A full disk, a spent quota, a file larger than its disk or its owner may have
_FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}


def no_space(
    error: Exception, where: str | os.PathLike[str], what: str = "", advice: str = ""
) -> Exception:
    """One wording for all full disks; an error of another kind is given back as it is.

    ``raise no_space(error, folder) from None`` therefore serves any failure of writing. Libraries
    in Rust say the number of the system's error in their text only.

    >>> no_space(OSError(errno.ENOSPC, "No space left on device"), "/data", "the graph")
    OSError(28, "no space for the graph in '/data' (No space left on device)")
    >>> no_space(ValueError("a typing error"), "/data")
    ValueError('a typing error')
    """
    number = error.errno if isinstance(error, OSError) else None
    if number is None and (told := re.search(r"\(os error (\d+)\)", str(error))):
        number = int(told[1])
    if number is None or number not in _FULL:
        return error
    wanted = f"no space for {what}" if what else "no space left"
    said = f"{wanted} in '{os.fspath(where)}' ({os.strerror(number)})"
    return OSError(number, f"{said}: {advice}" if advice else said)


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
