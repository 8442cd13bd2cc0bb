"""Effects that add up, and how they pass through functions that are not linear.

An additive method gives a row of scores as a start plus one effect per source. Calibration and
links of trees are not linear. Along the straight line from the start to the row, a function f has
the mean Jacobian J = ∫ f'(start + t·(row − start)) dt, and f(row) − f(start) = J·(row − start):
effects J·e still add up, and are unchanged where f is linear.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Link = Callable[[np.ndarray], np.ndarray]
"""A function of rows: (n, c) to (n, d)."""

_N_POINTS = 48  # of the integral; what is left of its error is spread over all effects
_STEP = 1e-6


@dataclass(frozen=True)
class Source:
    """What contributes: ``key`` is the number of a node, or the name of a column."""

    kind: str
    key: Any
    value: Any = None


@dataclass(frozen=True)
class Effects:
    """A row as ``start`` plus the effects ``values`` (k, c) of sources, plus a rest."""

    start: np.ndarray
    row: np.ndarray
    sources: list[Source]
    values: np.ndarray

    def through(self, link: Link) -> Effects:
        """The same of f(row)."""
        J = mean_jacobian(link, self.start, self.row)
        start, row = link(np.stack([self.start, self.row]))
        return Effects(start, row, self.sources, self.values @ J.T)

    @property
    def rest(self) -> np.ndarray:
        """What the listed sources leave to others."""
        return self.row - self.start - self.values.sum(axis=0)


def mean_jacobian(link: Link, start: np.ndarray, row: np.ndarray) -> np.ndarray:
    """J of shape (d, c), by central differences at the middles of equal steps.

    The least change that makes J·(row − start) exact takes up the errors of the integral.

    >>> J = mean_jacobian(lambda rows: rows**2, np.array([1.0]), np.array([3.0]))
    >>> J.round(6).tolist()
    [[4.0]]
    """
    c, change = len(start), row - start
    times = (np.arange(_N_POINTS) + 0.5) / _N_POINTS
    points = start + times[:, None] * change
    steps = _STEP * np.eye(c)
    shifted = np.concatenate([points[None] + steps[:, None], points[None] - steps[:, None]])
    values = link(shifted.reshape(-1, c)).reshape(2, c, _N_POINTS, -1)
    J = (values[0] - values[1]).mean(axis=1).T / (2 * _STEP)
    ends = link(np.stack([start, row]))
    size = float(change @ change)
    if size > 0:
        J = J + np.outer(ends[1] - ends[0] - J @ change, change) / size
    return J


def mean_of(parts: list[Effects]) -> Effects:
    """The mean of several effects of the same sources."""
    return weighted_sum([1 / len(parts)] * len(parts), parts)


def weighted_sum(shares: list[float], parts: list[Effects]) -> Effects:
    """Sum of effects of the same sources, each with its share."""

    def summed(name: str) -> np.ndarray:
        pairs = zip(shares, parts, strict=True)
        return np.sum([share * getattr(part, name) for share, part in pairs], axis=0)

    return Effects(summed("start"), summed("row"), parts[0].sources, summed("values"))
