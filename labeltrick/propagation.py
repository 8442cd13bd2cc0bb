"""Kinds of propagation P: linear maps that carry values along the edges of a graph.

Each kind is defined once, by its coefficients c_k on the powers of the normalised adjacency
S: P = Σ_k c_k S^k. The coefficients give P·F, its transpose, its diagonal and its energy.

====================  ===========================================================
kind                  coefficients
====================  ===========================================================
`Resolvent`           (1−λ) λ^k for every k ≥ 0: the limit of label propagation
`Iteration`           (1−λ) λ^k for k < K, and λ^K for k = K: K steps of it
`Series`              (1−λ) λ^k for k ≤ K: the paper's truncated sum
`Power`               1 for k = K (SGC)
`HopSum`              1 (or given weights) for k ≤ K (SIGN, hops summed)
`Hops`                every power on its own: columns [F, SF, …, S^K F] (SIGN)
`Unfolded`            K gradient steps on TWIRLS' energy
====================  ===========================================================

`Iteration` and `Series` differ in the last power: an iteration that starts at F⁰ = F gives it
the weight λ^K, so that its coefficients sum to one. `Resolvent`, `Hops` and `Unfolded`, which
need more than a polynomial, have files of their own; the others are in `polynomials`.
"""

from __future__ import annotations

import copy
import math
import os
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from . import _engine, _probe, cluster, diagonal
from ._check import (
    check_choice,
    check_count,
    check_flag,
    check_number,
    check_out,
    check_signal,
)
from ._fingerprint import signal_digest
from ._progress import Progress, ProgressBar
from ._trail import CheckpointFolder, Trail
from .cluster import Recipe
from .diagonal import SelfWeight, check_nodes
from .graph import Graph
from .normalized import NormalizedAdjacency
from .stored.files import mapped_array
from .stored.placing import placed

Self = TypeVar("Self", bound="Propagation")

# Reordering costs as much as gathering this many bytes an edge, and pays only where the rows
# of a block do not fit the inner caches anyway. Measured in benchmarks/propagation.py.
_REORDER_BYTES_PER_EDGE = 4000
_INNER_CACHE_BYTES = 4 * 1024**2
_RESULT_SHARE = 4  # a result larger than this part of the memory goes to a file, if not in memory


