"""Labels that the other labels contradict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.targets import Targets


@dataclass(frozen=True)
class SuspiciousLabels:
    """Labeled nodes, in order of how much the other labels contradict their own.

    Attributes
    ----------
    nodes : ndarray of int
        Numbers of the nodes, the most doubtful first.
    given : ndarray
        Their labels.
    suggested : ndarray
        The labels predicted without them.
    doubt : ndarray of float
        How strong the contradiction is. For classes, the largest probability of another class minus
        that of the given one (from −1 to 1); for indicators, the largest difference of this kind;
        for numbers, the distance in robust standard deviations of all distances.
    names : ndarray
        The names of the nodes; their numbers if they have none.

    See Also
    --------
    LabelPropagation : Labels and edges alone, without training.
    TrainableLabelPropagation : Labels and edges alone, with trained weights.
    audit_leakage : Check whether predictions depend on a node's own label.

    Examples
    --------
    >>> from labeltrick import Graph, LabelPropagation
    >>> graph = Graph.from_edges([0, 0, 0, 1, 1, 2, 3], [1, 2, 3, 2, 3, 3, 4])
    >>> model = LabelPropagation(0.8).fit(None, ["a", "a", "a", "b", None], graph=graph)
    >>> suspects = model.suspicious_labels(1)
    >>> suspects.nodes.tolist(), suspects.given.tolist(), suspects.suggested.tolist()
    ([3], ['b'], ['a'])
    """

    nodes: np.ndarray
    given: np.ndarray
    suggested: np.ndarray
    doubt: np.ndarray
    names: np.ndarray

    def __len__(self) -> int:
        return len(self.nodes)

    def __str__(self) -> str:
        lines = [f"{'node':>8}  {'given':>12}  {'suggested':>12}  {'doubt':>6}"]
        rows = zip(self.names, self.given, self.suggested, self.doubt, strict=True)
        for node, given, suggested, doubt in list(rows)[:10]:
            lines.append(
                f"{node!s:>8}  {_short(given):>12}  {_short(suggested):>12}  {doubt:>6.2f}"
            )
        if len(self) > 10:
            lines.append(f"… {len(self) - 10:,} more")
        return "\n".join(lines)


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)[:12]


def rank_labels(
    targets: Targets,
    oof: np.ndarray,
    predicted: np.ndarray,
    given: np.ndarray,
    names: np.ndarray,
) -> SuspiciousLabels:
    """All labeled nodes in order of doubt, from predictions made without their own labels. The
    names are those of all nodes."""
    nodes = np.flatnonzero(targets.labeled)
    Y = targets.Y[nodes]
    if targets.task == "classification":
        own = (oof * Y).sum(axis=1)
        doubt = np.where(Y > 0.5, -np.inf, oof).max(axis=1) - own
        doubt[~np.isfinite(doubt)] = -1.0  # a single class: nothing else to suggest
    elif targets.task == "multilabel":
        doubt = np.where(Y > 0.5, 1 - 2 * oof, 2 * oof - 1).max(axis=1)
    else:
        distance = np.abs(Y - oof)
        spread = 1.4826 * np.median(distance, axis=0)
        doubt = (distance / np.maximum(spread, np.finfo(float).tiny)).max(axis=1)
    order = np.argsort(-doubt, kind="stable")
    ranked = nodes[order]
    fields = (given[order], predicted[order], doubt[order], names[ranked])
    return SuspiciousLabels(ranked, *fields)
