"""Training rows and labels of one fit of a learner, and the losses by which fits are compared."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...._utils.targets import Targets, TargetScale
from ...boosting.node_columns import NodeColumns


@dataclass(frozen=True)
class Rows:
    """Training rows, and validation rows for early stopping (None if labels are too few).

    ``X`` is an array for networks and linear models (or a `SparseTable` for networks), and
    `NodeColumns` for trees.
    """

    X: Any
    Y: np.ndarray
    weight: np.ndarray
    validation: tuple[Any, np.ndarray, np.ndarray] | None
    task: str
    seed: int

    @classmethod
    def joined(cls, parts: list[Rows]) -> Rows:
        """The rows of all parts."""
        first, *more = parts
        if not more:
            return first
        validation = None
        if first.validation is not None:
            each = [part.validation for part in parts if part.validation is not None]
            validation = (
                _joined([X for X, _, _ in each]),
                np.concatenate([Y for _, Y, _ in each]),
                np.concatenate([weight for _, _, weight in each]),
            )
        return replace(
            first,
            X=_joined([part.X for part in parts]),
            Y=np.concatenate([part.Y for part in parts]),
            weight=np.concatenate([part.weight for part in parts]),
            validation=validation,
        )


def _joined(parts: list[Any]) -> Any:
    """Arrays or `NodeColumns`, one below the other."""
    first = parts[0]
    if isinstance(first, NodeColumns):
        return replace(first, values=_joined([part.values for part in parts]))
    return sp.vstack(parts, format="csr") if sp.issparse(first) else np.concatenate(parts)


@dataclass(frozen=True)
class MemberLabels:
    """The labels of one member.

    ``given`` are the labels of the nodes ``inside``, which it is trained on. ``validation_nodes``
    are other nodes, for early stopping; ``truth`` are their labels, in units of ``scale``, and
    weights.
    """

    given: Targets
    inside: np.ndarray
    validation_nodes: np.ndarray
    truth: tuple[np.ndarray, np.ndarray]
    scale: TargetScale
    seed: int

    def rows(self, X: Any, every: Any) -> Rows:
        """Training rows ``X`` of the nodes inside, with the validation rows among ``every``."""
        at = self.validation_nodes
        validation = (every[at], *self.truth) if len(at) else None
        Y, weight = self.scale.to(self.given.Y[self.inside]), self.given.weight[self.inside]
        return Rows(X, Y, weight, validation, self.given.task, self.seed)


def losses(task: str, Y: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Log loss or squared error of each row."""
    if task == "regression":
        return ((Y - rows) ** 2).mean(axis=1)
    p = np.clip(rows, 1e-6, 1 - 1e-6)
    if task == "multilabel":
        return -np.where(Y > 0.5, np.log(p), np.log1p(-p)).mean(axis=1)
    return -np.where(Y > 0.5, np.log(p), 0.0).sum(axis=1)


def row_loss(task: str, Y: np.ndarray, rows: np.ndarray, weight: np.ndarray) -> float:
    """The mean loss, by which learners are compared."""
    return float(np.average(losses(task, Y, rows), weights=weight))
