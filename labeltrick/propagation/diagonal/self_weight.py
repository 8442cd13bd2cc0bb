"""diag(P) and column energy: exact, certified, per hop.

C = diag(P) is how much of its own label a node sees. It is the same for the three
normalizations of an undirected graph. The *column energy* of node i is Σ_{k in rows} P_ki²; with
the training nodes as rows it is what the penalty of the label trick is made of.

Methods
-------
``exact``
    whole columns of P in blocks, by the propagation engine; half the steps where S is
    symmetric in some scale. Any kind of P, any graph.
``short``
    the neighborhood of a node by hops; exact, for kinds with few steps.
``push``
    the resolvent (and long damped iterations) from a node's neighborhood as far as the
    tolerance asks, with a certified bound.
``probe``
    random signs; standard errors instead of a bound.
``auto``
    the cheapest that meets the tolerance: local work within a budget, then whole columns.

Clusters ask for the two halves of "auto" by themselves: ``local``, which leaves nodes without a
method where the budget was spent, and ``columns`` for those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._utils.checks import as_numpy, check_choice, check_count
from ..._utils.progress import Progress, ProgressBar
from ...graph import csr_kernels
from ...graph.compute import Compute
from ...graph.normalized import NormalizedAdjacency
from ...graph.stored.graph import StoredGraph
from . import columns, neighborhoods

METHODS = ("auto", "exact", "short", "push", "probe")
_NO_BUDGET = 2**62
_WIDEST_BLOCK = 64


@dataclass(frozen=True)
class SelfWeight:
    """C = diag(P) at some nodes.

    Attributes
    ----------
    value : C of each node; for `Hops` one column a hop.
    error_bound : |value − C| is at most this, an allowance for rounding included; for "probe"
        it is a standard error instead.
    method : how each node's value was found.
    column_energy, energy_bound : Σ_{k in rows} P_ki² and a bound of its error, if rows were
        given.
    nodes, rows : the nodes that the figures are for, and the rows of the energies.
    """

    value: np.ndarray
    error_bound: np.ndarray
    method: np.ndarray
    column_energy: np.ndarray | None = None
    energy_bound: np.ndarray | None = None
    nodes: np.ndarray | None = None
    rows: np.ndarray | None = None

    def places(self, nodes: np.ndarray, n_nodes: int) -> np.ndarray:
        """Where the figures of some nodes stand in the arrays."""
        found = np.full(n_nodes, -1)
        if self.nodes is not None:
            found[self.nodes] = np.arange(len(self.nodes))
        wanted = found[nodes]
        if (wanted < 0).any():
            node = int(nodes[np.argmax(wanted < 0)])
            raise ValueError(
                f"`self_weight` must hold the training nodes; it lacks node {node}. "
                "Make it with P.self_weight(train)."
            )
        return wanted

    def __repr__(self) -> str:
        kinds, counts = np.unique(self.method, return_counts=True)
        used = ", ".join(f"{c:,} by {k}" for k, c in zip(kinds, counts, strict=True))
        largest = float(self.error_bound.max(initial=0.0))
        word = "standard error" if "probe" in kinds else "error"
        return f"SelfWeight({len(self.value):,} nodes: {used}; {word} ≤ {largest:.2g})"


def check_nodes(name: str, nodes: Any, n_nodes: int) -> np.ndarray:
    """Node numbers from numbers or a mask; None means all."""
    if nodes is None:
        return np.arange(n_nodes)
    array = as_numpy(name, nodes)
    if array.dtype == np.bool_:
        if array.shape != (n_nodes,):
            raise ValueError(
                f"`{name}` as a mask must have one entry a node ({n_nodes}); got {array.shape}."
            )
        return np.flatnonzero(array)
    if array.ndim != 1 or (len(array) and array.dtype.kind not in "iu"):
        raise TypeError(
            f"`{name}` must be node numbers or a mask; got {array.dtype} of shape {array.shape}."
        )
    if len(array) and (array.min() < 0 or array.max() >= n_nodes):
        bad = array[(array < 0) | (array >= n_nodes)][0]
        raise ValueError(f"`{name}` must hold node numbers in 0…{n_nodes - 1}; got {bad}.")
    array = array.astype(np.int64)
    if len(np.unique(array)) < len(array):
        twice = int(np.argmax(np.bincount(array)))
        raise ValueError(
            f"`{name}` must hold each node once; got node {twice} twice or more. "
            "If it is a mask of zeros and ones, cast it: .astype(bool)."
        )
    return array


def rounding_allowance(S: NormalizedAdjacency) -> float:
    """Relative rounding that sums over a node's neighbors may gather, generously."""
    largest = int(S.graph.degrees.max(initial=0))
    return 8 * float(np.finfo(float).eps) * (64 + largest)


