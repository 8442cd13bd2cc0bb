"""Fitted models in a folder: JSON, arrays and LightGBM's own text. Nothing in it is executed.

``model.json`` holds the model as a tree of plain values and names the other files with their
checksums; ``arrays.npz`` (no pickles) the arrays; ``trees-0.txt``, … the boosters. Objects are
those of this library alone, and are rebuilt field by field.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import shutil
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._atomic import checksum
from ._extras import require
from .graph import Graph

FORMAT, VERSION = "labeltrick model", 1
_INDEX, _ARRAYS = "model.json", "arrays.npz"
_NOT_KEPT = ("progress", "checkpoint")  # belong to the session
_KEPT_OF_CACHE = ("left_out", "calibration")  # would have to be learnt again
_EXTRAS = ("label_size",)  # what networks carry beside their weights


def save_model(model: Any, path: str | os.PathLike[str]) -> Path:
    """Write a fitted estimator into a folder, all of it or nothing.

    A folder that holds a model already is replaced; any other is an error.

    >>> from labeltrick import Graph, LabelPropagation
    >>> graph = Graph.from_edges([0, 1], [1, 2])
    >>> model = LabelPropagation().fit(None, ["a", None, "b"], graph=graph)
    >>> folder = Path(tempfile.mkdtemp()) / "model"
    >>> load_model(save_model(model, folder)).predict().tolist()
    ['a', 'a', 'b']
    """
    target = Path(path).expanduser().absolute()
    if (
        target.exists()
        and not (target / _INDEX).is_file()
        and (not target.is_dir() or any(target.iterdir()))
    ):
        raise FileExistsError(
            f"`path` must be a new or empty folder, or one that holds a model; '{target}' is "
            "something else. Choose another."
        )
    if not hasattr(model, "targets_"):
        raise ValueError("`model` must be fitted to be saved; it is not. Call fit first.")
    model.calibration_  # noqa: B018  (made when first asked for, which may be a training)
    return save_parts(model, target)


def save_parts(value: Any, target: Path) -> Path:
    """Write anything that is made of this library's own parts into a folder, all of it or
    nothing; a folder that is there is replaced."""
    writer = _Writer()
    tree = writer.encode(value, type(value).__name__)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        writer.write(temporary, tree)
        _put_in_place(temporary, target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return target


def _put_in_place(made: Path, target: Path) -> None:
    if not target.exists():
        os.replace(made, target)
        return
    old = made.with_name(made.name + "-old")
    os.replace(target, old)
    try:
        os.replace(made, target)
    except OSError:
        os.replace(old, target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def load_model(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save_model` wrote. Files that are damaged, cut short or foreign are a
    `ValueError`; nothing in them is executed."""
    return load_parts(Path(path).expanduser().absolute())


def load_parts(folder: Path) -> Any:
    """What `save_parts` wrote."""
    index = _read_index(folder)
    try:
        return _Reader(folder, index).decode(index["model"])
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise _damaged(folder / _INDEX, f"{type(error).__name__}: {error}") from None


