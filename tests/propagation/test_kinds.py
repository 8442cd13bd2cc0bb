import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from labeltrick import (
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
from tests import reference
from tests.support.graphs import graphs, random_graph

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
    with pytest.raises(
        ValueError, match=r"one row per node \(3\); got 4 \(shape \(4, 3\)\). Transp"
    ):
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
        Power(graph.on(max_memory=0), 1)
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
