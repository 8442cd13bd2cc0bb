"""Reads models that `model_file` wrote. Files may come from others: nothing in them is executed,
objects are those of this library alone, and where work is done is not theirs to say."""

from __future__ import annotations

import dataclasses
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._atomic import checksum
from ._compute import Compute
from ._extras import require
from .graph import Graph
from .normalized import NormalizedAdjacency
from .propagation import Propagation

FORMAT, VERSION = "labeltrick model", 2
INDEX, ARRAYS = "model.json", "arrays.npz"
EXTRAS = ("label_size",)  # what networks carry beside their weights
# Settings of the machine that a model was fitted on: a file must not make others connect anywhere.
OF_THE_MACHINE = {"engine": "auto", "address": None, "max_memory": None, "checkpoint_dir": None}
_MADE_ANEW = (Graph, NormalizedAdjacency, Propagation, Compute)


def is_ours(kind: type) -> bool:
    return kind.__module__.split(".")[0] == "labeltrick"


def read_index(folder: Path) -> dict[str, Any]:
    path = folder / INDEX
    if not path.is_file():
        raise FileNotFoundError(
            f"`path` must be the folder of a saved model; '{folder}' has no {INDEX}."
        )
    try:
        index = json.loads(path.read_text())
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise damaged(path, str(error)) from None
    if not isinstance(index, dict) or index.get("format") != FORMAT:
        raise ValueError(f"`{path}` must be a {FORMAT}; it is another kind of file.")
    if index.get("version") != VERSION:
        raise ValueError(
            f"`{path}` must be of format version {VERSION}; it is of {index.get('version')!r}, "
            "written by another release of labeltrick. Use that, or fit again."
        )
    if not isinstance(index.get("files"), dict) or "model" not in index:
        raise damaged(path, "parts of it are missing")
    for name, expected in index["files"].items():
        if Path(name).name != name:
            raise damaged(path, f"it names a file outside the folder, '{name}'")
        if not (folder / name).is_file():
            raise ValueError(f"`{folder / name}` must exist; it is missing from the saved model.")
        if checksum(folder / name) != expected:
            raise damaged(folder / name, "its checksum is another")
    return index


def files_of(folder: Path) -> set[str] | None:
    """Names of the files that make up a saved model of any version; None if it is not one."""
    try:
        index = json.loads((folder / INDEX).read_text())
    except (OSError, ValueError):
        return None
    if not isinstance(index, dict) or index.get("format") != FORMAT:
        return None
    files = index.get("files")
    return {INDEX, *(files if isinstance(files, dict) else ())}


def damaged(path: Path, reason: str) -> ValueError:
    return ValueError(
        f"`{path}` must be as save_model wrote it; it is damaged or changed: {reason}. "
        "Copy it again, or fit again."
    )


