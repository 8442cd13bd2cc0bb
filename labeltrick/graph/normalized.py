"""The normalized adjacency S, kept as scalings of A instead of a matrix."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.checks import check_choice, check_flag, check_signal

if TYPE_CHECKING:
    import scipy.sparse as sp

    from .graph import Graph

NORMS = ("sym", "row", "col")
_WIDEST_FLOAT32 = 1e12

Factors = tuple[np.ndarray, np.ndarray, np.ndarray]


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
        Whether to add a loop of weight 1 to each node that has none.
    factors : tuple of 3 arrays of shape (n_nodes,), or None, default=None
        Other factors of the rows and of the columns, and the weight of the loop added to each
        node. None computes those of ``norm`` when they are needed.

    See Also
    --------
    Graph.normalized : Normalize the adjacency of a graph.
    Propagation : Base class of all kinds of propagation.

    Examples
    --------
    >>> from labeltrick import Graph
    >>> S = Graph.from_edges([0, 1], [1, 2]).normalized("row")
    >>> S @ [1.0, 2.0, 5.0]
    array([2., 3., 2.])
    """

    def __init__(
        self, graph: Graph, norm: str, self_loops: bool, factors: Factors | None = None
    ) -> None:
        self.graph = graph
        self.norm = check_choice("norm", norm, NORMS)
        self.self_loops = bool(check_flag("self_loops", self_loops))
        self.compute = graph.compute
        self.layouts: dict[Any, Any] = {}  # filled by the engine
        self._given = factors

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "layouts": {}}  # made again when needed

    @property
    def shape(self) -> tuple[int, int]:
        """(n_nodes, n_nodes)."""
        return self.graph.shape

    def factors(self, first: int, end: int) -> Factors:
        """(left, right, loop) of the rows [first, end)."""
        if self._given is not None:
            left, right, loop = self._given
            return left[first:end], right[first:end], loop[first:end]
        loop = np.zeros(end - first)
        if self.self_loops:
            loop[~self.graph._has_loops(first, end)] = 1
        rows, columns = self.graph._strengths(first, end)
        return (*scalings(self.norm, rows + loop, columns + loop), loop)

    @cached_property
    def _whole(self) -> Factors:
        return self.factors(0, self.graph.n_nodes)

    @property
    def left(self) -> np.ndarray:
        """The factor of each row."""
        return self._whole[0]

    @property
    def right(self) -> np.ndarray:
        """The factor of each column."""
        return self._whole[1]

    @property
    def loop(self) -> np.ndarray:
        """The weight of the loop added to each node."""
        return self._whole[2]

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
        norm = {"sym": "sym", "row": "col", "col": "row"}[self.norm]
        swapped = None if self._given is None else (self.right, self.left, self.loop)
        flipped = NormalizedAdjacency(self.graph.T, norm, self.self_loops, swapped)
        flipped.compute = self.compute
        if "_whole" in self.__dict__:
            flipped.__dict__["_whole"] = (self.right, self.left, self.loop)
        return flipped

    @property
    def reordering_pays(self) -> bool:
        """Whether work that visits the graph many times should use `Graph.reordered`."""
        return self.compute.engine != "disk" and self.graph.reordering_pays

    def __matmul__(self, F: Any) -> np.ndarray:
        # The only place where a graph calls the engine, which is above it.
        from ..propagation.engine.products import multiply

        return multiply(self, check_signal("F", F, self.graph.n_nodes))

    def to_scipy(self) -> sp.csr_array:
        """Convert S to a ``scipy.sparse.csr_array`` of float64."""
        import scipy.sparse as sp

        A = self.graph.to_scipy() + sp.diags_array(self.loop, dtype=np.float64)
        return sp.csr_array(sp.diags_array(self.left) @ A @ sp.diags_array(self.right))

    def layout_dtype(self, dtype: Any) -> np.dtype:
        """``dtype``, or float64 if the scalings would leave the range of float32."""
        return np.dtype(dtype if self._fits_float32 else np.float64)

    @cached_property
    def _fits_float32(self) -> bool:
        """Whether all factors, and products of two of them, are far from over- and underflow."""
        bounds = self.graph.factor_bounds if self._given is None else None
        if bounds is None:
            bounds = [self.left, self.right]
            if self.graph.weights is not None:
                bounds.append(self.graph.weights)
        low, high = 1 / _WIDEST_FLOAT32, _WIDEST_FLOAT32
        return all(v.min(initial=1.0) > low and v.max(initial=1.0) < high for v in bounds)

    def __repr__(self) -> str:
        return f"NormalizedAdjacency({self.graph!r}, {self.norm!r}, self_loops={self.self_loops})"


def inverse_permutation(order: np.ndarray) -> np.ndarray:
    """The position of each number in a permutation."""
    position = np.empty_like(order)
    position[order] = np.arange(len(order), dtype=order.dtype)
    return position
