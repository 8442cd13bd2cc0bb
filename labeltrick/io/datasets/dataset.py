"""A dataset, its split, and the contents of its files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays import nodes_of_mask, whole_numbers

if TYPE_CHECKING:
    import scipy.sparse as sp

    from ...graph.graph import Graph

PARTS = ("train", "val", "test")


@dataclass(frozen=True, eq=False)
class Split:
    """Nodes for training, validation and test. No node is in two parts.

    Attributes
    ----------
    train, val, test : array of int64
        Sorted node numbers.

    See Also
    --------
    datasets.Dataset : A dataset with its official split.
    evaluation.NodeSplit : What `split_nodes` returns.

    Examples
    --------
    >>> import numpy as np
    >>> from labeltrick import datasets
    >>> split = datasets.Split(train=np.array([0, 1]), val=np.array([2]), test=np.array([3, 4]))
    >>> len(split.train), len(split.val), len(split.test)
    (2, 1, 2)
    """

    train: np.ndarray
    val: np.ndarray
    test: np.ndarray

    @classmethod
    def of(cls, train: Any, val: Any, test: Any) -> Split:
        """Make a split from node numbers in any order."""
        found = []
        for name, part in zip(PARTS, (train, val, test), strict=True):
            ids = np.asarray(part)
            if ids.ndim != 1 or ids.dtype == bool:
                raise ValueError(
                    f"`{name}` must be a list of node numbers; got {ids.dtype} {ids.shape}."
                )
            found.append(np.sort(whole_numbers(f"`{name}`", ids)))
        return cls(*found)

    @classmethod
    def from_masks(cls, train: Any, val: Any, test: Any, *, n_nodes: int) -> Split:
        """Make a split from masks, with one boolean per node."""
        masks = zip(PARTS, (train, val, test), strict=True)
        return cls(*(nodes_of_mask(f"`{name}`", mask, n_nodes) for name, mask in masks))

    def __post_init__(self) -> None:
        together = np.concatenate(list(vars(self).values()))
        if len(together) and together.min() < 0:
            raise ValueError(f"`split` must hold node numbers from 0 on; got {together.min()}.")
        ids, times = np.unique(together, return_counts=True)
        if (times > 1).any():
            raise ValueError(
                "`split` must have each node in at most one part; "
                f"got node {ids[times > 1][0]} {times.max()} times."
            )

    def __repr__(self) -> str:
        return f"Split(train={len(self.train)}, val={len(self.val)}, test={len(self.test)})"


@dataclass(frozen=True, eq=False)
class Contents:
    """The contents of a dataset's files, checked for consistency.

    ``path`` is the file or folder that error messages name.
    """

    path: Path
    graph: Graph
    X: np.ndarray | sp.csr_array | None
    y: np.ndarray
    splits: list[Split] = field(default_factory=list)
    feature_names: list[str] | None = None
    class_names: list[str] | None = None
    categorical: list[str] = field(default_factory=list)
    extra: dict[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n_nodes = self.graph.n_nodes
        for name, array in {"features": self.X, "labels": self.y, **self.extra}.items():
            if array is not None and array.shape[0] != n_nodes:
                raise self._wrong(
                    f"one row of {name} per node ({n_nodes:,})", f"{array.shape[0]:,} rows"
                )
        for split in self.splits:
            largest = max((int(part[-1]) for part in vars(split).values() if len(part)), default=-1)
            if largest >= n_nodes:
                raise self._wrong(f"a split of nodes below {n_nodes:,}", f"node {largest:,}")
        self._check_values()

    def _check_values(self) -> None:
        sparse = self.X is not None and not isinstance(self.X, np.ndarray)
        values: Any = self.X.data if sparse else self.X  # type: ignore[union-attr]
        # NaN marks a missing value, but not among the stored entries of a sparse matrix.
        if values is not None and (np.isinf(values).any() or (sparse and np.isnan(values).any())):
            raise self._wrong("finite features", "infinity" if not sparse else "NaN or infinity")
        if self.y.dtype.kind == "f" and np.isinf(self.y).any():
            raise self._wrong(
                "finite targets", f"infinity at node {int(np.isinf(self.y).argmax())}"
            )
        if self.y.dtype.kind == "i" and self.class_names and len(self.y):
            if len(set(self.class_names)) < len(self.class_names):
                raise self._wrong("classes with different names", f"{self.class_names}"[:200])
            largest = int(self.y.max())
            if largest >= len(self.class_names):
                raise self._wrong(
                    f"classes below {len(self.class_names)}, the number of names",
                    f"class {largest}",
                )

    def _wrong(self, wanted: str, got: str) -> ValueError:
        return ValueError(
            f"`{self.path}` must hold {wanted}; got {got}. Fetch or export the file again."
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Dataset(Contents):
    """A graph with features, targets and an official split, as `load` returns it.

    Attributes
    ----------
    name : str
    graph : Graph
        Undirected graph of n nodes.
    X : array of shape (n, d), CSR array or None
        Features: floats (NaN = missing), or a float32 SciPy CSR array for bags of words. None if
        there are none.
    y : array of shape (n,)
        int64 classes (−1 = missing); for regression float64 (NaN = missing).
    split : Split or None
        The official split; None if the dataset has none.
    task : str
        "classification" or "regression".
    metric : str
        "accuracy", "roc_auc" or "rmse".
    splits : list of Split
        All official splits.
    path : Path
        The file or folder that was read.
    feature_names, class_names : list of str or None
        None if the files do not contain names.
    categorical : list of str
        Names of the columns of X that hold category numbers.
    extra : dict of str to array
        Further arrays with one row per node.

    See Also
    --------
    datasets.load : Read a public dataset.
    datasets.Split : Nodes for training, validation and test.
    datasets.Example : A generated graph with a split.

    Examples
    --------
    >>> from labeltrick import datasets  # doctest: +SKIP
    >>> data = datasets.load("cora")  # doctest: +SKIP
    >>> data.graph.n_nodes, data.X.shape, len(data.split.train)  # doctest: +SKIP
    (2708, (2708, 1433), 140)
    """

    name: str
    split: Split | None
    task: str
    metric: str

    @property
    def n_splits(self) -> int:
        """Number of official splits."""
        return len(self.splits)

    def random_split(self, seed: int = 0) -> Split:
        """Draw a random 6:2:2 split of the labeled nodes, stratified by class.

        Parameters
        ----------
        seed : int, default=0
            Seed of the random numbers.

        Returns
        -------
        Split
        """
        from ...evaluation.splits import split_nodes

        stratify = self.task == "classification"
        found = split_nodes(self.y, random_state=seed, stratify=stratify)
        return Split.of(found.train, found.val, found.test)

    @property
    def n_nodes(self) -> int:
        return self.graph.n_nodes

    @property
    def n_features(self) -> int:
        """Number of columns of ``X``; 0 without features."""
        return 0 if self.X is None else int(self.X.shape[1])

    @property
    def n_classes(self) -> int:
        """Number of different classes in ``y``; 0 for regression."""
        if self.task == "regression":
            return 0
        return len(np.unique(self.y[self.y >= 0]))

    def __repr__(self) -> str:
        facts = [f"{self.n_nodes} nodes", f"{self.graph.n_edges} edges"]
        facts.append(f"{self.n_features} features" if self.n_features else "no features")
        facts.append(f"{self.n_classes} classes" if self.n_classes else self.task)
        if self.split is not None:
            sizes = [str(len(part)) for part in vars(self.split).values()]
            facts.append("split " + "/".join(sizes))
        return f"Dataset({self.name!r}, {', '.join(facts)})"


def rank_features(guesses: Any, n_classes: int) -> np.ndarray:
    """Turn ranked guesses of the class into features: 1/rank in the column of each guess.

    Parameters
    ----------
    guesses : array of int, shape (n, k)
        Guessed classes of each node, the best one first, padded with −1.
    n_classes : int
        Number of classes.

    Returns
    -------
    array of float32, shape (n, n_classes)

    See Also
    --------
    datasets.load : Read a public dataset.
    datasets.Dataset : A dataset with its official split.

    Examples
    --------
    >>> rank_features([[2, 0], [1, -1]], 3).tolist()
    [[0.5, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """
    guesses = np.asarray(guesses)
    X = np.zeros((len(guesses), n_classes), np.float32)
    for rank, column in enumerate(guesses.T, start=1):
        rows = np.flatnonzero(column >= 0)
        X[rows, column[rows]] += 1 / rank
    return X
