"""Small random graphs for tests: a pair of the dense adjacency and the `Graph`."""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy.sparse as sp
from hypothesis import strategies as st

from labeltrick import (
    Graph,
)
from tests import reference


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


def dense_operator(graph, norm, self_loops):
    """S as a dense matrix, literally."""
    A = graph.to_scipy().toarray()
    return reference.normalized(reference.with_self_loops(A) if self_loops else A, norm)


def wide_graph(seed, decades=6.0, *, directed=False, max_nodes=40):
    """Edge weights over 10^±decades; as a rule in several parts, some of them single nodes."""
    rng = np.random.default_rng([seed, 17])
    n = int(rng.integers(10, max_nodes))
    edges = rng.integers(0, n, (2, int(rng.integers(n // 2, 3 * n))))
    weight = 10.0 ** rng.uniform(-decades, decades, edges.shape[1])
    return Graph.from_edges(*edges, weight=weight, n_nodes=n, directed=directed)


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


def heterophilous(seed=0, n=300, share=0.6):
    """Three classes in a circle: edges lead from class k to class k+1 nearly always."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    src = rng.integers(0, n, 5 * n)
    pools = [np.flatnonzero(truth == k) for k in range(3)]
    step = np.where(rng.random(len(src)) < 0.9, 1, rng.integers(0, 3, len(src)))
    dst = np.array([rng.choice(pools[k]) for k in (truth[src] + step) % 3])
    graph = Graph.from_edges(src, dst, n_nodes=n, directed=True)
    return graph, truth, np.where(rng.random(n) < share, truth, -1)


def blocks(seed=0, n=150, share=0.4, signal=0.5):
    """Three classes that keep to themselves, and features that tell a little."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    src, dst = rng.integers(0, n, (2, 12 * n))
    kept = (truth[src] == truth[dst]) | (rng.random(len(src)) < 0.1)
    graph = Graph.from_edges(src[kept], dst[kept], n_nodes=n)
    X = signal * np.eye(3)[truth] + rng.normal(size=(n, 3))
    return graph, X, truth, np.where(rng.random(n) < share, truth, -1)


def word_graph(seed=0, n=150, width=320):
    """Classes, their edges, and sparse words of which some depend on the class."""
    graph, _, truth, y = blocks(seed, n=n)
    rng = np.random.default_rng(seed)
    typical = 3 * rng.integers(0, 40, (n, 4)) + truth[:, None]
    noise = rng.integers(120, width, (n, 12))
    places = np.concatenate([typical, noise], axis=1)
    rows = np.repeat(np.arange(n), places.shape[1])
    made = sp.csr_array((np.ones(places.size, np.float32), (rows, places.ravel())), (n, width))
    return graph, made, truth, y


def wavy(seed=0, n=300, share=0.5, noise=1.0):
    """A number that neighbors share, a column that tells a little, a category and gaps."""
    from labeltrick import Graph

    rng = np.random.default_rng(seed)
    src, dst = rng.integers(0, n, (2, 20 * n))
    near = np.abs(src - dst) < n // 10
    graph = Graph.from_edges(src[near], dst[near], n_nodes=n)
    truth = 10 + 3 * np.sin(np.arange(n) / 20)
    table = pd.DataFrame(
        {
            "hint": truth + noise * 3 * rng.normal(size=n),
            "kind": pd.Categorical(np.where(rng.random(n) < 0.5, "a", "b")),
            "flag": rng.random(n) < 0.5,
        }
    )
    table.loc[rng.random(n) < 0.2, "hint"] = np.nan
    y = np.where(rng.random(n) < share, truth, np.nan)
    return graph, table, truth, y


def communities(seed=0, n=400, noise=0.1):
    """Two classes, mostly joined within; a share of the labels is wrong."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    pools = [np.flatnonzero(truth == k) for k in (0, 1)]
    src = rng.integers(0, n, 4 * n)
    other = rng.random(len(src)) < noise
    dst = np.array([rng.choice(pools[k]) for k in np.where(other, 1 - truth[src], truth[src])])
    return Graph.from_edges(src, dst, n_nodes=n), truth
