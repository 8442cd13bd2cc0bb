"""Solutions at new nodes from those of the graph before, against dense algebra."""

import numpy as np
import pytest

from labeltrick import Graph
from labeltrick.graph.grown import grown
from labeltrick.propagation import nearby
from labeltrick.propagation.nearby import Nearby, Spread


def dense(graph, damping):
    """The row-normalized S and (1−λ)(I − λS)⁻¹."""
    A = graph.to_scipy().toarray().astype(float)
    S = A / np.maximum(A.sum(axis=1, keepdims=True), 1e-300)
    return S, (1 - damping) * np.linalg.inv(np.eye(len(S)) - damping * S)


def problem(seed, directed=False, weighted=False, n=60, count=3):
    """(graph before, graph after, ends of new edges): random, with nodes without edges."""
    rng = np.random.default_rng(seed)
    source, target = rng.integers(0, n - 5, (2, 2 * n))
    weight = rng.random(2 * n) + 0.1 if weighted else None
    graph = Graph.from_edges(source, target, weight=weight, n_nodes=n, directed=directed)
    # From new nodes to old and new ones, and between old ones.
    starts = np.concatenate([np.repeat(np.arange(n, n + count), 3), [4, 9]])
    stops = rng.integers(0, n + count, len(starts))
    more = rng.random(len(starts)) + 0.1 if weighted else None
    return graph, grown(graph, n + count, starts, stops, more), np.concatenate([starts, stops])


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("damping", [0.3, 0.9, 0.97])
def test_resolvents_at_new_nodes(directed, weighted, damping):
    for seed in range(5):
        graph, after, ends = problem(seed, directed, weighted)
        n, rng = graph.n_nodes, np.random.default_rng(seed)
        F = np.where(rng.random((n, 1)) < 0.4, rng.random((n, 3)), 0.0)
        spread = Spread.of(graph, damping, F)
        around = Nearby(after, graph.degrees, np.unique(ends[ends < n]))
        new = np.arange(n, after.n_nodes)
        _, P = dense(after, damping)
        expected = P[new] @ np.concatenate([F, np.zeros((len(new), 3))])
        assert np.abs(around.resolvent_at(new, spread) - expected).max() < 1e-6
        assert np.abs(around.row(int(new[0]), damping) - P[new[0]]).max() < 1e-6


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_of_powers(directed, weighted):
    graph, after, ends = problem(0, directed, weighted)
    S, _ = dense(after, 0.5)
    around = Nearby(after, graph.degrees, np.unique(ends))
    for node in (0, graph.n_nodes, graph.n_nodes + 2):
        for hop, (nodes, shares) in enumerate(around.hop_rows(node, 3)):
            row = np.zeros(after.n_nodes)
            row[nodes] = shares
            assert np.abs(row - np.linalg.matrix_power(S, hop)[node]).max() < 1e-12


def test_what_is_far_away_is_estimated_and_checked(monkeypatch):
    graph, after, ends = problem(3, n=300, count=1)
    n = graph.n_nodes
    F = np.random.default_rng(0).random((n, 2))
    around = Nearby(after, graph.degrees, np.unique(ends[ends < n]))
    spread, new = Spread.of(graph, 0.9, F), np.array([n])
    _, P = dense(after, 0.9)
    expected = P[new] @ np.concatenate([F, np.zeros((1, 2))])
    monkeypatch.setattr(nearby, "_BUDGET", 30)  # edges: a part of the neighborhood
    monkeypatch.setattr(nearby, "_TRUSTED", np.inf)
    rough = np.abs(around.resolvent_at(new, spread) - expected).max()
    monkeypatch.setattr(nearby, "_TRUSTED", 0.0)  # then the whole graph decides
    exact = np.abs(around.resolvent_at(new, spread) - expected).max()
    assert 1e-6 < rough < 0.01
    assert exact < 1e-6
