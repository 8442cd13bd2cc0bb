"""Example problems that need no files: they are generated, or made from scikit-learn's own data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..._utils.checks import check_count, check_number

if TYPE_CHECKING:
    from ...graph.graph import Graph

_N_NEIGHBORS = 10


@dataclass(frozen=True)
class Example:
    """A graph with features and labels, and a split of its nodes.

    Attributes
    ----------
    X : ndarray of shape (n_nodes, n_features)
    y : ndarray of shape (n_nodes,)
        The class of every node, hidden ones included.
    graph : Graph
    train, test : ndarray of int
        Nodes whose labels are known, and nodes to predict.

    See Also
    --------
    datasets.make_digits : Images of digits, joined to similar ones.
    datasets.make_minesweeper : A Minesweeper board.
    datasets.Dataset : A dataset with its official split.

    Examples
    --------
    >>> from labeltrick import datasets
    >>> board = datasets.make_minesweeper(size=10)
    >>> board.X.shape, len(board.train), len(board.test)
    ((100, 1), 50, 50)
    >>> board.known[board.test[:3]].tolist()
    [-1, -1, -1]
    """

    X: np.ndarray
    y: np.ndarray
    graph: Graph
    train: np.ndarray
    test: np.ndarray

    @property
    def known(self) -> np.ndarray:
        """The labels of the training nodes; −1 elsewhere."""
        known = np.full(len(self.y), -1)
        known[self.train] = self.y[self.train]
        return known


def make_digits(label_share: float = 0.1, seed: int = 0) -> Example:
    """Scikit-learn's 1,797 images of digits, each joined to the 10 most similar ones.

    Parameters
    ----------
    label_share : float, default=0.1
        Share of the images whose label is known.
    seed : int, default=0
        Seed of the split.

    Returns
    -------
    Example

    See Also
    --------
    datasets.make_minesweeper : A Minesweeper board.
    datasets.Example : A generated graph with a split.

    Examples
    --------
    >>> from labeltrick import datasets
    >>> problem = datasets.make_digits()
    >>> problem.X.shape, len(problem.train)
    ((1797, 64), 180)
    """
    from sklearn.datasets import load_digits
    from sklearn.neighbors import kneighbors_graph

    from ...graph.graph import Graph

    X, y = load_digits(return_X_y=True)
    graph = Graph.from_edges(*kneighbors_graph(X, _N_NEIGHBORS).nonzero(), n_nodes=len(y))
    return Example(X / 16.0, y, graph, *_split(y, label_share, seed))


def make_minesweeper(
    size: int = 50, label_share: float = 0.5, *, mine_share: float = 0.2, seed: int = 0
) -> Example:
    """A Minesweeper board: cells are nodes, joined to the eight cells around them.

    The only feature of a cell is its number, the count of mines around it. The label is whether the
    cell is a mine. A cell's number does not say what the cell is, and mines are independent of one
    another, so neither numbers of the cells themselves nor labels of the neighbors predict
    anything alone. Together they do: a cell whose neighbors' numbers are not explained by the known
    mines is likely to be one.

    Parameters
    ----------
    size : int, default=50
        Rows and columns of the board.
    label_share : float, default=0.5
        Share of the cells that are known to be mines or not.
    mine_share : float, default=0.2
        Probability of a cell to be a mine.
    seed : int, default=0
        Seed of the board and of the split.

    Returns
    -------
    Example
        Cells are numbered row by row.

    See Also
    --------
    datasets.make_digits : Images of digits, joined to similar ones.
    datasets.Example : A generated graph with a split.

    Examples
    --------
    >>> from labeltrick import datasets
    >>> board = datasets.make_minesweeper(20)
    >>> board.graph.n_nodes, bool(board.X.max() <= 8)
    (400, True)
    """
    from ...graph.graph import Graph

    check_count("size", size, 3)
    check_number("mine_share", mine_share, 0.0, 1.0)
    check_count("seed", seed)
    mine = np.random.default_rng(seed).random((size, size)) < mine_share
    cells = np.arange(size * size).reshape(size, size)
    right, down = (cells[:, :-1], cells[:, 1:]), (cells[:-1], cells[1:])
    diagonals = (cells[:-1, :-1], cells[1:, 1:]), (cells[:-1, 1:], cells[1:, :-1])
    ends = [[part.ravel() for part in pair] for pair in (right, down, *diagonals)]
    source, target = (np.concatenate(parts) for parts in zip(*ends, strict=True))
    graph = Graph.from_edges(source, target, n_nodes=size * size)
    y = mine.ravel().astype(np.int64)
    number = graph.to_scipy() @ y
    return Example(number[:, None].astype(float), y, graph, *_split(y, label_share, seed))


def _split(y: np.ndarray, label_share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(labeled nodes, the others), both in ascending order."""
    check_count("seed", seed)
    check_number("label_share", label_share, 0.0, 1.0)
    order = np.random.default_rng(seed + 1).permutation(len(y))
    n_train = min(max(1, round(label_share * len(y))), len(y) - 1)  # one must be left to score
    if len(np.unique(y[order[:n_train]])) < 2:
        raise ValueError(
            f"`label_share` must be large enough to label two classes; {label_share} labels "
            f"{n_train} nodes of one class. Use a larger share."
        )
    return np.sort(order[:n_train]), np.sort(order[n_train:])
