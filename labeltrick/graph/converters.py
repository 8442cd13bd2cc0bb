"""Conversions of a `Graph` to objects of other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.checks import check_choice
from .._utils.extras import require

if TYPE_CHECKING:
    import scipy.sparse as sp


class GraphConverters:
    """Base class of `Graph` with its conversions."""

    def to_scipy(self: Any, dtype: Any = np.float64) -> sp.csr_array:
        """Convert the adjacency to a SciPy CSR array.

        Parameters
        ----------
        dtype : dtype, default=numpy.float64
            Type of the weights; an unweighted graph has ones.

        Returns
        -------
        scipy.sparse.csr_array of shape (n_nodes, n_nodes)
        """
        import scipy.sparse as sp

        data = np.ones(self.nnz, dtype) if self.weights is None else self.weights.astype(dtype)
        return sp.csr_array((data, self.indices.copy(), self.indptr.copy()), shape=self.shape)

    def to_edge_index(self: Any, backend: str = "numpy") -> Any:
        """Convert all entries to PyG's edge_index: the inverse of `from_pyg`.

        PyG's messages along it flow like values here: entry (i, j) of the adjacency is the pair
        (source j, target i). Weights, if any, are in ``graph.weights``, in the same order.

        Parameters
        ----------
        backend : {"numpy", "torch"}, default="numpy"
            Whether to return an array or a tensor.

        Returns
        -------
        int64 array or tensor of shape (2, nnz)
        """
        check_choice("backend", backend, ("numpy", "torch"))
        rows = np.repeat(np.arange(self.n_nodes, dtype=np.int64), np.diff(self.indptr))
        index = np.stack([self.indices.astype(np.int64), rows])
        if backend == "numpy":
            return index
        return require("torch", "to_edge_index(backend='torch')").from_numpy(index)

    def to_networkx(self: Any) -> Any:
        """Convert to a networkx graph, with names, types, weights and features of the nodes.

        Returns
        -------
        networkx.Graph or networkx.DiGraph
            Edges have the attribute "weight" if the graph is weighted; nodes have "type" and the
            columns of ``node_features``, if there are any.

        Examples
        --------
        >>> from labeltrick import Graph
        >>> sorted(Graph.from_edges(["a", "b"], ["b", "c"]).to_networkx().edges)
        [('a', 'b'), ('b', 'c')]
        """
        networkx = require("networkx", "to_networkx")
        made = networkx.DiGraph() if self.directed else networkx.Graph()
        names = self.name_table.values.tolist()
        made.add_nodes_from(names)
        columns = {} if self.node_features is None else self.node_features.to_dict(as_series=False)
        if self.node_types is not None:
            columns = {**columns, "type": self.node_types.tolist()}
        for attribute, values in columns.items():
            there = {name: value for name, value in zip(names, values, strict=True)
                     if value is not None}  # fmt: skip
            networkx.set_node_attributes(made, there, attribute)
        rows = np.repeat(np.arange(self.n_nodes), np.diff(self.indptr))
        kept = np.ones(self.nnz, bool) if self.directed else rows <= self.indices
        ends = ([names[k] for k in side[kept].tolist()] for side in (rows, self.indices))
        if self.weights is None:
            made.add_edges_from(zip(*ends, strict=True))
        else:
            made.add_weighted_edges_from(zip(*ends, self.weights[kept].tolist(), strict=True))
        return made
