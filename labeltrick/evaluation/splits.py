"""Random splits of nodes into training, validation and test parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.checks import as_numpy, check_count
from .._utils.targets import missing_labels


@dataclass(frozen=True)
class NodeSplit:
    """A split of nodes into training, validation and test parts.

    Attributes
    ----------
    train : ndarray of int
        Numbers of the training nodes, ascending.
    val : ndarray of int
        Numbers of the validation nodes, ascending.
    test : ndarray of int
        Numbers of the test nodes, ascending.

    See Also
    --------
    split_nodes : Split labeled nodes at random.
    datasets.Split : Nodes for training, validation and test.

    Examples
    --------
    >>> import numpy as np
    >>> from labeltrick import split_nodes
    >>> split = split_nodes(np.repeat([0, 1], 10), random_state=0)
    >>> len(split.train), len(split.val), len(split.test)
    (12, 4, 4)
    """

    train: np.ndarray
    val: np.ndarray
    test: np.ndarray


def split_nodes(
    y: Any,
    shares: Sequence[float] = (0.6, 0.2, 0.2),
    random_state: Any = None,
    *,
    stratify: bool = False,
) -> NodeSplit:
    """Split the labeled nodes at random into training, validation and test parts.

    Parameters
    ----------
    y : array-like of shape (n,) or (n, c), or int
        Labels; nodes without a label are not in any part. Or a number of nodes.
    shares : sequence of three floats, default=(0.6, 0.2, 0.2)
        Shares of the training, validation and test parts; their sum is at most 1.
    random_state : int, numpy.random.Generator or None, default=None
        Seed or generator of the draw.
    stratify : bool, default=False
        Whether each part holds the classes in the same shares, as far as their counts allow.

    Returns
    -------
    split : NodeSplit
        Node numbers of the three parts.

    See Also
    --------
    evaluation.NodeSplit : What `split_nodes` returns.
    split_labels : Divide training labels into inputs and targets.

    Examples
    --------
    >>> split = split_nodes(10, random_state=0)
    >>> len(split.train), len(split.val), len(split.test)
    (6, 2, 2)
    """
    each = [float(share) for share in shares]
    if len(each) != 3 or min(each) < 0 or not 0 < sum(each) <= 1 + 1e-9:
        raise ValueError(
            f"`shares` must be three numbers ≥ 0 that sum to at most 1; got {shares!r}."
        )
    rng = np.random.default_rng(random_state)
    labels = None
    if np.ndim(y) == 0:
        nodes = np.arange(check_count("y", y, 1))
    else:
        labels = as_numpy("y", y)
        nodes = np.flatnonzero(~missing_labels(labels))
    order = rng.permutation(nodes)
    if stratify:
        if labels is None or labels.ndim != 1:
            raise ValueError("`y` must be one column of classes for stratify=True.")
        order = _interleaved(order, labels[order])
    ends = np.floor(np.cumsum(each) * len(order) + 1e-9).astype(np.int64)
    parts = np.split(order, ends)
    return NodeSplit(*(np.sort(part) for part in parts[:3]))


def _interleaved(order: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """An order in which each stretch holds about the same share of each class."""
    _, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    rank = np.empty(len(order))
    for k, count in enumerate(counts):
        rank[codes == k] = (np.arange(count) + 0.5) / count
    return order[np.argsort(rank, kind="stable")]
