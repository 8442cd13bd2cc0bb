"""The constructors of `Graph`: from edge lists and from objects of other libraries, which are not
imported; objects need only the right attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.checks import (
    as_numpy,
    check_count,
    check_edge_weights,
    check_flag,
    check_ids_are_dense,
    check_node_ids,
    check_same_length,
)
from .._utils.sparse_checks import check_sparse
from . import build
from .named import holds_names
from .network_builders import NetworkBuilders
from .table_builders import TableBuilders

if TYPE_CHECKING:
    from .graph import Graph


class GraphBuilders(TableBuilders, NetworkBuilders):
    """Base class of `Graph` with its constructors."""

    @classmethod
    def from_edges(
        cls: Any,
        src: Any,
        dst: Any,
        *,
        weight: Any = None,
        n_nodes: int | None = None,
        directed: bool = False,
        edge_type: Any = None,
        node_type: Any = None,
        names: Any = None,
    ) -> Graph:
        """Build a graph from two columns of node ids.

        Integer ids are the numbers of the nodes. Other ids (strings, or any hashable objects) are
        names: nodes are then numbered in the order in which they first appear, starts of edges
        before ends, or in the order of ``names``.

        A directed edge is entry (src, dst) of the adjacency: a product brings the value of
        ``dst`` to ``src``. `from_pyg` uses the opposite direction, like PyG.

        Parameters
        ----------
        src, dst : array-like of shape (n_edges,)
            Ids of the two ends of each edge: lists, or NumPy, polars, pandas, Arrow or torch
            columns.
        weight : array-like of shape (n_edges,) or None, default=None
            Finite weights ≥ 0; weight 0 means no edge. None makes an unweighted graph.
        n_nodes : int or None, default=None
            Number of nodes. None means the largest id plus one.
        directed : bool, default=False
            False stores every edge in both directions.
        edge_type : array-like of shape (n_edges,) or None, default=None
            Type of each edge (numbers or strings), for `relations`. The graph itself holds the
            edges of all types; an edge listed with two types is in both relations.
        node_type : array-like of shape (n_nodes,) or None, default=None
            Type of each node, for `node_types`.
        names : array-like of shape (n_nodes,) or None, default=None
            Names of all nodes, including those without edges. ``src`` and ``dst`` then hold
            names, even if these are integers.

        Returns
        -------
        Graph

        Notes
        -----
        Edges listed several times are merged, and their weights are summed. In an undirected
        graph (u, v) and (v, u) are the same edge: a weighted list that holds both gets twice the
        weight. Time and memory O(n + edges); rows are sorted by counting.

        Examples
        --------
        >>> from labeltrick import Graph
        >>> Graph.from_edges([0, 0], [1, 1], weight=[1.0, 2.0]).weights
        array([3., 3.])
        >>> Graph.from_edges(["ann", "bob"], ["bob", "cem"], names=["cem", "bob", "ann"]).names
        array(['cem', 'bob', 'ann'], dtype=object)
        """
        check_flag("directed", directed)
        if names is not None or holds_names(src, dst):
            if n_nodes is not None:
                raise ValueError(
                    "`n_nodes` must be None if nodes have names; got a number. Pass `names`, which "
                    "may include nodes without edges."
                )
            from .named_edges import numbered_ends

            found, src, dst = numbered_ends(src, dst, names)
            options = {"weight": weight, "edge_type": edge_type, "node_type": node_type}
            made = cls.from_edges(src, dst, n_nodes=len(found), directed=directed, **options)
            return made.named(None if found.are_numbers else found)
        n_nodes = None if n_nodes is None else check_count("n_nodes", n_nodes)
        source = check_node_ids("src", src, n_nodes)
        target = check_node_ids("dst", dst, n_nodes)
        check_same_length("src", source, "dst", target)
        if weight is not None:
            weight = check_edge_weights("weight", weight, len(source))
        if n_nodes is None:
            n_nodes = 1 + max(int(source.max()), int(target.max())) if len(source) else 0
            check_ids_are_dense(n_nodes, len(source))
        relations = {
            kind: cls.from_edges(*ends, weight=some, n_nodes=n_nodes, directed=directed)
            for kind, (*ends, some) in _edges_by_type(source, target, weight, edge_type).items()
        }
        if weight is not None and not weight.all():
            real = weight > 0
            source, target, weight = source[real], target[real], weight[real]
        arrays = build.csr_from_edges(source, target, weight, n_nodes, both=not directed)
        return cls(*arrays, bool(directed), _types_of_nodes(node_type, n_nodes), relations)

    @classmethod
    def from_scipy(cls: Any, matrix: Any, *, directed: bool | None = None) -> Graph:
        """Build a graph from a square matrix; entry (i, j) is the weight of the edge i → j.

        Parameters
        ----------
        matrix : SciPy sparse matrix or array of shape (n_nodes, n_nodes)
            Weights ≥ 0; it is copied. If all entries are 1 (or booleans), the graph is
            unweighted. Explicit zeros are not edges.
        directed : bool or None, default=None
            None makes an undirected graph if the matrix is symmetric; False requires it.

        Returns
        -------
        Graph
        """
        import scipy.sparse as sp

        A = check_sparse("matrix", matrix) if sp.issparse(matrix) else as_numpy("matrix", matrix)
        if A.ndim != 2 or A.shape[0] != A.shape[1]:
            raise ValueError(f"`matrix` must be square; got shape {A.shape}.")
        A = sp.csr_array(A, copy=True)
        A.sum_duplicates()
        A.eliminate_zeros()
        data = check_edge_weights("matrix", A.data, A.nnz)
        weights = None if (data == 1).all() else data
        indices = A.indices.astype(build.index_dtype(A.shape[0]))
        arrays = (A.indptr.astype(np.int64), indices, weights)
        symmetric = not directed and _is_symmetric(*arrays)
        if directed is False and not symmetric:
            raise ValueError(
                "`matrix` must be symmetric for directed=False; it is not. "
                "Pass directed=True, or symmetrize it first (for example A + A.T)."
            )
        made = cls(*arrays, not symmetric)
        made.numbered_by_row = True
        return made

    @classmethod
    def from_pyg(
        cls: Any,
        data: Any,
        *,
        edge_weight: Any = None,
        n_nodes: int | None = None,
        directed: bool | None = None,
    ) -> Graph:
        """Build a graph from a PyTorch Geometric ``Data`` object or an ``edge_index``.

        Values flow like PyG's messages, from source to target: the target's row holds the entry.
        ``data.node_type`` and ``data.edge_type``, as made by ``HeteroData.to_homogeneous``,
        become `node_types` and `relations`.

        Parameters
        ----------
        data : torch_geometric.data.Data or array-like of shape (2, n_edges)
            The graph, or its edge_index.
        edge_weight : array-like of shape (n_edges,) or None, default=None
            Weights ≥ 0. None means ``data.edge_weight``, if it is set.
        n_nodes : int or None, default=None
            Number of nodes. None means ``data.num_nodes``, or the largest id plus one.
        directed : bool or None, default=None
            None makes an undirected graph if each edge is listed in both directions (as PyG
            stores them), else a directed one. False adds the missing directions.

        Returns
        -------
        Graph
        """
        edge_index = data
        if hasattr(data, "edge_index"):
            edge_index = data.edge_index
            if edge_index is None:
                raise ValueError("`data.edge_index` must be set; got None.")
            n_nodes = data.num_nodes if n_nodes is None else n_nodes
            edge_weight = getattr(data, "edge_weight", None) if edge_weight is None else edge_weight
        index = as_numpy("edge_index", edge_index)
        if index.ndim != 2 or index.shape[0] != 2:
            raise ValueError(
                f"`edge_index` must have shape (2, edges); got {index.shape}."
                + (" Transpose it." if index.ndim == 2 and index.shape[1] == 2 else "")
            )
        source, target = index
        graph = cls._from_messages(source, target, edge_weight, n_nodes, directed)
        edge_type = getattr(data, "edge_type", None)
        relations = {
            kind: cls._from_messages(*edges, graph.n_nodes, directed)
            for kind, edges in _edges_by_type(source, target, edge_weight, edge_type).items()
        }
        node_types = _types_of_nodes(getattr(data, "node_type", None), graph.n_nodes)
        arrays = (graph.indptr, graph.indices, graph.weights)
        return cls(*arrays, graph.directed, node_types, relations)

    @classmethod
    def from_dgl(
        cls: Any, graph: Any, *, weight: str | None = None, directed: bool | None = None
    ) -> Graph:
        """Build a graph from a homogeneous DGL graph.

        Values flow like DGL's messages, from source to destination.

        Parameters
        ----------
        graph : dgl.DGLGraph
            The graph to convert.
        weight : str or None, default=None
            Column of ``graph.edata`` with the weights. None makes an unweighted graph.
        directed : bool or None, default=None
            None makes an undirected graph if each edge is listed in both directions, else a
            directed one. False adds the missing directions.

        Returns
        -------
        Graph
        """
        if not hasattr(graph, "edges") or not hasattr(graph, "num_nodes"):
            raise TypeError(f"`graph` must be a DGL graph; got {type(graph).__name__}.")
        values = None if weight is None else graph.edata[weight]
        return cls._from_messages(*graph.edges(), values, int(graph.num_nodes()), directed)

    @classmethod
    def _from_messages(
        cls: Any, source: Any, target: Any, weight: Any, n_nodes: int | None, directed: bool | None
    ) -> Graph:
        """From a list that holds an undirected edge in both directions. Messages flow from source
        to target: the row that gathers is the target's."""
        check_flag("directed", directed, optional=True)
        graph = cls.from_edges(target, source, weight=weight, n_nodes=n_nodes, directed=True)
        arrays = (graph.indptr, graph.indices, graph.weights)
        if not directed and _is_symmetric(*arrays):
            return cls(*arrays, False)
        if directed is None or directed:
            return graph
        if graph.weights is None:
            return cls.from_edges(target, source, n_nodes=n_nodes)
        # Adding both directions would double edges that are listed twice: take the larger weight.
        A = graph.to_scipy(graph.weights.dtype)
        larger = cls.from_scipy(A.maximum(A.T), directed=False)
        weights = np.ones(larger.nnz) if larger.weights is None else larger.weights
        return cls(larger.indptr, larger.indices, weights, False)


