"""The label trick: labels as inputs, without a node ever seeing its own.

Training labels Y_tr (rows of zeros for the other nodes) are propagated as inputs. Three views of
them are leak-free for the nodes whose prediction is trained or scored:

* `self_excluded`: (P − C)·Y_tr, every node sees all labels but its own (paper, eq. 6);
* `stochastic_view`: P·Y_in/α for a random part of the labels; the rest is predicted (eq. 8);
* `fold_view`: nodes of a fold see the labels of the other folds. Exact for any predictor.

`self_excluded_form` extends the first to models with linear propagation inside (eq. 14).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.checks import as_numpy, check_count, check_number, check_signal
from .._utils.progress import Progress, ProgressBar
from .._utils.targets import infer_task, missing_labels
from ..propagation.base import Propagation
from ..propagation.diagonal.self_weight import SelfWeight, check_nodes, unit_block_width
from ..propagation.hops import Hops
from ..propagation.polynomials import Power


@dataclass(frozen=True)
class LabelSplit:
    """A division of the training nodes: labels in ``in_mask`` are inputs, the others targets."""

    in_mask: np.ndarray
    out_mask: np.ndarray


def label_matrix(y: Any, train: Any = None, *, n_classes: int | None = None) -> np.ndarray:
    """Y_tr, the inputs of propagation: float64, zero rows where a label is not to be used.

    Parameters
    ----------
    y : class numbers (−1, or NaN among floats, where unknown), or a column or matrix of
        indicators or real targets (NaN where unknown), one row a node. One column of floats is
        real targets if any has a fraction, else class numbers.
    train : numbers or mask of the nodes whose labels are used; default: all that are known.
    n_classes : columns of a one-hot matrix; default: the largest used class plus one.

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
            "Leave it out, or give it a label."
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


