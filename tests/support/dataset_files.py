"""Tiny files of public datasets, in each layout."""

from __future__ import annotations

import gzip
import pickle
import struct
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp


# -- planetoid and its pickles ----------------------------------------------------------------
class Python2Pickler(pickle._Pickler):  # type: ignore[name-defined]
    """Writes bytes as Python 2 did: a plain string, which latin-1 turns into text."""

    dispatch = dict(pickle._Pickler.dispatch)  # type: ignore[attr-defined]

    def save_bytes(self, value: bytes) -> None:
        self.write(b"T" + struct.pack("<i", len(value)) + value)
        self.memoize(value)

    dispatch[bytes] = save_bytes


def dump(value: Any, path: Path, era: str = "python3") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if era == "python3":
        path.write_bytes(pickle.dumps(value, protocol=2))
        return
    with path.open("wb") as file:
        Python2Pickler(file, protocol=2).dump(value)
    old = path.read_bytes()
    old = old.replace(b"cnumpy._core.multiarray\n", b"cnumpy.core.multiarray\n")
    path.write_bytes(old.replace(b"cscipy.sparse._csr\n", b"cscipy.sparse.csr\n"))


def one_hot(classes: list[int], n_classes: int = 2) -> np.ndarray:
    return np.eye(n_classes, dtype=np.int32)[classes]


ALLX = np.array([[1, 0, 2], [0, 1, 0], [0, 0, 3], [4, 0, 0]], np.float32)
TX = np.array([[0, 5, 0], [6, 0, 0], [0, 7, 7]], np.float32)


def write_planetoid(folder: Path, key: str, era: str = "python3") -> None:
    """Seven known nodes of eight: 0…3, then 7, 4, 6 in the order of the index; 5 is missing."""
    graph = defaultdict(list, {0: [1, 1, 7], 1: [0], 2: [2, 3], 3: [2], 4: [6], 7: [0], 6: [4]})
    graph[5] = []
    parts = {
        "x": sp.csr_matrix(ALLX[:2]),
        "y": one_hot([0, 1]),
        "allx": sp.csr_matrix(ALLX),
        "ally": one_hot([0, 1, 1, 0]),
        "tx": sp.csr_matrix(TX),
        "ty": one_hot([1, 0, 1]),
        "graph": graph,
    }
    for part, value in parts.items():
        dump(value, folder / f"ind.{key}.{part}", era)
    (folder / f"ind.{key}.test.index").write_text("7\n4\n6\n")


# -- OGB --------------------------------------------------------------------------------------
def write_gzip(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()))


def write_ogb(folder: Path) -> None:
    write_gzip(folder / "raw/num-node-list.csv.gz", "4\n")
    write_gzip(folder / "raw/edge.csv.gz", "0,1\n1,0\n2,1\n2,2\n")
    write_gzip(folder / "raw/node-label.csv.gz", "1\n0\n\n1\n")
    for part, nodes in {"train": "2\n0\n", "valid": "1\n", "test": "3\n"}.items():
        write_gzip(folder / f"split/time/{part}.csv.gz", nodes)


# -- npz --------------------------------------------------------------------------------------
def benchmark_arrays() -> dict[str, np.ndarray]:
    # 0→1, 1→0, 2→1, a loop at 2, and a stored zero 0→3.
    adjacency = sp.csr_array(
        (np.array([1, 0, 1, 1, 1.0]), np.array([1, 3, 0, 1, 2]), np.array([0, 2, 3, 5, 5])),
        shape=(4, 4),
    )
    features = sp.csr_array(np.array([[0, 2.0], [1, 0], [0, 0], [3, 4]]))
    arrays = {"labels": np.array([0, 1, 1, 0])}
    for part, matrix in (("adj", adjacency), ("attr", features)):
        arrays |= {f"{part}_{field}": getattr(matrix, field) for field in ("data", "indices")}
        arrays |= {f"{part}_indptr": matrix.indptr, f"{part}_shape": np.array(matrix.shape)}
    return arrays


def heterophilous_arrays() -> dict[str, np.ndarray]:
    masks = np.eye(3, dtype=bool)
    return {
        "node_features": np.array([[1, 0], [0, 1], [1, 1]], np.float64),
        "node_labels": np.array([0, 1, 0], np.int32),
        "edges": np.array([[0, 1], [2, 1]]),
        "train_masks": masks[:2],
        "val_masks": masks[1:],
        "test_masks": masks[[2, 0]],
    }