class Reader:
    """Rebuilds a model from its tree."""

    def __init__(self, folder: Path, index: dict[str, Any]) -> None:
        self.folder = folder
        self._found: dict[int, Any] = {}
        self._listed = index["files"]
        if ARRAYS not in self._listed:
            raise damaged(folder / INDEX, f"it does not name {ARRAYS}")
        try:
            with np.load(folder / ARRAYS, allow_pickle=False) as arrays:
                self._arrays = {name: arrays[name] for name in arrays.files}
        except (ValueError, OSError, EOFError) as error:
            raise damaged(folder / ARRAYS, str(error)) from None

    def decode(self, tree: Any) -> Any:
        if isinstance(tree, list):
            return [self.decode(entry) for entry in tree]
        if not isinstance(tree, dict):
            return tree
        if "$float" in tree:
            return float(tree["$float"])
        if "$tuple" in tree:
            return tuple(self.decode(tree["$tuple"]))
        if "$dict" in tree:
            return {self.decode(key): self.decode(value) for key, value in tree["$dict"]}
        if "$same" in tree:
            return self._found[tree["$same"]]
        found = self._decode_object(tree)
        self._found[tree["$place"]] = found
        return found

    def _decode_object(self, tree: dict[str, Any]) -> Any:
        if "$array" in tree:
            return self._arrays[tree["$array"]]
        if "$texts" in tree:
            return np.array(tree["$texts"], dtype=object)
        if "$csr" in tree:
            parts = tuple(self._arrays[name] for name in tree["$csr"])
            return sp.csr_array(parts, shape=tuple(tree["shape"]))
        if "$trees" in tree:
            return self._booster(f"trees-{int(tree['$trees'])}.txt")
        if "$network" in tree:
            return self._network(tree)
        if "$graph" in tree:
            return self._graph(*self.decode(tree["$graph"]))
        if "$propagation" in tree:
            return self._propagation(tree)
        kind = _find_class(tree["$object"], self.folder / INDEX)
        if issubclass(kind, _MADE_ANEW):
            raise damaged(self.folder / INDEX, f"it holds a {kind.__name__} field by field")
        made: Any = kind
        state = {name: self.decode(part) for name, part in tree["state"].items()}
        if hasattr(kind, "get_params"):
            state |= {name: usual for name, usual in OF_THE_MACHINE.items() if name in state}
        if dataclasses.is_dataclass(kind):
            return made(**state)
        found: Any = object.__new__(kind)
        found.__dict__.update(state)
        return found

    def _propagation(self, tree: dict[str, Any]) -> Propagation:
        kind = _find_class(tree["$propagation"], self.folder / INDEX)
        if not issubclass(kind, Propagation):
            raise damaged(self.folder / INDEX, f"{kind.__name__} is no propagation")
        graph = self.decode(tree["graph"])
        made = kind(graph, **self.decode(tree["parameters"]))
        if tree["transposed"]:
            made._transposed = True  # type: ignore[attr-defined]
        return made

    def _network(self, tree: dict[str, Any]) -> Any:
        require("torch", "this saved model")
        from .nn.rebuild import rebuilt

        arguments = self.decode(tree["arguments"])
        weights = {name: self._arrays[place] for name, place in tree["weights"].items()}
        try:
            network = rebuilt(tree["$network"], arguments, weights)
        except ValueError as error:
            raise damaged(self.folder / INDEX, str(error)) from None
        for name, value in self.decode(tree["extra"]).items():
            if name in EXTRAS:
                setattr(network, name, float(value))
        return network

    def _graph(
        self, indptr: Any, indices: Any, weights: Any, directed: Any, types: Any, relations: Any
    ) -> Graph:
        """Checked, for kernels trust what they are given."""
        n, nnz = len(indptr) - 1, len(indices)
        sound = (
            indptr.dtype.kind == "i" == indices.dtype.kind
            and n >= 0
            and (indptr[0], indptr[-1]) == (0, nnz)
            and (np.diff(indptr) >= 0).all()
            and (not nnz or (indices.min() >= 0 and indices.max() < n))
            and (weights is None or (len(weights) == nnz and np.isfinite(weights).all()))
            and (types is None or len(types) == n)
        )
        if not sound:
            raise damaged(self.folder / ARRAYS, "the graph in it is none")
        return Graph(indptr, indices, weights, bool(directed), types, relations)

    def _booster(self, name: str) -> Any:
        import lightgbm

        if name not in self._listed:
            raise damaged(self.folder / INDEX, f"it does not name {name}")
        try:
            return lightgbm.Booster(model_str=(self.folder / name).read_text())
        except lightgbm.basic.LightGBMError as error:
            raise damaged(self.folder / name, str(error)) from None


def _find_class(name: str, path: Path) -> type:
    module, _, qualified = str(name).partition(":")
    if module.split(".")[0] != "labeltrick" or not qualified.isidentifier():
        raise damaged(path, f"it asks for '{name}', which is no part of labeltrick")
    try:
        kind = getattr(import_module(module), qualified)
    except (ImportError, AttributeError):
        kind = None
    if not isinstance(kind, type) or kind.__module__ != module or not is_ours(kind):
        raise damaged(path, f"it asks for '{name}', which is no part of labeltrick")
    return kind