def hop_diagonals(
    S: NormalizedAdjacency,
    n_steps: int,
    nodes: Any = None,
    *,
    method: str = "auto",
    max_memory: int | str | None = None,
    progress: Progress = None,
) -> np.ndarray:
    """diag(S^k) for k = 0…n_steps, one column a hop, exactly.

    C of any polynomial Σ_k c_k S^k is ``hop_diagonals(…) @ c``: one pass serves every damping.

    ``method``: "exact" (blocks of columns), "short" (neighborhoods), or "auto", the second
    within a budget of edges and the first beyond.

    >>> from labeltrick import Graph
    >>> S = Graph.from_edges([0, 1, 2], [1, 2, 0]).normalized("row")
    >>> hop_diagonals(S, 3)[0].round(6).tolist()
    [1.0, 0.0, 0.5, 0.25]
    """
    n_steps = check_count("n_steps", n_steps)
    check_choice("method", method, ("auto", "exact", "short"))
    wanted = check_nodes("nodes", nodes, S.graph.n_nodes)
    return _hop_diagonals(
        S, n_steps, wanted, method, Compute(max_memory=max_memory).memory_bytes, progress
    )[0]


def _hop_diagonals(
    S: NormalizedAdjacency,
    n_steps: int,
    nodes: np.ndarray,
    method: str,
    max_memory: int,
    progress: Progress,
) -> tuple[np.ndarray, np.ndarray]:
    """(moments, method of each node)."""
    used = np.full(len(nodes), "exact", dtype="<U5")
    if method != "exact" and n_steps <= 2 and not S.is_similar_to_symmetric:
        short = np.full(len(nodes), "short", dtype="<U5")
        return _two_hops(S, n_steps, max_memory)[nodes], short
    if method in ("exact", "columns") or not S.is_similar_to_symmetric:
        if method == "short":
            raise ValueError(
                "`method` must be 'exact' or 'auto' on a directed graph; got 'short'. "
                "Neighborhoods of more than two hops serve symmetric operators only."
            )
        return columns.hop_diagonals(S, n_steps, nodes, max_memory, progress), used
    budget = _budget(S, (n_steps + 1) // 2)
    moments = neighborhoods.hop_moments(
        neighborhoods.SymmetricForm.of(S),
        n_steps,
        nodes,
        budget=_NO_BUDGET if method == "short" else budget,
        progress=progress,
    )
    left = np.isnan(moments).any(axis=1)
    used[~left] = "short"
    if method == "local":
        used[left] = ""
    elif left.any():
        moments[left] = columns.hop_diagonals(S, n_steps, nodes[left], max_memory, progress)
    return moments, used


def _two_hops(S: NormalizedAdjacency, n_steps: int, max_memory: int) -> np.ndarray:
    """diag(S^k) for k ≤ n_steps ≤ 2 of any S, from its entries: Σ_j S_ij S_ji for two steps.

    The rows of a graph on disk are mapped in windows, as its engine does.
    """
    graph, factor = S.graph, S.left * S.right
    loops, sums = np.zeros(graph.n_nodes), np.zeros(graph.n_nodes)
    parts: Iterable[tuple[int, Any, Any]]
    if isinstance(graph, StoredGraph):
        parts = graph.rows_both_ways(max_memory)
    else:
        both = [(G.indptr, G.indices, G.weights) for G in (graph, graph.T)]
        parts = [(0, both[0], both[1])]
    for first, rows, reverse in parts:
        csr_kernels.back_and_forth(first, *rows, *reverse, factor, loops, sums)
    # A loop that the normalization adds is on no row of the graph.
    hops = [np.ones(graph.n_nodes), factor * (loops + S.loop),
            factor * sums + (factor * S.loop) ** 2]  # fmt: skip
    return np.column_stack(hops[: n_steps + 1])


def _budget(S: NormalizedAdjacency, column_steps: int) -> int:
    """Edges that a node's neighborhood may take before whole columns are cheaper."""
    return max(10_000, column_steps * S.graph.nnz // neighborhoods.EDGES_OF_A_BLOCK)


def polynomial_self_weight(
    S: NormalizedAdjacency,
    combine: Callable[[np.ndarray, np.ndarray], np.ndarray],
    n_steps: int,
    nodes: np.ndarray,
    method: str,
    max_memory: int,
    progress: Progress,
    size: float,
) -> SelfWeight:
    """C from hop diagonals; ``combine(moments, nodes)`` weighs them as the kind does, with terms
    of at most ``size`` in all."""
    moments, used = _hop_diagonals(S, n_steps, nodes, method, max_memory, progress)
    value = combine(moments, nodes)
    rounding = (n_steps + 1) * size * rounding_allowance(S)
    return SelfWeight(value, np.full_like(value, rounding), used)


def resolvent_self_weight(
    S: NormalizedAdjacency,
    lam: float,
    nodes: np.ndarray,
    tol: float,
    method: str,
    in_rows: np.ndarray | None,
    max_memory: int,
    progress: Progress,
) -> SelfWeight:
    """C of (1−λ)(I−λS)⁻¹ on an undirected graph, and the column energy over ``in_rows``."""
    rows = np.zeros(S.graph.n_nodes, bool) if in_rows is None else in_rows
    used = np.full(len(nodes), "push", dtype="<U5")
    if method in ("exact", "columns"):
        # Exact is as far as rounding allows: C's error is quadratic in what the steps leave, the
        # energy's linear.
        if method == "exact":
            tol = 1e-13 if in_rows is None else 1e-26
        left = np.ones(len(nodes), bool)
        value, bound, energy, energy_bound = (np.empty(len(nodes)) for _ in range(4))
    else:
        budget = _NO_BUDGET
        if method != "push":
            budget = _budget(S, columns.resolvent_steps(lam, tol))
        found = neighborhoods.push_resolvent(
            neighborhoods.SymmetricForm.of(S),
            lam,
            nodes,
            tol,
            rows,
            budget=budget,
            progress=progress,
        )
        value, bound, energy = found.value, found.bound, found.energy
        energy_bound = found.energy_bound
        left = (bound > tol) & (method != "push")
    if method == "local":
        used[left] = ""
    elif left.any():
        used[left] = "exact"
        value[left], bound[left], energy[left], energy_bound[left] = columns.resolvent_columns(
            S, lam, nodes[left], tol, rows, max_memory, progress
        )
    rounding = rounding_allowance(S) / (1 - lam)
    bound += rounding
    if in_rows is None:
        return SelfWeight(value, bound, used)
    return SelfWeight(value, bound, used, energy, energy_bound + rounding * (1 + energy))


def damped_self_weight(
    S: NormalizedAdjacency,
    lam: float,
    coefficients: np.ndarray,
    nodes: np.ndarray,
    tol: float,
    method: str,
    max_memory: int,
    progress: Progress,
) -> SelfWeight:
    """C of a long damped iteration or series, by way of the resolvent.

    The two differ in powers k ≥ K only, with coefficients that sum to at most 2λ^K, and
    |(S^k)_ii| ≤ (S^2)_ii for k ≥ 2, ≤ (S^4)_ii for k ≥ 4: spectra lie in [−1, 1].
    """
    n_steps = len(coefficients) - 1
    tail = np.full(len(nodes), 2 * lam**n_steps)
    for hops in (2, 4):
        loose = tail > tol / 2
        if loose.any() and n_steps >= hops:
            moments, _ = _hop_diagonals(S, hops, nodes[loose], "auto", max_memory, progress)
            tail[loose] = 2 * lam**n_steps * moments[:, hops]
    near = tail <= tol / 2
    value, bound = np.empty(len(nodes)), np.empty(len(nodes))
    used = np.full(len(nodes), "push", dtype="<U5")
    pushed = resolvent_self_weight(S, lam, nodes[near], tol / 2, method, None, max_memory, progress)
    value[near], bound[near], used[near] = (
        pushed.value,
        pushed.error_bound + tail[near],
        (pushed.method),
    )
    if not near.all():
        rest = polynomial_self_weight(
            S,
            lambda moments, _: moments @ coefficients,
            n_steps,
            nodes[~near],
            method,
            max_memory,
            progress,
            size=1.0,
        )
        value[~near], bound[~near], used[~near] = rest.value, rest.error_bound, rest.method
    return SelfWeight(value, bound, used)


def unit_block_width(n_nodes: int, max_memory: int) -> int:
    """How many columns of P to make at a time, with unit vectors and work beside them."""
    return int(np.clip(max_memory // (4 * 8 * max(1, n_nodes)), 1, _WIDEST_BLOCK))


def columns_by_apply(
    apply: Callable[[np.ndarray], np.ndarray],
    n_nodes: int,
    nodes: np.ndarray,
    in_rows: np.ndarray,
    progress: Progress,
    *,
    max_memory: int,
    error: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(C, column energy, error) of any linear map, by applying it to unit vectors in blocks.

    ``error(unit vectors, columns)`` bounds the norm of each column's error; default zero.
    """
    value, energy, missed = (np.zeros(len(nodes)) for _ in range(3))
    width = unit_block_width(n_nodes, max_memory)
    starts = range(0, len(nodes), width)
    with ProgressBar(len(starts), "columns", progress) as bar:
        for first in starts:
            chosen = nodes[first : first + width]
            place = slice(first, first + len(chosen))
            unit = np.zeros((n_nodes, len(chosen)))
            unit[chosen, np.arange(len(chosen))] = 1
            columns = apply(unit)
            value[place] = columns[chosen, np.arange(len(chosen))]
            energy[place] = (columns[in_rows] ** 2).sum(axis=0)
            if error is not None:
                missed[place] = error(unit, columns)
            bar.advance()
    return value, energy, missed