def _edges_by_type(source: Any, target: Any, weight: Any, edge_type: Any) -> dict[Any, list[Any]]:
    """[source, target, weight] of the edges of each type; empty without types."""
    if edge_type is None:
        return {}
    kinds = as_numpy("edge_type", edge_type)
    check_same_length("edge_type", kinds, "src", source)
    _check_no_type_missing("edge_type", kinds)
    values = None if weight is None else as_numpy("weight", weight)
    return {
        kind: [None if part is None else part[kinds == kind] for part in (source, target, values)]
        for kind in np.unique(kinds).tolist()
    }


def _types_of_nodes(node_type: Any, n_nodes: int) -> np.ndarray | None:
    """A checked copy of the types of the nodes."""
    if node_type is None:
        return None
    kinds = as_numpy("node_type", node_type)
    if kinds.shape != (n_nodes,):
        raise ValueError(
            f"`node_type` must have one type per node ({n_nodes}); got shape {kinds.shape}."
        )
    _check_no_type_missing("node_type", kinds)
    return kinds.copy()


def _check_no_type_missing(name: str, kinds: np.ndarray) -> None:
    if kinds.dtype.kind == "O":
        missing = np.array([kind is None or kind != kind for kind in kinds.tolist()], bool)
    else:
        missing = kinds != kinds  # NaN
    if missing.any():
        row = int(np.argmax(missing))
        raise ValueError(f"`{name}` must have no missing types; row {row} is missing. Name it.")


def _is_symmetric(indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray | None) -> bool:
    t_indptr, t_indices, t_weights = build.transposed(indptr, indices, weights)
    return (
        np.array_equal(indptr, t_indptr)
        and np.array_equal(indices, t_indices)
        and (weights is None or t_weights is None or np.array_equal(weights, t_weights))
    )
