"""``meta.json``, which describes a graph folder.

A folder holds ``meta.json`` and arrays as numpy's .npy files, which `numpy.load` can read too:

=================  ==========================================================================
indptr.npy         int64, n + 1: where each row begins in ``indices``
indices.npy        int32 (int64 from 2³¹ nodes on): the neighbours of each row, ascending
weights.npy        float32 or float64, only for a weighted graph: their weights
strengths.npy      float64, only for a weighted graph: the sum of each row's weights
loops.npy          int64: the nodes that have an edge to themselves, ascending
ids.parquet        only where nodes are not numbered 0…n−1 by their maker: ``id`` of each node
reversed/          only for a directed graph: the same files for the reversed edges
=================  ==========================================================================

``meta.json`` is written last and names every file with its length: a folder without it, or with
shorter files, was cut short. Version 1 did not tell of ``ids.parquet``, nor whether a folder is the
reverse of the one around it; both are found by looking.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from .files import HEADER

FORMAT, VERSION = "labeltrick graph", 2
REVERSED = "reversed"  # folder of the reversed edges
IDS = "ids.parquet"
_ARRAYS = ("indptr", "indices", "weights", "strengths", "loops")
_OURS = {"meta.json", IDS, *(f"{name}.npy" for name in _ARRAYS)}
_AGAIN = "Copy it again, or make it again with: labeltrick graph build"


def is_graph_folder(folder: Path) -> bool:
    """Whether a folder says that it is one, in order or not."""
    try:
        meta = json.loads((folder / "meta.json").read_text())
    except (OSError, ValueError):
        return False
    return isinstance(meta, dict) and meta.get("format") == FORMAT


def write_meta(folder: Path, meta: dict[str, Any]) -> None:
    """Describe a folder whose other files are all there, the nodes' ids among them."""
    ids = folder / IDS
    described = {
        "format": FORMAT,
        "version": VERSION,
        **meta,
        "ids": {"bytes": ids.stat().st_size} if ids.exists() else None,
    }
    (folder / "meta.json").write_text(json.dumps(described, indent=1))


def read_meta(folder: Path) -> dict[str, Any]:
    """``meta.json`` of a graph folder whose files are all there, and as long as they should be."""
    meta = _parsed(folder)
    try:
        _require_sense(meta)
    except KeyError as error:
        raise _senseless(folder, f"it lacks {error}") from None
    except (ValueError, TypeError, AttributeError) as error:
        raise _senseless(folder, f"it cannot be read ({error})") from None
    for name, described in meta["files"].items():
        size = HEADER + described["length"] * np.dtype(described["dtype"]).itemsize
        _require_size(folder / name, size)
    if meta["ids"] is not None:
        _require_size(folder / IDS, meta["ids"]["bytes"])
    if meta["directed"] and not meta["is_reverse"]:
        _require_reverse(folder, meta)
    return meta


def _parsed(folder: Path) -> dict[str, Any]:
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
        meta = json.loads(file.read_text())
        kind, version = meta["format"], meta["version"]
    except KeyError as error:
        raise _senseless(folder, f"it lacks {error}") from None
    except (ValueError, TypeError) as error:
        raise _senseless(folder, f"it cannot be read ({error})") from None
    if kind != FORMAT or version not in (1, VERSION):
        raise ValueError(
            f"`{folder}` must be a graph folder of version {VERSION}; got {kind!r}, version "
            f"{version}. Make it again with this version of labeltrick."
        )
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
    for name, length in lengths.items():
        np.dtype(str(files[name]["dtype"]))
        if length not in (None, files[name]["length"]):
            raise ValueError(f"{name} with {files[name]['length']} numbers for {length}")
        if int(files[name]["length"]) < 0:
            raise ValueError(f"{name} with {files[name]['length']} numbers")
    for name in ("weights", "strengths"):
        low, high = meta["ranges"][name]
        float(low), float(high)
    for name in ("directed", "is_reverse"):
        if not isinstance(meta[name], bool):
            raise TypeError(f"{name} is {meta[name]!r}")
    str(meta["fingerprint"])
    if meta["ids"] is not None:
        int(meta["ids"]["bytes"])


def _require_size(path: Path, size: int) -> None:
    found = path.stat().st_size if path.exists() else 0
    if found != size:
        raise ValueError(
            f"`{path}` must have {size:,} bytes; it has {found:,}: the graph folder was cut "
            f"short. {_AGAIN}"
        )


def _require_reverse(folder: Path, meta: dict[str, Any]) -> None:
    place = folder / REVERSED
    if not place.is_dir():
        raise ValueError(
            f"`{place}` must hold the reversed edges of a directed graph; it is missing. {_AGAIN}"
        )
    reverse = read_meta(place)
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
