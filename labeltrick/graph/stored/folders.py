"""Folders that are written whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..._utils.temporary_folders import Temporary, make_folder, sweep
from .meta import foreign_entry, is_graph_folder


def require_new(target: Path, overwrite: bool) -> None:
    """Refuse a place that is taken, unless it is a graph folder with nothing else in it and
    ``overwrite`` is given."""
    if not target.exists():
        sweep(target.resolve().parent)  # it may have been moved aside by a process that was killed
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
    foreign = foreign_entry(target)
    if foreign is not None:
        raise FileExistsError(
            f"`{target}` must hold nothing but a graph to be replaced; it also holds '{foreign}'. "
            "Move that to another folder first."
        )


@contextmanager
def made_parents(target: Path) -> Iterator[None]:
    """The folders above ``target``; those that were made go again if anything goes wrong."""
    missing = [folder for folder in target.parents if not folder.exists()]
    make_folder(target.parent)
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
        temporary = Temporary(place)
        with temporary:
            yield temporary.new_folder()
            require_new(target, overwrite)  # another process may have been faster
            temporary.take_place()
