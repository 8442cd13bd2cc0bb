"""Graph folders that are written completely or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..._utils.temporary_folders import Temporary, make_folder, sweep
from .meta import foreign_entry, is_graph_folder


def require_new(target: Path, overwrite: bool) -> None:
    """Refuse an existing path, unless it is an empty folder or, with ``overwrite``, a graph folder
    with nothing else in it."""
    if not target.exists():
        sweep(target.resolve().parent)  # a process that was killed may have moved it aside
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    if not overwrite:
        raise FileExistsError(
            f"`{target}` must be new or empty; it exists. Choose another folder, or overwrite it "
            "(--overwrite)."
        )
    if not is_graph_folder(target):
        raise FileExistsError(
            f"`{target}` must be new or a graph folder; it is something else. Choose another "
            "folder, or remove it by hand."
        )
    foreign = foreign_entry(target)
    if foreign is not None:
        raise FileExistsError(
            f"`{target}` must hold nothing but a graph to be replaced; it also holds '{foreign}'. "
            "Move that to another folder first."
        )


@contextmanager
def made_parents(target: Path) -> Iterator[None]:
    """Create the folders above ``target``; remove them again if anything goes wrong."""
    missing = [folder for folder in target.parents if not folder.exists()]
    make_folder(target.parent)
    try:
        yield
    except BaseException:
        for folder in missing:
            with suppress(OSError):  # another process has put a file there
                folder.rmdir()
        raise


@contextmanager
def new_folder(target: Path, overwrite: bool = False) -> Iterator[Path]:
    """A temporary folder next to ``target`` that replaces it at the end, or is removed."""
    require_new(target, overwrite)
    place = target.resolve()  # replaces what a link points to, not the link
    with made_parents(place):
        temporary = Temporary(place)
        with temporary:
            yield temporary.new_folder()
            require_new(target, overwrite)  # another process may have been faster
            temporary.take_place()
