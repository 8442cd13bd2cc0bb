"""Diagonals from each node's own neighborhood: drives the kernels of `_push` over threads."""

from __future__ import annotations

import queue
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..._utils.progress import Progress, ProgressBar
from ..._utils.threads import get_num_threads, run_chunks
from ...graph import csr_kernels
from ...graph.normalized import NormalizedAdjacency, inverse_permutation
from . import push_kernels

# An edge of one node's neighborhood costs as much as this many edges of a column in a block.
EDGES_OF_A_BLOCK = 32
_CHUNKS_PER_THREAD = 32


@dataclass(frozen=True)
class SymmetricForm:
    """S_sym = diag(s)·(A + loops)·diag(s), similar to any normalization S of the graph.

    With t = √(right/left), S = diag(1/t)·S_sym·diag(t): the diagonals of all functions of S
    and S_sym agree, and entry (k, i) of one is (t_i/t_k) times that of the other.
    """

    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray | None
    factor: np.ndarray  # s²
    added_loops: np.ndarray  # weights of loops that the arrays do not hold
    diagonal: np.ndarray  # of S
    row_scale: np.ndarray  # t²
    position: np.ndarray | None  # this form's number of each of the user's nodes

    @classmethod
    def of(cls, S: NormalizedAdjacency) -> SymmetricForm:
        graph, order = S.graph.reordered if S.reordering_pays else (S.graph, None)

        def moved(values: np.ndarray) -> np.ndarray:
            return values if order is None else values[order]

        factor, loops = moved(S.left * S.right), moved(S.loop)
        stored = csr_kernels.stored_diagonal(graph.indptr, graph.indices, graph.weights)
        return cls(
            graph.indptr,
            graph.indices,
            graph.weights,
            factor,
            loops,
            factor * (stored + loops),
            moved(S.right / S.left),
            None if order is None else inverse_permutation(order),
        )

    @property
    def n_nodes(self) -> int:
        return len(self.factor)

    def locate(self, nodes: np.ndarray) -> np.ndarray:
        """This form's numbers of the user's nodes."""
        return nodes.astype(np.int64) if self.position is None else self.position[nodes]


@dataclass(frozen=True)
class PushResult:
    """Figures of each node: C with its bound, the column energy with its bound, edges visited."""

    value: np.ndarray
    bound: np.ndarray
    energy: np.ndarray
    energy_bound: np.ndarray
    edges: np.ndarray


def _run(
    count: int,
    make_state: Callable[[], np.ndarray],
    work: Callable[[np.ndarray, int, int], None],
    description: str,
    progress: Progress,
) -> None:
    """``work(state, first, stop)`` over chunks of ``count`` places, a state for each thread."""
    states: queue.SimpleQueue[np.ndarray] = queue.SimpleQueue()
    n_threads = min(get_num_threads(), max(1, count // 64))
    for _ in range(n_threads):
        states.put(make_state())
    n_chunks = 1 if n_threads == 1 and count < 1000 else n_threads * _CHUNKS_PER_THREAD
    cuts = np.unique(np.linspace(0, count, n_chunks + 1).astype(np.int64))
    with ProgressBar(len(cuts) - 1, description, progress) as bar:

        def chunk(first: int, stop: int) -> None:
            state = states.get()
            try:
                work(state, first, stop)
            finally:
                states.put(state)
            bar.advance()

        run_chunks(chunk, cuts)


def push_resolvent(
    form: SymmetricForm,
    lam: float,
    nodes: np.ndarray,
    tol: float,
    in_rows: np.ndarray,
    *,
    budget: int,
    progress: Progress = None,
) -> PushResult:
    """C and column energy of (1−λ)(I−λS)⁻¹ by pushes; bounds above ``tol`` where the budget of
    edges was spent first. ``in_rows`` is a mask in the user's order."""
    places = form.locate(nodes)
    order = np.argsort(places, kind="stable")  # neighbors follow each other: warm caches
    places = places[order]
    rows = np.zeros(form.n_nodes, np.bool_)
    rows[form.locate(np.flatnonzero(in_rows))] = True
    value, bound, energy, reach, edges = (np.empty(len(nodes)) for _ in range(5))

    def make_state() -> np.ndarray:
        state = np.zeros((form.n_nodes, 4))
        state[:, push_kernels.FACTOR] = form.factor
        return state

    def work(state: np.ndarray, first: int, stop: int) -> None:
        push_kernels.push_resolvent(
            form.indptr,
            form.indices,
            form.weights,
            form.diagonal,
            lam,
            places,
            tol,
            budget,
            rows,
            form.row_scale,
            state,
            value,
            bound,
            energy,
            reach,
            edges,
            first,
            stop,
        )

    _run(len(nodes), make_state, work, "self-weights", progress)
    smallest = np.sqrt(form.row_scale[rows].min()) if rows.any() else 1.0
    unseen = reach / smallest
    result = PushResult(*(np.empty(len(nodes)) for _ in range(5)))
    for target, source in (
        (result.value, value),
        (result.bound, bound),
        (result.energy, energy),
        (result.energy_bound, 2 * np.sqrt(energy) * unseen + unseen**2),
        (result.edges, edges),
    ):
        target[order] = source
    return result


def hop_moments(
    form: SymmetricForm,
    n_steps: int,
    nodes: np.ndarray,
    *,
    budget: int,
    progress: Progress = None,
) -> np.ndarray:
    """diag(S^k), k = 0…n_steps, at the nodes; rows of NaN where the budget was spent."""
    places = form.locate(nodes)
    order = np.argsort(places, kind="stable")
    places = places[order]
    moments = np.empty((len(nodes), n_steps + 1))

    def work(state: np.ndarray, first: int, stop: int) -> None:
        push_kernels.hop_moments(
            form.indptr,
            form.indices,
            form.weights,
            form.added_loops,
            form.factor,
            places,
            n_steps,
            budget,
            state,
            moments,
            first,
            stop,
        )

    _run(len(nodes), lambda: np.zeros((form.n_nodes, 2)), work, "hop diagonals", progress)
    result = np.empty_like(moments)
    result[order] = moments
    return result
