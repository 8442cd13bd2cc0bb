"""Temporary folders that leave nothing behind, even if their process is killed.

A temporary folder is created next to the file or folder that it is for. Its name is
``.labeltrick-tmp-`` and 16 hexadecimal digits, and it holds a file ``owner`` that its process keeps
locked. The system releases the lock when the process ends, for whatever reason. A folder that is
not locked is abandoned, and the next process that makes a temporary folder in the same place
removes it. Folders with another name, without the file, of another user or of another machine are
left alone.

A folder that is replaced is moved to ``old`` in the temporary folder until the new one is in its
place. If the process is killed between the two moves, the old folder is restored.
"""

from __future__ import annotations

import errno
import json
import os
import platform
import re
import secrets
import shutil
import weakref
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # without locks no process is known to be dead: nothing is removed
    fcntl = None  # type: ignore[assignment]

_NAME = re.compile(r"\.labeltrick-tmp-[0-9a-f]{16}")
_FORMAT = "labeltrick temporary folder"
_OWNER, _NEW, _OLD = "owner", "new", "old"
_ATTEMPTS = 100


class Temporary:
    """A temporary folder next to ``place``; as a context manager, its path.

    It is removed at the end of the block, by `close`, or when the object is deleted.
    """

    def __init__(self, place: Path, *, sweeps: bool = True) -> None:
        make_folder(place.parent)
        if sweeps:
            sweep(place.parent)
        self.path, lock = _make(place)
        self.place = place
        self._finalizer = weakref.finalize(self, _close, self.path, place.name, lock, os.getpid())

    def new_folder(self) -> Path:
        """A folder that `take_place` moves to ``place``."""
        new = self.path / _NEW
        new.mkdir()
        return new

    def new_file(self) -> Path:
        """Path for a file that will replace ``place``, with the same suffix."""
        return self.path / f"{_NEW}{self.place.suffix}"

    def take_place(self, *, replaces: bool = True) -> None:
        """Move the new folder to its place. An existing folder is removed last, by `close`, so that
        one of the two is always complete. Without ``replaces``, an existing folder that is not
        empty is an OSError."""
        if replaces and os.path.lexists(self.place):
            self.place.rename(self.path / _OLD)
        (self.path / _NEW).rename(self.place)

    def close(self) -> None:
        self._finalizer()

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: Any) -> None:
        self.close()


def make_folder(path: Path) -> None:
    """Create a folder and its parents, unless they exist."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:  # a file is in the way
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path)) from None


def is_temporary_name(name: str) -> bool:
    """Whether a name is that of a temporary folder."""
    return _NAME.fullmatch(name) is not None


def is_temporary(path: Path) -> bool:
    """Whether a path is a temporary folder, in use or not."""
    return is_temporary_name(path.name) and path.is_dir()


def sweep(folder: Path) -> None:
    """Remove what killed processes left in ``folder``, and restore what they had moved aside.
    Ignores what cannot be removed."""
    if fcntl is None:
        return
    with suppress(OSError), os.scandir(folder) as entries:
        found = [Path(e.path) for e in entries
                 if _NAME.fullmatch(e.name) and e.is_dir(follow_symlinks=False)]  # fmt: skip
        for path in found:
            with suppress(OSError):
                _sweep_one(path)


def try_lock(file: int) -> bool:
    """Lock an open file until it is closed or the process ends; False if it is already locked."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        pass
    return True


def _make(place: Path) -> tuple[Path, int]:
    """(path, locked file) of a new temporary folder. Between any two steps, another process may
    think that the folder is abandoned and remove it; then try again."""
    for _ in range(_ATTEMPTS):
        path = place.parent / f".labeltrick-tmp-{secrets.token_hex(8)}"
        lock = -1
        try:
            path.mkdir(mode=0o700)
            lock = os.open(path / _OWNER, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
            if fcntl is not None:
                with suppress(OSError):  # a file system without locks, where nothing is swept
                    fcntl.flock(lock, fcntl.LOCK_EX)
            if os.path.samestat(os.fstat(lock), os.stat(path / _OWNER)):
                os.write(lock, _marker(place.name))
                return path, lock
            os.close(lock)
        except FileNotFoundError:
            if lock >= 0:
                os.close(lock)
            make_folder(place.parent)
        except BaseException:
            _close(path, place.name, lock, os.getpid())
            raise
    raise OSError(f"no temporary folder can be made in '{place.parent}'")


def _close(path: Path, place: str, lock: int, process: int) -> None:
    if os.getpid() != process:
        return  # a fork of the owner
    with suppress(OSError):
        _clear(path, place)
    if lock >= 0:
        os.close(lock)


def _marker(place: str) -> bytes:
    marker = {"format": _FORMAT, "place": place, "process": os.getpid(), "machine": platform.node(),
              "boot": _boot()}  # fmt: skip
    return json.dumps(marker).encode()


@cache
def _boot() -> str:
    """Identifies this boot of the kernel; containers on the same kernel share it."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _sweep_one(path: Path) -> None:
    assert fcntl is not None
    if path.stat().st_uid != os.getuid():
        return
    try:
        lock = os.open(path / _OWNER, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        path.rmdir()  # killed between the first two steps; fails if not empty
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # an error if the owner is alive
        text = os.read(lock, 1 << 16)
        if not text and os.listdir(path) == [_OWNER]:  # killed before it was written
            _clear(path, path.name)
            return
        marker = _parsed(text)
        if marker is not None and _is_of_this_machine(marker):
            _clear(path, marker["place"])
    finally:
        os.close(lock)


def _parsed(text: bytes) -> dict[str, Any] | None:
    try:
        marker = json.loads(text)
    except ValueError:
        return None
    if not isinstance(marker, dict) or marker.get("format") != _FORMAT:
        return None
    place = marker.get("place")
    return marker if isinstance(place, str) and Path(place).name == place else None


def _is_of_this_machine(marker: dict[str, Any]) -> bool:
    """Whether its lock can be trusted: on shared disks, locks may be local to each machine."""
    same_kernel = bool(_boot()) and marker.get("boot") == _boot()
    return same_kernel or marker.get("machine") == platform.node()


def _clear(path: Path, place: str) -> None:
    """Restore what was moved aside, then remove the folder, the owner's file last: what a kill
    leaves can then still be recognized."""
    old, target = path / _OLD, path.parent / place
    if os.path.lexists(old):
        if not os.path.lexists(target):
            old.rename(target)
        elif os.path.lexists(path / _NEW):
            return  # another process took the place: the old folder may be the only copy
    for entry in path.iterdir():
        if entry.name == _OWNER:
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)
    if os.listdir(path) == [_OWNER]:
        (path / _OWNER).unlink()
    path.rmdir()
