"""Downloading files over https, with resuming, checksums and size limits."""

from __future__ import annotations

import errno
import http.client
import os
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..._utils import interruptions
from ..._utils.memory import shown_bytes
from ..._utils.progress import Progress, ProgressBar
from ..._utils.temporary_folders import try_lock
from ..._utils.whole_files import checksum
from .unpack import Limits, unpack_into

_BLOCK = 1 << 20
_TIMEOUT = 30.0
_MEGABYTE = 10**6


@dataclass(frozen=True)
class Remote:
    """A file to download into the folder of a dataset.

    ``path`` is its path in the folder. For an archive, ``unpack`` is the folder in the archive
    whose contents are extracted, and ``holds`` is one of the extracted files. ``sha256`` is None if
    it is not known; then only the length shows whether a download is complete. ``most`` and
    ``most_unpacked`` limit the size in megabytes, before and after unpacking.
    """

    url: str
    path: str
    sha256: str | None = None
    unpack: str | None = None
    holds: str = ""
    most: int = 200
    most_unpacked: int = 1000

    def is_in(self, folder: Path) -> bool:
        return (folder / (self.holds or self.path)).is_file()

    @property
    def verified(self) -> str:
        """How the file is known to be the published one."""
        if self.sha256 is not None:
            return "SHA-256"
        # The file at the address of a commit cannot change.
        return "commit" if re.search(r"/[0-9a-f]{40}/", self.url) else "not verified"


def part_of(target: Path) -> Path:
    """The file that holds a download until it is complete."""
    return target.with_name(f".{target.name}.labeltrick-part")


def fetch(
    remote: Remote, folder: Path, *, overwrite: bool = False, progress: Progress = None
) -> None:
    """Download a file into ``folder``, resuming an interrupted download. Files from an archive
    replace existing ones only with ``overwrite``."""
    target = folder / remote.path
    part = part_of(target)
    interruptions.keep(part, "Run it again to resume the download.")
    try:
        _download(remote, part, progress)
        _verify(remote, part)
        if remote.unpack is None:
            os.replace(part, target)
        else:
            limits = Limits(remote.most_unpacked * _MEGABYTE)
            unpack_into(folder, part, remote.unpack, limits, overwrite=overwrite)
            part.unlink()
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        part.unlink(missing_ok=True)
        raise OSError(
            errno.ENOSPC,
            f"there must be room in '{folder}' for {remote.url}; the disk is full, and the partial "
            "download was removed. Make room, or choose another folder with --data-dir.",
        ) from None
    finally:
        if not part.exists():
            interruptions.forget(part)


class _HttpsOnly(urllib.request.HTTPRedirectHandler):
    """Follows redirects only to https addresses."""

    def redirect_request(self, *request: Any) -> Any:
        _require_https(request[-1])
        return super().redirect_request(*request)


def _require_https(url: str) -> None:
    if urllib.parse.urlsplit(url).scheme != "https":
        raise ValueError(
            f"`{url}` must be an https address; it is not, so anybody on the way could change the "
            "file. Download it by hand if you trust it."
        )


def _open(request: urllib.request.Request) -> Any:
    _require_https(request.full_url)
    # The default openers would add handlers for http, ftp and files.
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        _HttpsOnly(),
    ):
        opener.add_handler(handler)
    return opener.open(request, timeout=_TIMEOUT)


def _download(remote: Remote, part: Path, progress: Progress) -> None:
    url = remote.url
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"User-Agent": "labeltrick"})
    if have:
        request.add_header("Range", f"bytes={have}-")
    try:
        response = _open(request)
    except urllib.error.HTTPError as error:
        if error.code == 416 and have:  # there is nothing after what we have
            if remote.sha256 is None:  # without a checksum it may be part of another file
                part.unlink()
                _download(remote, part, progress)
            return
        raise ConnectionError(f"{url} must exist; the server says {error}.") from None
    except (urllib.error.URLError, TimeoutError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise ConnectionError(
            f"{url} must be reachable; it is not ({reason}). Check the network, or download the "
            f"file elsewhere and put it into '{part.parent}'."
        ) from None
    with response:
        resumed = response.status == 206
        start = response.headers.get("Content-Range", f"bytes {have}-")
        if resumed and not start.startswith(f"bytes {have}-"):
            part.unlink()
            raise ConnectionError(f"{url} must resume where it stopped; it does not. Run it again.")
        done = have if resumed else 0
        said = response.headers.get("Content-Length", "0")
        length = int(said) if said.isdecimal() and len(said) < 20 else 0  # 0: not announced
        if done + length > remote.most * _MEGABYTE:
            raise _too_large(remote, part)
        part.parent.mkdir(parents=True, exist_ok=True)
        with part.open("ab") as file:
            if not try_lock(file.fileno()) or part.stat().st_size != have:
                raise FileExistsError(
                    f"`{part}` must belong to one download; another process is downloading {url}. "
                    "Wait until it has finished."
                )
            if not resumed:
                file.truncate(0)
            _copy(response, file, done + length, done, remote, part, progress)
        got = part.stat().st_size
    if length and got < done + length:
        raise ConnectionError(
            f"{url} must be downloaded completely; got {got:,} of {done + length:,} bytes. Run it "
            "again to resume."
        )


def _too_large(remote: Remote, part: Path) -> ValueError:
    part.unlink(missing_ok=True)
    return ValueError(
        f"`{remote.url}` must be at most {shown_bytes(remote.most * _MEGABYTE)}; the download is "
        "larger and was removed. Check whether the source has changed."
    )


def _copy(
    response: Any,
    file: Any,
    total: int,
    done: int,
    remote: Remote,
    part: Path,
    progress: Progress,
) -> None:
    steps = max(-(-total // _BLOCK), 1)
    name = part.name.removeprefix(".").removesuffix(".labeltrick-part")
    with ProgressBar(steps, name, progress) as bar:
        for _ in range(done // _BLOCK):
            bar.advance()
        for block in _blocks(response):
            done += len(block)
            if done > remote.most * _MEGABYTE:  # the server may not have announced the size
                raise _too_large(remote, part)
            file.write(block)
            bar.advance()


def _blocks(response: Any) -> Iterator[bytes]:
    try:
        while block := response.read(_BLOCK):
            yield block
    except (TimeoutError, ConnectionError, http.client.HTTPException) as error:
        raise ConnectionError(
            f"the connection must last; it was lost ({error}). Run it again to resume."
        ) from None


def _verify(remote: Remote, part: Path) -> None:
    if remote.sha256 is None:
        return
    found = checksum(part)
    if found != remote.sha256:
        part.unlink()
        raise ValueError(
            f"`{remote.url}` must have the SHA-256 {remote.sha256[:12]}…; the download has "
            f"{found[:12]}… and was removed. Run it again, or check whether the source has changed."
        )
