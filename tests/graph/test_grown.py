"""Growing a graph by a few nodes and edges."""

import numpy as np
import pytest

from labeltrick import Graph
from labeltrick.graph.grown import grown


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_building_from_all_edges(directed, weighted):
    rng = np.random.default_rng(0)
    for _ in range(20):
        n, more, m, k = 12, int(rng.integers(0, 4)), 20, int(rng.integers(0, 9))
        source, target = rng.integers(0, n, (2, m))
        some = rng.integers(0, n + more, (2, k))
        weight = rng.integers(0, 9, m + k).astype(float) if weighted else None
        old, new = (None, None) if weight is None else (weight[:m], weight[m:])
        graph = Graph.from_edges(source, target, weight=old, n_nodes=n, directed=directed)
        found = grown(graph, n + more, *some, new)
        ends = np.concatenate([[source, target], some], axis=1)
        how = {"n_nodes": n + more, "directed": directed}
        expected = Graph.from_edges(*ends, weight=weight, **how)
        assert found == expected
        assert found.indices.dtype == expected.indices.dtype
        assert found.degrees.tolist() == expected.degrees.tolist()


def test_weights_of_an_edge_that_is_listed_again_are_added():
    graph = Graph.from_edges([0, 1], [1, 2], weight=[2.0, 3.0])
    found = grown(graph, 4, np.array([1, 3, 1]), np.array([0, 2, 0]), np.array([4.0, 5.0, 1.0]))
    assert found.to_scipy().toarray().tolist() == [
        [0, 7, 0, 0],
        [7, 0, 3, 0],
        [0, 3, 0, 5],
        [0, 0, 5, 0],
    ]
