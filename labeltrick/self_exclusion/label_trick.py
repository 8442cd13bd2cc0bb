"""The label trick: labels as inputs, without any node seeing its own.

Training labels Y_tr (zero rows for the other nodes) are propagated as inputs. Three views of them
are free of leaks for the nodes whose predictions are trained or scored:

* `self_excluded`: (P − C)·Y_tr, where every node sees all labels but its own (paper, eq. 6);
* `stochastic_view`: P·Y_in/α for a random part of the labels; the others are targets (eq. 7);
* `fold_view`: the nodes of a fold see the labels of the other folds; exact for any predictor.

`self_excluded_form` extends the first view to models with linear propagation inside (eq. 13).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .._utils.checks import as_numpy, check_choice, check_count, check_signal
from .._utils.progress import Progress, ProgressBar
from ..propagation.base import Propagation
from ..propagation.diagonal.self_weight import SelfWeight, unit_block_width
from ..propagation.hops import Hops
from ..propagation.polynomials import Power
from .labels import LabelSplit, masked_labels, split_labels


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
    """Propagate labels without each node's own label: (P − C)·Y_tr with C = diag(P) (paper, eq. 6).

    At nodes outside of ``train`` this equals P·Y_tr.

    Parameters
    ----------
    P : Propagation
        Any propagation. With `Hops`, the own label is removed from each hop separately.
    Y : array-like of shape (n,) or (n, c)
        Labels: one-hot rows, indicators or real targets. Rows outside of ``train`` are not read.
    train : array-like of int or bool
        Node numbers or mask of the nodes whose labels are inputs.
    method : {"subtract", "rows"}, default="subtract"
        "subtract" propagates once and subtracts C∘Y. Of an own label y there remains at most
        ``|y|`` · (error of C + error of P·Y); ``tol`` bounds the first error and `Resolvent.tol`
        the second. "rows" never lets a node's row touch its own label: row i stays the same
        bit for bit when y_i changes, at the cost of one column of P per training node.
    self_weight : SelfWeight, default=None
        C as returned by ``P.self_weight(train)``. None computes it.
    tol : float, default=1e-4
        Largest error of C if it is computed here.
    progress : bool, callable or None, default=None
        None shows a progress bar on a terminal, True always and False never; a function is called
        with (done, total).

    Returns
    -------
    view : ndarray of shape (n, c), or (n, (K+1)·c) for `Hops` with K steps
        What each node sees of the labels of the other nodes.

    See Also
    --------
    stochastic_view : Label inputs from a random split.
    fold_view : Label inputs by folds.
    audit_leakage : Check whether predictions depend on a node's own label.

    Examples
    --------
    >>> from labeltrick import Graph, Power
    >>> P = Power(Graph.from_edges([0, 1, 2], [1, 2, 0]), 2, norm="row")
    >>> self_excluded(P, [[4.0], [8.0], [0.0]], train=[0, 1])[:, 0].round(6).tolist()
    [2.0, 1.0, 3.0]
    """
    if not isinstance(P, Propagation):
        raise TypeError(f"`P` must be a Propagation; got {type(P).__name__}.")
    Y_tr, nodes = masked_labels(Y, train, P.n_nodes)
    check_choice("method", method, ("subtract", "rows"))
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
    """Rows Σ_{k≠i} P_ik y_k, from rows of P whose own entry is set to zero before it meets y."""
    n, c = Y_tr.shape
    hops: list[Propagation] = [P]
    if isinstance(P, Hops):
        options: dict[str, Any] = {"norm": P.norm, "self_loops": P.self_loops}
        hops = [Power(P.given_graph, k, **options) for k in range(P.n_steps + 1)]
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
                # One sum per row: in a matrix product a row's rounding could depend on its
                # neighbors in the block.
                for r in range(len(chosen)):
                    rows[first + r, k * c : (k + 1) * c] = entries[:, r] @ Y_tr
            bar.advance()
    return rows


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
    """Propagate the labels of a fresh random split: P·Y_in/α (paper, eq. 7).

    The loss of a training step is taken at the nodes in the split's ``out_mask``.

    Parameters
    ----------
    P : Propagation
        Any propagation.
    Y : array-like of shape (n,) or (n, c)
        Labels: one-hot rows, indicators or real targets.
    train : array-like of int or bool
        Node numbers or mask of the training nodes.
    split_rate : float
        α, the probability in (0, 1) that a training label is an input.
    random_state : int, numpy.random.Generator or None, default=None
        Seed or generator of the draw.
    rescale : bool, default=True
        Whether to multiply the inputs by 1/α. Their mean then equals that of inference, where all
        labels are given and nothing is scaled.
    progress : bool, callable or None, default=None
        None shows a progress bar on a terminal, True always and False never; a function is called
        with (done, total).

    Returns
    -------
    view : ndarray of shape (n, c)
        The propagated labels.
    split : LabelSplit
        Masks of the inputs and of the targets.

    See Also
    --------
    self_excluded : Propagate labels without each node's own.
    split_labels : Divide training labels into inputs and targets.
    fold_view : Label inputs by folds.

    Examples
    --------
    >>> import numpy as np
    >>> from labeltrick import Graph, Power, stochastic_view
    >>> P = Power(Graph.from_edges([0, 1, 2], [1, 2, 3]), 1, norm="row")
    >>> Y = np.eye(2)[[0, 0, 1, 1]]
    >>> view, split = stochastic_view(P, Y, [0, 1, 2, 3], split_rate=0.5, random_state=0)
    >>> np.flatnonzero(split.in_mask).tolist(), np.flatnonzero(split.out_mask).tolist()
    ([1, 2, 3], [0])
    >>> view[split.out_mask].tolist()
    [[2.0, 0.0]]
    """
    split = split_labels(train, split_rate, random_state, n_nodes=P.n_nodes)
    Y_in, _ = masked_labels(Y, split.in_mask, P.n_nodes)
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
    """Propagate labels by folds: each training node sees the labels of the other folds.

    The other nodes see all labels. This is exact for any predictor, linear or not, and takes
    ``n_folds`` + 1 propagations. With as many folds as training nodes it equals the self-excluded
    view.

    Parameters
    ----------
    P : Propagation or callable
        A propagation, or any function from a label matrix to an array with one row per node.
    Y : array-like of shape (n,) or (n, c)
        Labels: one-hot rows, indicators or real targets.
    train : array-like of int or bool
        Node numbers or mask of the training nodes.
    n_folds : int, default=10
        Number K of folds; at least 2 and at most the number of training nodes.
    random_state : int, numpy.random.Generator or None, default=None
        Seed or generator that assigns nodes to folds.
    rescale : bool, default=True
        Whether to multiply the labels of the other folds by K/(K−1), like 1/α for random splits.
    progress : bool, callable or None, default=None
        None shows a progress bar on a terminal, True always and False never; a function is called
        with (done, total).

    Returns
    -------
    view : ndarray of shape (n, c)
        What each node sees of the labels outside of its fold.

    See Also
    --------
    self_excluded : Propagate labels without each node's own.
    stochastic_view : Label inputs from a random split.

    Examples
    --------
    >>> from labeltrick import Graph, Power, fold_view
    >>> P = Power(Graph.from_edges([0, 1, 2], [1, 2, 0]), 2, norm="row")
    >>> fold_view(P, [[4.0], [8.0], [0.0]], [0, 1], n_folds=2, rescale=False)[:, 0].tolist()
    [2.0, 1.0, 3.0]
    """
    apply = partial(P.apply, progress=False) if isinstance(P, Propagation) else P
    Y_tr, nodes = masked_labels(Y, train, len(as_numpy("Y", Y)))
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
    """The result of a predictor as an array with one row per node."""
    rows = as_numpy("P(Y)", result)
    if rows.shape[:1] != (n_nodes,):
        raise ValueError(f"`P` must return one row per node ({n_nodes}); got shape {rows.shape}.")
    return rows


def self_excluded_form(
    P: Propagation,
    with_labels: Any,
    without_labels: Any,
    self_weight: SelfWeight | np.ndarray,
    *,
    progress: Progress = None,
) -> np.ndarray:
    """Self-exclusion inside a model: 𝒫h₀([X, Y]) − 𝒞h₀([X, Y]) + 𝒞h₀([X, 0]) (paper, eq. 13).

    Parameters
    ----------
    P : Propagation
        The linear propagation 𝒫 inside the model.
    with_labels : array-like of shape (n, d)
        h₀([X, Y]): the output of a node-wise function of features and labels.
    without_labels : array-like of shape (n, d)
        h₀([X, 0]): the output of the same function with labels set to zero.
    self_weight : SelfWeight or ndarray of shape (n,) or (n, K+1)
        C at all nodes, with one column per hop for `Hops`. It has no effect at nodes without an
        input label, where both arrays agree.
    progress : bool, callable or None, default=None
        None shows a progress bar on a terminal, True always and False never; a function is called
        with (done, total).

    Returns
    -------
    result : ndarray of shape (n, d), or (n, (K+1)·d) for `Hops`
        Input of the part of the model after the propagation, h₁.

    See Also
    --------
    self_excluded : Propagate labels without each node's own.
    nn.self_excluded_form : Self-exclusion inside a network.

    Examples
    --------
    >>> import numpy as np
    >>> from labeltrick import Graph, Power, self_excluded_form
    >>> P = Power(Graph.from_edges([0, 1, 2], [1, 2, 0]), 2, norm="row")
    >>> labels = np.array([[4.0], [8.0], [0.0]])
    >>> inputs = self_excluded_form(P, labels, np.zeros((3, 1)), P.self_weight())
    >>> inputs[:, 0].round(6).tolist()
    [2.0, 1.0, 3.0]
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
            f"`self_weight` must have one value per node ({P.n_nodes}); got {len(C)}. "
            "Compute it for all nodes: P.self_weight()."
        )
    own = known - blank
    n_hops = C.shape[1] if C.ndim == 2 else 1
    excess = C.reshape(len(C), n_hops, 1) * own.reshape(len(C), 1, -1)
    result = P.apply(known, progress=progress)
    result -= excess.reshape(result.shape).astype(result.dtype)
    return result
