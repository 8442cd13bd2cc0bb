"""Labels as matrices, and random splits of the training labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.checks import as_numpy, check_count, check_number
from .._utils.targets import infer_task, missing_labels
from ..propagation.diagonal.self_weight import check_nodes


@dataclass(frozen=True)
class LabelSplit:
    """A random split of the training nodes into inputs and targets.

    Attributes
    ----------
    in_mask : ndarray of bool, shape (n,)
        Nodes whose labels are inputs (D_in in the paper).
    out_mask : ndarray of bool, shape (n,)
        Nodes whose labels are targets (D_out in the paper).

    See Also
    --------
    split_labels : Divide training labels into inputs and targets.
    stochastic_view : Label inputs from a random split.

    Examples
    --------
    >>> from labeltrick import split_labels
    >>> split = split_labels([0, 1, 2, 3], n_nodes=6, split_rate=0.5, random_state=0)
    >>> split.in_mask.astype(int).tolist(), split.out_mask.astype(int).tolist()
    ([0, 1, 1, 1, 0, 0], [1, 0, 0, 0, 0, 0])
    """

    in_mask: np.ndarray
    out_mask: np.ndarray


def label_matrix(y: Any, train: Any = None, *, n_classes: int | None = None) -> np.ndarray:
    """Turn labels into the matrix Y_tr, the input of propagation.

    Parameters
    ----------
    y : array-like of shape (n,) or (n, c)
        Class numbers (−1, or NaN among floats, where unknown), or a column or matrix of indicators
        or real targets (NaN where unknown), one row per node. A single column of floats holds real
        targets if any of them has a fractional part, and class numbers otherwise.
    train : array-like of int or bool, default=None
        Node numbers or mask of the nodes whose labels are used. None uses all known labels.
    n_classes : int, default=None
        Number of columns of a one-hot matrix. None means the largest class in use plus one.

    Returns
    -------
    Y : ndarray of float64, shape (n, c)
        One-hot rows, indicators or targets; zero rows where a label is not used.

    See Also
    --------
    self_excluded : Propagate labels without each node's own.
    split_labels : Divide training labels into inputs and targets.

    Examples
    --------
    >>> label_matrix([1, -1, 0])
    array([[0., 1.],
           [0., 0.],
           [1., 0.]])
    """
    labels = as_numpy("y", y)
    if labels.ndim not in (1, 2):
        raise ValueError(f"`y` must have one or two dimensions; got shape {labels.shape}.")
    missing = missing_labels(labels)
    classes = labels.ndim == 1 and infer_task(labels, missing, "auto") == "classification"
    if labels.dtype.kind not in "fiubO" or (labels.dtype.kind == "O" and not classes):
        raise TypeError(f"`y` must hold class numbers or numbers; got {labels.dtype}.")
    used = np.zeros(len(labels), bool)
    nodes = np.flatnonzero(~missing) if train is None else check_nodes("train", train, len(labels))
    used[nodes] = True
    if (used & missing).any():
        node = int(np.argmax(used & missing))
        raise ValueError(
            f"`train` must hold labeled nodes only; node {node} has no label. "
            "Remove it from `train`, or give it a label."
        )
    if not classes:
        columns = (labels[:, None] if labels.ndim == 1 else labels).astype(np.float64)
        return np.where(used[:, None], columns, 0.0)
    try:
        codes = labels[used].astype(np.int64)
    except (TypeError, ValueError):
        raise TypeError(f"`y` must hold class numbers; got {labels.dtype}.") from None
    if codes.min(initial=0) < 0:
        raise ValueError(f"`y` must hold classes ≥ 0, or −1 where unknown; got {codes.min()}.")
    largest = int(codes.max(initial=-1)) + 1
    width = largest if n_classes is None else check_count("n_classes", n_classes, 1)
    if largest > width:
        raise ValueError(
            f"`n_classes` must be at least {largest}, the largest class + 1; got {width}."
        )
    Y = np.zeros((len(labels), width))
    Y[np.flatnonzero(used), codes] = 1
    return Y


def masked_labels(Y: Any, train: Any, n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """(Y with zero rows outside of ``train``, numbers of the training nodes)."""
    matrix = as_numpy("Y", Y)
    if matrix.ndim not in (1, 2) or matrix.dtype.kind not in "fiub":
        raise TypeError(
            f"`Y` must be a matrix of real numbers; got {matrix.dtype} of shape {matrix.shape}. "
            "Convert labels with label_matrix."
        )
    matrix = matrix[:, None] if matrix.ndim == 1 else matrix
    if matrix.shape[0] != n_nodes:
        raise ValueError(f"`Y` must have one row per node ({n_nodes}); got {matrix.shape[0]}.")
    nodes = check_nodes("train", train, n_nodes)
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    masked = np.zeros_like(matrix)
    masked[nodes] = matrix[nodes]
    return masked, nodes


def split_labels(
    train: Any, split_rate: float, random_state: Any = None, *, n_nodes: int | None = None
) -> LabelSplit:
    """Draw a random split: each training label becomes an input with probability α.

    Parameters
    ----------
    train : array-like of int or bool
        Mask of the training nodes, or their numbers together with ``n_nodes``.
    split_rate : float
        α, the probability in (0, 1) that a training label is an input.
    random_state : int, numpy.random.Generator or None, default=None
        Seed or generator of the draw.
    n_nodes : int, default=None
        Number of nodes; needed if ``train`` holds node numbers.

    Returns
    -------
    split : LabelSplit
        Masks of the inputs and of the targets.

    See Also
    --------
    LabelSplit : Training nodes as inputs and targets.
    stochastic_view : Label inputs from a random split.

    Examples
    --------
    >>> split = split_labels([True, True, False, True], 0.5, random_state=0)
    >>> (split.in_mask | split.out_mask).tolist()
    [True, True, False, True]
    """
    alpha = check_number("split_rate", split_rate, 0.0, 1.0)
    mask = _train_mask(train, n_nodes)
    drawn = np.random.default_rng(random_state).random(len(mask)) < alpha
    return LabelSplit(mask & drawn, mask & ~drawn)


def _train_mask(train: Any, n_nodes: int | None) -> np.ndarray:
    array = as_numpy("train", train)
    if array.dtype == np.bool_ and n_nodes is None:
        n_nodes = len(array)
    if n_nodes is None:
        raise ValueError("`n_nodes` must be given if `train` holds node numbers; got None.")
    mask = np.zeros(n_nodes, bool)
    mask[check_nodes("train", array, n_nodes)] = True
    return mask
