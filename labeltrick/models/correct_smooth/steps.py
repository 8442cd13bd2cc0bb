"""The two steps of Correct & Smooth as functions of predictions (Huang et al., 2021).

Residuals of labeled nodes are spread along the edges and added to the predictions (correct);
then labels, and corrected predictions where there are none, are spread (smooth).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ..._utils.checks import check_choice, check_count, check_damping, check_flag, check_number
from ..._utils.progress import Progress
from ...graph.graph import Graph
from ...propagation.base import Propagation
from ...propagation.harmonic import clamped_limit, clamped_steps
from ...propagation.polynomials import Iteration
from ...self_exclusion.label_views import damped

ORIGINAL_NORMS = {"DAD": "sym", "DA": "row", "AD": "col"}
_LARGEST_FACTOR = 1000.0  # beyond, next to nothing arrived at the node


class Spread(BaseEstimator):
    """How one of the steps carries values along the edges.

    Parameters
    ----------
    damping : λ.
    n_steps : steps of the iteration; None for its limit, which is also faster to find.
    norm : "sym", "row" or "col": D^−½AD^−½, D⁻¹A or AD⁻¹; the original's names "DAD", "DA" and "AD"
        are understood.
    self_loops : whether to add a loop to each node first.
    clamp : whether values are kept in their range after each step as in the original:
        residuals in [−1, 1] (at labeled nodes as they are, with a number for the scale, in the
        limit too), probabilities in [0, 1]. Not for numbers; ranges are for steps only.

    Examples
    --------
    >>> Spread(0.979, norm="row")
    Spread(damping=0.979, norm='row')
    """

    def __init__(
        self,
        damping: float = 0.9,
        n_steps: int | None = 50,
        *,
        norm: str = "sym",
        self_loops: bool = False,
        clamp: bool = True,
    ) -> None:
        self.damping = damping
        self.n_steps = n_steps
        self.norm = norm
        self.self_loops = self_loops
        self.clamp = clamp

    @property
    def _norm(self) -> str:
        return ORIGINAL_NORMS.get(self.norm, self.norm)

    def check(self) -> Spread:
        """Itself, if its parameters can be used."""
        check_choice("norm", self._norm, ("sym", "row", "col"))
        check_flag("clamp", self.clamp)
        if self.damping != 1:
            check_damping(self.damping)
        if self.n_steps is not None:
            check_count("n_steps", self.n_steps)
        return self

    def unclamped(self) -> Spread:
        return Spread(
            self.damping, self.n_steps, norm=self.norm, self_loops=self.self_loops, clamp=False
        )

    def linear(self, graph: Graph, tol: float = 1e-6) -> Propagation:
        """P without clamps."""
        options = {"norm": self._norm, "self_loops": self.self_loops}
        return damped(graph, self.damping, self.n_steps, tol, **options)

    def between(self, graph: Graph, low: float, high: float) -> Propagation:
        """P with each step cut to [low, high], where clamps are asked for."""
        if not check_flag("clamp", self.clamp) or self.n_steps is None:
            return self.linear(graph)
        options = {"norm": self._norm, "self_loops": self.self_loops}
        return Iteration(graph, self.damping, self.n_steps, clamp=(low, high), **options)

    def holding(
        self, graph: Graph, rows: np.ndarray, fixed: np.ndarray, progress: Progress
    ) -> np.ndarray:
        """Spread rows of the fixed nodes, which keep them at every step."""
        S = graph.normalized(self._norm, self_loops=self.self_loops)
        lam = 1.0 if self.damping == 1 else check_damping(self.damping)
        if self.n_steps is None:
            return clamped_limit(S, rows, fixed, lam, progress=progress)
        return clamped_steps(S, rows, fixed, lam, check_count("n_steps", self.n_steps), progress)


def as_spread(name: str, value: Any, n_steps: int | None = 50) -> Spread | None:
    """A step as given: a `Spread`, a damping, or None to leave the step out."""
    if value is None:
        return None
    if isinstance(value, Spread):
        return value.check()
    if isinstance(value, str | bool) or not np.isscalar(value):
        raise TypeError(
            f"`{name}` must be a labeltrick.Spread, a damping between 0 and 1, or None to leave "
            f"the step out; got {value!r}."
        )
    return Spread(check_number(name, value, 0.0, 1.0), n_steps, clamp=n_steps is not None)


def autoscale(residual: np.ndarray, spread: np.ndarray, labeled: np.ndarray) -> np.ndarray:
    """γ of the original: factors that make every row of ``spread`` as large as the mean residual.

    1 where nothing, or next to nothing, arrived.
    """
    mean = np.abs(residual[labeled]).sum() / max(int(labeled.sum()), 1)
    size = np.abs(spread).sum(axis=1, keepdims=True)
    factor = np.divide(mean, size, out=np.full_like(size, np.inf), where=size > 0)
    return np.where(factor > _LARGEST_FACTOR, 1.0, factor).astype(spread.dtype)


def check_scale(scale: Any) -> None:
    if not isinstance(scale, str):
        check_number("scale", scale, -1e-300, np.inf)
    elif scale not in ("auto", "mean"):
        raise ValueError(f"`scale` must be 'auto', 'mean' or a number; got {scale!r}.")


def correction(
    base: np.ndarray,
    Y: np.ndarray,
    labeled: np.ndarray,
    graph: Graph,
    spread: Spread,
    scale: str | float = "auto",
    progress: Progress = None,
) -> np.ndarray:
    """What is to be added to base predictions: γ(P_c E), E = Y − base at labeled nodes.

    Parameters
    ----------
    base, Y : (n, c) predictions of all nodes; labels, rows of no account where unlabeled.
    scale : "auto": `autoscale`; "mean": the mean of the residuals that arrive, weighted by P_c;
        a number: that multiple, residuals of labeled nodes staying as they are with clamps.
    """
    E = np.where(labeled[:, None], Y - base, 0).astype(base.dtype)
    check_scale(scale)
    if scale == "mean":
        return _mean_residual(E, labeled, spread.linear(graph), progress)
    if isinstance(scale, str):
        found = spread.between(graph, -1.0, 1.0).apply(E, progress=progress)
        return autoscale(E, found, labeled) * found
    factor = base.dtype.type(scale)
    if check_flag("clamp", spread.clamp):
        return factor * spread.holding(graph, E, labeled, progress)
    return factor * spread.linear(graph).apply(E, progress=progress)


def _mean_residual(
    E: np.ndarray, labeled: np.ndarray, P: Propagation, progress: Progress
) -> np.ndarray:
    columns = np.column_stack([E, labeled.astype(E.dtype)])
    found = P.apply(columns, progress=progress)
    mass = found[:, -1:]
    return np.where(mass > 1e-6, found[:, :-1] / np.maximum(mass, 1e-6), 0)


def smoothed(
    rows: np.ndarray,
    Y: np.ndarray,
    labeled: np.ndarray,
    graph: Graph,
    spread: Spread,
    progress: Progress = None,
) -> np.ndarray:
    """P_s of the labels where they are known, and of ``rows`` elsewhere."""
    inputs = np.where(labeled[:, None], Y, rows).astype(rows.dtype)
    return spread.between(graph, 0.0, 1.0).apply(inputs, progress=progress)
