"""Shapes, memory, node order and precision of products, whatever the kind."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from labeltrick import Graph, Hops, HopSum, Iteration, Power, Resolvent, Series, Unfolded
from tests import reference
from tests.support.graphs import random_graph


def tolerance(dtype):
    return 1e-10 if dtype == np.float64 else 2e-5


def signal(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


@pytest.mark.parametrize("n_columns", [1, 2, 3, 5, 8, 9, 40, 64, 65, 130])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_number_of_columns(n_columns, dtype):
    A, graph = random_graph(4)
    F = signal(0, graph.n_nodes, n_columns).astype(dtype)
    expected = reference.power(reference.normalized(A, "sym"), 2) @ F
    np.testing.assert_allclose(Power(graph, 2) @ F, expected, atol=tolerance(dtype))


def test_layouts_dtypes_and_vectors():
    _, graph = random_graph(4)
    P = Series(graph, 0.5, 3)
    F = signal(0, graph.n_nodes, 6)
    expected = P @ F
    for same in (
        np.asfortranarray(F),
        np.repeat(F, 2, axis=1)[:, ::2],
        sp.csr_array(F),
        F.tolist(),
    ):
        np.testing.assert_allclose(P @ same, expected, rtol=1e-14)
    read_only = F.copy()
    read_only.flags.writeable = False
    np.testing.assert_array_equal(P @ read_only, expected)
    np.testing.assert_array_equal(P @ F[:, 0], expected[:, 0])
    integers = np.arange(graph.n_nodes) % 3
    assert (P @ integers).dtype == np.float64
    np.testing.assert_array_equal(P @ integers, P @ integers.astype(float))
    assert (P @ integers.astype(np.float16)).dtype == np.float32
    assert (P @ np.zeros((graph.n_nodes, 0))).shape == (graph.n_nodes, 0)


def test_sparse_one_hot_labels_equal_dense_ones():
    _, graph = random_graph(4)
    Y = sp.csr_array(np.eye(graph.n_nodes, 70, dtype=np.float32))
    for P in (Resolvent(graph, 0.6), Hops(graph, 2), Unfolded(graph)):
        np.testing.assert_array_equal(P @ Y, P @ Y.toarray())


def test_out_that_overlaps_the_input_askew():
    _, graph = random_graph(4)
    P = Power(graph, 1)
    F = signal(0, graph.n_nodes, 70)
    expected = P @ F
    np.testing.assert_array_equal(P.apply(F, out=F[:, ::-1]), expected)


def test_out_is_used_and_may_be_the_input():
    _, graph = random_graph(4)
    for P in (Resolvent(graph, 0.5), Iteration(graph, 0.5, 4), Unfolded(graph)):
        F = signal(0, graph.n_nodes, 70)
        expected = P @ F
        out = np.empty_like(F, order="F")
        assert P.apply(F, out=out) is out
        np.testing.assert_array_equal(out, expected)
        P.apply(F, out=F)
        np.testing.assert_array_equal(F, expected)
    vector = signal(0, graph.n_nodes)
    np.testing.assert_array_equal(P.apply(vector, out=np.empty_like(vector)), P @ vector)


def test_small_memory_gives_the_same_numbers_in_more_blocks():
    _, graph = random_graph(4)
    F = signal(0, graph.n_nodes, 37)
    expected = Resolvent(graph, 0.6, tol=1e-10) @ F
    blocks = []
    for max_memory in (1, 3 * 8 * graph.n_nodes * 2, 3 * 8 * graph.n_nodes * 4):
        calls = []
        P = Power(graph.on(max_memory=max_memory), 1)
        P.apply(F, progress=lambda done, total, calls=calls: calls.append(total))
        blocks.append(calls[0])
        solved = Resolvent(graph.on(max_memory=max_memory), 0.6, tol=1e-10) @ F
        np.testing.assert_allclose(solved, expected, atol=1e-8)
    assert blocks == [37, 19, 10]


@pytest.mark.parametrize("sparse", [False, True])
def test_peak_memory_stays_under_the_setting(sparse):
    rng = np.random.default_rng(0)
    n, n_columns = 20_000, 100
    graph = Graph.from_edges(*rng.integers(0, n, (2, 40_000)), n_nodes=n)
    F = np.zeros((n, n_columns), np.float32)
    F[np.arange(n), rng.integers(0, n_columns, n)] = 1
    F = sp.csc_array(F) if sparse else F
    out = np.empty((n, n_columns), np.float32)
    for max_memory in (1_000_000, 4_000_000, 12_000_000):
        P = Resolvent(graph.on(max_memory=max_memory), 0.6, reorder=False)
        P.apply(F, out=out)  # builds what the operator keeps: a few vectors of length n
        tracemalloc.start()
        P.apply(F, out=out)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        small_change = 200_000
        assert max_memory / 4 < peak < max_memory + small_change


@pytest.mark.parametrize("weighted", [False, True])
def test_reordering_changes_nothing_bit_for_bit(weighted):
    _, graph = random_graph(6, n=500, n_edges=3000, weighted=weighted)
    F = signal(0, 500, 10).astype(np.float32)
    for make in (
        lambda **o: Resolvent(graph, 0.8, **o),
        lambda **o: Iteration(graph, 0.8, 7, norm="col", clamp=(0, 1), **o),
        lambda **o: Hops(graph, 3, norm="row", **o),
        lambda **o: Unfolded(graph, 3, **o),
    ):
        np.testing.assert_array_equal(make(reorder=True) @ F, make(reorder=False) @ F)


def test_reordering_starts_once_a_large_graph_was_used_enough():
    rng = np.random.default_rng(0)
    n = 20_000
    graph = Graph.from_edges(*rng.integers(0, n, (2, 40_000)), n_nodes=n)
    F = np.ones((n, 64), np.float32)
    P = Power(graph, 4)
    P @ F
    assert "reordered" not in graph.__dict__
    before = P @ F
    for _ in range(4):
        after = P @ F
    assert "reordered" in graph.__dict__
    np.testing.assert_array_equal(before, after)


def test_long_rows_are_summed_precisely():
    # A star: the hub's sum of 100,000 float32 values must not drift.
    n = 100_001
    graph = Graph.from_edges(np.zeros(n - 1, int), np.arange(1, n))
    F = np.full(n, 0.1, np.float32)
    assert (graph.normalized("row") @ F)[0] == pytest.approx(0.1, rel=2e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extreme_weights(dtype):
    edges = np.array([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)])
    weights = np.array([1e-60, 1e60, 1.0, 1e-30, 1e25])
    A = reference.adjacency(4, edges, weights)
    graph = Graph.from_edges(*edges.T, weight=weights)
    F = signal(0, 4, 3).astype(dtype)
    for norm in ("sym", "row", "col"):
        dense = reference.resolvent(reference.normalized(A, norm), 0.7)
        with np.errstate(over="ignore"):
            expected = (dense @ F).astype(dtype)
        np.testing.assert_allclose(Resolvent(graph, 0.7, norm=norm) @ F, expected, rtol=1e-4)


def test_progress_reaches_its_total():
    _, graph = random_graph(4)
    seen = []
    Iteration(graph, 0.5, 5).apply(
        signal(0, graph.n_nodes, 3), progress=lambda done, total: seen.append((done, total))
    )
    assert seen == [(k, 5) for k in range(1, 6)]


def test_empty_graph_and_zero_steps():
    empty = Graph.from_edges([], [])
    assert (Resolvent(empty, 0.5) @ np.zeros((0, 3))).shape == (0, 3)
    _, graph = random_graph(4)
    F = signal(0, graph.n_nodes, 3)
    for P in (Power(graph, 0), Iteration(graph, 0.5, 0), HopSum(graph, 0), Hops(graph, 0)):
        np.testing.assert_allclose(P @ F, F, rtol=1e-15)
    np.testing.assert_allclose(Unfolded(graph, 0) @ F, F, rtol=1e-15)
