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
need more than a polynomial, have files of their own.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import Any, TypeVar

import numpy as np

from . import _engine
from ._check import (
    as_numpy,
    check_clamp,
    check_count,
    check_damping,
    check_max_memory,
    check_out,
    check_signal,
)
from ._progress import Progress, ProgressBar
from .graph import Graph
from .normalized import NormalizedAdjacency

Self = TypeVar("Self", bound="Propagation")

# Reordering costs as much as gathering this many bytes an edge, and pays only where the rows
# of a block do not fit the inner caches anyway. Measured in benchmarks/propagation.py.
_REORDER_BYTES_PER_EDGE = 4000
_INNER_CACHE_BYTES = 4 * 1024**2


class Propagation(ABC):
    """Base of all kinds: ``P @ F``, ``P.apply(F, out=…)``, ``P.T @ F``.

    Parameters
    ----------
    graph : Graph
    norm : "sym", "row" or "col"; see `Graph.normalized`.
    self_loops : whether to add a loop to each node first.
    max_memory : bytes that the iterates may take beyond input and output; wide inputs are
        then done in more column blocks. Default: ``LABELTRICK_MAX_MEMORY``, else 2 GiB.
    reorder : whether to renumber the nodes inside for locality: True, False, or None for "once
        the graph has been used enough for it to pay". The result is the same, bit for bit.
    """

    def __init__(
        self,
        graph: Graph,
        *,
        norm: str = "sym",
        self_loops: bool = False,
        max_memory: int | None = None,
        reorder: bool | None = None,
    ) -> None:
        if not isinstance(graph, Graph):
            raise TypeError(
                f"`graph` must be a labeltrick.Graph; got {type(graph).__name__}. "
                "Make one with Graph.from_edges, from_scipy, from_networkx, from_pyg, from_dgl."
            )
        self.S: NormalizedAdjacency = graph.normalized(norm, self_loops=self_loops)
        self.max_memory = check_max_memory(max_memory)
        self.reorder = reorder

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
        result = np.empty(shape, F.dtype) if out is None else check_out(out, shape, F.dtype)
        target = result if result.ndim == 2 else result.reshape(-1, 1)
        self._apply(matrix, target, progress)
        return result

    def _out_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape

    def _apply(self, F: Any, out: np.ndarray, progress: Progress) -> None:
        self._run(_engine.apply_to(F, out, self._recurrence()), F, F.shape[1], progress)

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

    def _repr_parameters(self) -> list[str]:
        return []

    def __repr__(self) -> str:
        parts = [repr(self.graph), *self._repr_parameters(), f"norm={self.norm!r}"]
        return f"{type(self).__name__}({', '.join(parts)}, self_loops={self.self_loops})"


class Stepped(Propagation):
    """A kind with a number of steps."""

    def __init__(self, graph: Graph, n_steps: int, **options: Any) -> None:
        super().__init__(graph, **options)
        self.n_steps = check_count("n_steps", n_steps)

    def _repr_parameters(self) -> list[str]:
        return [f"n_steps={self.n_steps}"]


class Damped(Stepped):
    """A kind with steps and damping."""

    def __init__(self, graph: Graph, damping: float, n_steps: int, **options: Any) -> None:
        super().__init__(graph, n_steps, **options)
        self.damping = check_damping(damping)

    def _repr_parameters(self) -> list[str]:
        return [f"damping={self.damping:g}", *super()._repr_parameters()]


class Iteration(Damped):
    """K steps of F ← λ S F + (1−λ) F⁰ from F = F⁰ (paper, section 2.1).

    P = λ^K S^K + (1−λ) Σ_{k<K} λ^k S^k. With ``clamp=(low, high)`` every step is followed by
    a cut to that range, as Correct & Smooth does; P is then not linear and has no transpose.

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
        self.coefficients()  # raises where there is no transpose
        return super().T

    def _n_products(self, dtype: np.dtype) -> int:
        return self.n_steps

    def _recurrence(self) -> _engine.Recurrence:
        if self.clamp is None:
            return super()._recurrence()
        return _engine.clamped_iteration(self.damping, self.n_steps, self.clamp)

    def _repr_parameters(self) -> list[str]:
        clamp = [] if self.clamp is None else [f"clamp={self.clamp}"]
        return super()._repr_parameters() + clamp


class Series(Damped):
    """P = (1−λ) Σ_{k≤K} λ^k S^k: the truncated sum of the resolvent (paper, section 2.1).

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

    >>> graph = Graph.from_edges([0, 1], [1, 2])
    >>> (Power(graph, 2, norm="row") @ [1.0, 0.0, 0.0]).tolist()
    [0.5, 0.0, 0.5]
    """

    def coefficients(self) -> np.ndarray:
        c = np.zeros(self.n_steps + 1)
        c[-1] = 1.0
        return c


class HopSum(Stepped):
    """P = Σ_{k≤K} w_k S^k, all hops summed (SIGN as the paper simplifies it: w_k = 1).

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

    def coefficients(self) -> np.ndarray:
        return self.hop_weights
