"""`Resolvent`: the limit of label propagation, solved until the residual is small."""

from __future__ import annotations

import copy
import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.checks import check_count, check_damping, check_flag, check_number
from .._utils.progress import Progress
from ..graph.graph import Graph
from .base import Propagation
from .diagonal import self_weight
from .diagonal.request import SelfWeightRequest
from .diagonal.self_weight import SelfWeight
from .engine.blocks import Block, Recurrence, Result
from .engine.chebyshev import chebyshev_rate, chebyshev_weight

_WIDE = 1e3  # ratio of scales 1/√degree beyond which errors are measured without that scale
ROUNDING = 1e-13  # relative accuracy to expect of sums in float64


@dataclass
class SolveInfo:
    """Most steps of any column block, largest relative residual, and whether all converged."""

    n_steps: int = 0
    residual: float = 0.0
    converged: bool = True


def expected_steps(lam: float, symmetric: bool, tol: float) -> int:
    """Number of steps that guarantees an error below ``tol``."""
    rate = chebyshev_rate(lam) if symmetric else lam
    return max(1, math.ceil(math.log(tol / 2) / math.log(rate)))


def solve(
    lam: float,
    symmetric: bool,
    tol: float,
    max_steps: int | None,
    info: SolveInfo,
    stretch: float | None = None,
) -> Recurrence:
    """The recurrence that solves for (1−λ)(I − λM)⁻¹F⁰.

    If M is similar to a symmetric matrix, its spectrum lies in [−1, 1] and Chebyshev iteration is
    optimal: error factor λ/(1+√(1−λ²)) per step. Otherwise the spectrum may lie anywhere in the
    unit disc, and the plain iteration, with factor λ, is optimal.

    Stops when the largest entry of each column's residual is at most tol·(1−λ)/2 of the column's
    largest input, both in the engine's scale H = right∘F. In that scale the rows of M sum to one
    (undirected graphs, and "row"), so (I−λM)⁻¹ enlarges no entry more than 1/(1−λ) times, and
    the error is at most tol/2. Rounding limits the residual to 8 units in the last place, or up
    to 64 where it stops shrinking (hubs).

    With ``stretch``, it takes at least as many steps as guarantee an error of tol/2 divided by
    that factor; see the parameter ``unscaled`` of `Resolvent`.
    """

    def recurrence(block: Block) -> Result:
        floor = 8 * float(np.finfo(block.layout.dtype).eps)
        # Half of the tolerance: two runs that stop at different steps then differ by at most tol.
        target = max(tol * (1 - lam) / 2, floor)
        theory = expected_steps(lam, symmetric, target)
        least = 0 if stretch is None else expected_steps(lam, symmetric, target / stretch)
        limit = max(3, max_steps if max_steps is not None else 2 * theory + 10 + least)
        largest = np.where(block.largest > 0, block.largest, 1.0)
        # X⁰ = (1−λ)F⁰ is exact where M is zero, and needs no buffer: while it is the previous
        # iterate (k = 2), its term joins that of F⁰.
        guess = 1 - lam
        previous, current = block.second, block.first
        block.step(block.base, current, lam * guess, own=1 - lam)
        omega, residual = 1.0, math.inf
        for k in range(2, limit + 1):
            if symmetric:
                omega = chebyshev_weight(lam, k, omega)
            # Theory is pessimistic by a few steps: check each step from two thirds of it on.
            look = k == limit or (k > 2 and k >= least and 3 * k > 2 * theory)
            worst = block.step(
                current,
                previous,
                omega * lam,
                base=omega * (1 - lam) + ((1 - omega) * guess if k == 2 else 0.0),
                previous=1 - omega if k > 2 else 0.0,
                residual_scale=1 / omega if look else None,
            )
            previous, current = current, previous
            if worst is not None:
                previous_residual, residual = residual, float(np.max(worst / largest))
                if residual <= target:
                    break
                if k > theory and residual <= 8 * floor and residual > 0.9 * previous_residual:
                    target = residual  # sums at hubs round more: it will not improve
                    break
        info.n_steps = max(info.n_steps, k)
        info.residual = max(info.residual, residual)
        info.converged &= residual <= target
        return current, 1.0

    return recurrence


