"""Planetoid's datasets Cora, Citeseer and Pubmed, with eight files each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._utils.archives import refusing
from .dataset import Contents, Split
from .files import require_file, undirected_graph
from .unpickle import read_pickle

if TYPE_CHECKING:
    import scipy.sparse as sp

    from ...graph.graph import Graph

_N_VALIDATION = 500
_GAPS = 10  # largest node number relative to the number of rows; Citeseer leaves 15 nodes out


def read_planetoid(folder: Path, key: str) -> Contents:
    """Read ``ind.KEY.{y,tx,ty,allx,ally,graph,test.index}``.

    The rows of ``allx`` are the first nodes; row i of ``tx`` is the node on line i of
    ``test.index``. Nodes in neither (15 in Citeseer, all with edges) have no features and no label
    in the files: their rows of ``X`` are zero, their class is −1, and they are in no part of the
    split. Self-loops and repeated edges are dropped. The split is the official one: the nodes of
    ``y`` are for training (20 per class), the next 500 for validation, those of ``test.index`` for
    test. Features are float32.
    """

    def read(part: str) -> Any:
        return read_pickle(folder / f"ind.{key}.{part}")

    index_path = folder / f"ind.{key}.test.index"
    test = _read_index(index_path)
    neighbors = read("graph")
    known, tested = (_one_hot(folder / f"ind.{key}.{part}", read(part)) for part in ("ally", "ty"))
    n_known = len(known)
    different = np.unique(test[test >= n_known])
    if not len(test) == len(tested) == len(different):
        raise ValueError(
            f"`{index_path}` must hold {len(tested)} different nodes from {n_known} on; "
            f"got {len(different)} such nodes on {len(test)} lines."
        )
    largest = int(test.max(initial=-1))
    if largest > _GAPS * (n_known + len(test) + len(neighbors)):
        raise ValueError(
            f"`{index_path}` must hold the nodes that follow the first {n_known:,}; got "
            f"{largest:,}. Fetch the original file again."
        )
    n_nodes = max(len(neighbors), largest + 1)

    if known.shape[1] != tested.shape[1]:
        raise ValueError(
            f"`ally` and `ty` in '{folder}' must have the same classes; got {known.shape[1]} and "
            f"{tested.shape[1]}. Fetch the original files again."
        )
    node_of_row = np.concatenate([np.arange(n_known), test])
    y = np.full(n_nodes, -1, np.int64)
    one_hot = np.vstack([known, tested])
    y[node_of_row] = np.where(one_hot.any(axis=1), one_hot.argmax(axis=1), -1)
    n_train = len(_one_hot(folder / f"ind.{key}.y", read("y")))
    if n_train > n_known:
        raise ValueError(
            f"`{folder / f'ind.{key}.y'}` must have no more rows than `ally` ({n_known}); got "
            f"{n_train}. Fetch the original files again."
        )
    validation = np.arange(n_train, min(n_train + _N_VALIDATION, n_known))
    return Contents(
        path=folder / f"ind.{key}.*",
        graph=_graph(folder / f"ind.{key}.graph", neighbors, n_nodes),
        X=_place_rows(folder, read("allx"), read("tx"), node_of_row, n_nodes),
        y=y,
        splits=[Split.of(np.arange(n_train), validation, test)],
    )


def _read_index(path: Path) -> np.ndarray:
    with refusing(require_file(path), "a file of one node per line", "Fetch the original file."):
        lines = path.read_text(encoding="ascii").split()
        return np.array([int(line) for line in lines], np.int64)


def _one_hot(path: Path, found: Any) -> np.ndarray:
    """Check that each row has a single 1, or only zeros for a node without a class."""
    sound = (
        isinstance(found, np.ndarray)
        and found.ndim == 2
        and np.isin(found, (0, 1)).all()
        and (found.sum(axis=1) <= 1).all()
    )
    if not sound:
        raise ValueError(
            f"`{path}` must be a matrix with a single 1 in each row; it is not. Fetch the original "
            "file again."
        )
    return found


def _place_rows(
    folder: Path, known: Any, tested: Any, node_of_row: np.ndarray, n_nodes: int
) -> sp.csr_array:
    """Both feature matrices, with row r at node_of_row[r]; nodes without a row get zeros."""
    import scipy.sparse as sp

    for part, found in (("allx", known), ("tx", tested)):
        if getattr(found, "ndim", 0) != 2 or found.shape[1] != getattr(known, "shape", (0, 0))[1]:
            raise ValueError(
                f"`allx` and `tx` in '{folder}' must be matrices with the same columns; `{part}` "
                "is not. Fetch the original files again."
            )
    rows = sp.vstack([sp.csr_array(known), sp.csr_array(tested)], format="coo")
    if rows.shape[0] != len(node_of_row):
        raise ValueError(
            f"`allx` and `tx` in '{folder}' must have as many rows as `ally` and `ty` "
            f"({len(node_of_row)}); got {rows.shape[0]}. Fetch the original files again."
        )
    nodes = node_of_row[rows.row]
    values = rows.data.astype(np.float32)
    return sp.csr_array((values, (nodes, rows.col)), shape=(n_nodes, rows.shape[1]))


def _graph(path: Path, neighbors: Any, n_nodes: int) -> Graph:
    try:
        nodes = np.fromiter(neighbors, np.int64, len(neighbors))
        degrees = np.fromiter(map(len, neighbors.values()), np.int64, len(neighbors))
        if degrees.sum() > path.stat().st_size:  # the same list for many nodes
            raise ValueError("more neighbors than bytes")
        targets = np.fromiter((v for row in neighbors.values() for v in row), np.int64)
    except (AttributeError, OverflowError, TypeError, ValueError):
        raise ValueError(
            f"`{path}` must be a dict of lists of nodes; it holds something else. "
            "Fetch the original file again."
        ) from None
    return undirected_graph(path, np.repeat(nodes, degrees), targets, n_nodes)
