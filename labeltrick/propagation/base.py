"""Kinds of propagation P: linear maps that carry values along the edges of a graph.

Each kind is defined once, by its coefficients c_k on the powers of the normalized adjacency
S: P = Σ_k c_k S^k. The coefficients give P·F, its transpose, its diagonal and its energy.

====================  ===========================================================
kind                  coefficients
====================  ===========================================================
`Resolvent`           (1−λ) λ^k for every k ≥ 0: the limit of label propagation
`Iteration`           (1−λ) λ^k for k < K, and λ^K for k = K: K steps
`Series`              (1−λ) λ^k for k ≤ K: the paper's truncated sum
`Power`               1 for k = K (SGC)
`HopSum`              1 (or given weights) for k ≤ K (SIGN, hops summed)
`Hops`                every power on its own: columns [F, SF, …, S^K F] (SIGN)
`Unfolded`            K gradient steps on TWIRLS' energy
====================  ===========================================================

`Iteration` and `Series` differ in the last power: an iteration that starts at F⁰ = F gives it
the weight λ^K, so that its coefficients sum to one.
"""

from __future__ import annotations

import copy
import math
from typing import Any, TypeVar

import numpy as np

from .._utils.checks import check_count, check_flag, check_out, check_signal
from .._utils.fingerprints import signal_digest
from .._utils.progress import Progress, ProgressBar
from ..graph.graph import Graph
from ..graph.normalized import NormalizedAdjacency
from ..graph.stored.files import mapped_array
from .diagonal.has_self_weight import HasSelfWeight
from .diagonal.request import SelfWeightRequest
from .diagonal.self_weight import SelfWeight
from .engine import blocks, cluster
from .engine.checkpoints import CheckpointFolder, Trail
from .engine.cluster import Recipe
from .engine.placing import placed
from .engine.products import layout_of

Self = TypeVar("Self", bound="Propagation")

# Reordering costs as much as gathering this many bytes per edge, and pays only if the rows of a
# block do not fit in the inner caches. Measured in benchmarks/propagation.py.
_REORDER_BYTES_PER_EDGE = 4000
_INNER_CACHE_BYTES = 4 * 1024**2
_RESULT_SHARE = 4  # larger results than 1/4 of the memory go to a file, unless in memory


