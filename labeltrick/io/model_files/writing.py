"""Saving fitted models as JSON, arrays and LightGBM's text format.

``model.json`` holds the model as a tree of plain values, and the names and checksums of the other
files: ``arrays.npz`` (without pickles) and ``trees-0.txt``, ``trees-1.txt``, … for the boosters.
Only objects of this library are written, field by field.
"""

from __future__ import annotations

import dataclasses
import math
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._utils.json_files import sealed
from ..._utils.temporary_folders import Temporary
from ..._utils.version import __version__
from ..._utils.whole_files import checksum
from ...graph.graph import Graph
from ...models.base.extending import ExtendedModel
from ...propagation.base import Propagation
from .reading import ARRAYS, EXTRAS, FORMAT, INDEX, VERSION, files_of
from .registry import PARTS, PROPAGATIONS, is_listed, is_record

_NOT_KEPT = ("progress", "resume_from")  # belong to the session
_KEPT_OF_CACHE = ("oof", "calibration")  # take a training to compute again


def save_model(model: Any, path: str | os.PathLike[str]) -> Path:
    """Write a fitted estimator into a folder, completely or not at all.

    The files contain no pickles. A folder that holds a saved model is replaced.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this library.
    path : path
        A new or empty folder, or one that holds a saved model.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    FileExistsError
        If the folder holds anything but a saved model.
    TypeError
        If the model contains objects of other libraries.
    ValueError
        If the model is not fitted.

    See Also
    --------
    load_model : Read a saved model.

    Examples
    --------
    >>> import tempfile
    >>> from labeltrick import Graph, LabelPropagation, load_model
    >>> graph = Graph.from_edges([0, 1], [1, 2])
    >>> model = LabelPropagation().fit(None, ["a", None, "b"], graph=graph)
    >>> folder = Path(tempfile.mkdtemp()) / "model"
    >>> load_model(save_model(model, folder)).predict().tolist()
    ['a', 'a', 'b']
    """
    target = Path(path).expanduser().absolute()
    _require_replaceable(target)
    if isinstance(model, ExtendedModel) or hasattr(model, "best_estimator_"):
        part = "model" if isinstance(model, ExtendedModel) else "best_estimator_"
        raise TypeError(
            f"`model` must be a fitted estimator; got {type(model).__name__}. Save its .{part}."
        )
    if not hasattr(model, "targets_"):
        raise ValueError("`model` must be fitted to be saved; it is not. Call fit first.")
    model.calibration_  # noqa: B018  (fitted on first use)
    return save_parts(model, target)


def save_parts(value: Any, target: Path) -> Path:
    """Write an object that consists of parts of this library into a folder, completely or not at
    all. A model in the folder is replaced."""
    writer = _Writer()
    tree = writer.encode(value, type(value).__name__)
    temporary = Temporary(target)
    with temporary:
        writer.write(temporary.new_folder(), tree)
        _require_replaceable(target)
        temporary.take_place()
    return target


def _require_replaceable(target: Path) -> None:
    """Raise an error if the folder holds anything but a model, because it would be removed."""
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    files = files_of(target)
    if files is None:
        raise FileExistsError(
            f"`path` must be a new or empty folder, or one that holds a model; '{target}' is "
            "neither. Choose another folder."
        )
    foreign = sorted(entry.name for entry in target.iterdir() if entry.name not in files)
    if foreign:
        raise FileExistsError(
            f"`path` must hold only a model to be replaced; '{target}' also holds '{foreign[0]}'. "
            "Move that file to another folder first."
        )


