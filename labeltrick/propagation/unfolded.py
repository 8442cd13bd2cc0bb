"""`Unfolded`: gradient steps on the energy of TWIRLS, as a propagation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.polynomial import polynomial as poly

from .._utils.checks import check_number
from .._utils.progress import Progress
from ..graph.graph import Graph
from ..graph.normalized import NormalizedAdjacency, inverse_or_one
from .base import Stepped
from .engine import blocks


class Unfolded(Stepped):
    """K unfolded gradient steps from F = h₀, as in TWIRLS (paper, appendix B.2).

    Their energy is ‖F − h₀‖² + λ·tr(Fᵀ L F). Without the preconditioner the steps decrease it.
    With it they are the steps of the TWIRLS code, which keeps the self-loops in A: a few steps
    smooth, but many do not converge to the minimum. P is linear, and symmetric without the
    preconditioner. The graph must be undirected: a directed one has no such energy.

    With the preconditioner D̃ = λD + (1−λ)I and S̃ = D̃^-½ A D̃^-½,

        F ← (1−a) F + aλ S̃ F + a D̃⁻¹ h₀,

    and without,

        F ← (1−a−aλ) F + aλ S F + a h₀.

    Parameters
    ----------
    graph : Graph
        The undirected graph to propagate on.
    n_steps : int, default=2
        K, the number of steps.
    smoothness : float, default=1.0
        λ > 0, the weight of the smoothness term (TWIRLS uses 1 and more).
    step_size : float or None, default=None
        a; None means 1/(1+λ).
    precondition : bool, default=True
        Whether to use D̃.
    self_loops : bool, default=True
        Whether to add a loop of weight 1 to each node that has none.
    **options : dict
        ``norm`` and ``reorder``; see `Propagation`.

    See Also
    --------
    TWIRLS : Unfolded propagation with labels beside the features.
    Iteration : A fixed number of steps of label propagation.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 1], [1, 2])
    >>> Unfolded(graph, n_steps=2).shape
    (3, 3)
    """

    def __init__(
        self,
        graph: Graph,
        n_steps: int = 2,
        *,
        smoothness: float = 1.0,
        step_size: float | None = None,
        precondition: bool = True,
        self_loops: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(graph, n_steps, self_loops=self_loops, **options)
        if graph.directed:
            raise ValueError(
                "`graph` must be undirected for Unfolded; got a directed one. "
                "Build it with directed=False."
            )
        self.smoothness = check_number("smoothness", smoothness, 0.0, math.inf)
        default = 1 / (1 + self.smoothness)
        self.step_size = check_number(
            "step_size", default if step_size is None else step_size, 0.0, math.inf
        )
        self.precondition = bool(precondition)
        if self.precondition:
            self._precondition_adjacency()

    def _precondition_adjacency(self) -> None:
        """Replace S by S̃, and compute D̃⁻¹."""
        graph, loop = self.graph, self.S.loop
        degrees = graph.out_strengths + loop
        diagonal = np.where(degrees > 0, self.smoothness * degrees + 1 - self.smoothness, 1.0)
        if (diagonal <= 0).any():
            node = int(np.argmax(diagonal <= 0))
            raise ValueError(
                "`smoothness` must keep λD + (1−λ)I positive; "
                f"got {self.smoothness:g} with degree {degrees[node]:g} at node {node}. "
                "Use a smaller smoothness, self_loops=True or precondition=False."
            )
        root = np.sqrt(inverse_or_one(diagonal))
        self.S = NormalizedAdjacency(graph, "sym", self.self_loops, (root, root, loop))
        self.S.compute = self.compute
        self.inverse_preconditioner = 1 / diagonal

    _PARAMETERS = (*Stepped._PARAMETERS, "smoothness", "step_size", "precondition")
    _SHOWN = (*Stepped._SHOWN, "smoothness", "step_size", "precondition")

    def coefficients(self) -> np.ndarray:
        """Coefficients on powers of S; with the preconditioner two rows q and t on powers of S̃,
        where P = q(S̃) + t(S̃) D̃⁻¹."""
        a, lam = self.step_size, self.smoothness
        keep = 1 - a if self.precondition else 1 - a - a * lam
        step = np.array([keep, a * lam])  # polynomial of one step, without its h₀ term
        q: np.ndarray = np.ones(1)
        t: np.ndarray = np.zeros(1)
        for _ in range(self.n_steps):
            q, t = poly.polymul(step, q), poly.polyadd(poly.polymul(step, t), [a])
        rows = np.zeros((2, self.n_steps + 1))
        rows[0, : len(q)] = q
        rows[1, : len(t)] = t[: self.n_steps + 1]
        return rows if self.precondition else rows.sum(axis=0)

    def _n_hops(self) -> int:
        return self.n_steps

    def _weigh_hops(self, moments: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        if not self.precondition:
            return super()._weigh_hops(moments, nodes)
        q, t = self.coefficients()
        return moments @ q + (moments @ t) * self.inverse_preconditioner[nodes]

    def _coefficient_size(self) -> float:
        # S̃ has rows that sum to d/(λd+1−λ), at most max(1, 1/λ).
        growth = max(1.0, 1 / self.smoothness) ** np.arange(self.n_steps + 1)
        rows = np.abs(np.atleast_2d(self.coefficients())) @ growth
        inverse = self.inverse_preconditioner.max(initial=1.0) if self.precondition else 1.0
        return float(rows.sum() * inverse)

    def _probe_coefficients(self) -> np.ndarray:
        # With the preconditioner P is not a polynomial in S̃, so nothing is known in advance.
        return np.zeros(1) if self.precondition else self.coefficients()

    def _n_products(self, dtype: np.dtype) -> int:
        return self.n_steps * (2 if self._transposed and self.precondition else 1)

    def _apply(self, F: Any, out: np.ndarray, progress: Progress) -> None:
        if not self.precondition:
            super()._apply(F, out, progress)
            return
        F = F.tocsc() if hasattr(F, "tocsc") else F
        if self._transposed:
            # Pᵀ = q(S̃) + D̃⁻¹ t(S̃), the factors of P in the other order
            q, t = self.coefficients()
            smoothed = np.empty_like(out)
            self._run(blocks.apply_to(F, smoothed, blocks.polynomial(t)), F, F.shape[1], progress)
            self._run(blocks.apply_to(F, out, blocks.polynomial(q)), F, F.shape[1], progress)
            smoothed *= self.inverse_preconditioner[:, None].astype(F.dtype)
            out += smoothed
            return

        def process(block: blocks.Block, first: int, count: int) -> None:
            a, lam = self.step_size, self.smoothness
            inverse = self.inverse_preconditioner.astype(F.dtype)
            current, other = block.first, block.second
            block.pack(F, first, count, current)
            block.pack(F, first, count, block.base, inverse)
            for _ in range(self.n_steps):
                block.step(current, other, a * lam, own=1 - a, base=a)
                current, other = other, current
            block.unpack(current, 1.0, out, first, count)

        self._run(process, F, F.shape[1], progress)
