"""Safe unpacking of archives: nothing outside the folder, and within size limits."""

from __future__ import annotations

import errno
import filecmp
import os
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ..._utils.archives import UNREADABLE
from ..._utils.memory import shown_bytes
from ..._utils.temporary_folders import Temporary

_BLOCK = 1 << 20
_DEVICES = {"con", "prn", "aux", "nul", "conin$", "conout$"} | {
    f"{port}{k}" for port in ("com", "lpt") for k in range(10)
}
_OF_THE_DISK = {errno.ENOSPC, errno.EFBIG, errno.EIO, errno.EROFS, errno.EACCES, errno.EPERM,
                getattr(errno, "EDQUOT", errno.ENOSPC)}  # fmt: skip


@dataclass(frozen=True)
class Limits:
    """The largest size and number of files of an archive."""

    n_bytes: int
    n_files: int = 10_000


def unpack_into(
    folder: Path, archive: Path, root: str, limits: Limits, *, overwrite: bool = False
) -> None:
    """Unpack the contents of ``root`` in a zip or tar archive into the folder, completely or not at
    all. Existing files with other contents are replaced only with ``overwrite``.

    An archive with a path outside the folder, a link, a device, a repeated name, or more than the
    limits allow is refused and removed.
    """
    with Temporary(folder / "unpacked") as temporary:
        made = temporary / "files"
        made.mkdir()
        _write_or_remove(archive, made, root, limits)
        if not overwrite:
            _require_no_others(made, folder)
        for path in list(made.iterdir()):
            _move_in(path, folder / path.name)


def _require_no_others(made: Path, folder: Path) -> None:
    """Raise an error if a file would be replaced. Files of an interrupted unpacking are the same
    and may stay."""
    for path in made.rglob("*"):
        there = folder / path.relative_to(made)
        same = there.is_file() and path.is_file() and filecmp.cmp(path, there, shallow=False)
        if path.is_file() and there.exists() and not same:
            raise FileExistsError(
                f"`{there}` must be the file of the dataset; it is a different file. Move it away, "
                "or pass --overwrite."
            )


def _write_or_remove(archive: Path, temporary: Path, root: str, limits: Limits) -> None:
    try:
        _write_members(archive, temporary, root, limits)
        if not any(temporary.iterdir()):
            raise ValueError(f"it holds no folder '{root}'")
    except UNREADABLE as error:
        if isinstance(error, OSError) and error.errno in _OF_THE_DISK:
            raise
        archive.unlink()
        raise ValueError(
            f"`{archive.name}` must be an archive that can be unpacked; it is not ({error}), and "
            "was removed. Run it again, or check whether the source has changed."
        ) from None


def _write_members(archive: Path, temporary: Path, root: str, limits: Limits) -> None:
    seen: set[str] = set()
    size = 0
    for count, (name, source) in enumerate(_members(archive), start=1):
        if count > limits.n_files:
            raise ValueError(f"it holds more than {limits.n_files:,} files")
        inside = _safe(name)
        if source is None:
            continue
        # On some systems, Readme and README are the same file.
        if inside.as_posix().casefold() in seen:
            raise ValueError(f"it holds '{name}' twice")
        seen.add(inside.as_posix().casefold())
        if not inside.is_relative_to(root) or inside == PurePosixPath(root):
            continue
        target = temporary / inside.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file:
            while block := source.read(_BLOCK):
                size += len(block)
                if size > limits.n_bytes:
                    raise ValueError(f"it unpacks to more than {shown_bytes(limits.n_bytes)}")
                file.write(block)


def _safe(name: str) -> PurePosixPath:
    """The path of a member, if it is the same path inside the folder on every system."""
    path = PurePosixPath(name)
    odd = (
        not name
        or path.is_absolute()
        or ".." in path.parts
        or any(letter in name for letter in ("\\", ":", "\0"))
        or any(part.split(".")[0].rstrip().casefold() in _DEVICES for part in path.parts)
    )
    if odd:
        raise ValueError(f"it holds the path {name!r}")
    return path


def _members(archive: Path) -> Iterator[tuple[str, Any]]:
    """The name and the open file (None for a folder) of each member. Links and devices are
    refused."""
    if zipfile.is_zipfile(archive):
        yield from _zip_members(archive)
        return
    with tarfile.open(archive) as files:
        for member in files:
            if not (member.isfile() or member.isdir()):
                raise ValueError(f"'{member.name}' in it is a link or a device")
            yield member.name, files.extractfile(member) if member.isfile() else None


def _zip_members(archive: Path) -> Iterator[tuple[str, Any]]:
    with zipfile.ZipFile(archive) as files:
        for entry in files.infolist():
            kind = stat.S_IFMT(entry.external_attr >> 16)
            if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise ValueError(f"'{entry.filename}' in it is a link or a device")
            if entry.is_dir():
                yield entry.filename, None
                continue
            with files.open(entry) as source:
                yield entry.filename, source


def _move_in(made: Path, target: Path) -> None:
    if made.is_dir() and target.is_dir():
        for path in made.iterdir():
            _move_in(path, target / path.name)
    else:
        os.replace(made, target)
