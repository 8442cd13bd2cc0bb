"""What a method finds out about one node, before it is put into words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..models.base.node_inputs import NodeInputs
from ..models.base.weights import tidy
from .effects import Effects, Source


@dataclass(frozen=True)
class Found:
    """Rows are those of `predict_proba`, or numbers.

    Attributes
    ----------
    row : array of shape (c,)
        The prediction without the node's own label.
    without_labels : array of shape (c,)
        The prediction without any labels as inputs.
    effects : Effects or None
        Effects that add up to ``row``.
    changes : list of (Source, array of shape (c,))
        Effects of single changes: how ``row`` would change without the source, times −1.
    error : float or None
        Certified bound of the error of each effect, before calibration.
    notes : list of str
        What the method could not do.
    """

    row: np.ndarray
    without_labels: np.ndarray
    effects: Effects | None = None
    changes: list[tuple[Source, np.ndarray]] = field(default_factory=list)
    error: float | None = None
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Question:
    """What is asked about which nodes.

    ``top`` is the number of contributions of each kind that are wanted.
    """

    model: Any
    inputs: NodeInputs
    nodes: np.ndarray
    top: int

    @property
    def task(self) -> str:
        return self.inputs.targets.task

    def shown(self, rows: np.ndarray) -> np.ndarray:
        """Calibrated probabilities from rows of the model; numbers stay as they are."""
        if self.task == "regression":
            return rows
        return self.model.calibration_.apply(tidy(rows, self.task), self.task)

    def is_labeled(self, node: int) -> bool:
        return bool(self.inputs.targets.labeled[node])


Method = Callable[[Question], list[Found]]


def largest(values: np.ndarray, count: int) -> np.ndarray:
    """Places of the largest positive values, in descending order."""
    count = min(count, len(values))
    some = np.argpartition(-values, count - 1)[:count] if count else np.zeros(0, np.int64)
    some = some[np.argsort(-values[some], kind="stable")]
    return some[values[some] > 0]