class Propagation(HasSelfWeight):
    """Base class of all kinds of propagation: ``P @ F``, ``P.apply(F, out=…)``, ``P.T @ F``.

    Parameters
    ----------
    graph : Graph
        The graph to propagate on. `Graph.on` says where: in memory, from disk or on a cluster.
    norm : {"sym", "row", "col"}, default="sym"
        Normalization of the adjacency: D^-1/2 A D^-1/2, D^-1 A or A D^-1.
    self_loops : bool, default=False
        Whether to add a loop of weight 1 to each node that has none.
    reorder : bool or None, default=None
        Whether to renumber the nodes internally for locality. None does so once the graph has
        been used enough for it to pay. The result is the same, bit for bit.

    See Also
    --------
    Resolvent : Label propagation in the limit of infinitely many steps.
    Iteration : A fixed number of steps of label propagation.
    HopSum : A weighted sum of hops.

    Examples
    --------
    >>> from labeltrick import Graph, Propagation, Resolvent
    >>> P = Resolvent(Graph.from_edges([0, 1], [1, 2]), damping=0.5, norm="row")
    >>> isinstance(P, Propagation)
    True
    >>> (P @ [1.0, 0.0, 0.0]).round(3).tolist()
    [0.583, 0.167, 0.083]
    >>> (P.T @ [1.0, 0.0, 0.0]).round(3).tolist()
    [0.583, 0.333, 0.083]
    """

    def __init__(
        self,
        graph: Graph,
        *,
        norm: str = "sym",
        self_loops: bool = False,
        reorder: bool | None = None,
    ) -> None:
        if not isinstance(graph, Graph):
            raise TypeError(
                f"`graph` must be a labeltrick.Graph; got {type(graph).__name__}. "
                "Make one with Graph.from_edges, from_scipy, from_networkx, from_pyg, from_dgl."
            )
        self.given_graph = graph  # the engine may work on a copy of it on disk
        graph, self.compute = placed(graph)
        self.S: NormalizedAdjacency = graph.normalized(norm, self_loops=self_loops)
        self.S.compute = self.compute
        self.max_memory = self.compute.memory_bytes
        self.reorder = check_flag("reorder", reorder, optional=True)

    _PARAMETERS: tuple[str, ...] = ("norm", "self_loops", "reorder")
    _SHOWN: tuple[str, ...] = ()  # parameters of the kind, in the order in which it prints them
    _transposed = False

    # -- defined by each kind -------------------------------------------------------------
    def _recurrence(self) -> blocks.Recurrence:
        return blocks.polynomial(self.coefficients())

    def _n_products(self, dtype: np.dtype) -> int:
        """About how many products with S one application takes."""
        return len(self.coefficients()) - 1

    # -- common to all kinds --------------------------------------------------------------
    @property
    def graph(self) -> Graph:
        return self.S.graph

    @property
    def norm(self) -> str:
        return self.S.norm

    @property
    def self_loops(self) -> bool:
        return self.S.self_loops

    @property
    def n_nodes(self) -> int:
        return self.graph.n_nodes

    @property
    def shape(self) -> tuple[int, int]:
        return self.graph.shape

    @property
    def T(self: Self) -> Self:
        """The transpose Pᵀ = Σ_k c_k (Sᵀ)^k, of the same kind."""
        flipped = copy.copy(self)
        flipped.S = self.S.T
        flipped.given_graph = self.given_graph.T
        flipped._transposed = not self._transposed
        return flipped

    def __matmul__(self, F: Any) -> np.ndarray:
        return self.apply(F)

    def apply(
        self, F: Any, *, out: np.ndarray | None = None, progress: Progress = None
    ) -> np.ndarray:
        """Compute P·F for a vector or a matrix with one row per node.

        Parameters
        ----------
        F : array or SciPy sparse matrix of shape (n_nodes,) or (n_nodes, n_columns)
            Real numbers. float32 stays float32; everything else is computed in float64. The
            columns of a sparse matrix are made dense one block at a time.
        out : array or None, default=None
            Array for the result; may be ``F`` itself. None allocates one.
        progress : bool, callable or None, default=None
            None shows a bar on a terminal after a second; True or False always or never shows
            one; a function is called as ``f(done, total)``.

        Returns
        -------
        array
            P·F, of the shape of ``F`` for all kinds but `Hops`.
        """
        F = check_signal("F", F, self.n_nodes)
        matrix = F if F.ndim == 2 else F.reshape(-1, 1)
        shape = self._out_shape(F.shape)
        result = self._new_result(shape, F.dtype) if out is None else check_out(out, shape, F.dtype)
        target = result if result.ndim == 2 else result.reshape(-1, 1)
        if isinstance(matrix, np.ndarray) and _overlap_askew(matrix, target):
            matrix = matrix.copy()
        if self.engine == "dask":
            cluster.apply(self, matrix, target, progress)
        else:
            self._apply(matrix, target, progress)
        return result

    def _find_self_weight(self, request: SelfWeightRequest) -> SelfWeight:
        if self.engine == "dask":
            return cluster.self_weight(self, request)
        return self._self_weight(request)

    def _new_result(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """An array for a result: in memory, or mapped from an unnamed file if it is too large."""
        size = math.prod(shape) * dtype.itemsize
        if self.engine == "memory" or size <= self.max_memory // _RESULT_SHARE:
            return np.empty(shape, dtype)
        return mapped_array(shape, dtype)

    @property
    def engine(self) -> str:
        """The engine that computes the products: "memory", "disk" or "dask"."""
        return self.compute.engine

    def recipe(self) -> Recipe:
        """What a worker needs to rebuild this propagation on the same graph."""
        parameters = {name: getattr(self, name) for name in self._PARAMETERS}
        return Recipe(type(self), parameters, self._transposed)

    def _note_solves(self, solves: list[dict[str, Any]], warn: bool = True) -> None:
        """Record how the solves of workers went, for kinds that solve a system."""
        return

    def _slice(self, first: int, end: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
        """(columns of F, columns of the result) of the groups [first, end) of ``n_columns``."""
        columns = np.arange(first, end)
        return columns, columns

    def _out_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape

    def _apply(self, F: Any, out: np.ndarray, progress: Progress) -> None:
        kept = self.compute.checkpoint_dir
        if kept is None:
            self._run(blocks.apply_to(F, out, self._recurrence()), F, F.shape[1], progress)
            return
        folder = CheckpointFolder(kept, self.graph.identity)
        run = f"run-{signal_digest(F, self.recipe().mark())}"

        def trail_of(block: blocks.Block, first: int) -> Trail:
            # Iterates are stored in the engine's node order.
            order = "given" if block.layout.position is None else "reordered"
            name = f"{first}-{block.width}-{order}"
            return folder.trail(run, name, block.first, block.second)

        process = blocks.apply_to(F, out, self._recurrence(), trail_of)
        self._run(process, F, F.shape[1], progress)
        folder.forget(run)

    def _run(self, process: blocks.Process, F: Any, n_columns: int, progress: Progress) -> None:
        dtype = F.dtype
        steps = self._n_products(dtype)
        blocks.run_blocks(
            layout_of(self.S, dtype, self._reordering_pays(n_columns, steps, dtype)),
            n_columns,
            process,
            max_memory=self.max_memory,
            bar=lambda n_blocks: ProgressBar(steps * n_blocks, type(self).__name__, progress),
            extra_buffers=0 if isinstance(F, np.ndarray) else 1,  # sparse columns, made dense
        )

    def _reordering_pays(self, n_columns: int, steps: int, dtype: np.dtype) -> bool:
        if self.engine == "disk":
            return False
        if self.reorder is not None:
            return self.reorder
        graph, itemsize = self.graph, dtype.itemsize
        if (
            graph.n_nodes * min(n_columns, 64) * itemsize < _INNER_CACHE_BYTES
            or graph.indices.nbytes > self.max_memory
        ):
            return False
        if self.compute.checkpoint_dir is not None:
            # A run that is continued must choose the same order, regardless of earlier use.
            return steps * n_columns * itemsize >= _REORDER_BYTES_PER_EDGE
        # Rent until the rent equals the price, then buy: never worse than twice the best.
        graph.gathered_per_edge += steps * n_columns * itemsize
        return graph.gathered_per_edge >= _REORDER_BYTES_PER_EDGE

    def __repr__(self) -> str:
        values = {name: getattr(self, name) for name in (*self._SHOWN, "norm", "self_loops")}
        shown = {k: f"{v:g}" if isinstance(v, float) else repr(v) for k, v in values.items()}
        parts = [f"{name}={text}" for name, text in shown.items() if text != "None"]
        return f"{type(self).__name__}({', '.join([repr(self.graph), *parts])})"


def _overlap_askew(F: np.ndarray, out: np.ndarray) -> bool:
    """Whether out shares memory with F without being F: columns would be overwritten too early."""
    same = F.ctypes.data == out.ctypes.data and F.strides == out.strides and F.shape == out.shape
    return not same and np.may_share_memory(F, out)


class Stepped(Propagation):
    """Base class of kinds with a number of steps."""

    def __init__(self, graph: Graph, n_steps: int, **options: Any) -> None:
        super().__init__(graph, **options)
        self.n_steps = check_count("n_steps", n_steps)

    _PARAMETERS = (*Propagation._PARAMETERS, "n_steps")
    _SHOWN: tuple[str, ...] = ("n_steps",)
