"""``meta.json``, which describes a graph folder.

A folder holds ``meta.json`` and arrays as numpy's .npy files, which `numpy.load` can read too:

=================  ==========================================================================
indptr.npy         int64, n + 1: where each row begins in ``indices``
indices.npy        int32 (int64 from 2³¹ nodes on): the neighbors of each row, ascending
weights.npy        float32 or float64, only for a weighted graph: their weights
strengths.npy      float64, only for a weighted graph: the sum of each row's weights
loops.npy          int64: the nodes that have an edge to themselves, ascending
ids.parquet        only where nodes are not numbered 0…n−1 by their maker: ``id`` of each node
reversed/          only for a directed graph: the same files for the reversed edges
=================  ==========================================================================

``meta.json`` is written last and names every file with its length and the SHA-256 of its numbers
(of ``ids.parquet``: of all of it), and begins with its own SHA-256, made with zeros in its place. A
folder without it, or with shorter files, was cut short. Changes are found on opening where that
costs little: in ``meta.json``, and in files of up to 4 MB. Larger ones are read only to verify a
folder. Version 2 had no checksums. Version 1 did not mention ``ids.parquet``, nor whether a folder
is the reverse of the one around it; both are found by looking.
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
_ARRAYS = ("indptr", "indices", "weights", "strengths", "loops")
_DTYPES = {
    "indptr.npy": ("<i8",),
    "indices.npy": ("<i4", "<i8"),
    "loops.npy": ("<i8",),
    "weights.npy": ("<f4", "<f8"),
    "strengths.npy": ("<f8",),
}
_OURS = {"meta.json", IDS, *(f"{name}.npy" for name in _ARRAYS)}
_SMALL = 1 << 22  # bytes of a file that is checked on opening: a few milliseconds
_AGAIN = "Copy it again, or make it again with: labeltrick graph build"


def is_graph_folder(folder: Path) -> bool:
    """Whether a folder says that it is one, in order or not."""
    try:
        meta = loads((folder / "meta.json").read_text())
    except (OSError, ValueError):
        return False
    return isinstance(meta, dict) and meta.get("format") == FORMAT


def write_meta(folder: Path, meta: dict[str, Any]) -> None:
    """Describe a folder whose other files are all there, the nodes' ids among them."""
    ids = folder / IDS
    described = {"format": FORMAT, "version": VERSION, **meta, "ids": None}
    if ids.exists():
        described["ids"] = {"bytes": ids.stat().st_size, "sha256": checksum(ids)}
    (folder / "meta.json").write_text(sealed(described))


def read_meta(folder: Path, *, verify: bool = False) -> dict[str, Any]:
    """``meta.json`` of a graph folder whose files are all there, and as long as they should be;
    small ones are as they were written, with ``verify`` all of them are."""
    meta = _parsed(folder)
    if verify and meta["version"] < VERSION:
        raise ValueError(
            f"`{folder}` must have checksums to be verified; it was made by an earlier version of "
            "labeltrick. Make it again with: labeltrick graph build"
        )
    try:
        _require_sense(meta)
    except KeyError as error:
        raise _senseless(folder, f"it lacks {error}") from None
    except (ValueError, TypeError, AttributeError, ArithmeticError) as error:
        raise _senseless(folder, f"it cannot be read ({error})") from None
    for name, described in meta["files"].items():
        size = HEADER + described["length"] * np.dtype(described["dtype"]).itemsize
        _require_size(folder / name, size)
        if meta["version"] == VERSION and (verify or size <= _SMALL):
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
    """Refuse ids that are not those that were written; others would name other nodes."""
    if meta["version"] == VERSION:
        _require_same(folder / IDS, checksum(folder / IDS), meta["ids"]["sha256"])


def _require_same(path: Path, found: str | None, expected: str) -> None:
    if found != expected:
        raise ValueError(
            f"`{path}` must be as it was written; its checksum is another: it is damaged or was "
            f"changed. {_AGAIN}"
        )


def _parsed(folder: Path) -> dict[str, Any]:
    if not folder.exists():
        sweep(folder.absolute().parent)  # it may have been moved aside by a process that was killed
    if not folder.exists():
        raise FileNotFoundError(
            f"`{folder}` must be a graph folder; it does not exist. Make one with: labeltrick "
            "graph build edges.parquet graph.lt"
        )
    file = folder / "meta.json"
    if not folder.is_dir() or not file.exists():
        raise ValueError(
            f"`{folder}` must be a graph folder; it has no meta.json: it is something else, or was "
            "cut short. Make it again with: labeltrick graph build"
        )
    try:
        text = file.read_text()
        meta = loads(text)
        kind, version = meta["format"], meta["version"]
    except KeyError as error:
        raise _senseless(folder, f"it lacks {error}") from None
    except (ValueError, TypeError) as error:
        raise _senseless(folder, f"it cannot be read ({error})") from None
    if kind != FORMAT or version not in (1, 2, VERSION):
        raise ValueError(
            f"`{folder}` must be a graph folder of version {VERSION}; got {kind!r}, version "
            f"{version}. Make it again with this version of labeltrick."
        )
    if version == VERSION and not is_sealed(text):
        raise _senseless(folder, "its checksum is another: it is damaged or was changed")
    if version == 1:
        found = (folder / IDS).stat().st_size if (folder / IDS).exists() else None
        meta["ids"] = None if found is None else {"bytes": found}
        meta["is_reverse"] = folder.name == REVERSED and not (folder / REVERSED).is_dir()
    return meta


def _senseless(folder: Path, reason: str) -> ValueError:
    return ValueError(f"`{folder / 'meta.json'}` must describe a graph; {reason}. {_AGAIN}")


def _require_sense(meta: dict[str, Any]) -> None:
    """KeyError, TypeError or ValueError unless all is told that readers ask for."""
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
        if meta["version"] == VERSION:
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
        if meta["version"] == VERSION:
            str(meta["ids"]["sha256"])


def _require_size(path: Path, size: int) -> None:
    found = path.stat().st_size if path.exists() else 0
    if found != size:
        raise ValueError(
            f"`{path}` must have {size:,} bytes; it has {found:,}: the graph folder was cut "
            f"short. {_AGAIN}"
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
            f"`{place}` must hold the reversed edges of `{folder}`; it is a graph of its own. "
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
