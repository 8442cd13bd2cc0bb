"""First looks: which learners go on after the first of their folds.

A look is a learner's prediction of nodes whose labels its first fit has not seen. A learner that is
clearly worse than the best one, and of no use beside it, is not fitted on the other folds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..._utils.targets import Targets
from ...evaluation.calibration import fit_calibration
from .blend import is_gain, mixed
from .learners.rows import losses

_FEWEST = 200  # nodes; fewer do not decide about a learner
_MANY = 5000  # nodes that tell small gains from none
_CLEAR = 3.0  # standard errors
_LEAST_GAIN = 1e-3  # of the loss
_SHARES = (0.1, 0.2, 0.35, 0.5)  # of a learner beside the best one


@dataclass(frozen=True)
class Look:
    """The nodes of a look and their labels."""

    nodes: np.ndarray
    known: Targets

    @property
    def decides(self) -> bool:
        return len(self.nodes) >= _FEWEST

    def calibrated(self, rows: np.ndarray) -> np.ndarray:
        """Calibrated predictions of the nodes of the look."""
        known = self.known
        if known.task == "regression":
            return rows
        keys = None if known.keys is None else known.keys[self.nodes]
        Y, weight = known.Y[self.nodes], known.weight[self.nodes]
        return fit_calibration(rows, Y, known.task, weight, keys).apply(rows, known.task)

    def losses(self, rows: np.ndarray) -> np.ndarray:
        """Weighted losses of calibrated predictions of these nodes."""
        weight = self.known.weight[self.nodes]
        each = losses(self.known.task, self.known.Y[self.nodes], rows)
        return each * weight / weight.mean()


def _is_useful(before: np.ndarray, after: np.ndarray) -> bool:
    gains = before - after
    return is_gain(gains) and gains.mean() > _LEAST_GAIN * abs(before.mean())


def is_best(look: Look, found: Mapping[str, np.ndarray], name: str) -> bool:
    """Whether a learner has the least loss, by calibrated predictions of enough nodes."""
    loss = {each: float(look.losses(rows).mean()) for each, rows in found.items()}
    return look.decides and name in loss and loss[name] == min(loss.values())


def helps(look: Look, rows: np.ndarray, best: np.ndarray) -> bool:
    """Whether predictions lower the loss of the best ones, beside them."""
    before = look.losses(best)
    return any(
        _is_useful(before, look.losses(mixed([rows, best], (share, 1 - share))))
        for share in _SHARES
    )


def without_hope(look: Look, found: Mapping[str, np.ndarray]) -> dict[str, str]:
    """The learners to drop by their calibrated predictions, with the reason for each."""
    if not look.decides or len(found) < 2:
        return {}
    loss = {name: look.losses(rows) for name, rows in found.items()}
    best = min(loss, key=lambda name: float(loss[name].mean()))
    dropped = {}
    for name, rows in found.items():
        if name == best:
            continue
        worse = loss[name] - loss[best]
        clear = worse.mean() > _CLEAR * worse.std() / np.sqrt(len(worse))
        if not (clear or len(look.nodes) >= _MANY) or helps(look, rows, found[best]):
            continue
        if clear:
            dropped[name] = f"clearly worse than {best}, and of no use beside it"
        else:
            dropped[name] = f"no better than {best}, and of no use beside it"
    return dropped
