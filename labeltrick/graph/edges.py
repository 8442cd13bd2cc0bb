"""Each edge of a graph once: an undirected edge is stored as two entries of the adjacency."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .graph import Graph


@dataclass(frozen=True)
class EdgeList:
    """The edges of a graph, and the edge that each entry of its adjacency belongs to.

    Attributes
    ----------
    first, second : ndarray of int64, shape (n_edges,)
        Ends of the edges: first ≤ second for an undirected graph, from first to second for a
        directed one.
    of_entry : ndarray of int64, shape (nnz,)
        Number of the edge of each entry.

    Examples
    --------
    >>> edges = EdgeList.of(Graph.from_edges([2, 0], [1, 1]))
    >>> edges.first.tolist(), edges.second.tolist(), edges.of_entry.tolist()
    ([0, 1], [1, 2], [0, 0, 1, 1])
    """

    first: np.ndarray
    second: np.ndarray
    of_entry: np.ndarray

    @classmethod
    def of(cls, graph: Graph) -> EdgeList:
        """List the edges of a graph. O(entries · log entries)."""
        rows = np.repeat(np.arange(graph.n_nodes, dtype=np.int64), np.diff(graph.indptr))
        columns = np.asarray(graph.indices, np.int64)
        if graph.directed:
            return cls(rows, columns, np.arange(graph.nnz))
        upper, lower = np.flatnonzero(rows <= columns), np.flatnonzero(rows > columns)
        of_entry = np.empty(graph.nnz, np.int64)
        of_entry[upper] = np.arange(len(upper))
        # Below the diagonal, sorted by column and row, come the same edges as above it.
        mirrored = lower[np.lexsort((rows[lower], columns[lower]))]
        of_entry[mirrored] = of_entry[upper[rows[upper] < columns[upper]]]
        return cls(rows[upper], columns[upper], of_entry)

    def __len__(self) -> int:
        return len(self.first)

    def given_weights(self, graph: Graph) -> np.ndarray:
        """The weight of each edge in the graph; ones if it is unweighted."""
        weights = np.ones(len(self))
        if graph.weights is not None:
            weights[self.of_entry] = graph.weights
        return weights

    def reweighted(self, graph: Graph, weights: np.ndarray) -> Graph:
        """The graph with other weights of its edges; relations keep theirs."""
        entries = np.ascontiguousarray(weights, np.float64)[self.of_entry]
        made = Graph(
            graph.indptr, graph.indices, entries, graph.directed, graph.node_types, graph.relations
        )
        made.compute = graph.compute
        return made
