"""Messages for interrupted commands, and for files that cannot be read or written."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from .disk_full import error_number, is_full
from .temporary_folders import is_temporary_name

_kept: dict[str, str] = {}  # path of unfinished work on disk → how to continue it


def keep(path: Path, how: str) -> None:
    """Record that unfinished work is kept at ``path``; ``how`` says how to continue it."""
    _kept[str(path)] = how


def forget(path: Path) -> None:
    """Record that the work at ``path`` is finished or gone."""
    _kept.pop(str(path), None)


def after_interruption() -> str:
    """The message after Ctrl-C.

    >>> keep(Path("run"), "Go on with: labeltrick fit --out run --resume")
    >>> after_interruption()
    'interrupted; what was finished is kept. Go on with: labeltrick fit --out run --resume'
    >>> forget(Path("run"))
    """
    if not _kept:
        return "interrupted; nothing half-written is left behind"
    return f"interrupted; what was finished is kept. {next(reversed(_kept.values()))}"


def after_os_error(error: OSError) -> tuple[str, int]:
    """(message, exit code) for an operating system error; the code is 2 if a path is wrong.

    >>> after_os_error(NotADirectoryError(errno.ENOTDIR, "Not a directory", "notes.txt/run"))
    ("'notes.txt/run' must be in a folder; a file is in the way. Correct the path", 2)
    """
    number = error_number(error)
    if is_full(error):
        return f"{error}. Free some space or choose another folder", 1
    path = _named_path(error)
    if number in (errno.EACCES, errno.EPERM):
        if path is None:
            return f"{error}. You have no permission: choose another path", 2
        verb = "read" if os.path.isfile(path) and not os.access(path, os.R_OK) else "write to"
        return f"you may not {verb} '{path}'. Choose another path, or change its permissions", 2
    if number == errno.EROFS:
        where = f"'{path}'" if path else "the folder"
        return f"{where} is on a file system that is read-only. Choose another folder", 2
    if number == errno.ENOTDIR and path:
        return f"'{path}' must be in a folder; a file is in the way. Correct the path", 2
    if number == errno.EISDIR and path:
        return f"'{path}' must be a file; it is a folder. Correct the path", 2
    return str(error), 1


def _named_path(error: OSError) -> Path | None:
    """The path that users know: for temporary folders, the folder around them."""
    if not isinstance(error.filename, str | bytes):
        return None
    path = Path(os.fsdecode(error.filename))
    for above in (path, *path.parents):
        if is_temporary_name(above.name):
            return above.parent
    return path
