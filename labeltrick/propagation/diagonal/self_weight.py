"""diag(P) and column energy: exact, certified, per hop.

C = diag(P) is how much of its own label a node sees. It is the same for the three
normalizations of an undirected graph. The *column energy* of node i is Σ_{k in rows, k ≠ i} P_ki²;
with the training nodes as rows, the penalty of the label trick is made of it. It is computed
without the own row, because it may be far smaller than C².

Methods
-------
``exact``
    Whole columns of P in blocks, by the propagation engine; half the steps if S is symmetric
    in some scale. Works for any kind of P and any graph.
``short``
    The neighborhood of a node, hop by hop; exact, for kinds with few steps.
``push``
    The resolvent (and long damped iterations) from as much of a node's neighborhood as the
    tolerance requires, with a certified bound.
``probe``
    Random signs; standard errors instead of a bound.
``auto``
    The cheapest method that meets the tolerance: local work within a budget, then whole columns.

Clusters run the two halves of "auto" separately: ``local`` leaves the method of a node empty if
the budget is spent, and ``columns`` computes those nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._utils.checks import as_numpy, check_choice, check_count
from ..._utils.progress import Progress, ProgressBar
from ...graph import csr_kernels
from ...graph.compute import Compute
from ...graph.normalized import NormalizedAdjacency
from ...graph.stored.graph import StoredGraph
from . import columns, neighborhoods
from .request import SelfWeightRequest

METHODS = ("auto", "exact", "short", "push", "probe")
_NO_BUDGET = 2**62
_WIDEST_BLOCK = 64
# Tolerances of C at which whole columns are accurate enough for most energies, and for all.
_ENERGY_TOL, _ENERGY_EXACT = 1e-12, 1e-26


@dataclass(frozen=True)
class SelfWeight:
    """C = diag(P) of some nodes, as `Propagation.self_weight` returns it.

    Parameters
    ----------
    value : array of shape (n_nodes,)
        C of each node; for `Hops`, of shape (n_nodes, n_hops).
    error_bound : array of shape (n_nodes,)
        Bound of ``|value − C|``, rounding included. For the method "probe", a standard error.
    method : array of str of shape (n_nodes,)
        The method that computed each value.
    column_energy : array of shape (n_nodes,) or None, default=None
        Σ_{k in rows, k ≠ i} P_ki² of each node i, if rows were given.
    energy_bound : array of shape (n_nodes,) or None, default=None
        Bound of the error of ``column_energy``.
    nodes : array of int or None, default=None
        The nodes that the arrays describe.
    rows : array of int or None, default=None
        The rows that the energies are summed over.

    See Also
    --------
    Propagation : Base class of all kinds of propagation.
    hop_diagonals : Diagonals of the powers of S.

    Examples
    --------
    >>> from labeltrick import Graph, Resolvent
    >>> P = Resolvent(Graph.from_edges([0, 1], [1, 2]), damping=0.5)
    >>> found = P.self_weight(tol=1e-6)
    >>> found.value.round(4).tolist()
    [0.5833, 0.6667, 0.5833]
    >>> bool(found.error_bound.max() <= 1.01e-6)
    True
    """

    value: np.ndarray
    error_bound: np.ndarray
    method: np.ndarray
    column_energy: np.ndarray | None = None
    energy_bound: np.ndarray | None = None
    nodes: np.ndarray | None = None
    rows: np.ndarray | None = None

    def places(self, nodes: np.ndarray, n_nodes: int) -> np.ndarray:
        """Positions of some nodes in the arrays."""
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
    """Node numbers from node numbers or a mask; None means all nodes."""
    if nodes is None:
        return np.arange(n_nodes)
    array = as_numpy(name, nodes)
    if array.dtype == np.bool_:
        if array.shape != (n_nodes,):
            raise ValueError(
                f"`{name}` as a mask must have one entry per node ({n_nodes}); got {array.shape}."
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
    """A generous bound of the relative rounding error of sums over a node's neighbors."""
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
    """Compute diag(S^k) for k = 0…n_steps, exactly.

    C of any polynomial Σ_k c_k S^k is ``hop_diagonals(…) @ c``: one pass serves every damping.

    Parameters
    ----------
    S : NormalizedAdjacency
        From `Graph.normalized`.
    n_steps : int
        The highest power.
    nodes : array of int or bool, or None, default=None
        Node numbers, or a mask with one entry per node. None means all nodes.
    method : {"auto", "exact", "short"}, default="auto"
        "exact" computes blocks of columns, "short" walks neighborhoods; "auto" walks
        neighborhoods within a budget of edges and computes columns beyond it.
    max_memory : int, str or None, default=None
        Bytes that the columns may take, or text such as "8GB". None means
        ``LABELTRICK_MAX_MEMORY``, or 2 GiB if that is not set.
    progress : bool, callable or None, default=None
        None shows a bar on a terminal after a second; True or False always or never shows one;
        a function is called as ``f(done, total)``.

    Returns
    -------
    array of shape (len(nodes), n_steps + 1)
        Column k is the diagonal of S^k.

    See Also
    --------
    SelfWeight : diag(P) with its error bounds.
    Hops : All hops side by side.

    Examples
    --------
    >>> from labeltrick import Graph
    >>> S = Graph.from_edges([0, 1, 2], [1, 2, 0]).normalized("row")
    >>> hop_diagonals(S, 3)[0].round(6).tolist()
    [1.0, 0.0, 0.5, 0.25]
    """
    n_steps = check_count("n_steps", n_steps)
    check_choice("method", method, ("auto", "exact", "short"))
    wanted = check_nodes("nodes", nodes, S.graph.n_nodes)
    memory = Compute(max_memory=max_memory).memory_bytes
    request = SelfWeightRequest(wanted, memory, method=method, progress=progress)
    return _hop_diagonals(S, n_steps, request)[0]


