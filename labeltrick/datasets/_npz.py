"""NumPy archives: gnn-benchmark's sparse matrices and the heterophilous graphs."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from .._compressed import compressed_rows
from ._dataset import Contents, Split
from ._files import require_file, undirected_graph

_FIELDS = ("data", "indices", "indptr", "shape")


def read_benchmark(folder: Path, key: str) -> Contents:
    """Read ``KEY.npz`` of gnn-benchmark: ``adj_*`` and ``attr_*`` are CSR arrays, ``labels``.

    The adjacency of some files is directed: edges are taken in both directions. Self-loops are
    dropped. Features are float32 and as stored: counts in Coauthor CS, weights in Cora-ML, where
    some other readers put a 1. There is no official split.
    """
    path = folder / f"{key}.npz"
    keys = [f"{part}_{field}" for part in ("adj", "attr") for field in _FIELDS]
    arrays = _read_arrays(path, *keys, "labels", optional=("class_names", "attr_names"))
    adjacency, features = _sparse(path, arrays, "adj"), _sparse(path, arrays, "attr")
    source = np.repeat(np.arange(adjacency.shape[0]), np.diff(adjacency.indptr))
    # A stored zero is no edge.
    edges = adjacency.data != 0
    return Contents(
        graph=undirected_graph(path, source[edges], adjacency.indices[edges], adjacency.shape[0]),
        X=features.astype(np.float32),
        y=arrays["labels"].astype(np.int64),
        feature_names=_strings(arrays.get("attr_names")),
        class_names=_strings(arrays.get("class_names")),
    )


def read_heterophilous(folder: Path, key: str) -> Contents:
    """Read ``KEY.npz`` of the heterophilous graphs: each undirected edge once, ten splits."""
    path = folder / f"{key}.npz"
    masks = ("train_masks", "val_masks", "test_masks")
    arrays = _read_arrays(path, "node_features", "node_labels", "edges", *masks)
    labels, edges = arrays["node_labels"].astype(np.int64), arrays["edges"]
    if edges.ndim != 2 or edges.shape[1] != 2:
        raise ValueError(f"`edges` in '{path}' must have shape (edges, 2); got {edges.shape}.")
    return Contents(
        graph=undirected_graph(path, edges[:, 0], edges[:, 1], len(labels)),
        X=arrays["node_features"].astype(np.float32),
        y=labels,
        splits=[
            Split.from_masks(*parts)
            for parts in zip(*(arrays[name] for name in masks), strict=True)
        ],
    )


def _read_arrays(path: Path, *names: str, optional: tuple[str, ...] = ()) -> dict[str, np.ndarray]:
    """The named arrays; optional ones only where they are there and need no unpickling."""
    arrays = {}
    try:
        with np.load(require_file(path), allow_pickle=False) as archive:
            for name in names:
                arrays[name] = archive[name]
            for name in optional:
                if name in archive.files:
                    try:
                        arrays[name] = archive[name]
                    except ValueError:  # an array of objects
                        continue
    except KeyError:
        raise ValueError(
            f"`{path}` must hold the arrays {', '.join(names)}; it has no '{name}'. "
            "Fetch the original file again."
        ) from None
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise ValueError(
            f"`{path}` must be a NumPy archive without pickles; got: {error}. "
            "Fetch the original file again."
        ) from None
    return arrays


def _sparse(path: Path, arrays: dict[str, np.ndarray], part: str) -> Any:
    *parts, shape = (arrays[f"{part}_{field}"] for field in _FIELDS)
    try:
        return compressed_rows(f"{part}_*", parts, shape)
    except ValueError as error:
        raise ValueError(f"`{path}` must hold CSR matrices; got: {error}") from None


def _strings(array: np.ndarray | None) -> list[str] | None:
    return None if array is None else [str(name) for name in array]
