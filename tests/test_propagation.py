import itertools
import tracemalloc
import warnings

import numpy as np
import pytest
import reference
import scipy.sparse as sp
from graphs import graphs, random_graph
from hypothesis import given, settings
from hypothesis import strategies as st

from labeltrick import (
    ConvergenceWarning,
    Graph,
    Hops,
    HopSum,
    Iteration,
    Power,
    Propagation,
    Resolvent,
    Series,
    Unfolded,
)

KINDS = {
    "resolvent": (
        lambda g, **o: Resolvent(g, 0.7, tol=1e-12, **o),
        lambda S: reference.resolvent(S, 0.7),
    ),
    "iteration": (
        lambda g, **o: Iteration(g, 0.7, 6, **o),
        lambda S: reference.iteration(S, 0.7, 6, np.eye(len(S))),
    ),
    "series": (lambda g, **o: Series(g, 0.7, 6, **o), lambda S: reference.series(S, 0.7, 6)),
    "power": (lambda g, **o: Power(g, 3, **o), lambda S: reference.power(S, 3)),
    "hop_sum": (
        lambda g, **o: HopSum(g, 4, **o),
        lambda S: sum(reference.power(S, k) for k in range(5)),
    ),
    "hop_sum_weighted": (
        lambda g, **o: HopSum(g, 2, hop_weights=[0.5, -1.0, 2.0], **o),
        lambda S: 0.5 * np.eye(len(S)) - S + 2 * S @ S,
    ),
}


def tolerance(dtype):
    return 1e-10 if dtype == np.float64 else 2e-5


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("norm", ["sym", "row", "col"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_kind_matches_its_dense_formula(kind, norm, dtype):
    make, dense = KINDS[kind]
    options = itertools.product([False, True], [False, True], [False, True])
    for weighted, directed, self_loops in options:
        A, graph = random_graph(7, weighted=weighted, directed=directed)
        S = reference.normalized(reference.with_self_loops(A) if self_loops else A, norm)
        P = make(graph, norm=norm, self_loops=self_loops)
        F = np.random.default_rng(0).normal(size=(graph.n_nodes, 5)).astype(dtype)
        result = P @ F
        assert result.dtype == dtype
        np.testing.assert_allclose(result, dense(S) @ F, atol=tolerance(dtype))
        np.testing.assert_allclose(P.T @ F, dense(S).T @ F, atol=tolerance(dtype))


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "resolvent"])
def test_coefficients_define_the_kind(kind):
    make, dense = KINDS[kind]
    A, graph = random_graph(11, weighted=True)
    S = reference.normalized(A, "sym")
    c = make(graph).coefficients()
    np.testing.assert_allclose(
        sum(c_k * reference.power(S, k) for k, c_k in enumerate(c)), dense(S), atol=1e-12
    )


def test_resolvent_coefficients_sum_to_one_within_tol():
    P = Resolvent(random_graph(0)[1], 0.8, tol=1e-5)
    assert 0 <= 1 - P.coefficients().sum() <= 1e-5
    assert len(P.coefficients(7)) == 7


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_hops_and_their_transpose(directed, dtype):
    A, graph = random_graph(3, directed=directed)
    S = reference.normalized(A, "row")
    F = np.random.default_rng(0).normal(size=(graph.n_nodes, 3)).astype(dtype)
    P = Hops(graph, 3, norm="row")
    np.testing.assert_allclose(P @ F, reference.hops(S, 3, F), atol=tolerance(dtype))
    G = np.random.default_rng(1).normal(size=(graph.n_nodes, 12)).astype(dtype)
    expected = sum(reference.power(S.T, k) @ G[:, 3 * k : 3 * k + 3] for k in range(4))
    np.testing.assert_allclose(P.T @ G, expected, atol=tolerance(dtype))
    with pytest.raises(ValueError, match=r"multiple of n_steps \+ 1 = 4 columns"):
        P.T @ G[:, :5]


