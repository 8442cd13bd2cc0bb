"""Random graphs of any size with power-law degrees, generated in little memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from labeltrick import Graph

_CHUNK = 4_000_000


def power_law_edges(
    n_nodes: int, n_edges: int, *, exponent: float = 2.5, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Ends of ``n_edges`` edges whose expected degrees follow a power law, nodes in random order.

    Node k of the hidden ranking is drawn with weight (k + k₀)^(−1/(exponent−1)), the weights of
    a Chung–Lu graph; k₀ keeps the largest degree near √edges, as in real graphs.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(n_nodes).astype(np.int32)
    power = 1 - 1 / (exponent - 1)
    offset = max(1.0, n_nodes * 1e-4)
    low, high = offset**power, (n_nodes + offset) ** power

    def draw(count: int) -> np.ndarray:
        rank = (low + rng.random(count) * (high - low)) ** (1 / power) - offset
        return order[np.minimum(rank.astype(np.int32), n_nodes - 1)]

    src, dst = np.empty(n_edges, np.int32), np.empty(n_edges, np.int32)
    for start in range(0, n_edges, _CHUNK):
        stop = min(start + _CHUNK, n_edges)
        src[start:stop] = draw(stop - start)
        dst[start:stop] = draw(stop - start)
    return src, dst


def class_edges(
    n_nodes: int, n_edges: int, n_classes: int, *, same: float = 0.7, seed: int = 0
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Chunks of edges of a degree-corrected block model; node i has the class i % n_classes.

    Degrees follow a power law, alike in all classes; a share ``same`` of the edges is drawn within
    classes. Nodes are in random order but for their class.
    """
    rng = np.random.default_rng(seed)
    n_groups = n_nodes // n_classes  # of one node a class, of like degree
    order = rng.permutation(n_groups).astype(np.int64)
    for start in range(0, n_edges, _CHUNK):
        count = min(_CHUNK, n_edges - start)
        ends = [order[_power_law_ranks(rng, count, n_groups)] * n_classes for _ in range(2)]
        classes = [rng.integers(0, n_classes, count) for _ in range(2)]
        within = rng.random(count) < same
        classes[1][within] = classes[0][within]
        yield ends[0] + classes[0], ends[1] + classes[1]


def _power_law_ranks(rng: np.random.Generator, count: int, n: int) -> np.ndarray:
    offset, power = max(1.0, n * 1e-4), 1 - 1 / 1.5
    low, high = offset**power, (n + offset) ** power
    rank = (low + rng.random(count) * (high - low)) ** (1 / power) - offset
    return np.minimum(rank.astype(np.int64), n - 1)


def power_law_graph(n_nodes: int, n_edges: int, **options: float) -> Graph:
    """An undirected `Graph` of those edges; repeated ones merge, so slightly fewer remain."""
    src, dst = power_law_edges(n_nodes, n_edges, **options)  # type: ignore[arg-type]
    return Graph.from_edges(src, dst, n_nodes=n_nodes)


def community_graph(
    n_nodes: int, n_edges: int, *, size: int = 1000, outside: float = 0.1, seed: int = 0
) -> Graph:
    """Power-law edges inside communities of ``size`` nodes, a share of them anywhere; the nodes
    come in random order, as in a file."""
    rng = np.random.default_rng(seed)
    n_inside = round((1 - outside) * n_edges)
    n_groups = max(1, n_nodes // size)
    first = rng.integers(0, n_groups, n_inside) * size
    src, dst = power_law_edges(min(size, n_nodes), n_inside, seed=seed)
    far_src, far_dst = power_law_edges(n_nodes, n_edges - n_inside, seed=seed + 1)
    order = rng.permutation(n_nodes)
    return Graph.from_edges(
        order[np.concatenate([first + src, far_src])],
        order[np.concatenate([first + dst, far_dst])],
        n_nodes=n_nodes,
    )
