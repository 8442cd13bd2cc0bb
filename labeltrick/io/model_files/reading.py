"""Reading saved models. Files may come from strangers: nothing in them is executed, and only the
classes that `registry` lists are created."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..._utils.archives import ArrayArchive
from ..._utils.checks import check_edge_weights
from ..._utils.extras import require
from ..._utils.json_files import is_sealed, loads
from ..._utils.sparse_checks import check_compressed, compressed_rows
from ..._utils.temporary_folders import sweep
from ..._utils.whole_files import checksum
from ...graph.graph import Graph
from ...propagation.base import Propagation
from .registry import OF_THE_MACHINE, PARTS, PROPAGATIONS, check_fitted, find_class, made_from

FORMAT, VERSION = "labeltrick model", 8
INDEX, ARRAYS = "model.json", "arrays.npz"
EXTRAS = ("label_size",)  # attributes of networks in addition to their weights
_KINDS_OF_ARRAYS = "biufU"


class DamagedModelError(ValueError):
    """A file of a saved model has changed since it was written."""


def _read_index(folder: Path) -> dict[str, Any]:
    """Read ``model.json`` and check that all files of the model are as they were written."""
    path = folder / INDEX
    if not path.is_file():
        raise FileNotFoundError(
            f"`path` must be the folder of a saved model; '{folder}' has no {INDEX}."
        )
    try:
        text = path.read_text()
        index = loads(text)
    except ValueError as error:
        raise _damaged(path, str(error)) from None
    if not isinstance(index, dict) or index.get("format") != FORMAT:
        raise ValueError(f"`{path}` must be a {FORMAT}; it is a different kind of file.")
    if index.get("version") != VERSION:
        raise ValueError(
            f"`{path}` must have format version {VERSION}; got {index.get('version')!r}, written "
            "by another release of labeltrick. Use that release, or fit again."
        )
    if not isinstance(index.get("files"), dict) or "model" not in index:
        raise _damaged(path, "parts of it are missing")
    if not is_sealed(text):
        raise _damaged(path, "its checksum differs")
    for name, expected in index["files"].items():
        if Path(name).name != name or "\0" in name:
            raise _damaged(path, f"it names a file outside the folder, '{name}'")
        if not (folder / name).is_file():
            raise ValueError(f"`{folder / name}` must exist; it is missing from the saved model.")
        if checksum(folder / name) != expected:
            raise _damaged(folder / name, "its checksum differs")
    return index


def files_of(folder: Path) -> set[str] | None:
    """The names of the files of a saved model of any version; None if there is no model."""
    try:
        index = loads((folder / INDEX).read_text())
    except (OSError, ValueError):
        return None
    if not isinstance(index, dict) or index.get("format") != FORMAT:
        return None
    files = index.get("files")
    return {INDEX, *(files if isinstance(files, dict) else ())}


def _damaged(path: Path, reason: str) -> DamagedModelError:
    """The error for a file that cannot be used."""
    line = " ".join(reason.split())[:300]
    return DamagedModelError(
        f"`{path}` must be as save_model wrote it; it is damaged or changed: {line}. "
        "Copy it again, or fit again."
    )


def load_model(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save_model` wrote. Nothing in the files is executed.

    Parameters
    ----------
    path : path
        The folder of the model.

    Returns
    -------
    estimator
        The fitted estimator.

    Raises
    ------
    FileNotFoundError
        If the folder does not hold a saved model.
    ValueError
        If a file is damaged, incomplete, changed, or of another format version.

    See Also
    --------
    save_model : Write a model, with an example.

    Examples
    --------
    >>> import tempfile
    >>> from labeltrick import Graph, LabelPropagation, load_model, save_model
    >>> graph = Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> model = LabelPropagation(0.8).fit(None, ["a", None, None, "b"], graph=graph)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     again = load_model(save_model(model, f"{place}/model"))
    >>> again.predict().tolist()
    ['a', 'a', 'b', 'b']
    """
    folder = Path(path).expanduser().absolute()
    if not folder.exists():
        sweep(folder.parent)  # a process that was killed may have moved it aside
    model = load_parts(folder, check_fitted)
    model._cache["file"] = str(folder)
    return model