@pytest.mark.parametrize("precondition", [False, True])
@pytest.mark.parametrize("smoothness", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("self_loops", [False, True])
def test_unfolded_matches_the_gradient_steps(precondition, smoothness, self_loops):
    A, graph = random_graph(5)
    A = reference.with_self_loops(A) if self_loops else A
    F = np.random.default_rng(0).normal(size=(graph.n_nodes, 3))
    for step_size in (None, 0.3):
        P = Unfolded(
            graph,
            4,
            smoothness=smoothness,
            step_size=step_size,
            precondition=precondition,
            self_loops=self_loops,
        )
        dense = reference.unfolded(
            A, smoothness, 4, np.eye(len(A)), step_size, precondition=precondition
        )
        np.testing.assert_allclose(P @ F, dense @ F, atol=1e-12)
        np.testing.assert_allclose(P.T @ F, dense.T @ F, atol=1e-12)
        np.testing.assert_allclose(P.T.T @ F, dense @ F, atol=1e-12)


def test_unfolded_coefficients_and_bad_input():
    A, graph = random_graph(5)
    S = reference.normalized(reference.with_self_loops(A), "sym")
    P = Unfolded(graph, 3, smoothness=0.4, precondition=False)
    dense = sum(c * reference.power(S, k) for k, c in enumerate(P.coefficients()))
    np.testing.assert_allclose(dense, P @ np.eye(len(A)), atol=1e-12)
    with pytest.raises(ValueError, match="must be undirected for Unfolded"):
        Unfolded(random_graph(0, directed=True)[1])
    light = Graph.from_edges([0], [1], weight=[0.1])
    with pytest.raises(ValueError, match="`smoothness` must keep .* at node 0"):
        Unfolded(light, smoothness=2.0, self_loops=False)


@pytest.mark.parametrize("norm", ["sym", "row", "col"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_clamped_iteration(norm, dtype):
    A, graph = random_graph(9)
    S = reference.normalized(A, norm)
    F = np.random.default_rng(0).normal(size=(graph.n_nodes, 4)).astype(dtype)
    for clamp in [(0.0, 1.0), (-0.2, 0.1), (0.0, None)]:
        P = Iteration(graph, 0.9, 8, norm=norm, clamp=clamp)
        expected = reference.iteration(S, 0.9, 8, F.astype(float), clamp)
        np.testing.assert_allclose(P @ F, expected, atol=tolerance(dtype))
    with pytest.raises(ValueError, match="clamped iteration is not linear"):
        P.T


# -- properties -----------------------------------------------------------------------------
def any_kind(draw, graph):
    norm, self_loops = draw(st.sampled_from(["sym", "row", "col"])), draw(st.booleans())
    make, _ = KINDS[draw(st.sampled_from(sorted(KINDS)))]
    return make(graph, norm=norm, self_loops=self_loops)


def signal(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


@settings(max_examples=60)
@given(pair=graphs(), data=st.data(), a=st.floats(-5, 5), b=st.floats(-5, 5))
def test_linearity(pair, data, a, b):
    P = any_kind(data.draw, pair[1])
    F, G = signal(0, P.n_nodes, 3), signal(1, P.n_nodes, 3)
    scale = 1 + np.abs(P @ F).max() + np.abs(P @ G).max()
    np.testing.assert_allclose(P @ (a * F + b * G), a * (P @ F) + b * (P @ G), atol=1e-9 * scale)


@settings(max_examples=60)
@given(pair=graphs(), data=st.data())
def test_transpose_is_the_adjoint(pair, data):
    P = any_kind(data.draw, pair[1])
    F, G = signal(0, P.n_nodes, 2), signal(1, P.n_nodes, 2)
    left, right = np.sum((P @ F) * G), np.sum(F * (P.T @ G))
    assert left == pytest.approx(right, rel=1e-8, abs=1e-8)


@settings(max_examples=60)
@given(pair=graphs(), data=st.data())
def test_permutation_equivariance(pair, data):
    A, graph = pair
    order = np.array(data.draw(st.permutations(range(graph.n_nodes))))
    norm = data.draw(st.sampled_from(["sym", "row", "col"]))
    make, _ = KINDS[data.draw(st.sampled_from(sorted(KINDS)))]
    moved = Graph.from_scipy(sp.csr_array(A[np.ix_(order, order)]), directed=graph.directed)
    F = signal(0, graph.n_nodes, 2)
    np.testing.assert_allclose(
        make(moved, norm=norm) @ F[order], (make(graph, norm=norm) @ F)[order], atol=1e-9
    )


@settings(max_examples=30)
@given(pair=graphs(), lam=st.floats(0.05, 0.95))
def test_isolated_nodes_keep_their_known_share(pair, lam):
    _, graph = pair
    n = graph.n_nodes
    extended = Graph.from_edges(*graph.to_edge_index(), n_nodes=n + 1, directed=True)
    F = signal(0, n + 1)
    for norm in ("sym", "row", "col"):
        last = (Resolvent(extended, lam, norm=norm, tol=1e-12) @ F)[n]
        assert last == pytest.approx((1 - lam) * F[n], rel=1e-9)
        with_loop = Resolvent(extended, lam, norm=norm, tol=1e-12, self_loops=True) @ F
        assert with_loop[n] == pytest.approx(F[n], rel=1e-9)
        assert (Iteration(extended, lam, 3, norm=norm) @ F)[n] == pytest.approx((1 - lam) * F[n])


@settings(max_examples=30)
@given(pair=graphs(directed=False), lam=st.floats(0.05, 0.95))
def test_row_propagation_of_a_constant_is_the_constant(pair, lam):
    P = Resolvent(pair[1], lam, norm="row", self_loops=True, tol=1e-12)
    np.testing.assert_allclose(P @ np.ones(P.n_nodes), 1.0, atol=1e-10)


# -- the resolvent's stop -------------------------------------------------------------------
@pytest.mark.parametrize("lam", [0.1, 0.6, 0.9, 0.99])
@pytest.mark.parametrize("directed", [False, True])
def test_resolvent_error_is_within_tol(lam, directed):
    A, graph = random_graph(2, n=60, n_edges=150, directed=directed, weighted=True)
    S = reference.normalized(A, "row")
    F = signal(0, 60, 7) * np.logspace(-3, 3, 7)  # each column has its own scale
    for tol in (1e-4, 1e-8):
        P = Resolvent(graph, lam, norm="row", tol=tol)
        error = np.abs(P @ F - reference.resolvent(S, lam) @ F).max(axis=0)
        assert (error <= tol * np.abs(F).max(axis=0)).all()
        assert P.last_solve.converged
        assert P.last_solve.n_steps > 2


def test_chebyshev_takes_the_steps_that_theory_promises():
    _, graph = random_graph(2, n=400, n_edges=1500)
    F = signal(0, 400, 3)
    for lam, steps in ((0.6, 18), (0.9, 40)):
        P = Resolvent(graph, lam)
        P @ F
        assert P.last_solve.n_steps <= steps


def test_too_few_steps_warn_with_residual_and_steps():
    _, graph = random_graph(2)
    P = Resolvent(graph, 0.9, max_steps=4)
    with pytest.warns(ConvergenceWarning, match=r"relative residual \S+ after 4 steps"):
        P @ signal(0, graph.n_nodes)
    assert not P.last_solve.converged


def test_float32_meets_its_floor_without_warning():
    _, graph = random_graph(2, n=300, n_edges=900)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for lam in (0.6, 0.9, 0.99, 0.999):
            Resolvent(graph, lam, tol=1e-7) @ signal(0, 300, 4).astype(np.float32)


# -- shapes, memory, order ------------------------------------------------------------------
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
    expected = Resolvent(graph, 0.6) @ F
    blocks = []
    for max_memory in (1, 3 * 8 * graph.n_nodes * 2, 3 * 8 * graph.n_nodes * 4):
        calls = []
        P = Power(graph, 1, max_memory=max_memory)
        P.apply(F, progress=lambda done, total, calls=calls: calls.append(total))
        blocks.append(calls[0])
        solved = Resolvent(graph, 0.6, max_memory=max_memory) @ F
        np.testing.assert_allclose(solved, expected, atol=1e-6)
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
        P = Resolvent(graph, 0.6, max_memory=max_memory, reorder=False)
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


# -- bad input ------------------------------------------------------------------------------
@pytest.mark.parametrize("damping", [0, 1, -0.5, 1.5, np.nan])
@pytest.mark.parametrize(
    "kind",
    [lambda g, d: Resolvent(g, d), lambda g, d: Iteration(g, d, 2), lambda g, d: Series(g, d, 2)],
)
def test_damping_outside_zero_one(kind, damping):
    with pytest.raises(ValueError, match="`damping` must be strictly between 0 and 1; got"):
        kind(Graph.from_edges([0], [1]), damping)


@pytest.mark.parametrize("kind", [Power, HopSum, Hops, lambda g, k: Iteration(g, 0.5, k), Unfolded])
def test_bad_number_of_steps(kind):
    graph = Graph.from_edges([0], [1])
    with pytest.raises(ValueError, match="`n_steps` must be at least 0; got -1"):
        kind(graph, -1)
    with pytest.raises(TypeError, match="`n_steps` must be an integer; got 1.5"):
        kind(graph, 1.5)


def test_bad_signals():
    graph = Graph.from_edges([0, 1], [1, 2])
    P = Resolvent(graph, 0.5)
    with pytest.raises(ValueError, match=r"one row a node \(3\); got 4 \(shape \(4, 3\)\). Transp"):
        P @ np.ones((4, 3))
    with pytest.raises(ValueError, match="got 3 dimensions"):
        P @ np.ones((3, 1, 1))
    with pytest.raises(TypeError, match="must hold real numbers; got <U1. Encode labels"):
        P @ ["a", "b", "c"]
    for bad in (np.nan, np.inf):
        F = np.ones((3, 2))
        F[1, 1] = bad
        for kind in (P, Power(graph, 1), Hops(graph, 1), Unfolded(graph)):
            with pytest.raises(ValueError, match="`F` must be finite; row 1 holds NaN or infinity"):
                kind @ F
    with pytest.raises(ValueError, match=r"`out` must be a numpy array of float64 \(3, 2\)"):
        P.apply(np.ones((3, 2)), out=np.ones((3, 2), np.float32))
    frozen = np.ones(3)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="`out` must be writable"):
        P.apply(np.ones(3), out=frozen)


def test_bad_parameters():
    graph = Graph.from_edges([0], [1])
    with pytest.raises(TypeError, match="`graph` must be a labeltrick.Graph; got ndarray"):
        Power(np.eye(2), 1)
    with pytest.raises(ValueError, match="`clamp` must be a pair with low < high"):
        Iteration(graph, 0.5, 1, clamp=(1, 0))
    with pytest.raises(TypeError, match="`clamp` must be None or a pair"):
        Iteration(graph, 0.5, 1, clamp=3)
    with pytest.raises(ValueError, match="`hop_weights` must be n_steps \\+ 1 = 3 finite numbers"):
        HopSum(graph, 2, hop_weights=[1, 2])
    with pytest.raises(ValueError, match="`max_memory` must be at least 1; got 0"):
        Power(graph, 1, max_memory=0)
    with pytest.raises(ValueError, match="`tol` must be strictly between 0 and 1"):
        Resolvent(graph, 0.5, tol=0)


def test_the_base_class_cannot_be_used_and_kinds_print_themselves():
    graph = Graph.from_edges([0], [1])
    with pytest.raises(TypeError, match="abstract"):
        Propagation(graph)
    shown = repr(Iteration(graph, 0.5, 2, clamp=(0, 1), norm="col"))
    assert shown == (
        "Iteration(Graph(n_nodes=2, n_edges=1), damping=0.5, n_steps=2, clamp=(0.0, 1.0), "
        "norm='col', self_loops=False)"
    )