class Propagation(ABC):
    """Base of all kinds: ``P @ F``, ``P.apply(F, out=…)``, ``P.T @ F``.

    Parameters
    ----------
    graph : Graph
    norm : "sym", "row" or "col"; see `Graph.normalized`.
    self_loops : whether to add a loop to each node first.
    engine : "memory", "disk", "dask" or "auto"; default: that of the graph, see `Graph.on`.
    address : of a Dask scheduler; None starts workers on this machine.
    max_memory : bytes, or text such as "8GB", that the iterates may take beyond input and output
        (from disk: that graph and iterates may take); wide inputs are then done in more column
        blocks. Default: ``LABELTRICK_MAX_MEMORY``, else 2 GiB.
    checkpoint_dir : folder that iterates are written to every few steps, to go on from.
    reorder : whether to renumber the nodes inside for locality: True, False, or None for "once
        the graph has been used enough for it to pay". The result is the same, bit for bit.
    """

    def __init__(
        self,
        graph: Graph,
        *,
        norm: str = "sym",
        self_loops: bool = False,
        engine: str | None = None,
        address: str | None = None,
        max_memory: int | str | None = None,
        checkpoint_dir: str | os.PathLike[str] | None = None,
        reorder: bool | None = None,
    ) -> None:
        if not isinstance(graph, Graph):
            raise TypeError(
                f"`graph` must be a labeltrick.Graph; got {type(graph).__name__}. "
                "Make one with Graph.from_edges, from_scipy, from_networkx, from_pyg, from_dgl."
            )
        compute = graph.compute.over(engine, address, max_memory, checkpoint_dir)
        graph, self.compute = placed(graph, compute)
        self.S: NormalizedAdjacency = graph.normalized(norm, self_loops=self_loops)
        self.S.compute = self.compute
        self.max_memory = self.compute.memory_bytes
        self.reorder = check_flag("reorder", reorder, optional=True)

    _PARAMETERS: tuple[str, ...] = ("norm", "self_loops", "reorder")

    # -- what a kind must say -------------------------------------------------------------
    @abstractmethod
    def coefficients(self) -> np.ndarray:
        """c_0, c_1, …: the weights of the powers of S in P."""

    def _recurrence(self) -> _engine.Recurrence:
        return _engine.polynomial(self.coefficients())

    def _n_products(self, dtype: np.dtype) -> int:
        """Products with S that one application takes, about."""
        return len(self.coefficients()) - 1

    # -- what all kinds share -------------------------------------------------------------
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
        """The transpose, of the same kind: Pᵀ = Σ_k c_k (Sᵀ)^k."""
        flipped = copy.copy(self)
        flipped.S = self.S.T
        return flipped

    def __matmul__(self, F: Any) -> np.ndarray:
        return self.apply(F)

    def apply(
        self, F: Any, *, out: np.ndarray | None = None, progress: Progress = None
    ) -> np.ndarray:
        """P·F for a vector or matrix with one row a node.

        Parameters
        ----------
        F : real array of shape (n,) or (n, c), any memory order; float32 stays float32, all
            else is computed in float64. A SciPy sparse matrix is taken block by block.
        out : array for the result; may be F itself.
        progress : None shows a bar on a terminal after a second; True or False; or a function
            ``f(done, total)``.
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

    def _new_result(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """Memory for a result; a file without a name, mapped, for one that would take too much of
        what may be taken: rows are then read from it as they are asked for."""
        size = math.prod(shape) * dtype.itemsize
        if self.engine == "memory" or size <= self.max_memory // _RESULT_SHARE:
            return np.empty(shape, dtype)
        return mapped_array(shape, dtype)

    @property
    def engine(self) -> str:
        """The engine that does the work: "memory", "disk" or "dask"."""
        return self.compute.engine

    def recipe(self) -> Recipe:
        """What a worker needs to make this propagation on the same graph."""
        parameters = {name: getattr(self, name) for name in self._PARAMETERS}
        return Recipe(type(self), parameters, getattr(self, "_transposed", False))

    def _note_solves(self, solves: list[dict[str, Any]], warn: bool = True) -> None:
        """Take note of how workers fared; for kinds that solve."""
        return

    def _slice(self, first: int, end: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
        """(columns of F, columns of the result) that belong to some of ``n_columns`` groups."""
        columns = np.arange(first, end)
        return columns, columns

    def _out_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape

    def _apply(self, F: Any, out: np.ndarray, progress: Progress) -> None:
        kept = self.compute.checkpoint_dir
        if kept is None:
            self._run(_engine.apply_to(F, out, self._recurrence()), F, F.shape[1], progress)
            return
        folder = CheckpointFolder(kept, self.graph.identity)
        run = f"run-{signal_digest(F, repr(self.recipe()))}"

        def trail_of(block: _engine.Block, first: int) -> Trail:
            return folder.trail(run, f"{first}-{block.width}", block.first, block.second)

        process = _engine.apply_to(F, out, self._recurrence(), trail_of)
        self._run(process, F, F.shape[1], progress)
        folder.forget(run)

    def _run(self, process: _engine.Process, F: Any, n_columns: int, progress: Progress) -> None:
        dtype = F.dtype
        steps = self._n_products(dtype)
        _engine.run_blocks(
            self.S.layout(dtype, self._reordering_pays(n_columns, steps, dtype)),
            n_columns,
            process,
            max_memory=self.max_memory,
            bar=lambda blocks: ProgressBar(steps * blocks, type(self).__name__, progress),
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
        # Rent until the rent equals the price, then buy: never worse than twice the best.
        graph.gathered_per_edge += steps * n_columns * itemsize
        return graph.gathered_per_edge >= _REORDER_BYTES_PER_EDGE

    # -- diagonal and column energy -------------------------------------------------------
    def self_weight(
        self,
        nodes: Any = None,
        *,
        tol: float = 1e-4,
        method: str = "auto",
        rows: Any = None,
        n_probes: int = 64,
        random_state: int = 0,
        progress: Progress = None,
    ) -> SelfWeight:
        """C = diag(P): how much of its own value each node gets back.

        Parameters
        ----------
        nodes : numbers or a mask; default all nodes.
        tol : certified error to reach ("push" and "auto").
        method : "auto", "exact", "short", "push" or "probe"; see `labeltrick.diagonal`.
        rows : if given, the column energies Σ_{k in rows} P_ki² come with it.
        n_probes, random_state : number and seed of the random vectors of "probe".

        Examples
        --------
        >>> from labeltrick import Resolvent
        >>> graph = Graph.from_edges([0, 1], [1, 2])
        >>> Resolvent(graph, 0.5).self_weight().value.round(3)
        array([0.583, 0.667, 0.583])
        """
        check_choice("method", method, diagonal.METHODS)
        tol = check_number("tol", tol, 1e-14, 1.0)
        wanted = check_nodes("nodes", nodes, self.n_nodes)
        in_rows = None
        if rows is not None:
            in_rows = np.zeros(self.n_nodes, bool)
            in_rows[check_nodes("rows", rows, self.n_nodes)] = True
        if method == "probe":
            if rows is not None:
                raise ValueError("`rows` must be None for method='probe'; energies are not probed.")
            found = self._probed(
                wanted, check_count("n_probes", n_probes, 2), random_state, progress
            )
        else:
            found = self._find_self_weight(wanted, tol, method, in_rows, progress)
        if in_rows is not None and found.column_energy is None:
            energy = diagonal.columns_by_apply(
                lambda unit: self.apply(unit, progress=False),
                self.n_nodes,
                wanted,
                in_rows,
                progress,
                max_memory=self.max_memory,
            )[1]
            steps, size = self._n_hops() + 1, self._coefficient_size()
            rounding = steps * size**2 * diagonal.rounding_allowance(self.S) * (1 + energy)
            found = replace(found, column_energy=energy, energy_bound=rounding)
        asked = None if in_rows is None else np.flatnonzero(in_rows)
        return replace(found, nodes=wanted, rows=asked)

    def column_energy(
        self,
        rows: Any,
        nodes: Any = None,
        *,
        tol: float = 1e-2,
        method: str = "auto",
        progress: Progress = None,
    ) -> SelfWeight:
        """Σ_{k in rows} P_ki² of each node i; C comes with it.

        ``tol`` is the error to reach in the symmetric scale; for the norms "row" and "col"
        entries are √(d_i/d_k) times larger or smaller, and `energy_bound` says what holds. With
        the training nodes as ``rows``, `column_energy` minus C² are the squared row
        weights of Theorem 1's penalty.
        """
        check_number("tol", tol, 0.0, 1.0)
        return self.self_weight(
            nodes, tol=self._tol_for_energy(tol), method=method, rows=rows, progress=progress
        )

    def _find_self_weight(
        self,
        nodes: np.ndarray,
        tol: float,
        method: str,
        in_rows: np.ndarray | None,
        progress: Progress,
    ) -> SelfWeight:
        if self.engine == "dask":
            return cluster.self_weight(self, nodes, tol, method, in_rows, progress)
        return self._self_weight(nodes, tol, method, in_rows, progress)

    def _tol_for_energy(self, tol: float) -> float:
        return 1e-4

    def _self_weight(
        self,
        nodes: np.ndarray,
        tol: float,
        method: str,
        in_rows: np.ndarray | None,
        progress: Progress,
    ) -> SelfWeight:
        if method == "push":
            raise ValueError(
                "`method` must be 'auto', 'exact', 'short' or 'probe' for "
                f"{type(self).__name__}; got 'push', which is for damped propagation."
            )
        return diagonal.polynomial_self_weight(
            self.S,
            self._weigh_hops,
            self._n_hops(),
            nodes,
            method,
            self.max_memory,
            progress,
            size=self._coefficient_size(),
        )

    def _coefficient_size(self) -> float:
        """Bound of Σ_k |c_k|·‖S^k‖, the size of the terms that C is summed from."""
        return float(np.abs(self.coefficients()).sum())

    def _n_hops(self) -> int:
        return len(self.coefficients()) - 1

    def _weigh_hops(self, moments: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        """C from the diagonals of the powers of S."""
        return moments @ self.coefficients()

    def _probe_coefficients(self) -> np.ndarray:
        return self.coefficients()

    def _probed(
        self, nodes: np.ndarray, n_probes: int, seed: int, progress: Progress
    ) -> SelfWeight:
        value, error = _probe.probe_diagonal(
            lambda z: self.apply(z, progress=False),
            self.S,
            self._probe_coefficients(),
            n_probes=n_probes,
            rank=_probe.RANK,
            seed=seed,
            progress=progress,
        )
        return SelfWeight(value[nodes], error[nodes], np.full(len(nodes), "probe"))

    def _repr_parameters(self) -> list[str]:
        return []

    def __repr__(self) -> str:
        parts = [repr(self.graph), *self._repr_parameters(), f"norm={self.norm!r}"]
        return f"{type(self).__name__}({', '.join(parts)}, self_loops={self.self_loops})"


def _overlap_askew(F: np.ndarray, out: np.ndarray) -> bool:
    """Whether out shares memory with F but is not F itself: columns would be read too late."""
    same = F.ctypes.data == out.ctypes.data and F.strides == out.strides and F.shape == out.shape
    return not same and np.may_share_memory(F, out)


class Stepped(Propagation):
    """A kind with a number of steps."""

    def __init__(self, graph: Graph, n_steps: int, **options: Any) -> None:
        super().__init__(graph, **options)
        self.n_steps = check_count("n_steps", n_steps)

    _PARAMETERS = (*Propagation._PARAMETERS, "n_steps")

    def _repr_parameters(self) -> list[str]:
        return [f"n_steps={self.n_steps}"]