def _masked(Y: Any, train: Any, n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """(Y with zeros outside of train, numbers of the training nodes)."""
    matrix = as_numpy("Y", Y)
    if matrix.ndim not in (1, 2) or matrix.dtype.kind not in "fiub":
        raise TypeError(
            f"`Y` must be a matrix of real numbers; got {matrix.dtype} of shape {matrix.shape}. "
            "Make one of labels with label_matrix."
        )
    matrix = matrix[:, None] if matrix.ndim == 1 else matrix
    if matrix.shape[0] != n_nodes:
        raise ValueError(f"`Y` must have one row a node ({n_nodes}); got {matrix.shape[0]}.")
    nodes = check_nodes("train", train, n_nodes)
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    masked = np.zeros_like(matrix)
    masked[nodes] = matrix[nodes]
    return masked, nodes


def self_excluded(
    P: Propagation,
    Y: Any,
    train: Any,
    *,
    method: str = "subtract",
    self_weight: SelfWeight | None = None,
    tol: float = 1e-4,
    progress: Progress = None,
) -> np.ndarray:
    """(P − C)·Y_tr: at training nodes without their own label, at others plain P·Y_tr.

    Parameters
    ----------
    P : any kind; with `Hops`, each hop is freed of the node's own label on its own.
    Y : labels of shape (n, c): one-hot, multi-label or real targets. Rows outside of ``train``
        are not read.
    train : numbers or mask of the nodes whose labels are inputs.
    method : "subtract" propagates once and subtracts C∘Y: of an own label y at most
        |y|·(C's error + the error of P·Y) is left; ``tol`` bounds the first, `Resolvent.tol` the
        second. "rows" never lets a node's row touch its own label: row
        i is unchanged bit for bit when y_i changes, at the cost of a column of P a training node.
    self_weight : C from ``P.self_weight(train)``, if at hand.

    Returns
    -------
    array of shape (n, c); (n, (K+1)·c) for `Hops`.

    Examples
    --------
    >>> from labeltrick import Graph, Power
    >>> P = Power(Graph.from_edges([0, 1, 2], [1, 2, 0]), 2, norm="row")
    >>> self_excluded(P, [[4.0], [8.0], [0.0]], train=[0, 1])[:, 0].round(6).tolist()
    [2.0, 1.0, 3.0]
    """
    if not isinstance(P, Propagation):
        raise TypeError(f"`P` must be a Propagation; got {type(P).__name__}.")
    Y_tr, nodes = _masked(Y, train, P.n_nodes)
    if method not in ("subtract", "rows"):
        raise ValueError(f"`method` must be 'subtract' or 'rows'; got {method!r}.")
    view = P.apply(Y_tr, progress=progress)
    if method == "rows":
        view[nodes] = _rows_without_own(P, Y_tr, nodes, progress)
        return view
    if self_weight is None:
        self_weight = P.self_weight(nodes, tol=tol, progress=progress)
    C = self_weight.value[self_weight.places(nodes, P.n_nodes)]
    n_hops = C.shape[1] if C.ndim == 2 else 1
    own = np.einsum("nk,nc->nkc", C.reshape(len(nodes), n_hops), Y_tr[nodes])
    view[nodes] -= own.reshape(len(nodes), view.shape[1]).astype(view.dtype)
    return view


def _rows_without_own(
    P: Propagation, Y_tr: np.ndarray, nodes: np.ndarray, progress: Progress
) -> np.ndarray:
    """Rows Σ_{k≠i} P_ik y_k from rows of P whose own entry is set to zero before y is met."""
    n, c = Y_tr.shape
    hops: list[Propagation] = [P]
    if isinstance(P, Hops):
        options: dict[str, Any] = {"norm": P.norm, "self_loops": P.self_loops}
        options["max_memory"] = P.max_memory
        hops = [Power(P.graph, k, **options) for k in range(P.n_steps + 1)]
    rows = np.empty((len(nodes), len(hops) * c), Y_tr.dtype)
    width = unit_block_width(n, P.max_memory)
    starts = range(0, len(nodes), width)
    with ProgressBar(len(starts), "rows", progress) as bar:
        for first in starts:
            chosen = nodes[first : first + width]
            own = (chosen, np.arange(len(chosen)))
            unit = np.zeros((n, len(chosen)))
            unit[own] = 1
            for k, hop in enumerate(hops):
                entries = hop.T.apply(unit, progress=False)
                entries[own] = 0
                # A sum of its own for each row: in a matrix product a row's rounding could
                # depend on its neighbors in the block.
                for r in range(len(chosen)):
                    rows[first + r, k * c : (k + 1) * c] = entries[:, r] @ Y_tr
            bar.advance()
    return rows


def split_labels(
    train: Any, split_rate: float, random_state: Any = None, *, n_nodes: int | None = None
) -> LabelSplit:
    """A random split: each training node's label becomes an input with probability α.

    ``train`` is a mask, or numbers with ``n_nodes``. ``random_state`` is a seed or a numpy
    Generator.

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
        raise ValueError("`n_nodes` must be given where `train` holds node numbers; got None.")
    mask = np.zeros(n_nodes, bool)
    mask[check_nodes("train", array, n_nodes)] = True
    return mask


def stochastic_view(
    P: Propagation,
    Y: Any,
    train: Any,
    split_rate: float,
    random_state: Any = None,
    *,
    rescale: bool = True,
    progress: Progress = None,
) -> tuple[np.ndarray, LabelSplit]:
    """P·Y_in/α for a fresh split, and the split: train on its ``out_mask`` (paper, eq. 8).

    The factor 1/α (``rescale``) keeps the mean of the inputs that of inference, where all labels
    are given and nothing is scaled.
    """
    split = split_labels(train, split_rate, random_state, n_nodes=P.n_nodes)
    Y_in, _ = _masked(Y, split.in_mask, P.n_nodes)
    if rescale:
        Y_in /= split_rate
    return P.apply(Y_in, progress=progress), split


def fold_view(
    P: Propagation | Callable[[np.ndarray], np.ndarray],
    Y: Any,
    train: Any,
    n_folds: int = 10,
    random_state: Any = None,
    *,
    rescale: bool = True,
    progress: Progress = None,
) -> np.ndarray:
    """Each training node's row from the labels of the other folds; other nodes see all labels.

    Exact for any predictor, linear or not: ``P`` may be any function from a label matrix to
    an array with one row a node. Takes ``n_folds`` + 1 propagations. With as many folds as
    training nodes it is one-versus-all, the self-excluded view itself.

    ``rescale`` multiplies the labels of the other folds by K/(K−1), as 1/α does for splits.
    """
    apply: Callable[[np.ndarray], np.ndarray]
    if isinstance(P, Propagation):
        linear = P
        apply = lambda matrix: linear.apply(matrix, progress=False)  # noqa: E731
    else:
        apply = P
    Y_tr, nodes = _masked(Y, train, len(as_numpy("Y", Y)))
    n_folds = check_count("n_folds", n_folds, 2)
    if n_folds > len(nodes):
        raise ValueError(
            f"`n_folds` must be at most the number of training nodes ({len(nodes)}); got {n_folds}."
        )
    order = np.random.default_rng(random_state).permutation(nodes)
    factor = n_folds / (n_folds - 1) if rescale and n_folds < len(nodes) else 1.0
    view = _rows_of(apply(Y_tr.copy()), len(Y_tr)).copy()
    with ProgressBar(n_folds, "folds", progress) as bar:
        for fold in np.array_split(order, n_folds):
            others = Y_tr * factor
            others[fold] = 0
            view[fold] = _rows_of(apply(others), len(Y_tr))[fold]
            bar.advance()
    return view


def _rows_of(result: Any, n_nodes: int) -> np.ndarray:
    """What a predictor returned, one row a node."""
    rows = as_numpy("P(Y)", result)
    if rows.shape[:1] != (n_nodes,):
        raise ValueError(f"`P` must return one row a node ({n_nodes}); got shape {rows.shape}.")
    return rows


def self_excluded_form(
    P: Propagation,
    with_labels: Any,
    without_labels: Any,
    self_weight: SelfWeight | np.ndarray,
    *,
    progress: Progress = None,
) -> np.ndarray:
    """𝒫h₀([X, Y]) − 𝒞h₀([X, Y]) + 𝒞h₀([X, 0]): self-exclusion inside a model (paper, eq. 14).

    Parameters
    ----------
    with_labels, without_labels : h₀([X, Y]) and h₀([X, 0]), of shape (n, d): what a
        node-wise function makes of features with and without labels.
    self_weight : C at all nodes. At nodes without an input label the two arrays agree and C
        plays no part.
    """
    known = check_signal("with_labels", with_labels, P.n_nodes)
    blank = check_signal("without_labels", without_labels, P.n_nodes)
    if known.shape != blank.shape:
        raise ValueError(
            "`with_labels` and `without_labels` must have the same shape; "
            f"got {known.shape} and {blank.shape}."
        )
    C = self_weight.value if isinstance(self_weight, SelfWeight) else as_numpy("C", self_weight)
    if len(C) != P.n_nodes:
        raise ValueError(
            f"`self_weight` must have one value a node ({P.n_nodes}); got {len(C)}. "
            "Ask for all nodes: P.self_weight()."
        )
    own = known - blank
    n_hops = C.shape[1] if C.ndim == 2 else 1
    excess = C.reshape(len(C), n_hops, 1) * own.reshape(len(C), 1, -1)
    result = P.apply(known, progress=progress)
    result -= excess.reshape(result.shape).astype(result.dtype)
    return result


def penalty_weights(
    P: Propagation,
    train: Any,
    *,
    self_weight: SelfWeight | None = None,
    tol: float = 1e-2,
    progress: Progress = None,
) -> np.ndarray:
    """u_i² = Σ_{k in train} P_ki² − C_ii² of the training nodes: Theorem 1's penalty.

    Γ = diag(u)·Y_tr; the penalty of a split rate α is (1−α)/α·‖ΓW‖², whose class-wise sums
    are `penalty_matrix`.
    """
    nodes = check_nodes("train", train, P.n_nodes)
    if self_weight is None or self_weight.column_energy is None:
        self_weight = P.column_energy(nodes, nodes, tol=tol, progress=progress)
    energy = self_weight.column_energy
    rows = self_weight.rows
    if energy is None or rows is None or not np.array_equal(np.sort(nodes), rows):
        raise ValueError(
            "`self_weight` must hold column energies over the training rows; it does not. "
            "Make it with P.self_weight(train, rows=train)."
        )
    at = self_weight.places(nodes, P.n_nodes)
    return np.maximum(energy[at] - self_weight.value[at] ** 2, 0.0)


def penalty_matrix(Y: Any, train: Any, u2: np.ndarray) -> np.ndarray:
    """YᵀU²Y = Σ_i u_i² y_i y_iᵀ over training nodes, c×c; diagonal for one-hot labels."""
    matrix = as_numpy("Y", Y)
    Y_tr, nodes = _masked(matrix, train, len(matrix))
    return Y_tr[nodes].T @ (u2[:, None] * Y_tr[nodes])
