"""Datasets in NumPy archives: gnn-benchmark and the heterophilous graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..._utils.archives import ArrayArchive
from ..._utils.sparse_checks import compressed_rows
from .arrays import class_labels, feature_matrix, nodes_of_mask
from .dataset import Contents, Split
from .files import require_file, undirected_graph

_FIELDS = ("data", "indices", "indptr", "shape")
_MASKS = ("train_masks", "val_masks", "test_masks")


def read_benchmark(folder: Path, key: str) -> Contents:
    """Read ``KEY.npz`` of gnn-benchmark: CSR arrays ``adj_*`` and ``attr_*``, and ``labels``.

    Edges are taken in both directions, and self-loops are dropped. Features are float32 with the
    stored values: counts in Coauthor CS, weights in Cora-ML, which some other readers replace by 1.
    There is no official split.
    """
    path = folder / f"{key}.npz"
    keys = [f"{part}_{field}" for part in ("adj", "attr") for field in _FIELDS]
    arrays = _read_arrays(path, *keys, "labels", optional=("class_names", "attr_names"))
    adjacency, features = _sparse(path, arrays, "adj"), _sparse(path, arrays, "attr")
    source = np.repeat(np.arange(adjacency.shape[0]), np.diff(adjacency.indptr))
    # A stored zero is not an edge.
    edges = adjacency.data != 0
    n_nodes = adjacency.shape[0]
    with np.errstate(over="ignore"):  # `Contents` refuses infinite features
        features = features.astype(np.float32)
    return Contents(
        path=path,
        graph=undirected_graph(path, source[edges], adjacency.indices[edges], n_nodes),
        X=features,
        y=class_labels(f"`labels` in '{path}'", arrays["labels"], n_nodes),
        feature_names=_strings(arrays.get("attr_names")),
        class_names=_strings(arrays.get("class_names")),
    )


def read_heterophilous(folder: Path, key: str) -> Contents:
    """Read ``KEY.npz`` of the heterophilous graphs: each undirected edge once, ten splits."""
    path = folder / f"{key}.npz"
    arrays = _read_arrays(path, "node_features", "node_labels", "edges", *_MASKS)
    edges = arrays["edges"]
    if edges.ndim != 2 or edges.shape[1] != 2:
        raise ValueError(f"`edges` in '{path}' must have shape (edges, 2); got {edges.shape}.")
    n_nodes = int(np.atleast_1d(arrays["node_features"]).shape[0])
    where = f"in '{path}'"
    features = feature_matrix(f"`node_features` {where}", arrays["node_features"], n_nodes)
    return Contents(
        path=path,
        graph=undirected_graph(path, edges[:, 0], edges[:, 1], n_nodes),
        X=features,
        y=class_labels(f"`node_labels` {where}", arrays["node_labels"], n_nodes),
        splits=_splits(path, arrays, n_nodes),
    )


def _splits(path: Path, arrays: dict[str, np.ndarray], n_nodes: int) -> list[Split]:
    shapes = {arrays[name].shape for name in _MASKS}
    if len(shapes) != 1 or any(len(s) != 2 or s[1] != n_nodes for s in shapes):
        listed = ", ".join(str(arrays[name].shape) for name in _MASKS)
        raise ValueError(
            f"{', '.join(f'`{name}`' for name in _MASKS)} in '{path}' must have the same shape "
            f"(splits, {n_nodes}), one entry per node; got {listed}."
        )
    found = []
    for k, masks in enumerate(zip(*(arrays[name] for name in _MASKS), strict=True)):
        parts = [
            nodes_of_mask(f"`{name}` in '{path}'", mask, n_nodes)
            for name, mask in zip(_MASKS, masks, strict=True)
        ]
        try:
            found.append(Split.of(*parts))
        except ValueError as error:
            raise ValueError(f"split {k} of '{path}' must be valid. {error}") from None
    return found


def _read_arrays(path: Path, *names: str, optional: tuple[str, ...] = ()) -> dict[str, np.ndarray]:
    """The named arrays, and those optional ones that are present and not pickled."""
    archive = ArrayArchive(require_file(path), "Fetch the original file again.")
    missing = [name for name in names if name not in archive.names]
    if missing:
        raise ValueError(
            f"`{path}` must hold the arrays {', '.join(names)}; it has no '{missing[0]}'. "
            "Fetch the original file again."
        )
    arrays = {name: archive.read(name) for name in names}
    for name in optional:
        if name in archive.names and not archive.holds_objects(name):
            arrays[name] = archive.read(name)
    return arrays


def _sparse(path: Path, arrays: dict[str, np.ndarray], part: str) -> Any:
    *parts, shape = (arrays[f"{part}_{field}"] for field in _FIELDS)
    try:
        return compressed_rows(f"{part}_*", parts, shape)
    except ValueError as error:
        raise ValueError(f"`{path}` must hold CSR matrices; got: {error}") from None


def _strings(array: np.ndarray | None) -> list[str] | None:
    return None if array is None else [str(name) for name in array.ravel()]
