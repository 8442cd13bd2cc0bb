"""`Graph`: an immutable graph in compressed sparse rows."""

from __future__ import annotations

import copy
import os
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.checks import check_choice, check_count
from .._utils.fingerprints import Fingerprint
from . import build, convert, csr_kernels
from .compute import Compute
from .normalized import NormalizedAdjacency, inverse_permutation
from .statistics import GraphSummary, encode_labels, homophily, summarize

if TYPE_CHECKING:
    import scipy.sparse as sp

_REORDER_NODES = 20_000  # below, all that is read of each node fits the inner caches anyway


class Graph:
    """A graph of n nodes, numbered 0…n−1, in compressed sparse rows (CSR); never changes.

    Make one with `from_edges`, `from_scipy`, `from_networkx`, `from_pyg` or `from_dgl`. Row i
    holds the neighbors of node i in ascending order; for a directed graph, the nodes that
    its edges point **to**: entry (i, j) is the edge i → j, and a product with the adjacency
    brings values from j to i. Use `T` for the other direction. An undirected graph stores
    each edge in both rows.

    Attributes
    ----------
    indptr : int64 array of shape (n + 1,)
    indices : int32 array of shape (nnz,), int64 from 2³¹ nodes on
    weights : float array of shape (nnz,), or None for an unweighted graph
    directed : bool
    node_types : array of shape (n,), or None: the type of each node, of any kind
    relations : the edges of each type as a graph of their own on the same nodes, by type; empty
        for a graph whose edges have no types

    Examples
    --------
    >>> graph = Graph.from_edges([0, 1, 2], [1, 2, 0], n_nodes=4)
    >>> graph
    Graph(n_nodes=4, n_edges=3)
    >>> graph.neighbors(1)
    array([0, 2], dtype=int32)
    >>> graph.isolated
    array([3])
    """

    def __init__(
        self,
        indptr: np.ndarray,
        indices: np.ndarray,
        weights: np.ndarray | None,
        directed: bool,
        node_types: np.ndarray | None = None,
        relations: dict[Any, Graph] | None = None,
    ) -> None:
        # Trusted: constructors below have checked, sorted and merged the entries.
        self.indptr = _read_only(indptr)
        self.indices = _read_only(indices)
        self.weights = None if weights is None else _read_only(weights)
        self.directed = directed
        self.node_types = None if node_types is None else _read_only(node_types)
        self.relations = {} if relations is None else dict(relations)
        # bytes an edge that products have gathered so far; tells when reordering pays
        self.gathered_per_edge = 0
        self.compute = Compute()

    # -- constructors ---------------------------------------------------------------------
    @classmethod
    def from_edges(
        cls,
        src: Any,
        dst: Any,
        *,
        weight: Any = None,
        n_nodes: int | None = None,
        directed: bool = False,
        edge_type: Any = None,
        node_type: Any = None,
    ) -> Graph:
        """From two columns of node ids: numpy, lists, polars, pandas or torch.

        A directed edge is entry (src, dst) of the adjacency: a product brings the value of
        ``dst`` to ``src``. `from_pyg` goes the other way, as PyG does.

        Parameters
        ----------
        src, dst : integer ids of the ends of each edge.
        weight : finite weights ≥ 0, or None for an unweighted graph. Weight 0 means no edge.
        n_nodes : number of nodes; default: the largest id plus one.
        directed : False stores every edge in both directions.
        edge_type : type of each edge (numbers or strings), for `relations`. The graph itself
            holds the edges of all types; an edge listed with two types is in both relations.
        node_type : type of each node, for `node_types`.

        Notes
        -----
        An edge listed several times is merged; its weights are summed. In an undirected graph
        (u, v) and (v, u) are the same edge: a weighted list that holds both gets twice the
        weight. Time and memory O(n + edges); rows are sorted by counting.

        Examples
        --------
        >>> Graph.from_edges([0, 0], [1, 1], weight=[1.0, 2.0]).weights
        array([3., 3.])
        """
        parts = convert.from_edges(src, dst, weight, n_nodes, directed)
        n_nodes = len(parts[0]) - 1
        relations = {
            kind: cls(*convert.from_edges(*edges, n_nodes, directed))
            for kind, edges in convert.edges_by_type(src, dst, weight, edge_type).items()
        }
        return cls(*parts, convert.types_of_nodes(node_type, n_nodes), relations)

    @classmethod
    def from_scipy(cls, matrix: Any, *, directed: bool | None = None) -> Graph:
        """From a square SciPy sparse matrix (or dense array), entry (i, j) = weight of i → j.

        ``directed=None`` looks whether the matrix is symmetric; ``False`` requires it. A
        matrix whose entries are all 1 (or booleans) becomes an unweighted graph. Explicit zeros
        are no edges. The arrays are copied.
        """
        return cls(*convert.from_scipy(matrix, directed))

    @classmethod
    def from_networkx(cls, graph: Any, *, weight: str | None = "weight") -> Graph:
        """From a networkx graph; nodes are numbered in the order of ``graph.nodes``.

        ``weight`` names the edge attribute that holds the weights (edges without it count 1);
        if no edge has it the graph is unweighted.
        """
        return cls(*convert.from_networkx(graph, weight))

    @classmethod
    def from_pyg(
        cls,
        data: Any,
        *,
        edge_weight: Any = None,
        n_nodes: int | None = None,
        directed: bool | None = None,
    ) -> Graph:
        """From a PyTorch Geometric ``Data`` object or an ``edge_index`` of shape (2, edges).

        ``directed=None`` makes an undirected graph if each edge is there in both directions
        (as PyG stores them), else a directed one; ``directed=False`` adds the missing ones.
        Values flow as PyG's messages do, from source to target: the target's row holds the
        entry. ``data.node_type`` and ``data.edge_type``, as ``HeteroData.to_homogeneous`` makes
        them, become `node_types` and `relations`.
        """
        parts = convert.from_pyg(data, edge_weight, n_nodes, directed)
        n_nodes = len(parts[0]) - 1
        relations = {
            kind: cls(*convert.from_pyg(index, weight, n_nodes, directed))
            for kind, (index, weight) in convert.pyg_relations(data, edge_weight).items()
        }
        node_type = getattr(data, "node_type", None)
        return cls(*parts, convert.types_of_nodes(node_type, n_nodes), relations)

    @classmethod
    def from_dgl(
        cls, graph: Any, *, weight: str | None = None, directed: bool | None = None
    ) -> Graph:
        """From a homogeneous DGL graph; ``weight`` names a column of ``graph.edata``.

        Values flow as DGL's messages do, from source to destination.
        """
        return cls(*convert.from_dgl(graph, weight, directed))

    # -- back -----------------------------------------------------------------------------
    def to_scipy(self, dtype: Any = np.float64) -> sp.csr_array:
        """The adjacency as a SciPy CSR array; an unweighted graph has ones."""
        import scipy.sparse as sp

        data = np.ones(self.nnz, dtype) if self.weights is None else self.weights.astype(dtype)
        return sp.csr_array((data, self.indices.copy(), self.indptr.copy()), shape=self.shape)

    def to_edge_index(self, backend: str = "numpy") -> Any:
        """All stored entries as PyG's int64 edge_index of shape (2, nnz): the inverse of
        `from_pyg`.

        PyG's messages along it flow as values do here: entry (i, j) of the adjacency is the
        pair (source j, target i). ``backend="torch"`` gives a tensor. Weights, if any, are in
        `weights`, in the same order.
        """
        check_choice("backend", backend, ("numpy", "torch"))
        rows = np.repeat(np.arange(self.n_nodes, dtype=np.int64), np.diff(self.indptr))
        index = np.stack([self.indices.astype(np.int64), rows])
        if backend == "numpy":
            return index
        from .._utils.extras import require

        return require("torch", "to_edge_index(backend='torch')").from_numpy(index)

    # -- size and shape -------------------------------------------------------------------
    @property
    def n_nodes(self) -> int:
        return len(self.indptr) - 1

    @property
    def nnz(self) -> int:
        """Stored entries: an undirected edge counts twice, a self-loop once."""
        return int(self.indptr[-1])

    @cached_property
    def n_self_loops(self) -> int:
        return int(csr_kernels.has_loop(self.indptr, self.indices).sum())

    @property
    def n_edges(self) -> int:
        """Edges, counting an undirected one once."""
        return self.nnz if self.directed else (self.nnz + self.n_self_loops) // 2

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_nodes, self.n_nodes

    @property
    def weighted(self) -> bool:
        return self.weights is not None

    def neighbors(self, node: int) -> np.ndarray:
        """Neighbors of a node (for a directed graph: where its edges point to)."""
        if not 0 <= check_count("node", node) < self.n_nodes:
            raise ValueError(f"`node` must be below n_nodes={self.n_nodes}; got {node}.")
        return self.indices[self.indptr[node] : self.indptr[node + 1]]

    # -- statistics -----------------------------------------------------------------------
    @cached_property
    def degrees(self) -> np.ndarray:
        """Number of stored neighbors of each node (out-degree of a directed graph)."""
        return _read_only(np.diff(self.indptr))

    @cached_property
    def out_strengths(self) -> np.ndarray:
        """Sum of the weights in each row; the degrees if unweighted."""
        if self.weights is None:
            return _read_only(self.degrees.astype(np.float64))
        return _read_only(csr_kernels.row_sums(self.indptr, self.weights))

    @cached_property
    def in_strengths(self) -> np.ndarray:
        """Sum of the weights in each column; equal to `out_strengths` if undirected."""
        if not self.directed:
            return self.out_strengths
        return _read_only(csr_kernels.column_sums(self.indices, self.weights, self.n_nodes))

    @cached_property
    def isolated(self) -> np.ndarray:
        """Nodes without any edge to or from another node."""
        touched = self.degrees - csr_kernels.has_loop(self.indptr, self.indices) > 0
        if self.directed:
            touched |= self.T.degrees - csr_kernels.has_loop(self.T.indptr, self.T.indices) > 0
        return np.flatnonzero(~touched)

    @cached_property
    def components(self) -> np.ndarray:
        """Number of the (weakly) connected component of each node, from 0."""
        from scipy.sparse.csgraph import connected_components

        return connected_components(self.to_scipy(np.float32), directed=self.directed)[1]

    def homophily(self, y: Any) -> float:
        """Share of the edges between labeled nodes whose ends have the same label.

        Self-loops do not count. Unlabeled nodes have −1 (integers), None or NaN in ``y``. The
        answer is NaN if no edge joins two labeled nodes.
        """
        codes = encode_labels(y, self.n_nodes)
        return homophily(csr_kernels.count_equal_neighbors(self.indptr, self.indices, codes))

    def summary(self, y: Any = None) -> GraphSummary:
        """Sizes, degrees, components, isolated nodes and, with labels, homophily."""
        return summarize(self, y)

    # -- derived graphs and operators -----------------------------------------------------
    @cached_property
    def T(self) -> Graph:
        """The graph with every edge reversed; itself if undirected."""
        if not self.directed:
            return self
        arrays = build.transposed(self.indptr, self.indices, self.weights)
        relations = {kind: relation.T for kind, relation in self.relations.items()}
        reverse = Graph(*arrays, True, self.node_types, relations)
        reverse.__dict__["T"] = self
        return reverse

    def normalized(self, norm: str = "sym", *, self_loops: bool = False) -> NormalizedAdjacency:
        """S, the normalized adjacency, as an operator: ``graph.normalized("row") @ F``.

        ``norm`` is "sym" (D^-1/2 A D^-1/2), "row" (D^-1 A) or "col" (A D^-1).
        ``self_loops=True`` first adds a loop of weight 1 to each node that has none.
        """
        return NormalizedAdjacency.of(self, norm, self_loops)

    def on(
        self,
        engine: str | None = None,
        *,
        address: str | None = None,
        max_memory: int | str | None = None,
        checkpoint_dir: str | os.PathLike[str] | None = None,
    ) -> Graph:
        """The same graph, on which propagation is computed by another engine: "memory", "disk",
        "dask" or "auto". Settings that are left out stay as they are; see docs/scale.md.

        >>> graph = Graph.from_edges([0, 1], [1, 2]).on("memory", max_memory="1GB")
        >>> graph.compute.engine
        'memory'
        """
        return self.with_compute(self.compute.over(engine, address, max_memory, checkpoint_dir))

    def with_compute(self, compute: Compute) -> Graph:
        """The same graph with another setting; what was made of it so far is shared."""
        if compute == self.compute:
            return self
        other = copy.copy(self)
        other.compute = compute
        other.relations = {
            kind: relation.with_compute(compute) for kind, relation in self.relations.items()
        }
        other.__dict__.pop("T", None)  # it carries its own setting
        return other

    @cached_property
    def fingerprint(self) -> str:
        """What tells this graph's edges and weights from any other's."""
        mark = Fingerprint()
        mark.update(self.indptr[1:], self.indices, self.weights)
        return mark.hexdigest()

    @property
    def identity(self) -> dict[str, Any]:
        """Fingerprint and sizes, for files that belong to this graph."""
        sizes = {"n_nodes": self.n_nodes, "nnz": self.nnz, "directed": self.directed}
        return {"fingerprint": self.fingerprint, **sizes}

    @property
    def reordering_pays(self) -> bool:
        """Whether work that visits the graph many times should use `reordered`."""
        return self.n_nodes >= _REORDER_NODES

    @cached_property
    def reordered(self) -> tuple[Graph, np.ndarray]:
        """The same graph with nodes renumbered for locality, and the order: new k was order[k].

        Breadth-first from the node of highest degree: neighbors end up near each other in
        memory. O(n + edges). Rows keep the order of their entries, so sums round the same.
        """
        roots = np.argsort(-self.degrees, kind="stable")
        order = csr_kernels.breadth_first_order(self.indptr, self.indices, roots)
        arrays = build.permuted(
            self.indptr, self.indices, self.weights, order, inverse_permutation(order)
        )
        return Graph(*arrays, self.directed), order

    # -- the usual ------------------------------------------------------------------------
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return (
            self.directed == other.directed
            and _same(self.weights, other.weights)
            and _same(self.node_types, other.node_types)
            and self.relations == other.relations
            and np.array_equal(self.indptr, other.indptr)
            and np.array_equal(self.indices, other.indices)
        )

    __hash__ = None  # type: ignore[assignment]  # equal graphs would need equal hashes

    def __repr__(self) -> str:
        flags = [name for name in ("directed", "weighted") if getattr(self, name)]
        extra = "".join(f", {flag}=True" for flag in flags)
        if self.node_types is not None:
            extra += f", node_types={len(np.unique(self.node_types))}"
        extra += f", relations={len(self.relations)}" if self.relations else ""
        return f"Graph(n_nodes={self.n_nodes}, n_edges={self.n_edges}{extra})"


def _same(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    return a is b if a is None or b is None else np.array_equal(a, b)


def _read_only(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view
