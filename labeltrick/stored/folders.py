"""Folders that are written whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .meta import is_graph_folder


def require_new(target: Path, overwrite: bool) -> None:
    """Refuse a place that is taken; by a graph folder only without ``overwrite``."""
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    if not overwrite:
        raise FileExistsError(
            f"`{target}` must be new or empty; it exists. Choose another, or overwrite it "
            "(--overwrite)."
        )
    if not is_graph_folder(target):
        raise FileExistsError(
            f"`{target}` must be new or a graph folder; it is something else. Choose another, or "
            "remove it by hand."
        )


@contextmanager
def made_parents(target: Path) -> Iterator[None]:
    """The folders above ``target``; those that were made go again if anything goes wrong."""
    missing = [folder for folder in target.parents if not folder.exists()]
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        for folder in missing:
            with suppress(OSError):  # somebody else has put a file there
                folder.rmdir()
        raise


@contextmanager
def new_folder(target: Path, overwrite: bool = False) -> Iterator[Path]:
    """A temporary folder beside ``target`` that takes its place at the end, or is removed."""
    require_new(target, overwrite)
    place = target.resolve()  # what a link points to is replaced, not the link
    with made_parents(place):
        temporary = Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent))
        try:
            yield temporary
            temporary.chmod(0o755)
            _take_place(temporary, place)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def _take_place(new: Path, place: Path) -> None:
    """Rename a folder to ``place``. One that is there is moved aside first and removed last: at
    every moment one of the two is whole."""
    if not place.exists():
        new.rename(place)
        return
    aside = Path(tempfile.mkdtemp(prefix=f".{place.name}-old-", dir=place.parent))
    old = aside / place.name
    try:
        place.rename(old)
        new.rename(place)
    except BaseException:
        if old.exists() and not place.exists():
            old.rename(place)
        with suppress(OSError):
            aside.rmdir()
        raise
    shutil.rmtree(aside, ignore_errors=True)