def load_parts(folder: Path, check: Callable[[Any], None] = lambda _: None) -> Any:
    """Read an object that `save_parts` wrote, and check it."""
    index = _read_index(folder)
    try:
        found = _Reader(folder, index).decode(index["model"])
        check(found)
        return found
    except (DamagedModelError, ImportError):
        raise
    except ValueError as error:
        raise _damaged(folder / INDEX, str(error)) from None
    except (LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        raise _damaged(folder / INDEX, f"{type(error).__name__}: {error}") from None


class _Reader:
    """Rebuilds a model from its tree."""

    def __init__(self, folder: Path, index: dict[str, Any]) -> None:
        self.folder = folder
        self._found: dict[int, Any] = {}
        self._listed = index["files"]
        if ARRAYS not in self._listed:
            raise _damaged(folder / INDEX, f"it does not name {ARRAYS}")
        try:
            self._arrays = ArrayArchive(folder / ARRAYS, "Copy it again.").read_all()
        except ValueError as error:
            raise _damaged(folder / ARRAYS, str(error)) from None
        for name, array in self._arrays.items():
            if array.dtype.kind not in _KINDS_OF_ARRAYS:
                raise _damaged(folder / ARRAYS, f"array {name!r} is of type {array.dtype}")

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
            parts = [self._arrays[name] for name in tree["$csr"]]
            return compressed_rows("matrix", parts, tree["shape"])
        if "$trees" in tree:
            return self._booster(f"trees-{int(tree['$trees'])}.txt")
        if "$network" in tree:
            return self._network(tree)
        if "$graph" in tree:
            return self._graph(*self.decode(tree["$graph"]))
        if "$propagation" in tree:
            return self._propagation(tree)
        kind = find_class(tree["$object"], PARTS)
        return made_from(kind, {name: self.decode(part) for name, part in tree["state"].items()})

    def _propagation(self, tree: dict[str, Any]) -> Propagation:
        kind = find_class(tree["$propagation"], PROPAGATIONS)
        graph, parameters = self.decode(tree["graph"]), self.decode(tree["parameters"])
        outside = [name for name in parameters if name in OF_THE_MACHINE]
        if outside:
            raise ValueError(f"{kind.__name__} must not take {outside[0]!r} from a file")
        made = kind(graph, **parameters)
        if tree["transposed"]:
            made._transposed = True
        return made

    def _network(self, tree: dict[str, Any]) -> Any:
        require("torch", "this saved model")
        from ...nn.rebuild import rebuilt

        arguments = self.decode(tree["arguments"])
        weights = {name: self._arrays[place] for name, place in tree["weights"].items()}
        network = rebuilt(tree["$network"], arguments, weights)
        for name, value in self.decode(tree["extra"]).items():
            if name in EXTRAS:
                setattr(network, name, float(value))
        return network

    def _graph(
        self,
        indptr: Any,
        indices: Any,
        weights: Any,
        directed: Any,
        types: Any,
        relations: Any,
        names: Any,
    ) -> Graph:
        """The graph, checked because kernels do not check their arguments."""
        n = len(indptr) - 1
        check_compressed("graph", indptr, indices, (n, n))
        starts = np.zeros(len(indices), bool)
        starts[indptr[:-1][indptr[:-1] < len(indices)]] = True
        sound = (
            indptr[-1] == len(indices)
            and (indptr.dtype, indices.dtype.kind) == (np.int64, "i")
            and (starts[1:] | (indices[1:] > indices[:-1])).all()
            and (types is None or np.shape(types) == (n,))
            and all(isinstance(part, Graph) and part.n_nodes == n for part in relations.values())
        )
        if not sound:
            raise ValueError("the graph in it is not sound")
        if weights is not None:
            weights = check_edge_weights("weights", weights, len(indices))
        made = Graph(indptr, indices, weights, bool(directed), types, relations)
        return made if names is None else made.with_names(names)

    def _booster(self, name: str) -> Any:
        from ...models.boosting.tree_text import read_booster

        if name not in self._listed:
            raise _damaged(self.folder / INDEX, f"it does not name {name}")
        try:
            return read_booster((self.folder / name).read_text())
        except ValueError as error:
            raise _damaged(self.folder / name, str(error)) from None
