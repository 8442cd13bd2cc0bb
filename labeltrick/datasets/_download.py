"""Fetching files: resumed, verified, and never left half-written under their own names."""

from __future__ import annotations

import errno
import filecmp
import gzip
import http.client
import lzma
import os
import shutil
import tarfile
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from .. import _stopped
from .._atomic import checksum
from .._progress import Progress, ProgressBar
from .._temporaries import Temporary, try_lock

_BLOCK = 1 << 20
_TIMEOUT = 30.0
_UNREADABLE = (
    zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError,
    NotImplementedError,
)  # fmt: skip


@dataclass(frozen=True)
class Remote:
    """A file to fetch into a dataset's folder.

    ``path`` is its place there; for an archive (``unpack`` names the folder inside whose contents
    are taken) the folder itself is filled, and ``holds`` is one of its files. ``sha256`` is None
    where it is not known: then the length alone tells that a download is whole.
    """

    url: str
    path: str
    sha256: str | None = None
    unpack: str | None = None
    holds: str = ""

    def is_in(self, folder: Path) -> bool:
        return (folder / (self.holds or self.path)).is_file()


def part_of(target: Path) -> Path:
    """Where a download is kept until it is whole; no other program uses such a name."""
    return target.with_name(f".{target.name}.labeltrick-part")


def fetch(
    remote: Remote, folder: Path, *, overwrite: bool = False, progress: Progress = None
) -> None:
    """Download into ``folder``, going on from what an interrupted download left. Files from an
    archive replace others of their name only with ``overwrite``."""
    target = folder / remote.path
    part = part_of(target)
    _stopped.keep(part, "Run it again: the download goes on from there.")
    try:
        _download(remote, part, progress)
        _verify(remote, part)
        if remote.unpack is None:
            os.replace(part, target)
        else:
            _unpack(part, folder, remote.unpack, overwrite)
            part.unlink()
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        part.unlink(missing_ok=True)
        raise OSError(
            errno.ENOSPC,
            f"there must be room in '{folder}' for {remote.url}; the disk is full, and what had "
            "come was removed. Make room, or choose another folder with --data-dir.",
        ) from None
    finally:
        if not part.exists():
            _stopped.forget(part)


def _download(remote: Remote, part: Path, progress: Progress) -> None:
    url = remote.url
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"User-Agent": "labeltrick"})
    if have:
        request.add_header("Range", f"bytes={have}-")
    try:
        response = urllib.request.urlopen(request, timeout=_TIMEOUT)
    except urllib.error.HTTPError as error:
        if error.code == 416 and remote.sha256 is not None:  # all of it is here, or it is verified
            return
        if error.code == 416:  # it may be of another file: begin anew
            part.unlink()
            _download(remote, part, progress)
            return
        raise ConnectionError(f"{url} must be there; the server says {error}.") from None
    except (urllib.error.URLError, TimeoutError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise ConnectionError(
            f"{url} must be reached to be fetched; it is not ({reason}). Is there a network? A "
            f"file fetched elsewhere can be put in place by hand: '{part.parent}'."
        ) from None
    with response:
        resumed = response.status == 206
        start = response.headers.get("Content-Range", f"bytes {have}-")
        if resumed and not start.startswith(f"bytes {have}-"):
            part.unlink()
            raise ConnectionError(f"{url} must go on where it stopped; it does not. Run it again.")
        length = int(response.headers.get("Content-Length", 0))
        total = length + (have if resumed else 0)
        part.parent.mkdir(parents=True, exist_ok=True)
        with part.open("ab") as file:
            if not try_lock(file.fileno()) or part.stat().st_size != have:
                raise FileExistsError(
                    f"`{part}` must belong to one download; another process is fetching {url} now. "
                    "Wait for it."
                )
            if not resumed:
                file.truncate(0)
            _copy(response, file, total, have if resumed else 0, part.name, progress)
        got = part.stat().st_size
    if length and got < total:
        raise ConnectionError(
            f"{url} must come whole; {got:,} of {total:,} bytes came. Run it again: it goes on "
            "from there."
        )


def _copy(response: Any, file: Any, total: int, done: int, name: str, progress: Progress) -> None:
    steps = max(-(-total // _BLOCK), 1)
    with ProgressBar(
        steps, name.removeprefix(".").removesuffix(".labeltrick-part"), progress
    ) as bar:
        for _ in range(done // _BLOCK):
            bar.advance()
        for block in _blocks(response):
            file.write(block)
            bar.advance()


def _blocks(response: Any) -> Iterator[bytes]:
    try:
        while block := response.read(_BLOCK):
            yield block
    except (TimeoutError, ConnectionError, http.client.HTTPException) as error:
        raise ConnectionError(
            f"the connection must last; it broke off ({error}). Run it again: it goes on from "
            "there."
        ) from None


def _verify(remote: Remote, part: Path) -> None:
    if remote.sha256 is None:
        return
    found = checksum(part)
    if found != remote.sha256:
        part.unlink()
        raise ValueError(
            f"`{remote.url}` must have the SHA-256 {remote.sha256[:12]}…; what came has "
            f"{found[:12]}…: it is damaged or another file, and was removed. Run it again, or see "
            "whether the source has changed."
        )


def _unpack(archive: Path, folder: Path, root: str, overwrite: bool) -> None:
    """Put what lies below ``root`` in the archive into the folder, all of it or nothing."""
    with Temporary(folder / "unpacked") as temporary:
        _unpack_by(temporary / "files", archive, folder, root, overwrite)


def _unpack_by(temporary: Path, archive: Path, folder: Path, root: str, overwrite: bool) -> None:
    temporary.mkdir()
    try:
        for name, source in _members(archive):
            inside = PurePosixPath(name)
            if not inside.is_relative_to(root) or ".." in inside.parts:
                continue
            target = temporary / inside.relative_to(root)
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("wb") as file:
                shutil.copyfileobj(source, file)
        made = list(temporary.iterdir())
        if not made:
            raise tarfile.TarError(f"it holds no folder '{root}'")
        if not overwrite:
            _require_no_others(temporary, folder)
        for path in made:
            _move_in(path, folder / path.name)
    except _UNREADABLE as error:
        archive.unlink()
        raise ValueError(
            f"`{archive.name}` must be an archive; it cannot be read ({error}), and was removed. "
            "Run it again."
        ) from None


def _require_no_others(made: Path, folder: Path) -> None:
    """Refuse to replace files that the archive did not bring; those of an unpacking that was cut
    off are the same."""
    for path in made.rglob("*"):
        there = folder / path.relative_to(made)
        if path.is_file() and there.exists() and not _are_same(path, there):
            raise FileExistsError(
                f"`{there}` must be the file of the dataset; it is another. Move it away, or pass "
                "--overwrite."
            )


def _are_same(a: Path, b: Path) -> bool:
    return b.is_file() and filecmp.cmp(a, b, shallow=False)


def _move_in(made: Path, target: Path) -> None:
    if target.is_dir():
        for path in made.iterdir():
            _move_in(path, target / path.name)
    else:
        os.replace(made, target)


def _members(archive: Path) -> Iterator[tuple[str, Any]]:
    """(name, open file) of the files in a zip or tar archive."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as files:
            for name in files.namelist():
                if not name.endswith("/"):
                    with files.open(name) as source:
                        yield name, source
        return
    with tarfile.open(archive) as files:
        for member in files:
            opened = files.extractfile(member) if member.isfile() else None
            if opened is not None:
                yield member.name, opened
