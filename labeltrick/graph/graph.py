"""`Graph`: an immutable graph in compressed sparse rows."""

from __future__ import annotations

import copy
import os
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from .._utils.checks import check_count
from .._utils.fingerprints import fingerprint
from . import build, csr_kernels
from .builders import GraphBuilders
from .compute import SETTINGS, Compute
from .converters import GraphConverters
from .named import NamedNodes
from .normalized import NormalizedAdjacency, inverse_permutation
from .statistics import GraphSummary, encode_labels, summarize

_REORDER_NODES = 20_000  # smaller graphs fit in the inner caches anyway


class Graph(GraphBuilders, GraphConverters, NamedNodes):
    """An immutable graph of n nodes, numbered 0…n−1, in compressed sparse rows (CSR).

    Make one with `from_edges`, `from_pandas`, `from_polars`, `from_arrow`, `from_scipy`,
    `from_networkx`, `from_igraph`, `from_pyg` or `from_dgl`, which check, sort and merge the
    entries; the arguments below are trusted. Nodes may have `names`, by which data frames are
    matched with them.

    Row i holds the neighbors of node i in ascending order; for a directed graph, the nodes that
    its edges point **to**: entry (i, j) is the edge i → j, and a product with the adjacency
    brings values from j to i. Use `T` for the other direction. An undirected graph stores
    each edge in both rows.

    Parameters
    ----------
    indptr : int64 array of shape (n_nodes + 1,)
        Where each row begins in ``indices``.
    indices : int32 array of shape (nnz,)
        Neighbors of each row; int64 from 2³¹ nodes on.
    weights : float array of shape (nnz,) or None
        Weights of the entries; None for an unweighted graph.
    directed : bool
        Whether edges have a direction.
    node_types : array of shape (n_nodes,) or None, default=None
        Type of each node.
    relations : dict or None, default=None
        The edges of each type, as a `Graph` on the same nodes. None or an empty dictionary if
        edges have no types.

    See Also
    --------
    open_graph : Open a graph folder.
    NormalizedAdjacency : The matrix S that propagation multiplies by.
    Resolvent : Label propagation in the limit of infinitely many steps.

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

    # Bounds of all weights and factors of rows and columns, if they are known without computing.
    factor_bounds: list[np.ndarray] | None = None

    def __init__(
        self,
        indptr: np.ndarray,
        indices: np.ndarray,
        weights: np.ndarray | None,
        directed: bool,
        node_types: np.ndarray | None = None,
        relations: dict[Any, Graph] | None = None,
    ) -> None:
        self.indptr = _read_only(indptr)
        self.indices = _read_only(indices)
        self.weights = None if weights is None else _read_only(weights)
        self.directed = directed
        self.node_types = None if node_types is None else _read_only(node_types)
        self.relations = {} if relations is None else dict(relations)
        self.node_names = None
        self.node_features: Any = None  # a polars frame, if the graph came with attributes
        self.is_permuted = False  # whether nodes are in another order than in the graph given
        self.numbered_by_row = False  # whether node k is known only as row k of a matrix
        self.gathered_per_edge = 0  # bytes that products have read; decides when to reorder
        self.compute = Compute()

    # -- size and shape -------------------------------------------------------------------
    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.indptr) - 1

    @property
    def nnz(self) -> int:
        """Number of stored entries: an undirected edge counts twice, a self-loop once."""
        return int(self.indptr[-1])

    @cached_property
    def n_self_loops(self) -> int:
        """Number of edges from a node to itself."""
        return int(self._has_loops(0, self.n_nodes).sum())

    @property
    def n_edges(self) -> int:
        """Number of edges; an undirected edge counts once."""
        return self.nnz if self.directed else (self.nnz + self.n_self_loops) // 2

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the adjacency, (n_nodes, n_nodes)."""
        return self.n_nodes, self.n_nodes

    @property
    def weighted(self) -> bool:
        """Whether edges have weights."""
        return self.weights is not None

    def neighbors(self, node: int) -> np.ndarray:
        """Return the neighbors of a node; in a directed graph, the nodes its edges point to.

        Parameters
        ----------
        node : int
            Number of the node.

        Returns
        -------
        array of int
            In ascending order.
        """
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
        """Sum of the weights in each row; equal to `degrees` if unweighted."""
        if self.weights is None:
            return _read_only(self.degrees.astype(np.float64))
        sums = np.zeros(self.n_nodes)
        csr_kernels.add_row_sums(self.indptr, self.weights, sums)
        return _read_only(sums)

    @cached_property
    def in_strengths(self) -> np.ndarray:
        """Sum of the weights in each column; equal to `out_strengths` if undirected."""
        if not self.directed:
            return self.out_strengths
        return _read_only(csr_kernels.column_sums(self.indices, self.weights, self.n_nodes))

    def _strengths(self, first: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        """Sums of the weights of rows [first, end), and of the same columns."""
        return self.out_strengths[first:end], self.in_strengths[first:end]

    def _has_loops(self, first: int, end: int) -> np.ndarray:
        """Whether rows [first, end) hold an edge to themselves."""
        return csr_kernels.has_loop(self.indptr[first : end + 1], self.indices, first)

    @cached_property
    def isolated(self) -> np.ndarray:
        """Nodes without any edge to or from another node."""
        loops = self._has_loops(0, self.n_nodes)
        touched = self.degrees - loops > 0
        if self.directed:
            touched |= self.T.degrees - loops > 0
        return np.flatnonzero(~touched)

    @cached_property
    def components(self) -> np.ndarray:
        """Number of the (weakly) connected component of each node, from 0."""
        from scipy.sparse.csgraph import connected_components

        return connected_components(self.to_scipy(np.float32), directed=self.directed)[1]

    def homophily(self, y: Any) -> float:
        """Compute the share of edges between labeled nodes whose ends have the same label.

        Parameters
        ----------
        y : array-like of shape (n_nodes,)
            Labels; −1 (integers), None or NaN for unlabeled nodes.

        Returns
        -------
        float
            Without self-loops; NaN if no edge joins two labeled nodes.
        """
        codes = encode_labels(y, self.n_nodes)
        both, equal = csr_kernels.count_equal_neighbors(self.indptr, self.indices, codes)
        return equal / both if both else float("nan")

    def summary(self, y: Any = None) -> GraphSummary:
        """Summarize sizes, degrees, components, isolated nodes and, with labels, homophily.

        Parameters
        ----------
        y : array-like of shape (n_nodes,) or None, default=None
            Labels; −1 (integers), None or NaN for unlabeled nodes.

        Returns
        -------
        GraphSummary
        """
        return summarize(self, y)

    # -- derived graphs and operators -----------------------------------------------------
    @cached_property
    def T(self) -> Graph:
        """The graph with every edge reversed; the graph itself if undirected."""
        if not self.directed:
            return self
        arrays = build.transposed(self.indptr, self.indices, self.weights)
        relations = {kind: relation.T for kind, relation in self.relations.items()}
        reverse = Graph(*arrays, True, self.node_types, relations)
        reverse.compute = self.compute
        reverse.node_names, reverse.node_features = self.node_names, self.node_features
        reverse.__dict__["T"] = self
        return reverse

    def normalized(self, norm: str = "sym", *, self_loops: bool = False) -> NormalizedAdjacency:
        """Return the normalized adjacency S as an operator: ``graph.normalized("row") @ F``.

        Parameters
        ----------
        norm : {"sym", "row", "col"}, default="sym"
            D^-1/2 A D^-1/2, D^-1 A or A D^-1.
        self_loops : bool, default=False
            Whether to first add a loop of weight 1 to each node that has none.

        Returns
        -------
        NormalizedAdjacency
        """
        return NormalizedAdjacency(self, norm, self_loops)

    def on(
        self,
        engine: str | None = None,
        *,
        address: str | None = None,
        max_memory: int | str | None = None,
        checkpoint_dir: str | os.PathLike[str] | None = None,
    ) -> Graph:
        """Return the same graph with other settings for propagation; see docs/guides/scale.md.

        Parameters
        ----------
        engine : {"memory", "disk", "dask", "auto"} or None, default=None
            "memory" computes in memory; "disk" streams a graph folder through ``max_memory``;
            "dask" spreads columns, or the learners of `AutoModel`, over workers; "auto" is "dask"
            if there is an address, "disk" for a graph folder that does not fit in memory, else
            "memory". None keeps the setting.
        address : str or None, default=None
            Address of a Dask scheduler, such as "tcp://host:8786". None keeps the setting; the
            engine "dask" without an address starts a cluster on this machine.
        max_memory : int, str or None, default=None
            Bytes, or text such as "8GB": in memory, what iterates may take beyond input and
            output; on disk, what graph and iterates may take; on Dask, the same for each worker.
            None keeps the setting.
        checkpoint_dir : path or None, default=None
            Folder to which iterates are written every few steps, so that an interrupted run
            continues; with an address, workers must see it. None keeps the setting.

        Returns
        -------
        Graph

        Examples
        --------
        >>> graph = Graph.from_edges([0, 1], [1, 2]).on("memory", max_memory="1GB")
        >>> graph.compute.engine
        'memory'
        """
        values = (engine, address, max_memory, checkpoint_dir)
        given: dict[str, Any] = dict(zip(SETTINGS, values, strict=True))
        changes = {name: value for name, value in given.items() if value is not None}
        return self.with_compute(replace(self.compute, **changes))

    def with_compute(self, compute: Compute) -> Graph:
        """The same graph with other settings; cached results are shared."""
        if compute == self.compute:
            return self
        other = copy.copy(self)
        other.compute = compute
        other.relations = {
            kind: relation.with_compute(compute) for kind, relation in self.relations.items()
        }
        other.__dict__.pop("T", None)  # it has its own settings
        return other

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the edges and weights."""
        return fingerprint(self.indptr[1:], self.indices, self.weights)

    @property
    def identity(self) -> dict[str, Any]:
        """Fingerprint and sizes, stored in files that belong to this graph."""
        sizes = {"n_nodes": self.n_nodes, "nnz": self.nnz, "directed": self.directed}
        return {"fingerprint": self.fingerprint, **sizes}

    @property
    def reordering_pays(self) -> bool:
        """Whether work that visits the graph many times should use `reordered`."""
        return self.n_nodes >= _REORDER_NODES

    @cached_property
    def reordered(self) -> tuple[Graph, np.ndarray]:
        """The same graph with nodes renumbered for locality, and the order: node k was order[k].

        Breadth-first from the node of highest degree, so that neighbors are close in memory.
        O(n + edges). Rows keep the order of their entries, so sums round the same.
        """
        roots = np.argsort(-self.degrees, kind="stable")
        order = csr_kernels.breadth_first_order(self.indptr, self.indices, roots)
        arrays = build.permuted(
            self.indptr, self.indices, self.weights, order, inverse_permutation(order)
        )
        return Graph(*arrays, self.directed), order

    # -- comparison and text --------------------------------------------------------------
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return (
            self.directed == other.directed
            and self.n_nodes == other.n_nodes
            and _same(self.weights, other.weights)
            and _same(self.node_types, other.node_types)
            and self.relations == other.relations
            and _same_names(self, other)
            and np.array_equal(self.indptr, other.indptr)
            and np.array_equal(self.indices, other.indices)
        )

    __hash__ = None  # type: ignore[assignment]  # equal graphs would need equal hashes

    def __repr__(self) -> str:
        flags = [name for name in ("directed", "weighted") if getattr(self, name)]
        flags += ["named"] if self.has_names else []
        extra = "".join(f", {flag}=True" for flag in flags)
        if self.node_types is not None:
            extra += f", node_types={len(np.unique(self.node_types))}"
        extra += f", relations={len(self.relations)}" if self.relations else ""
        return f"Graph(n_nodes={self.n_nodes}, n_edges={self.n_edges}{extra})"


def _same(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    return a is b if a is None or b is None else np.array_equal(a, b)


def _same_names(a: Graph, b: Graph) -> bool:
    if not a.has_names and not b.has_names:
        return a.n_nodes == b.n_nodes
    return a.name_table.equals(b.name_table)


def _read_only(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view
