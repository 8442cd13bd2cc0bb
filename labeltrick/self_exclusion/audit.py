"""Leak audit: change a label and check whether that node's own prediction moves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.checks import as_numpy, check_count, check_number
from .._utils.progress import Progress, ProgressBar
from ..propagation.diagonal.self_weight import check_nodes


@dataclass(frozen=True)
class LeakageReport:
    """Result of `audit_leakage`.

    Attributes
    ----------
    leaks : bool
        Whether the prediction of any tested node moved with its own label.
    n_tested : int
        Number of nodes tested.
    n_leaking : int
        Number of tested nodes whose prediction moved by more than ``threshold``.
    largest_change : float
        Largest change of a node's own prediction.
    noise : float
        Largest change between two calls with the same labels.
    threshold : float
        Largest change that does not count as a leak.
    confidence : float
        Confidence of ``share_bound``.
    share_bound : float
        With this confidence, at most this share of all training nodes leaks.
    worst_nodes : ndarray of int
        The up to ten tested nodes whose predictions moved most.
    worst_changes : ndarray of float
        By how much they moved.

    See Also
    --------
    audit_leakage : Check whether predictions depend on a node's own label.

    Examples
    --------
    >>> import numpy as np
    >>> from labeltrick import audit_leakage
    >>> report = audit_leakage(lambda y: np.eye(2)[y], [0, 1, 0, 1], train=[0, 1, 2, 3])
    >>> report.leaks, report.n_leaking, report.largest_change
    (True, 4, 1.0)
    """

    leaks: bool
    n_tested: int
    n_leaking: int
    largest_change: float
    noise: float
    threshold: float
    confidence: float
    share_bound: float
    worst_nodes: np.ndarray
    worst_changes: np.ndarray

    def __str__(self) -> str:
        if self.leaks:
            pairs = zip(self.worst_nodes[:3], self.worst_changes[:3], strict=True)
            worst = ", ".join(f"node {i} by {change:.3g}" for i, change in pairs)
            return (
                f"LEAK: {self.n_leaking} of {self.n_tested} tested predictions moved with their "
                f"own label; worst: {worst}"
            )
        return (
            f"no leak in {self.n_tested} tested nodes (largest change {self.largest_change:.2g}, "
            f"allowed {self.threshold:.2g}); with {self.confidence:.0%} confidence at most "
            f"{self.share_bound:.1%} of the training nodes leak"
        )


def audit_leakage(
    predict: Callable[[np.ndarray], Any],
    y: Any,
    train: Any,
    *,
    n_samples: int = 30,
    tolerance: float = 1e-3,
    confidence: float = 0.95,
    random_state: Any = 0,
    progress: Progress = None,
) -> LeakageReport:
    """Change one training label at a time and measure how that node's own prediction moves.

    Parameters
    ----------
    predict : callable
        Takes labels like ``y`` and returns predictions with one row per node. Pass the predictions
        that the training loss or a reported score uses (self-excluded, leave-one-out, or those of
        the targets of a split), not inference at nodes whose label is an input. The function must
        be repeatable, so seed it; differences between two equal calls are measured and allowed for.
    y : array-like of shape (n,) or (n, c)
        Class numbers, a matrix of indicators, or real targets. A class is changed to another one,
        an indicator is flipped, and a real target is moved by one standard deviation.
    train : array-like of int or bool
        Node numbers or mask of the training nodes.
    n_samples : int, default=30
        Number of training nodes to test, with one call of ``predict`` each.
    tolerance : float, default=1e-3
        Change that does not count as a leak, relative to how much predictions move (in the median
        training node) when all training labels are changed.
    confidence : float, default=0.95
        Confidence of the bound on the share of leaking nodes.
    random_state : int, numpy.random.Generator or None, default=0
        Seed or generator that chooses the nodes and their changed labels.
    progress : bool, callable or None, default=None
        None shows a progress bar on a terminal, True always and False never; a function is called
        with (done, total).

    Returns
    -------
    report : LeakageReport
        The verdict, and how far predictions moved.

    See Also
    --------
    LeakageReport : What `audit_leakage` returns.
    self_excluded : Propagate labels without each node's own.

    Examples
    --------
    >>> from labeltrick import Graph, Power, label_matrix, self_excluded
    >>> P, train = Power(Graph.from_edges([0, 1, 2], [1, 2, 0]), 2), [0, 1]
    >>> leaky = lambda y: P @ label_matrix(y, train, n_classes=2)
    >>> audit_leakage(leaky, [0, 1, 1], train).leaks
    True
    >>> safe = lambda y: self_excluded(P, label_matrix(y, train, n_classes=2), train)
    >>> audit_leakage(safe, [0, 1, 1], train).leaks
    False
    """
    labels = as_numpy("y", y)
    nodes = check_nodes("train", train, len(labels))
    if len(nodes) == 0:
        raise ValueError("`train` must hold at least one node; got none.")
    n_samples = min(check_count("n_samples", n_samples, 1), len(nodes))
    check_number("confidence", confidence, 0.0, 1.0)
    if not 0 <= tolerance < 1:
        raise ValueError(f"`tolerance` must be at least 0 and below 1; got {tolerance}.")
    rng = np.random.default_rng(random_state)
    sample = rng.choice(nodes, n_samples, replace=False)
    before = _predictions(predict, labels, len(labels))
    noise = float(np.abs(_predictions(predict, labels, before.shape) - before)[nodes].max())
    everything = _with_other_labels(labels, nodes, nodes, rng)
    moved = np.abs(_predictions(predict, everything, before.shape) - before)[nodes].max(axis=1)
    changes = np.empty(n_samples)
    with ProgressBar(n_samples, "audit", progress) as bar:
        for k, node in enumerate(sample):
            other = _with_other_labels(labels, nodes, np.array([node]), rng)
            after = _predictions(predict, other, before.shape)
            changes[k] = np.abs(after[node] - before[node]).max()
            bar.advance()
    rounding = 1e-12 * float(np.median(np.abs(before)))
    threshold = tolerance * float(np.median(moved)) + 2 * noise + rounding
    order = np.argsort(-changes, kind="stable")
    n_leaking = int((changes > threshold).sum())
    return LeakageReport(
        leaks=n_leaking > 0,
        n_tested=n_samples,
        n_leaking=n_leaking,
        largest_change=float(changes.max()),
        noise=noise,
        threshold=threshold,
        confidence=confidence,
        share_bound=_share_bound(n_leaking, n_samples, len(nodes), confidence),
        worst_nodes=sample[order][:10],
        worst_changes=changes[order][:10],
    )


def _share_bound(n_leaking: int, n_tested: int, n_nodes: int, confidence: float) -> float:
    """Upper confidence bound of the leaking share (Clopper–Pearson); exact if all were tested."""
    if n_tested == n_nodes:
        return n_leaking / n_nodes
    if n_leaking == n_tested:
        return 1.0
    from scipy.stats import beta

    return float(beta.ppf(confidence, n_leaking + 1, n_tested - n_leaking))


def _predictions(
    predict: Callable[[np.ndarray], Any], labels: np.ndarray, shape: int | tuple[int, ...]
) -> np.ndarray:
    """Predictions as a matrix of finite numbers with the expected shape (or number of rows)."""
    result = as_numpy("predict(y)", predict(labels.copy()))
    n_nodes = shape if isinstance(shape, int) else shape[0]
    if result.shape[:1] != (n_nodes,):
        raise ValueError(
            f"`predict` must return one row per node ({n_nodes}); got shape {result.shape}."
        )
    rows = result.reshape(n_nodes, -1).astype(np.float64)
    if not isinstance(shape, int) and rows.shape != shape:
        raise ValueError(
            f"`predict` must return the same columns for all labels; got {shape[1]} and then "
            f"{rows.shape[1]}. Fix the number of classes (label_matrix(…, n_classes=…))."
        )
    if not np.isfinite(rows).all():
        row = int(np.argmax(~np.isfinite(rows).all(axis=1)))
        raise ValueError(f"`predict` must return finite numbers; row {row} holds NaN or infinity.")
    return rows


def _with_other_labels(
    labels: np.ndarray, nodes: np.ndarray, chosen: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """A copy of the labels in which those of the chosen nodes are different."""
    changed = labels.copy()
    if labels.ndim == 1 and labels.dtype.kind in "iuOUS":
        classes = np.array(sorted(set(labels[nodes].tolist())), dtype=labels.dtype)
        if len(classes) < 2 and labels.dtype.kind not in "iu":
            raise ValueError("`y` must hold at least two different labels; got one.")
        if len(classes) < 2:
            changed[chosen] = labels[chosen] + 1
            return changed
        codes = np.searchsorted(classes, labels[chosen])
        shift = rng.integers(1, len(classes), len(chosen))
        changed[chosen] = classes[(codes + shift) % len(classes)]
    elif np.isin(labels[nodes], (0, 1)).all():
        changed[chosen] = 1 - labels[chosen]
    else:
        values = labels.astype(np.float64)
        if not np.isfinite(values[nodes]).all():
            raise ValueError("`y` must be finite at the training nodes; got NaN or infinity.")
        changed = values.copy()
        changed[chosen] += float(values[nodes].std()) or 1.0
    return changed
