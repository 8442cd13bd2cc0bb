"""The normalized adjacency S, kept as scalings of A instead of a matrix."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.checks import check_choice, check_flag, check_signal
from . import csr_kernels

if TYPE_CHECKING:
    import scipy.sparse as sp

    from .graph import Graph

NORMS = ("sym", "row", "col")
_WIDEST_FLOAT32 = 1e12


def inverse_or_one(values: np.ndarray) -> np.ndarray:
    """1/v, or 1 if v = 0: rows of isolated nodes are zero in any scale."""
    return np.divide(1.0, values, out=np.ones_like(values), where=values > 0)


def scalings(norm: str, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(left, right) of a norm, from the sums of rows and columns."""
    if norm == "sym":
        return np.sqrt(inverse_or_one(rows)), np.sqrt(inverse_or_one(columns))
    if norm == "row":
        return inverse_or_one(rows), np.ones_like(rows)
    return np.ones_like(rows), inverse_or_one(columns)


class NormalizedAdjacency:
    """S = diag(left)·(A + loops)·diag(right), stored as one value per row and column.

    Made by `Graph.normalized`. With row sums r and column sums c of A + loops (equal for an
    undirected graph; there both are the degrees D):

    ======  =====================  =======================
    norm    S                      undirected
    ======  =====================  =======================
    "sym"   r^-1/2 A c^-1/2        D^-1/2 A D^-1/2
    "row"   r^-1 A                 D^-1 A  (rows sum to 1)
    "col"   A c^-1                 A D^-1  (columns sum to 1)
    ======  =====================  =======================

    Memory O(n); a product S·F costs O(edges × columns).

    Parameters
    ----------
    graph : Graph
        The graph of A.
    norm : {"sym", "row", "col"}
        Name of the normalization.
    self_loops : bool
        Whether loops were added.
    left, right : arrays of shape (n_nodes,)
        Factors of the rows and of the columns.
    loop : array of shape (n_nodes,)
        Weight of the loop added to each node.

    Examples
    --------
    >>> from labeltrick import Graph
    >>> S = Graph.from_edges([0, 1], [1, 2]).normalized("row")
    >>> S @ [1.0, 2.0, 5.0]
    array([2., 3., 2.])
    """

    def __init__(
        self,
        graph: Graph,
        norm: str,
        self_loops: bool,
        left: np.ndarray,
        right: np.ndarray,
        loop: np.ndarray,
    ) -> None:
        self.graph = graph
        self.norm = norm
        self.self_loops = self_loops
        self.left = left
        self.right = right
        self.loop = loop
        self.compute = graph.compute
        self.layouts: dict[Any, Any] = {}  # filled by the engine

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "layouts": {}}  # made again when needed

    @classmethod
    def of(cls, graph: Graph, norm: str = "sym", self_loops: bool = False) -> NormalizedAdjacency:
        """S of a graph; see `Graph.normalized`."""
        check_choice("norm", norm, NORMS)
        loop = added_loops(graph, self_loops)
        factors = scalings(norm, graph.out_strengths + loop, graph.in_strengths + loop)
        return cls(graph, norm, bool(self_loops), *factors, loop)

    @property
    def shape(self) -> tuple[int, int]:
        """(n_nodes, n_nodes)."""
        return self.graph.n_nodes, self.graph.n_nodes

    def factors(self, first: int, end: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(left, right, loop) of the rows [first, end)."""
        return self.left[first:end], self.right[first:end], self.loop[first:end]

    @property
    def is_similar_to_symmetric(self) -> bool:
        """Whether S is a symmetric matrix in another scale. Its eigenvalues are then real, and in
        [−1, 1] for the three norms."""
        return not self.graph.directed

    @property
    def T(self) -> NormalizedAdjacency:
        """The transpose: the reversed graph with the scalings exchanged."""
        if not self.graph.directed and self.norm == "sym":
            return self
        flipped = self._flipped({"sym": "sym", "row": "col", "col": "row"}[self.norm])
        flipped.compute = self.compute
        return flipped

    def _flipped(self, norm: str) -> NormalizedAdjacency:
        factors = (self.right, self.left, self.loop)
        return NormalizedAdjacency(self.graph.T, norm, self.self_loops, *factors)

    @property
    def reordering_pays(self) -> bool:
        """Whether work that visits the graph many times should use `Graph.reordered`."""
        return self.compute.engine != "disk" and self.graph.reordering_pays

    def __matmul__(self, F: Any) -> np.ndarray:
        # The only place where a graph calls the engine, which is above it.
        from ..propagation.engine.products import multiply

        return multiply(self, check_signal("F", F, self.graph.n_nodes))

    def to_scipy(self) -> sp.csr_array:
        """Convert S to a `scipy.sparse.csr_array` of float64."""
        import scipy.sparse as sp

        A = self.graph.to_scipy() + sp.diags_array(self.loop, dtype=np.float64)
        return sp.csr_array(sp.diags_array(self.left) @ A @ sp.diags_array(self.right))

    def layout_dtype(self, dtype: Any) -> np.dtype:
        """``dtype``, or float64 if the scalings would leave the range of float32."""
        return np.dtype(dtype if self._fits_float32 else np.float64)

    @cached_property
    def _fits_float32(self) -> bool:
        """Whether all factors, and products of two of them, are far from over- and underflow."""
        factors = [self.left, self.right]
        if self.graph.weights is not None:
            factors.append(self.graph.weights)
        return all(is_tame(f) for f in factors)

    def __repr__(self) -> str:
        return f"NormalizedAdjacency({self.graph!r}, {self.norm!r}, self_loops={self.self_loops})"


def is_tame(factors: np.ndarray) -> bool:
    """Whether products of two of the factors are far from over- and underflow in float32."""
    low, high = factors.min(initial=1.0), factors.max(initial=1.0)
    return bool(low > 1 / _WIDEST_FLOAT32 and high < _WIDEST_FLOAT32)


def added_loops(graph: Graph, self_loops: bool) -> np.ndarray:
    """Weight of the loop to add to each node: with ``self_loops``, 1 where none is stored."""
    if not check_flag("self_loops", self_loops):
        return np.zeros(graph.n_nodes)
    return (~csr_kernels.has_loop(graph.indptr, graph.indices)).astype(np.float64)


def inverse_permutation(order: np.ndarray) -> np.ndarray:
    """The position of each number in a permutation."""
    position = np.empty_like(order)
    position[order] = np.arange(len(order), dtype=order.dtype)
    return position
