"""A small problem with names, for the tests of explanations."""

import numpy as np
import pytest

from labeltrick import Graph


def make_problem(task="classification", seed=0, n=60, directed=False):
    """(graph with names, X, y): two groups, of which one in two nodes is labeled."""
    rng = np.random.default_rng(seed)
    group = np.repeat([0, 1], n // 2)
    source, target = rng.integers(0, n, (2, 8 * n))
    near = (group[source] == group[target]) | (rng.random(8 * n) < 0.15)
    near &= source != target
    names = [f"node {k}" for k in range(n)]
    graph = Graph.from_edges(source[near], target[near], n_nodes=n, directed=directed)
    X = np.column_stack([group + rng.normal(size=n), rng.normal(size=n)])
    known = rng.random(n) < 0.5
    if task == "classification":
        y = np.where(known, group, -1)
    elif task == "multilabel":
        both = np.column_stack([group, 1 - group ^ (rng.random(n) < 0.2)]).astype(float)
        y = np.where(known[:, None], both, np.nan)
    else:
        y = np.where(known, 3.0 * group + rng.normal(size=n), np.nan)
    return graph.with_names(names), X, y


@pytest.fixture
def problem():
    return make_problem
