"""`Hops`: every power of S, side by side."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._utils.progress import Progress
from .base import Stepped
from .diagonal.self_weight import SelfWeight
from .engine import blocks


class Hops(Stepped):
    """Concatenate all hops: n×c → n×(K+1)c, columns [F, SF, …, S^K F], as in SIGN.

    The transpose maps n×(K+1)c back to n×c: Σ_k (Sᵀ)^k G_k.

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
    SIGN : A perceptron on hops of features and labels.

    Examples
    --------
    >>> from labeltrick import Graph
    >>> graph = Graph.from_edges([0, 1], [1, 2])
    >>> Hops(graph, 2, norm="row") @ [1.0, 0.0, 0.0]
    array([[1. , 0. , 0.5],
           [0. , 0.5, 0. ],
           [0. , 0. , 0.5]])
    """

    def coefficients(self) -> np.ndarray:
        """The coefficients of each hop; row k holds those of S^k."""
        return np.eye(self.n_steps + 1)

    def _n_hops(self) -> int:
        return self.n_steps

    def _coefficient_size(self) -> float:
        return 1.0

    def _weigh_hops(self, moments: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        return moments

    def self_weight(self, nodes: Any = None, **options: Any) -> SelfWeight:
        """Compute the diagonal of every hop: ``value`` has one column for each of S⁰, …, S^K.

        Parameters
        ----------
        nodes : array of int or bool, or None, default=None
            Node numbers, or a mask with one entry per node. None means all nodes.
        **options : dict
            ``tol``, ``method`` ("auto", "exact" or "short") and ``progress`` of
            `Propagation.self_weight`. Column energies and probes are not available.

        Returns
        -------
        SelfWeight
            With ``value`` and ``error_bound`` of shape (n_nodes, n_steps + 1).
        """
        if options.get("rows") is not None or options.get("method") == "probe":
            raise ValueError(
                "`rows` and method='probe' must be left out for Hops, which has a diagonal for "
                "each hop. Use a Power or HopSum instead."
            )
        return super().self_weight(nodes, **options)

    def _n_products(self, dtype: np.dtype) -> int:
        return self.n_steps

    def _out_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        n_columns = 1 if len(shape) == 1 else shape[1]
        n_hops = self.n_steps + 1
        if not self._transposed:
            return shape[0], n_columns * n_hops
        if n_columns % n_hops:
            raise ValueError(
                f"`F` must have a multiple of n_steps + 1 = {n_hops} columns for the transpose "
                f"of Hops; got {n_columns}."
            )
        return shape[0], n_columns // n_hops

    def _slice(self, first: int, end: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
        columns = np.arange(first, end)
        hops = (np.arange(self.n_steps + 1)[:, None] * n_columns + columns).ravel()
        return (hops, columns) if self._transposed else (columns, hops)

    def _apply(self, F: Any, out: np.ndarray, progress: Progress) -> None:
        F = F.tocsc() if hasattr(F, "tocsc") else F
        stride = min(F.shape[1], out.shape[1])  # columns of a hop

        def spread(block: blocks.Block, first: int, count: int) -> None:
            block.pack(F, first, count, block.base)
            block.unpack(block.base, 1.0, out, first, count)
            current, other, spare = block.base, block.first, block.second
            for k in range(1, self.n_steps + 1):
                block.step(current, other, 1.0)
                block.unpack(other, 1.0, out, k * stride + first, count)
                current, other, spare = other, spare, current

        def gather(block: blocks.Block, first: int, count: int) -> None:
            current, other = block.first, block.second
            block.pack(F, self.n_steps * stride + first, count, current)
            for k in range(self.n_steps - 1, -1, -1):
                block.pack(F, k * stride + first, count, block.base)
                block.step(current, other, 1.0, base=1.0)
                current, other = other, current
            block.unpack(current, 1.0, out, first, count)

        self._run(gather if self._transposed else spread, F, stride, progress)