def _hop_diagonals(
    S: NormalizedAdjacency, n_steps: int, request: SelfWeightRequest
) -> tuple[np.ndarray, np.ndarray]:
    """(moments, method of each node)."""
    nodes, method = request.nodes, request.method
    used = np.full(len(nodes), "exact", dtype="<U5")
    if method != "exact" and n_steps <= 2 and not S.is_similar_to_symmetric:
        used[:] = "short"
        return _two_hops(S, n_steps, request.max_memory)[nodes], used
    if method in ("exact", "columns") or not S.is_similar_to_symmetric:
        if method == "short":
            raise ValueError(
                "`method` must be 'exact' or 'auto' on a directed graph; got 'short'. "
                "Neighborhoods of more than two hops serve symmetric operators only."
            )
        return columns.hop_diagonals(S, n_steps, request), used
    moments = neighborhoods.hop_moments(
        neighborhoods.SymmetricForm.of(S),
        n_steps,
        nodes,
        budget=_NO_BUDGET if method == "short" else _budget(S, (n_steps + 1) // 2),
        progress=request.progress,
    )
    left = np.isnan(moments).any(axis=1)
    used[~left] = "short"
    if method == "local":
        used[left] = ""
    elif left.any():
        moments[left] = columns.hop_diagonals(S, n_steps, replace(request, nodes=nodes[left]))
    return moments, used


def _two_hops(S: NormalizedAdjacency, n_steps: int, max_memory: int) -> np.ndarray:
    """diag(S^k) for k ≤ n_steps ≤ 2 of any S, from its entries: Σ_j S_ij S_ji for two steps.

    The rows of a graph on disk are mapped in windows, as in its engine.
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
    # The rows of the graph do not store the loops that the normalization adds.
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
    request: SelfWeightRequest,
    size: float,
) -> SelfWeight:
    """C from hop diagonals. ``combine(moments, nodes)`` sums them with the weights of the kind;
    ``size`` bounds the sum of the terms."""
    moments, used = _hop_diagonals(S, n_steps, request)
    value = combine(moments, request.nodes)
    rounding = (n_steps + 1) * size * rounding_allowance(S)
    return SelfWeight(value, np.full_like(value, rounding), used)


def resolvent_self_weight(
    S: NormalizedAdjacency, lam: float, request: SelfWeightRequest
) -> SelfWeight:
    """C of (1−λ)(I−λS)⁻¹ on an undirected graph, and the column energy if rows are given."""
    nodes, tol, method = request.nodes, request.tol, request.method
    used = np.full(len(nodes), "push", dtype="<U5")
    # The error of C is quadratic in the residual, that of the energy is linear.
    fine = [tol] if request.rows is None else [min(tol, _ENERGY_TOL), _ENERGY_EXACT]
    if method == "exact":
        fine = [1e-13] if request.rows is None else [_ENERGY_EXACT]
    rounding = rounding_allowance(S) / (1 - lam)

    def energy_bound() -> np.ndarray:
        # Pushes add non-negative numbers, so their rounding is relative; that of columns is not.
        _, _, energy, unseen = figures
        missed = unseen + np.where(used == "exact", rounding, 0.0)
        return 2 * np.sqrt(energy) * missed + missed**2 + rounding * energy

    if method in ("exact", "columns"):
        left = np.ones(len(nodes), bool)
        figures = tuple(np.empty(len(nodes)) for _ in range(4))
    else:
        budget = _NO_BUDGET
        if method != "push":
            budget = _budget(S, columns.resolvent_steps(lam, fine[0]))
        form = neighborhoods.SymmetricForm.of(S)
        found = neighborhoods.push_resolvent(form, lam, request, budget=budget)
        figures = (found.value, found.bound, found.energy, found.unseen)
        left = (found.bound > tol) | ~request.accepts(found.energy, energy_bound())
        left &= method != "push"
    if method == "local":
        used[left] = ""
        fine = []
    for tol_now in fine:
        if not left.any():
            break
        used[left] = "exact"
        rest = columns.resolvent_columns(S, lam, replace(request, nodes=nodes[left], tol=tol_now))
        for figure, computed in zip(figures, rest, strict=True):
            figure[left] = computed
        left &= ~request.accepts(figures[2], energy_bound())
    value, bound, energy, _ = figures
    bound += rounding
    if request.rows is None:
        return SelfWeight(value, bound, used)
    return SelfWeight(value, bound, used, energy, energy_bound())


def damped_self_weight(
    S: NormalizedAdjacency, lam: float, coefficients: np.ndarray, request: SelfWeightRequest
) -> SelfWeight:
    """C of a long damped iteration or series, by way of the resolvent.

    The two differ in powers k ≥ K only, with coefficients that sum to at most 2λ^K, and
    |(S^k)_ii| ≤ (S^2)_ii for k ≥ 2, ≤ (S^4)_ii for k ≥ 4: spectra lie in [−1, 1].
    """
    nodes, tol = request.nodes, request.tol
    n_steps = len(coefficients) - 1
    tail = np.full(len(nodes), 2 * lam**n_steps)
    for hops in (2, 4):
        loose = tail > tol / 2
        if loose.any() and n_steps >= hops:
            some = replace(request, nodes=nodes[loose], method="auto")
            tail[loose] = 2 * lam**n_steps * _hop_diagonals(S, hops, some)[0][:, hops]
    near = tail <= tol / 2
    value, bound = np.empty(len(nodes)), np.empty(len(nodes))
    used = np.full(len(nodes), "push", dtype="<U5")
    some = replace(request, nodes=nodes[near], tol=tol / 2, rows=None)
    found = resolvent_self_weight(S, lam, some)
    value[near], used[near] = found.value, found.method
    bound[near] = found.error_bound + tail[near]
    if not near.all():
        some = replace(request, nodes=nodes[~near])
        rest = polynomial_self_weight(S, lambda m, _: m @ coefficients, n_steps, some, size=1.0)
        value[~near], bound[~near], used[~near] = rest.value, rest.error_bound, rest.method
    return SelfWeight(value, bound, used)


def unit_block_width(n_nodes: int, max_memory: int) -> int:
    """How many columns of P to compute at a time, unit vectors and work arrays included."""
    return int(np.clip(max_memory // (4 * 8 * max(1, n_nodes)), 1, _WIDEST_BLOCK))


def columns_by_apply(
    apply: Callable[..., np.ndarray],
    n_nodes: int,
    request: SelfWeightRequest,
    error: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(C, column energy without the own row, error) of any linear map, by applying it to unit
    vectors in blocks.

    ``error(unit vectors, columns)`` bounds the norm of each column's error; the default is zero.
    """
    nodes, in_rows = request.nodes, request.row_mask(n_nodes)
    value, energy, missed = (np.zeros(len(nodes)) for _ in range(3))
    width = unit_block_width(n_nodes, request.max_memory)
    starts = range(0, len(nodes), width)
    with ProgressBar(len(starts), "columns", request.progress) as bar:
        for first in starts:
            chosen = nodes[first : first + width]
            place = slice(first, first + len(chosen))
            unit = np.zeros((n_nodes, len(chosen)))
            unit[chosen, np.arange(len(chosen))] = 1
            columns = apply(unit, progress=False)
            value[place] = columns[chosen, np.arange(len(chosen))]
            if error is not None:
                missed[place] = error(unit, columns)
            columns[chosen, np.arange(len(chosen))] = 0
            energy[place] = (columns[in_rows] ** 2).sum(axis=0)
            bar.advance()
    return value, energy, missed
