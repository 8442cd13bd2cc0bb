"""Small random graphs for tests: a pair of the dense adjacency and the `Graph`."""

from __future__ import annotations

import numpy as np
import reference
from hypothesis import strategies as st

from labeltrick import Graph


def random_graph(seed, n=25, n_edges=60, *, weighted=False, directed=False, weight_dtype=float):
    """With duplicate edges, self-loops and isolated nodes (the last three) in it."""
    rng = np.random.default_rng(seed)
    edges = rng.integers(0, max(1, n - 3), size=(n_edges if n > 0 else 0, 2))
    weights = None
    if weighted:
        weights = rng.uniform(0.1, 2.0, len(edges)).astype(weight_dtype)
    A = reference.adjacency(n, edges, weights, directed)
    graph = Graph.from_edges(edges[:, 0], edges[:, 1], weight=weights, n_nodes=n, directed=directed)
    return A, graph


@st.composite
def graphs(draw, max_nodes=12, directed=None):
    """Any small graph: (dense adjacency, Graph)."""
    n = draw(st.integers(1, max_nodes))
    node = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=3 * n))
    direction = draw(st.booleans()) if directed is None else directed
    weights = None
    if draw(st.booleans()):
        one = st.floats(0.01, 100.0)
        weights = np.array(draw(st.lists(one, min_size=len(edges), max_size=len(edges))))
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    A = reference.adjacency(n, edges, weights, direction)
    graph = Graph.from_edges(ends[:, 0], ends[:, 1], weight=weights, n_nodes=n, directed=direction)
    return A, graph


def edges_of(graph):
    """Undirected edges as pairs (smaller, larger)."""
    return {(u, v) for u, v in graph.to_edge_index().T.tolist() if u <= v}
