"""The constructors of `Graph`: from edge lists and from objects of other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import convert

if TYPE_CHECKING:
    from .graph import Graph


class GraphBuilders:
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
    ) -> Graph:
        """Build a graph from two columns of node ids.

        A directed edge is entry (src, dst) of the adjacency: a product brings the value of
        ``dst`` to ``src``. `from_pyg` uses the opposite direction, like PyG.

        Parameters
        ----------
        src, dst : array-like of int of shape (n_edges,)
            Ids of the two ends of each edge: lists, or NumPy, polars, pandas or torch columns.
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
        """
        parts = convert.from_edges(src, dst, weight, n_nodes, directed)
        n_nodes = len(parts[0]) - 1
        relations = {
            kind: cls(*convert.from_edges(*edges, n_nodes, directed))
            for kind, edges in convert.edges_by_type(src, dst, weight, edge_type).items()
        }
        return cls(*parts, convert.types_of_nodes(node_type, n_nodes), relations)

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
        return cls(*convert.from_scipy(matrix, directed))

    @classmethod
    def from_networkx(cls: Any, graph: Any, *, weight: str | None = "weight") -> Graph:
        """Build a graph from a networkx graph; nodes are numbered in the order of ``graph.nodes``.

        Parameters
        ----------
        graph : networkx.Graph or networkx.DiGraph
            The graph to convert.
        weight : str or None, default="weight"
            Edge attribute with the weights; edges without it have weight 1. If no edge has it,
            or with None, the graph is unweighted.

        Returns
        -------
        Graph
        """
        return cls(*convert.from_networkx(graph, weight))

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
        return cls(*convert.from_dgl(graph, weight, directed))