def warn_if_unconverged(info: SolveInfo, tol: float) -> None:
    if not info.converged:
        from sklearn.exceptions import ConvergenceWarning  # scikit-learn is slow to import

        warnings.warn(
            f"the resolvent did not reach tol={tol:g}: relative residual {info.residual:.2g} "
            f"after {info.n_steps} steps. Raise `max_steps` or `tol`, or pass float64 input.",
            ConvergenceWarning,
            stacklevel=4,
        )


class Resolvent(Propagation):
    """P = (1−λ)(I − λS)⁻¹: the exact minimizer of label propagation's energy (paper, eq. 1).

    Solved by Chebyshev iteration on an undirected graph (error factor λ/(1+√(1−λ²)) per step:
    0.33 at λ = 0.6, 0.63 at λ = 0.9), and by the plain iteration (factor λ) on a directed one.
    The cost is O(steps × edges × columns).

    Parameters
    ----------
    graph : Graph
        The graph to propagate on.
    damping : float
        λ in (0, 1), the share of a node's value that comes from its neighbors.
    norm : {"sym", "row", "col"}, default="sym"
        Normalization of the adjacency: D^-1/2 A D^-1/2, D^-1 A or A D^-1.
    self_loops : bool, default=False
        Whether to add a loop of weight 1 to each node that has none.
    tol : float, default=1e-6
        Stop when the largest error of every column is at most ``tol`` of the column's largest
        input. For "sym" and "col" both are divided by √degree and degree, the natural scale of
        these norms. (For directed graphs and these two norms it is a rule of thumb.) In float32,
        rounding limits the accuracy to about 1e-6/(1−λ).
    max_steps : int or None, default=None
        Stop after this many steps, with a `ConvergenceWarning`. None allows about twice the
        number that theory requires.
    unscaled : bool, default=False
        Whether ``tol`` applies to the values without that division. If strengths differ by orders
        of magnitude, an error that is small relative to 1/√degree of the weakest node is large at
        a strong one. Takes a third more steps, and more for "col".
    **options : dict
        ``reorder``; see `Propagation`.

    Attributes
    ----------
    last_solve : SolveInfo
        Steps, residual and convergence of the last application.

    See Also
    --------
    Iteration : A fixed number of steps of label propagation.
    Series : The truncated sum of the resolvent.
    LabelPropagation : Labels and edges alone, without training.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 1], [1, 2])
    >>> P = Resolvent(graph, 0.5, norm="row")
    >>> (P @ [1.0, 0.0, 0.0]).round(4)
    array([0.5833, 0.1667, 0.0833])
    """

    def __init__(
        self,
        graph: Graph,
        damping: float,
        *,
        norm: str = "sym",
        self_loops: bool = False,
        tol: float = 1e-6,
        max_steps: int | None = None,
        unscaled: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(graph, norm=norm, self_loops=self_loops, **options)
        self.damping = check_damping(damping)
        self.tol = check_number("tol", tol, 0.0, 1.0)
        self.max_steps = None if max_steps is None else check_count("max_steps", max_steps, 3)
        self.unscaled = check_flag("unscaled", unscaled)
        self.last_solve = SolveInfo()

    _PARAMETERS = (*Propagation._PARAMETERS, "damping", "tol", "max_steps", "unscaled")
    _SHOWN = ("damping", "tol")

    def coefficients(self, n_terms: int | None = None) -> np.ndarray:
        """(1−λ)λ^k of the first ``n_terms`` powers; by default as many as sum to 1 − tol."""
        if n_terms is None:
            n_terms = int(np.ceil(np.log(self.tol) / np.log(self.damping)))
        return (1 - self.damping) * self.damping ** np.arange(n_terms)

    def _n_products(self, dtype: np.dtype) -> int:
        target = max(self.tol * (1 - self.damping) / 2, 8 * float(np.finfo(dtype).eps))
        return expected_steps(self.damping, self.S.is_similar_to_symmetric, target)

    def _recurrence(self) -> Recurrence:
        return solve(
            self.damping,
            self.S.is_similar_to_symmetric,
            self.tol,
            self.max_steps,
            self.last_solve,
            self._stretch() if self.unscaled else None,
        )

    def _stretch(self) -> float:
        """How much larger the error of an entry may be, relative to the largest input, than in
        the norm in which the steps converge: S does not enlarge the Euclidean norm ("sym") or the
        sum of entries ("col", directed). Undirected, "col" is "sym" in the scale √degree."""
        if self.norm == "row":
            return 1.0  # the steps converge in the scale of the values
        if self.norm == "sym":
            return math.sqrt(self.n_nodes)
        if not self.S.is_similar_to_symmetric:
            return float(self.n_nodes)
        scale = np.sqrt(self.S.right)  # 1/√degree
        return math.sqrt(self.n_nodes) * float(scale.max(initial=1.0) / scale.min(initial=1.0))

    def to_rounding(self) -> Resolvent:
        """The same operator, unscaled and as accurate as rounding allows: what remains after a
        node's own label is subtracted may be millions of times smaller than that label."""
        precise = copy.copy(self)
        precise.tol, precise.unscaled = min(self.tol, ROUNDING), True
        return precise

    def for_any_strengths(self) -> Resolvent:
        """An unscaled copy if strengths differ so much that it matters, else itself."""
        right = self.S.right
        if right.max(initial=1.0) <= _WIDE * right.min(initial=1.0):
            return self
        wide = copy.copy(self)
        wide.unscaled = True
        return wide

    def _apply(self, F: Any, out: np.ndarray, progress: Progress) -> None:
        self.last_solve = SolveInfo()
        super()._apply(F, out, progress)
        warn_if_unconverged(self.last_solve, self.tol)

    def _note_solves(self, solves: list[dict[str, Any]], warn: bool = True) -> None:
        self.last_solve = SolveInfo(
            max(solve["n_steps"] for solve in solves),
            max(solve["residual"] for solve in solves),
            all(solve["converged"] for solve in solves),
        )
        if warn:
            warn_if_unconverged(self.last_solve, self.tol)

    def _self_weight(self, request: SelfWeightRequest) -> SelfWeight:
        if request.method == "short":
            raise ValueError(
                "`method` must be 'auto', 'exact', 'push' or 'probe' for Resolvent; got 'short', "
                "which is for kinds with few steps."
            )
        if self.S.is_similar_to_symmetric:
            return self_weight.resolvent_self_weight(self.S, self.damping, request)
        if request.method == "push":
            raise ValueError(
                "`method` must be 'auto', 'exact' or 'probe' on a directed graph; got 'push'. "
                "Its bound needs a symmetric operator."
            )
        # Energies may be tiny, and their relative error counts.
        precise = copy.copy(self) if request.rows is None else self.to_rounding()
        precise.tol = min(
            precise.tol, request.tol / 10, 1e-10 if request.method == "exact" else 1.0
        )
        value, energy, missed = self_weight.columns_by_apply(
            precise.apply, self.n_nodes, request, self._column_error
        )
        rounding = self_weight.rounding_allowance(self.S) / (1 - self.damping)
        bound, used = missed + rounding, np.full(len(value), "exact")
        if request.rows is None:
            return SelfWeight(value, bound, used)
        spread = missed * (np.sqrt(self.n_nodes) if self.norm == "row" else 1.0) + rounding
        energy_bound = 2 * np.sqrt(energy) * spread + spread**2
        return SelfWeight(value, bound, used, energy, energy_bound)

    @property
    def _approximates_energies(self) -> bool:
        return True

    def _column_error(self, unit: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Bound of the norm of each column's error, from its residual: S does not enlarge the
        largest entry ("row"), the Euclidean norm ("sym") or the sum of entries ("col")."""
        residual = (1 - self.damping) * unit + self.damping * (self.S @ columns) - columns
        order = {"row": np.inf, "sym": 2, "col": 1}[self.norm]
        return np.linalg.norm(residual, order, axis=0) / (1 - self.damping)