# -- writing -----------------------------------------------------------------------------------
class _Writer:
    """Collects arrays and boosters while a model becomes a tree of plain values."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self.boosters: list[str] = []
        self._places: dict[int, int] = {}
        self._kept: list[Any] = []  # or ids of short-lived objects would come back

    def write(self, folder: Path, tree: Any) -> None:
        from . import __version__

        with (folder / _ARRAYS).open("wb") as file:
            np.savez(file, **self.arrays)  # type: ignore[arg-type]
        files = [_ARRAYS]
        for k, text in enumerate(self.boosters):
            files.append(f"trees-{k}.txt")
            (folder / files[-1]).write_text(text)
        index = {
            "format": FORMAT,
            "version": VERSION,
            "labeltrick": __version__,
            "files": {name: checksum(folder / name) for name in files},
            "model": tree,
        }
        text = json.dumps(index, indent=1, allow_nan=False)
        with (folder / _INDEX).open("w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())

    def encode(self, value: Any, where: str) -> Any:
        if value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, int):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"$float": repr(value)}
        if isinstance(value, list):
            return [self.encode(entry, f"{where}[{k}]") for k, entry in enumerate(value)]
        if isinstance(value, tuple):
            return {"$tuple": self.encode(list(value), where)}
        if isinstance(value, dict):
            pairs = [[self.encode(k, where), self.encode(v, f"{where}[{k!r}]")]
                     for k, v in value.items()]  # fmt: skip
            return {"$dict": pairs}
        return self._encode_once(value, where)

    def _encode_once(self, value: Any, where: str) -> Any:
        """What may stand in several places (a graph, labels) is written once."""
        if id(value) in self._places:
            return {"$same": self._places[id(value)]}
        place = len(self._kept)
        self._places[id(value)] = place
        self._kept.append(value)
        return {"$place": place, **self._encode_object(value, where)}

    def _encode_object(self, value: Any, where: str) -> dict[str, Any]:
        if isinstance(value, np.ndarray) and value.dtype == object:
            return {"$texts": self._texts(value, where)}
        if isinstance(value, np.ndarray):
            return {"$array": self._add(value)}
        if sp.issparse(value):
            csr = value.tocsr()
            parts = [self._add(part) for part in (csr.data, csr.indices, csr.indptr)]
            return {"$csr": parts, "shape": list(csr.shape)}
        if type(value).__module__.startswith("lightgbm."):
            self.boosters.append(value.model_to_string())
            return {"$trees": len(self.boosters) - 1}
        if _is_network(value):
            return self._encode_network(value, where)
        if isinstance(value, Graph):
            return {"$graph": self.encode(_graph_parts(value), where)}
        if not _is_ours(type(value)):
            raise _foreign(value, where)
        state = _state(value)
        name = f"{type(value).__module__}:{type(value).__qualname__}"
        each = {key: self.encode(part, f"{where}.{key}") for key, part in state.items()}
        return {"$object": name, "state": each}

    def _encode_network(self, network: Any, where: str) -> dict[str, Any]:
        from .nn.rebuild import recipe_of, weights_of

        recipe = recipe_of(network)
        if recipe is None:
            raise _foreign(network, where)
        kind, arguments = recipe
        weights = {name: self._add(array) for name, array in weights_of(network).items()}
        extra = {name: getattr(network, name) for name in _EXTRAS if hasattr(network, name)}
        return {"$network": kind, "arguments": self.encode(arguments, where), "weights": weights,
                "extra": self.encode(extra, where)}  # fmt: skip

    @staticmethod
    def _texts(array: np.ndarray, where: str) -> list[str | None]:
        entries = array.tolist()
        if array.ndim != 1 or not all(e is None or isinstance(e, str) for e in entries):
            raise TypeError(
                f"`model` must hold arrays of numbers or texts to be saved; {where} is another."
            )
        return entries

    def _add(self, array: np.ndarray) -> str:
        name = f"a{len(self.arrays)}"
        self.arrays[name] = array
        return name


def _foreign(value: Any, where: str) -> TypeError:
    return TypeError(
        f"`model` must be made of labeltrick's own parts to be saved; {where} is a "
        f"{type(value).__module__}.{type(value).__name__}. Give its predictions as the "
        "base instead."
    )


def _is_network(value: Any) -> bool:
    torch = sys.modules.get("torch")  # whoever has a network has imported it
    return torch is not None and isinstance(value, torch.nn.Module)


def _state(value: Any) -> dict[str, Any]:
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value) if field.init]
        state = {name: getattr(value, name) for name in names}
    else:
        own = type(value).__dict__.get("__getstate__")
        state = own(value) if own else dict(value.__dict__)
    found = {name: _kept(name, part) for name, part in state.items()}
    if isinstance(found.get("_cache"), dict):  # all else in it is made again when asked for
        found["_cache"] = {k: v for k, v in state["_cache"].items() if k in _KEPT_OF_CACHE}
    return found


def _kept(name: str, part: Any) -> Any:
    """Functions are made again by those that need them."""
    return None if name in _NOT_KEPT or (callable(part) and not _is_network(part)) else part


def _graph_parts(graph: Graph) -> list[Any]:
    arrays = [graph.indptr, graph.indices, graph.weights]
    return [*arrays, graph.directed, graph.node_types, graph.relations]


def _is_ours(kind: type) -> bool:
    return kind.__module__.split(".")[0] == "labeltrick"


# -- reading -----------------------------------------------------------------------------------
def _read_index(folder: Path) -> dict[str, Any]:
    path = folder / _INDEX
    if not path.is_file():
        raise FileNotFoundError(
            f"`path` must be the folder of a saved model; '{folder}' has no {_INDEX}."
        )
    try:
        index = json.loads(path.read_text())
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise _damaged(path, str(error)) from None
    if not isinstance(index, dict) or index.get("format") != FORMAT:
        raise ValueError(f"`{path}` must be a {FORMAT}; it is another kind of file.")
    if index.get("version") != VERSION:
        raise ValueError(
            f"`{path}` must be of format version {VERSION}; it is of {index.get('version')!r}, "
            "written by another release of labeltrick. Use that, or fit again."
        )
    if not isinstance(index.get("files"), dict) or "model" not in index:
        raise _damaged(path, "parts of it are missing")
    for name, expected in index["files"].items():
        if Path(name).name != name:
            raise _damaged(path, f"it names a file outside the folder, '{name}'")
        if not (folder / name).is_file():
            raise ValueError(f"`{folder / name}` must exist; it is missing from the saved model.")
        if checksum(folder / name) != expected:
            raise _damaged(folder / name, "its checksum is another")
    return index


def _damaged(path: Path, reason: str) -> ValueError:
    return ValueError(
        f"`{path}` must be as save_model wrote it; it is damaged or changed: {reason}. "
        "Copy it again, or fit again."
    )


class _Reader:
    """Rebuilds a model from its tree."""

    def __init__(self, folder: Path, index: dict[str, Any]) -> None:
        self.folder = folder
        self._found: dict[int, Any] = {}
        self._listed = index["files"]
        if _ARRAYS not in self._listed:
            raise _damaged(folder / _INDEX, f"it does not name {_ARRAYS}")
        try:
            with np.load(folder / _ARRAYS, allow_pickle=False) as arrays:
                self._arrays = {name: arrays[name] for name in arrays.files}
        except (ValueError, OSError, EOFError) as error:
            raise _damaged(folder / _ARRAYS, str(error)) from None

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
        kind = _find_class(tree["$object"], self.folder / _INDEX)
        made: Any = kind
        state = {name: self.decode(part) for name, part in tree["state"].items()}
        if dataclasses.is_dataclass(kind):
            return made(**state)
        found: Any = object.__new__(kind)
        found.__dict__.update(state)
        return found

    def _network(self, tree: dict[str, Any]) -> Any:
        require("torch", "this saved model")
        from .nn.rebuild import rebuilt

        arguments = self.decode(tree["arguments"])
        weights = {name: self._arrays[place] for name, place in tree["weights"].items()}
        try:
            network = rebuilt(tree["$network"], arguments, weights)
        except ValueError as error:
            raise _damaged(self.folder / _INDEX, str(error)) from None
        for name, value in self.decode(tree["extra"]).items():
            if name in _EXTRAS:
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
            raise _damaged(self.folder / _ARRAYS, "the graph in it is none")
        return Graph(indptr, indices, weights, bool(directed), types, relations)

    def _booster(self, name: str) -> Any:
        import lightgbm

        if name not in self._listed:
            raise _damaged(self.folder / _INDEX, f"it does not name {name}")
        try:
            return lightgbm.Booster(model_str=(self.folder / name).read_text())
        except lightgbm.basic.LightGBMError as error:
            raise _damaged(self.folder / name, str(error)) from None


def _find_class(name: str, path: Path) -> type:
    module, _, qualified = str(name).partition(":")
    if module.split(".")[0] != "labeltrick" or not qualified.isidentifier():
        raise _damaged(path, f"it asks for '{name}', which is no part of labeltrick")
    try:
        kind = getattr(import_module(module), qualified)
    except (ImportError, AttributeError):
        kind = None
    if not isinstance(kind, type) or kind.__module__ != module or not _is_ours(kind):
        raise _damaged(path, f"it asks for '{name}', which is no part of labeltrick")
    return kind
