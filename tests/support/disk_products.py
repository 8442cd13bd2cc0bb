"""Products that are computed from disk: a graph with a hub, signals, every kind of propagation."""

import numpy as np

from labeltrick import (
    Graph,
    Hops,
    HopSum,
    Iteration,
    Power,
    Resolvent,
    Series,
)

N = 3000
KINDS = {
    "resolvent": lambda graph: Resolvent(graph, 0.8),
    "resolvent, row, transposed": lambda graph: (
        Resolvent(graph, 0.7, norm="row", self_loops=True).T
    ),
    "iteration": lambda graph: Iteration(graph, 0.9, 6, norm="col"),
    "clamped": lambda graph: Iteration(graph, 0.9, 6, clamp=(0.0, 0.5)),
    "series": lambda graph: Series(graph, 0.9, 4),
    "power": lambda graph: Power(graph, 3, self_loops=True),
    "hop sum": lambda graph: HopSum(graph, 3),
    "hops": lambda graph: Hops(graph, 2),
}


def hub_graph(directed=False, weighted=False, seed=0):
    rng = np.random.default_rng(seed)
    source, target = rng.integers(0, N, 15_000), rng.integers(0, N, 15_000)
    source[:800] = 7  # a hub
    weight = rng.random(15_000) + 0.1 if weighted else None
    return Graph.from_edges(source, target, weight=weight, directed=directed, n_nodes=N + 2)


def signal(dtype=np.float64, columns=20, seed=1):
    return np.random.default_rng(seed).random((N + 2, columns)).astype(dtype)