class _Writer:
    """Turns a model into a tree of plain values and collects its arrays and boosters."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self.boosters: list[str] = []
        self._places: dict[int, int] = {}
        self._kept: list[Any] = []  # keeps objects alive, so that their ids stay unique

    def write(self, folder: Path, tree: Any) -> None:
        with (folder / ARRAYS).open("wb") as file:
            np.savez(file, **self.arrays)  # type: ignore[arg-type]
        files = [ARRAYS]
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
        with (folder / INDEX).open("w") as file:
            file.write(sealed(index))
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
        """Write an object that occurs several times (a graph, labels) only once."""
        if id(value) in self._places:
            return {"$same": self._places[id(value)]}
        place = len(self._kept)
        self._places[id(value)] = place
        self._kept.append(value)
        return {"$place": place, **self._encode_object(value, where)}

    def _encode_object(self, value: Any, where: str) -> dict[str, Any]:
        if isinstance(value, np.ndarray) and value.dtype != object:
            return {"$array": self._add(value)}
        if isinstance(value, np.ndarray):
            texts = value.tolist()
            if value.ndim != 1 or not all(text is None or isinstance(text, str) for text in texts):
                raise TypeError(
                    f"`model` must hold arrays of numbers or texts to be saved; {where} is neither."
                )
            return {"$texts": texts}
        if sp.issparse(value):
            csr = value.tocsr()
            names = [self._add(part) for part in (csr.data, csr.indices, csr.indptr)]
            return {"$csr": names, "shape": list(csr.shape)}
        if type(value).__module__.startswith("lightgbm."):
            from ...models.boosting.tree_text import text_of

            self.boosters.append(text_of(value))
            return {"$trees": len(self.boosters) - 1}
        if _is_network(value):
            return self._encode_network(value, where)
        if isinstance(value, Graph):
            arrays = [value.indptr, value.indices, value.weights]
            parts = [*arrays, value.directed, value.node_types, value.relations]
            return {"$graph": self.encode([*parts, _saved_names(value)], where)}
        if isinstance(value, Propagation):
            return self._encode_propagation(value, where)
        if not is_listed(type(value), PARTS):
            raise _foreign(value, where)
        each = {key: self.encode(part, f"{where}.{key}") for key, part in _state(value).items()}
        return {"$object": type(value).__name__, "state": each}

    def _encode_propagation(self, P: Propagation, where: str) -> dict[str, Any]:
        """The class and parameters; arrays that follow from the graph are computed again."""
        kind, parameters, transposed = P.recipe()
        if not is_listed(kind, PROPAGATIONS):
            raise _foreign(P, where)
        return {
            "$propagation": kind.__name__,
            "graph": self.encode(P.given_graph, where),
            "parameters": self.encode(parameters, where),
            "transposed": transposed,
        }

    def _encode_network(self, network: Any, where: str) -> dict[str, Any]:
        from ...nn.rebuild import recipe_of, weights_of

        recipe = recipe_of(network)
        if recipe is None:
            raise _foreign(network, where)
        kind, arguments = recipe
        weights = {name: self._add(array) for name, array in weights_of(network).items()}
        extra = {name: getattr(network, name) for name in EXTRAS if hasattr(network, name)}
        return {"$network": kind, "arguments": self.encode(arguments, where), "weights": weights,
                "extra": self.encode(extra, where)}  # fmt: skip

    def _add(self, array: np.ndarray) -> str:
        name = f"a{len(self.arrays)}"
        self.arrays[name] = array
        return name


def _saved_names(graph: Graph) -> Any:
    """Names of the nodes: an array of integers or strings, or a list of other plain values."""
    if graph.node_names is None:
        return None
    names = graph.node_names.values
    plain = names.dtype != object or all(isinstance(name, str) for name in names.tolist())
    return names if plain else names.tolist()


def _foreign(value: Any, where: str) -> TypeError:
    return TypeError(
        f"`model` must consist of parts of labeltrick to be saved; {where} is a "
        f"{type(value).__module__}.{type(value).__name__}. Pass its predictions as the base "
        "instead."
    )


def _is_network(value: Any) -> bool:
    torch = sys.modules.get("torch")  # imported already if there is a network
    return torch is not None and isinstance(value, torch.nn.Module)


def _state(value: Any) -> dict[str, Any]:
    if is_record(type(value)):
        names = [field.name for field in dataclasses.fields(value) if field.init]
        state = {name: getattr(value, name) for name in names}
    else:
        own = type(value).__dict__.get("__getstate__")
        state = dict(own(value) if own else value.__dict__)
    for name, part in state.items():  # settings of the session and functions are not saved
        if name in _NOT_KEPT or (callable(part) and not _is_network(part)):
            state[name] = None
    if isinstance(state.get("_cache"), dict):  # the rest is computed again on first use
        state["_cache"] = {k: v for k, v in state["_cache"].items() if k in _KEPT_OF_CACHE}
    return state
