"""``meta.json``, which describes a graph folder.

A folder holds ``meta.json`` and .npy files that `numpy.load` can read:

=================  ==========================================================================
indptr.npy         int64, n + 1: where each row begins in ``indices``
indices.npy        int32 (int64 from 2³¹ nodes on): the neighbors of each row, ascending
weights.npy        float32 or float64, only for a weighted graph: their weights
strengths.npy      float64, only for a weighted graph: the sum of each row's weights
loops.npy          int64: the nodes that have an edge to themselves, ascending
ids.parquet        only if the nodes had other ids than 0…n−1: the ``id`` of each node
reversed/          only for a directed graph: the same files for the reversed edges
=================  ==========================================================================

``meta.json`` is written last. It lists every file with its length and the SHA-256 of its numbers
(of the whole file for ``ids.parquet``), and begins with its own SHA-256, computed with zeros in
its place. A folder without it, or with shorter files, is incomplete. Opening a folder detects
changes of ``meta.json`` and of files of up to 4 MB; larger files are read only to verify a folder.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..._utils.json_files import is_sealed, loads, sealed
from ..._utils.temporary_folders import sweep
from ..._utils.whole_files import checksum
from .files import HEADER, data_checksum

FORMAT, VERSION = "labeltrick graph", 3
REVERSED = "reversed"  # folder of the reversed edges
IDS = "ids.parquet"
_DTYPES = {
    "indptr.npy": ("<i8",),
    "indices.npy": ("<i4", "<i8"),
    "loops.npy": ("<i8",),
    "weights.npy": ("<f4", "<f8"),
    "strengths.npy": ("<f8",),
}
_OURS = {"meta.json", IDS, *_DTYPES}
_SMALL = 1 << 22  # bytes of a file that is checked when opened: a few milliseconds
_AGAIN = "Copy it again, or rebuild it with: labeltrick graph build"


def is_graph_folder(folder: Path) -> bool:
    """Whether a folder claims to be a graph folder, intact or not."""
    try:
        meta = loads((folder / "meta.json").read_text())
    except (OSError, ValueError):
        return False
    return isinstance(meta, dict) and meta.get("format") == FORMAT


def write_meta(folder: Path, meta: dict[str, Any]) -> None:
    """Write ``meta.json``, after all other files, including the ids of the nodes."""
    ids = folder / IDS
    described = {"format": FORMAT, "version": VERSION, **meta, "ids": None}
    if ids.exists():
        described["ids"] = {"bytes": ids.stat().st_size, "sha256": checksum(ids)}
    (folder / "meta.json").write_text(sealed(described))


def read_meta(folder: Path, *, verify: bool = False) -> dict[str, Any]:
    """Read ``meta.json`` of a graph folder. All files must exist and have the right length; the
    checksums of small files, and with ``verify`` of all files, must be right."""
    meta = _parsed(folder)
    try:
        _require_sense(meta)
    except KeyError as error:
        raise _senseless(folder, f"it lacks {error}") from None
    except (ValueError, TypeError, AttributeError, ArithmeticError) as error:
        raise _senseless(folder, f"it cannot be read ({error})") from None
    for name, described in meta["files"].items():
        size = HEADER + described["length"] * np.dtype(described["dtype"]).itemsize
        _require_size(folder / name, size)
        if verify or size <= _SMALL:
            found = data_checksum(folder / name, described["dtype"], described["length"])
            _require_same(folder / name, found, described["sha256"])
    if meta["ids"] is not None:
        _require_size(folder / IDS, meta["ids"]["bytes"])
        if verify or meta["ids"]["bytes"] <= _SMALL:
            require_ids(folder, meta)
    if meta["directed"] and not meta["is_reverse"]:
        _require_reverse(folder, meta, verify)
    return meta


def require_ids(folder: Path, meta: dict[str, Any]) -> None:
    """Refuse ids that have changed: they would name other nodes."""
    _require_same(folder / IDS, checksum(folder / IDS), meta["ids"]["sha256"])


def _require_same(path: Path, found: str | None, expected: str) -> None:
    if found != expected:
        raise ValueError(
            f"`{path}` must be as it was written; its checksum differs: it is damaged or was "
            f"changed. {_AGAIN}"
        )


def _parsed(folder: Path) -> dict[str, Any]:
    if not folder.exists():
        sweep(folder.absolute().parent)  # a process that was killed may have moved it aside
    if not folder.exists():
        raise FileNotFoundError(
            f"`{folder}` must be a graph folder; it does not exist. Make one with: labeltrick "
            "graph build edges.parquet graph.lt"
        )
    file = folder / "meta.json"
    if not folder.is_dir() or not file.exists():
        raise ValueError(
            f"`{folder}` must be a graph folder; it has no meta.json: it is something else, or "
            "incomplete. Rebuild it with: labeltrick graph build"
        )
    try:
        text = file.read_text()
        meta = loads(text)
        kind, version = meta["format"], meta["version"]
    except KeyError as error:
        raise _senseless(folder, f"it lacks {error}") from None
    except (ValueError, TypeError) as error:
        raise _senseless(folder, f"it cannot be read ({error})") from None
    if kind != FORMAT or version != VERSION:
        raise ValueError(
            f"`{folder}` must be a graph folder of version {VERSION}; got {kind!r}, version "
            f"{version!r}. Rebuild it with this version of labeltrick."
        )
    if not is_sealed(text):
        raise _senseless(folder, "its checksum differs: it is damaged or was changed")
    return meta


def _senseless(folder: Path, reason: str) -> ValueError:
    return ValueError(f"`{folder / 'meta.json'}` must describe a graph; {reason}. {_AGAIN}")


def _require_sense(meta: dict[str, Any]) -> None:
    """Raise KeyError, TypeError or ValueError unless all that readers need is there."""
    n_nodes, nnz = int(meta["n_nodes"]), int(meta["nnz"])
    files = meta["files"]
    lengths = {"indptr.npy": n_nodes + 1, "indices.npy": nnz, "loops.npy": None}
    if "weights.npy" in files:
        lengths |= {"weights.npy": nnz, "strengths.npy": n_nodes}
    strange = set(files) - set(lengths)
    if strange:
        raise ValueError(f"a file {sorted(strange)[0]!r}")
    for name, length in lengths.items():
        if files[name]["dtype"] not in _DTYPES[name]:
            raise ValueError(f"{name} of type {files[name]['dtype']!r}")
        found = files[name]["length"]
        if type(found) is not int or found < 0 or length not in (None, found):
            raise ValueError(f"{name} with {found!r} numbers instead of {length}")
        str(files[name]["sha256"])
    for name in ("weights", "strengths"):
        low, high = meta["ranges"][name]
        float(low), float(high)
    for name in ("directed", "is_reverse"):
        if not isinstance(meta[name], bool):
            raise TypeError(f"{name} is {meta[name]!r}")
    str(meta["fingerprint"])
    if meta["ids"] is not None:
        int(meta["ids"]["bytes"])
        str(meta["ids"]["sha256"])


def _require_size(path: Path, size: int) -> None:
    found = path.stat().st_size if path.exists() else 0
    if found != size:
        raise ValueError(
            f"`{path}` must have {size:,} bytes; it has {found:,}: the graph folder is "
            f"incomplete. {_AGAIN}"
        )


def _require_reverse(folder: Path, meta: dict[str, Any], verify: bool) -> None:
    place = folder / REVERSED
    if not place.is_dir():
        raise ValueError(
            f"`{place}` must hold the reversed edges of a directed graph; it is missing. {_AGAIN}"
        )
    reverse = read_meta(place, verify=verify)
    for name in ("n_nodes", "nnz", "directed"):
        if reverse[name] != meta[name]:
            raise ValueError(
                f"`{place}` must hold the reversed edges of `{folder}`; its {name} is "
                f"{reverse[name]}, not {meta[name]}. {_AGAIN}"
            )
    if not reverse["is_reverse"]:
        raise ValueError(
            f"`{place}` must hold the reversed edges of `{folder}`; it is a separate graph. "
            f"{_AGAIN}"
        )


def foreign_entry(folder: Path) -> str | None:
    """An entry of a graph folder that is not part of the graph; None if all of them are."""
    for entry in sorted(folder.iterdir()):
        if entry.name == REVERSED and entry.is_dir():
            if (found := foreign_entry(entry)) is not None:
                return f"{REVERSED}/{found}"
        elif entry.name not in _OURS:
            return entry.name
    return None
