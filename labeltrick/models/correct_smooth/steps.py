"""The two steps of Correct & Smooth as functions of predictions (Huang et al., 2021).

Correct: the residuals of labeled nodes are spread along the edges and added to the predictions.
Smooth: labels, and the corrected predictions of unlabeled nodes, are spread along the edges.
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

_NORMS = {"DAD": "sym", "DA": "row", "AD": "col"}  # names of the original
_LARGEST_FACTOR = 1000.0  # a larger factor means that almost no residual reached the node


class Spread(BaseEstimator):
    """How one step of Correct & Smooth propagates values along the edges.

    Parameters
    ----------
    damping : float, default=0.9
        λ, between 0 and 1.
    n_steps : int or None, default=50
        Number of iterations; None for the limit, which is also faster to compute.
    norm : {"sym", "row", "col"}, default="sym"
        Normalization of the adjacency: D^−½AD^−½, D⁻¹A or AD⁻¹. The original's names "DAD", "DA"
        and "AD" are accepted too.
    self_loops : bool, default=False
        Whether a self-loop is added to each node first.
    clamp : bool, default=True
        Whether values are clamped at each step as in the original: residuals to [−1, 1],
        probabilities to [0, 1]. With a numeric ``scale``, labeled nodes keep their residual
        instead, in the limit too. Regression targets and limits have no range.

    See Also
    --------
    CorrectAndSmooth : Correct the errors of any model and smooth the result.
    TrainableCorrectAndSmooth : Correct & Smooth with trained weights.

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
    def _normalization(self) -> dict[str, Any]:
        return {"norm": _NORMS.get(self.norm, self.norm), "self_loops": self.self_loops}

    def check(self) -> Spread:
        """Check the parameters, and return the object itself."""
        check_choice("norm", self._normalization["norm"], ("sym", "row", "col"))
        check_flag("clamp", self.clamp)
        if self.damping != 1:
            check_damping(self.damping)
        if self.n_steps is not None:
            check_count("n_steps", self.n_steps)
        return self

    def unclamped(self) -> Spread:
        """A copy without clamps."""
        return Spread(**{**self.get_params(), "clamp": False})

    def linear(self, graph: Graph, tol: float = 1e-6) -> Propagation:
        """The propagation P without clamps."""
        return damped(graph, self.damping, self.n_steps, tol, **self._normalization)

    def between(self, graph: Graph, low: float, high: float) -> Propagation:
        """The propagation P, clamped to [low, high] at each step if ``clamp`` is True."""
        if not check_flag("clamp", self.clamp) or self.n_steps is None:
            return self.linear(graph)
        options: dict[str, Any] = {"clamp": (low, high), **self._normalization}
        return Iteration(graph, self.damping, self.n_steps, **options)

    def holding(
        self, graph: Graph, rows: np.ndarray, fixed: np.ndarray, progress: Progress
    ) -> np.ndarray:
        """Spread the rows of the fixed nodes, which keep their rows at every step."""
        S = graph.normalized(**self._normalization)
        lam = 1.0 if self.damping == 1 else check_damping(self.damping)
        if self.n_steps is None:
            return clamped_limit(S, rows, fixed, lam, progress=progress)
        return clamped_steps(S, rows, fixed, lam, check_count("n_steps", self.n_steps), progress)


def as_spread(name: str, value: Any, n_steps: int | None = 50) -> Spread | None:
    """The `Spread` for a step given as a `Spread`, a damping, or None to omit the step."""
    if value is None:
        return None
    if isinstance(value, Spread):
        return value.check()
    if isinstance(value, str | bool) or not np.isscalar(value):
        raise TypeError(
            f"`{name}` must be a labeltrick.Spread, a damping between 0 and 1, or None to omit the "
            f"step; got {value!r}."
        )
    return Spread(check_number(name, value, 0.0, 1.0), n_steps, clamp=n_steps is not None)


def as_pairs(correct: Any, smooth: Any) -> list[tuple[Spread | None, Spread]]:
    """The pairs of steps of the trainable method, without clamps, from one pair or two lists."""
    several = (list, tuple, np.ndarray)
    given = [value if isinstance(value, several) else [value] for value in (correct, smooth)]
    if len(given[0]) != len(given[1]) or not len(given[0]):
        raise ValueError(
            "`correct` and `smooth` must have the same number of steps; got "
            f"{len(given[0])} and {len(given[1])}."
        )
    found = []
    for first, second in zip(*given, strict=True):
        P_c, P_s = as_spread("correct", first, None), as_spread("smooth", second, None)
        if P_s is None:
            raise ValueError(
                "`smooth` must be a damping or a Spread; got None. To omit it, use "
                "CorrectAndSmooth."
            )
        found.append((P_c and P_c.unclamped(), P_s.unclamped()))
    return found


def autoscale(residual: np.ndarray, spread: np.ndarray, labeled: np.ndarray) -> np.ndarray:
    """γ of the original: factors that give every row of ``spread`` the size of the mean residual,
    or 1 where almost no residual arrived."""
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
    """The correction γ(P_c E) of base predictions, with E = Y − base at labeled nodes.

    ``scale``: "auto" is `autoscale`; "mean" is the mean, weighted by P_c, of the residuals that
    arrive; a number multiplies P_c E, and with clamps labeled nodes keep their residual.
    """
    E = np.where(labeled[:, None], Y - base, 0).astype(base.dtype)
    check_scale(scale)
    if scale == "mean":
        columns = np.column_stack([E, labeled.astype(E.dtype)])
        found = spread.linear(graph).apply(columns, progress=progress)
        mass = found[:, -1:]
        return np.where(mass > 1e-6, found[:, :-1] / np.maximum(mass, 1e-6), 0)
    if isinstance(scale, str):
        found = spread.between(graph, -1.0, 1.0).apply(E, progress=progress)
        return autoscale(E, found, labeled) * found
    factor = base.dtype.type(scale)
    if check_flag("clamp", spread.clamp):
        return factor * spread.holding(graph, E, labeled, progress)
    return factor * spread.linear(graph).apply(E, progress=progress)


def smoothed(
    rows: np.ndarray,
    Y: np.ndarray,
    labeled: np.ndarray,
    graph: Graph,
    spread: Spread,
    progress: Progress = None,
) -> np.ndarray:
    """P_s applied to the labels of labeled nodes and to ``rows`` of the others."""
    inputs = np.where(labeled[:, None], Y, rows).astype(rows.dtype)
    return spread.between(graph, 0.0, 1.0).apply(inputs, progress=progress)
