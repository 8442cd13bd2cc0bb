"""Kinds of P that are polynomials in S: `Iteration`, `Series`, `Power`, `HopSum`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._utils.checks import as_numpy, check_clamp, check_damping
from ..graph.graph import Graph
from .base import Stepped
from .diagonal import self_weight
from .diagonal.request import SelfWeightRequest
from .diagonal.self_weight import SelfWeight
from .engine import blocks

_FEW_STEPS = 6  # up to here the exact diagonal by hops is cheaper than certified bounds


class Damped(Stepped):
    """Base class of kinds with steps and damping."""

    def __init__(self, graph: Graph, damping: float, n_steps: int, **options: Any) -> None:
        super().__init__(graph, n_steps, **options)
        self.damping = check_damping(damping)

    _PARAMETERS = (*Stepped._PARAMETERS, "damping")
    _SHOWN: tuple[str, ...] = ("damping", "n_steps")

    def _self_weight(self, request: SelfWeightRequest) -> SelfWeight:
        many = request.method not in ("exact", "short") and self.n_steps > _FEW_STEPS
        if not (request.method == "push" or many) or not self.S.is_similar_to_symmetric:
            return super()._self_weight(request)
        if request.method == "push":
            request = replace(request, method="auto")
        return self_weight.damped_self_weight(self.S, self.damping, self.coefficients(), request)


class Iteration(Damped):
    """K steps of F ← λ S F + (1−λ) F⁰ from F = F⁰ (paper, section 2.1).

    P = λ^K S^K + (1−λ) Σ_{k<K} λ^k S^k.

    Parameters
    ----------
    graph : Graph
        The graph to propagate on.
    damping : float
        λ in (0, 1), the share of a node's value that comes from its neighbors.
    n_steps : int
        K, the number of steps.
    clamp : tuple of (float or None, float or None), or None, default=None
        Range (low, high) to which values are clipped after every step, as Correct & Smooth does;
        None is no limit. P is then not linear and has no transpose.
    **options : dict
        ``norm``, ``self_loops`` and ``reorder``; see `Propagation`.

    See Also
    --------
    Series : The truncated sum of the resolvent.
    Resolvent : Label propagation in the limit of infinitely many steps.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 1], [1, 2])
    >>> (Iteration(graph, 0.5, n_steps=1, norm="row") @ [1.0, 0.0, 0.0]).tolist()
    [0.5, 0.25, 0.0]
    """

    def __init__(
        self,
        graph: Graph,
        damping: float,
        n_steps: int,
        *,
        clamp: tuple[float | None, float | None] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(graph, damping, n_steps, **options)
        self.clamp = check_clamp(clamp)

    _PARAMETERS = (*Damped._PARAMETERS, "clamp")
    _SHOWN = (*Damped._SHOWN, "clamp")

    def coefficients(self) -> np.ndarray:
        if self.clamp is not None:
            raise ValueError(
                "`clamp` must be None for the coefficients, the transpose or the diagonal of "
                f"an Iteration; got {self.clamp}. A clamped iteration is not linear."
            )
        c = (1 - self.damping) * self.damping ** np.arange(self.n_steps + 1.0)
        c[-1] = self.damping**self.n_steps
        return c

    @property
    def T(self) -> Iteration:
        self.coefficients()  # raises if there is no transpose
        return super().T

    def _n_products(self, dtype: np.dtype) -> int:
        return self.n_steps

    def _recurrence(self) -> blocks.Recurrence:
        if self.clamp is None:
            return super()._recurrence()
        return blocks.clamped_iteration(self.damping, self.n_steps, self.clamp)


class Series(Damped):
    """P = (1−λ) Σ_{k≤K} λ^k S^k: the truncated sum of the resolvent (paper, section 2.1).

    Parameters
    ----------
    graph : Graph
        The graph to propagate on.
    damping : float
        λ in (0, 1), the share of a node's value that comes from its neighbors.
    n_steps : int
        K, the number of steps.
    **options : dict
        ``norm``, ``self_loops`` and ``reorder``; see `Propagation`.

    See Also
    --------
    Iteration : A fixed number of steps of label propagation.
    Resolvent : Label propagation in the limit of infinitely many steps.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 1], [1, 2])
    >>> (Series(graph, 0.5, n_steps=1, norm="row") @ [1.0, 0.0, 0.0]).tolist()
    [0.5, 0.125, 0.0]
    """

    def coefficients(self) -> np.ndarray:
        return (1 - self.damping) * self.damping ** np.arange(self.n_steps + 1.0)


class Power(Stepped):
    """P = S^K, the propagation of SGC.

    Parameters
    ----------
    graph : Graph
        The graph to propagate on.
    n_steps : int
        K, the number of steps.
    **options : dict
        ``norm``, ``self_loops`` and ``reorder``; see `Propagation`.

    See Also
    --------
    HopSum : A weighted sum of hops.
    SGC : A linear model on propagated features and labels.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 1], [1, 2])
    >>> (Power(graph, 2, norm="row") @ [1.0, 0.0, 0.0]).tolist()
    [0.5, 0.0, 0.5]
    """

    def coefficients(self) -> np.ndarray:
        c = np.zeros(self.n_steps + 1)
        c[-1] = 1.0
        return c


class HopSum(Stepped):
    """P = Σ_{k≤K} w_k S^k, the sum of all hops (SIGN as the paper simplifies it: w_k = 1).

    Parameters
    ----------
    graph : Graph
        The graph to propagate on.
    n_steps : int
        K, the number of steps.
    hop_weights : array of shape (n_steps + 1,) or None, default=None
        w_k of each hop, the first for the node itself. None means ones.
    **options : dict
        ``norm``, ``self_loops`` and ``reorder``; see `Propagation`.

    See Also
    --------
    Hops : All hops side by side.
    Series : The truncated sum of the resolvent.
    Power : One power of S, as in SGC.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 1], [1, 2])
    >>> (HopSum(graph, 2, norm="row") @ [1.0, 0.0, 0.0]).tolist()
    [1.5, 0.5, 0.5]
    """

    def __init__(
        self, graph: Graph, n_steps: int, *, hop_weights: Any = None, **options: Any
    ) -> None:
        super().__init__(graph, n_steps, **options)
        weights = np.ones(self.n_steps + 1)
        if hop_weights is not None:
            weights = as_numpy("hop_weights", hop_weights).astype(np.float64)
            if weights.shape != (self.n_steps + 1,) or not np.isfinite(weights).all():
                raise ValueError(
                    f"`hop_weights` must be n_steps + 1 = {self.n_steps + 1} finite numbers, "
                    f"the first for the node itself; got {hop_weights!r}."
                )
        self.hop_weights = weights

    _PARAMETERS = (*Stepped._PARAMETERS, "hop_weights")

    def coefficients(self) -> np.ndarray:
        return self.hop_weights
