"""Diagonals from each node's own neighborhood: runs `push_kernels` on several threads."""

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
from .request import SelfWeightRequest

# One edge of a node's neighborhood costs as much as this many edges of a column in a block.
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
    added_loops: np.ndarray  # weights of loops that the arrays do not store
    diagonal: np.ndarray  # of S
    row_scale: np.ndarray  # t²
    position: np.ndarray | None  # position of each of the user's nodes in this form

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
        """Positions of the user's nodes in this form."""
        return nodes.astype(np.int64) if self.position is None else self.position[nodes]


@dataclass(frozen=True)
class PushResult:
    """For each node: C and its bound, the energy of the part of its column that was seen, the
    norm of the rest, edges visited."""

    value: np.ndarray
    bound: np.ndarray
    energy: np.ndarray
    unseen: np.ndarray
    edges: np.ndarray


def _run(
    count: int,
    make_state: Callable[[], np.ndarray],
    work: Callable[[np.ndarray, int, int], None],
    description: str,
    progress: Progress,
) -> None:
    """Call ``work(state, first, stop)`` on chunks of ``count`` positions, one state per thread."""
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
    form: SymmetricForm, lam: float, request: SelfWeightRequest, *, budget: int
) -> PushResult:
    """C and column energy of (1−λ)(I−λS)⁻¹ by pushes. Bounds exceed the tolerances of the request
    where the budget of edges was spent first."""
    nodes = request.nodes
    # A little less than requested leaves room for rounding.
    rtol = np.inf if request.rows is None else 0.9 * request.energy_rtol
    places = form.locate(nodes)
    order = np.argsort(places, kind="stable")  # neighbors in sequence keep the caches warm
    places = places[order]
    rows = np.zeros(form.n_nodes, np.bool_)
    if request.rows is not None:
        rows[form.locate(request.rows)] = True
    smallest = np.sqrt(form.row_scale[rows].min()) if rows.any() else 1.0
    figures = tuple(np.empty(len(nodes)) for _ in range(5))
    value, bound, energy, unseen, edges = figures

    def make_state() -> np.ndarray:
        state = np.zeros((form.n_nodes, 4))
        state[:, push_kernels.FACTOR] = form.factor
        return state

    def work(state: np.ndarray, first: int, stop: int) -> None:
        arrays = (form.indptr, form.indices, form.weights, form.diagonal)
        settings = (lam, places, request.tol, budget, rows, form.row_scale)
        tolerances = (rtol, request.energy_atol, smallest)
        push_kernels.push_resolvent(*arrays, *settings, *tolerances, state, *figures, first, stop)

    _run(len(nodes), make_state, work, "self-weights", request.progress)
    back = inverse_permutation(order)
    return PushResult(*(found[back] for found in (value, bound, energy, unseen, edges)))


def hop_moments(
    form: SymmetricForm, n_steps: int, nodes: np.ndarray, *, budget: int, progress: Progress = None
) -> np.ndarray:
    """diag(S^k), k = 0…n_steps, of the nodes; NaN where the budget was spent."""
    places = form.locate(nodes)
    order = np.argsort(places, kind="stable")
    places = places[order]
    moments = np.empty((len(nodes), n_steps + 1))

    def work(state: np.ndarray, first: int, stop: int) -> None:
        arrays = (form.indptr, form.indices, form.weights, form.added_loops, form.factor)
        push_kernels.hop_moments(*arrays, places, n_steps, budget, state, moments, first, stop)

    _run(len(nodes), lambda: np.zeros((form.n_nodes, 2)), work, "hop diagonals", progress)
    return moments[inverse_permutation(order)]
