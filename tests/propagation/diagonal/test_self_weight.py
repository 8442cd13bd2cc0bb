import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from labeltrick import (
    Graph,
    Hops,
    HopSum,
    Iteration,
    Power,
    Resolvent,
    Series,
    Unfolded,
    hop_diagonals,
)
from labeltrick.propagation.diagonal.neighborhoods import SymmetricForm, push_resolvent
from labeltrick.propagation.diagonal.request import SelfWeightRequest
from tests import reference
from tests.support.graphs import dense_operator, graphs, random_graph


def shapes():
    """Graphs with a shape of their own: name → list of edges and number of nodes."""
    star = [(0, k) for k in range(1, 40)]
    clique = list(itertools.combinations(range(12), 2))
    path = [(k, k + 1) for k in range(40)]
    apart = [*clique, *((20 + a, 20 + b) for a, b in path)]
    loops = [*path, *((k, k) for k in range(0, 40, 3))]
    hubs = [*star, *((41, k) for k in range(5, 60)), (0, 41)]
    return {
        "star": (star, 40),
        "clique": (clique, 12),
        "path": (path, 41),
        "apart, isolated": (apart, 65),
        "loops": (loops, 41),
        "two hubs": (hubs, 60),
    }


def iterated(lam, n_steps):
    return lambda S: reference.iteration(S, lam, n_steps, np.eye(len(S)))


KINDS = {
    "iteration": (lambda g, **o: Iteration(g, 0.7, 5, **o), iterated(0.7, 5)),
    "long iteration": (lambda g, **o: Iteration(g, 0.8, 60, **o), iterated(0.8, 60)),
    "middling iteration": (lambda g, **o: Iteration(g, 0.9, 20, **o), iterated(0.9, 20)),
    "series": (lambda g, **o: Series(g, 0.7, 30, **o), lambda S: reference.series(S, 0.7, 30)),
    "power": (lambda g, **o: Power(g, 3, **o), lambda S: reference.power(S, 3)),
    "hop sum": (
        lambda g, **o: HopSum(g, 4, **o),
        lambda S: sum(reference.power(S, k) for k in range(5)),
    ),
    "resolvent": (lambda g, **o: Resolvent(g, 0.85, **o), lambda S: reference.resolvent(S, 0.85)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("method", ["auto", "exact"])
def test_every_kind_norm_and_weight(kind, directed, method):
    make, dense = KINDS[kind]
    options = itertools.product(["sym", "row", "col"], [False, True], [False, True])
    for norm, self_loops, weighted in options:
        _, graph = random_graph(3, weighted=weighted, directed=directed)
        P = make(graph, norm=norm, self_loops=self_loops)
        C = P.self_weight(tol=1e-6, method=method)
        error = np.abs(C.value - np.diag(dense(dense_operator(graph, norm, self_loops))))
        assert (error <= C.error_bound).all()
        assert C.error_bound.max() <= (1e-8 if method == "exact" else 1e-6) * 1.01


@pytest.mark.parametrize("kind", ["iteration", "series", "power", "hop sum"])
def test_short_is_exact(kind):
    make, dense = KINDS[kind]
    for weighted, self_loops in itertools.product([False, True], [False, True]):
        _, graph = random_graph(4, weighted=weighted)
        C = make(graph, self_loops=self_loops).self_weight(method="short")
        expected = np.diag(dense(dense_operator(graph, "sym", self_loops)))
        np.testing.assert_allclose(C.value, expected, atol=1e-13)
        assert set(C.method) == {"short"}


@pytest.mark.parametrize("name", shapes())
@pytest.mark.parametrize("lam", [0.1, 0.6, 0.9, 0.99])
def test_push_bounds_hold_on_graphs_of_many_shapes(name, lam):
    edges, n = shapes()[name]
    rng = np.random.default_rng(0)
    for weight in (None, rng.uniform(0.01, 10, len(edges)), np.zeros(len(edges))):
        graph = Graph.from_edges(*np.array(edges).T, weight=weight, n_nodes=n)
        for self_loops in (False, True):
            S = dense_operator(graph, "sym", self_loops)
            P = Resolvent(graph, lam, self_loops=self_loops)
            exact = np.diag(reference.resolvent(S, lam))
            for tol in (1e-2, 1e-4, 1e-8):
                C = P.self_weight(tol=tol)
                assert (np.abs(C.value - exact) <= C.error_bound).all()
                assert C.error_bound.max() <= tol * 1.001


@settings(max_examples=300)
@given(
    pair=graphs(directed=False),
    lam=st.floats(0.02, 0.98),
    exponent=st.floats(-9, -1),
    loops=st.booleans(),
    norm=st.sampled_from(["sym", "row", "col"]),
)
def test_certified_bounds_hold_against_dense_inverses(pair, lam, exponent, loops, norm):
    _, graph = pair
    P = Resolvent(graph, lam, norm=norm, self_loops=loops)
    rows = np.arange(graph.n_nodes) % 3 != 1
    C = P.self_weight(tol=10**exponent, rows=rows)
    dense = reference.resolvent(dense_operator(graph, norm, loops), lam)
    assert (np.abs(C.value - np.diag(dense)) <= C.error_bound).all()
    energy = reference.column_energy(dense, rows)
    assert (np.abs(energy - C.column_energy) <= C.energy_bound).all()


@settings(max_examples=60)
@given(pair=graphs(), n_steps=st.integers(0, 9), loops=st.booleans())
def test_hop_diagonals(pair, n_steps, loops):
    _, graph = pair
    operator = graph.normalized("row", self_loops=loops)
    S = dense_operator(graph, "row", loops)
    expected = np.stack([np.diag(reference.power(S, k)) for k in range(n_steps + 1)], axis=1)
    methods = ["exact", "auto"] + ([] if graph.directed else ["short"])
    for method in methods:
        found = hop_diagonals(operator, n_steps, method=method)
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_hop_diagonals_give_c_of_any_damping():
    _, graph = random_graph(5)
    moments = hop_diagonals(graph.normalized("sym"), 12)
    for lam in (0.3, 0.6, 0.9):
        P = Iteration(graph, lam, 12)
        np.testing.assert_allclose(
            moments @ P.coefficients(), P.self_weight(method="exact").value, atol=1e-12
        )


def test_hops_have_a_diagonal_each():
    _, graph = random_graph(5)
    S = dense_operator(graph, "sym", False)
    C = Hops(graph, 3).self_weight()
    for k in range(4):
        np.testing.assert_allclose(C.value[:, k], np.diag(reference.power(S, k)), atol=1e-13)
    with pytest.raises(ValueError, match="must be left out for Hops"):
        Hops(graph, 3).self_weight(method="probe")


@pytest.mark.parametrize("precondition", [False, True])
def test_unfolded(precondition):
    A, graph = random_graph(5)
    A = reference.with_self_loops(A)
    P = Unfolded(graph, 3, smoothness=1.5, precondition=precondition)
    dense = reference.unfolded(A, 1.5, 3, np.eye(len(A)), precondition=precondition)
    for method in ("auto", "exact", "short"):
        nodes = [4, 1, 9]
        found = P.self_weight(nodes, method=method).value
        np.testing.assert_allclose(found, np.diag(dense)[nodes], atol=1e-12)


@pytest.mark.parametrize("kind", ["iteration", "power", "resolvent"])
@pytest.mark.parametrize("directed", [False, True])
def test_column_energy(kind, directed):
    make, dense = KINDS[kind]
    _, graph = random_graph(6, directed=directed)
    rows = np.arange(0, graph.n_nodes, 2)
    for norm in ("sym", "row", "col"):
        P = dense(dense_operator(graph, norm, False))
        expected = reference.column_energy(P, rows)
        for method in ("auto", "exact"):
            C = make(graph, norm=norm).column_energy(rows, method=method)
            assert (np.abs(expected - C.column_energy) <= C.energy_bound).all()
            np.testing.assert_allclose(C.column_energy, expected, rtol=1e-2, atol=1e-20)
        np.testing.assert_allclose(C.column_energy, expected, rtol=1e-6, atol=1e-20)


def test_isolated_nodes():
    graph = Graph.from_edges([0], [1], n_nodes=3)
    for lam in (0.2, 0.9):
        assert Resolvent(graph, lam).self_weight([2]).value[0] == pytest.approx(1 - lam)
        assert Resolvent(graph, lam, self_loops=True).self_weight([2]).value[0] == pytest.approx(1)
        assert Iteration(graph, lam, 5).self_weight([2]).value[0] == pytest.approx(1 - lam)
        assert Iteration(graph, lam, 0).self_weight([2]).value[0] == pytest.approx(1)


def test_nodes_beyond_the_budget_are_solved_whole():
    _, graph = random_graph(8, n=200, n_edges=900)
    form = SymmetricForm.of(graph.normalized("sym"))
    nodes = np.arange(200)
    request = SelfWeightRequest(nodes, 2**30, tol=1e-8)
    limited = push_resolvent(form, 0.9, request, budget=200)
    assert (limited.bound > 1e-8).any()
    exact = np.diag(reference.resolvent(dense_operator(graph, "sym", False), 0.9))
    assert (np.abs(limited.value - exact) <= limited.bound + 1e-13).all()
    assert set(Resolvent(graph, 0.9).self_weight(tol=1e-8).method) == {"push", "exact"}
    C = Resolvent(graph, 0.9).self_weight(tol=1e-8, rows=nodes < 150, energy_rtol=0.99)
    assert set(C.method) == {"push", "exact"}
    assert (np.abs(C.value - exact) <= C.error_bound).all()
    assert C.error_bound.max() <= 1e-8 * 1.001
    dense = reference.resolvent(dense_operator(graph, "sym", False), 0.9)
    energy = reference.column_energy(dense, nodes < 150)
    assert (np.abs(C.column_energy - energy) <= C.energy_bound).all()


def test_large_graphs_are_reordered_and_mapped_back():
    rng = np.random.default_rng(0)
    n = 25_000
    graph = Graph.from_edges(*rng.integers(0, n, (2, 50_000)), n_nodes=n)
    nodes = rng.choice(n, 300, replace=False)
    P = Resolvent(graph, 0.6)
    C = P.self_weight(nodes, tol=1e-7)
    exact = P.self_weight(nodes[:64], method="exact")
    assert (np.abs(C.value[:64] - exact.value) <= C.error_bound[:64] + 1e-12).all()
    moments = hop_diagonals(graph.normalized("sym"), 4, nodes[:64], method="short")
    dense = hop_diagonals(graph.normalized("sym"), 4, nodes[:64], method="exact")
    np.testing.assert_allclose(moments, dense, atol=1e-12)


@pytest.mark.parametrize("kind", ["resolvent", "iteration", "power"])
def test_probes_are_unbiased_with_honest_errors(kind):
    make, dense = KINDS[kind]
    _, graph = random_graph(9, n=120, n_edges=500)
    P = make(graph, norm="row")
    exact = np.diag(dense(dense_operator(graph, "row", False)))
    C = P.self_weight(method="probe", n_probes=400)
    deviation = (C.value - exact) / np.maximum(C.error_bound, 1e-12)
    assert np.mean(np.abs(deviation) < 3) > 0.97
    again = P.self_weight(method="probe", n_probes=400)
    np.testing.assert_array_equal(C.value, again.value)
    other = P.self_weight(method="probe", n_probes=400, random_state=1)
    assert not np.array_equal(C.value, other.value)
    few = P.self_weight(method="probe", n_probes=25)
    assert few.error_bound.mean() > 2 * C.error_bound.mean()


def star(n_leaves, **options):
    return Graph.from_edges(np.zeros(n_leaves, int), np.arange(1, n_leaves + 1), **options)


HUBS = [(method, lam) for method in ("push", "exact", "auto") for lam in (0.6, 0.99, 0.9999)]


@pytest.mark.parametrize(
    ("method", "lam"),
    # A push that far from convergence takes a minute.
    [pytest.param(*hub, marks=pytest.mark.slow if hub == ("push", 0.9999) else ()) for hub in HUBS],
)
def test_bounds_hold_at_a_hub_of_many_leaves(lam, method):
    # S of a star has the eigenvalues ±1 and 0: C of the hub is (1−λ)/(1−λ²), of a leaf near 1−λ
    n = 30_000
    P = Resolvent(star(n), lam)
    exact = np.array([1 / (1 + lam), (1 - lam) * (1 + lam**2 / (1 - lam**2) / n)])
    C = P.self_weight([0, 5], tol=1e-10, method=method)
    assert (np.abs(C.value - exact) <= C.error_bound).all()


def test_directed_bounds_come_from_the_residual():
    n, lam = 3000, 0.9
    both = np.concatenate([np.zeros(n, int), np.arange(1, n + 1)])
    graph = Graph.from_edges(both, np.roll(both, n), n_nodes=n + 1, directed=True)
    for norm in ("sym", "row", "col"):
        for options in ({"tol": 1e-6}, {"method": "exact"}):
            C = Resolvent(graph, lam, norm=norm).self_weight([0], **options)
            assert np.abs(C.value[0] - 1 / (1 + lam)) <= C.error_bound[0]
            assert C.error_bound[0] < 1e-3
    with pytest.warns(ConvergenceWarning):
        rough = Resolvent(graph, lam, max_steps=3).self_weight([0])
    assert np.abs(rough.value[0] - 1 / (1 + lam)) <= rough.error_bound[0]


def test_large_and_cancelling_coefficients():
    _, graph = random_graph(5)
    P = HopSum(graph, 3, hop_weights=[1e8, -1e8, 1e8, -1e8])
    S = dense_operator(graph, "sym", False)
    exact = np.diag(1e8 * (np.eye(25) - S + S @ S - S @ S @ S))
    C = P.self_weight()
    assert (np.abs(C.value - exact) <= C.error_bound).all()


def test_shares_that_underflow_are_not_counted_twice():
    light, heavy = 1e-74, 1e74
    graph = Graph.from_edges([0, 0, 1], [1, 2, 2], weight=[light, heavy, heavy])
    P = HopSum(graph, 12, self_loops=True)
    exact = P.self_weight(method="exact").value
    np.testing.assert_allclose(P.self_weight(method="short").value, exact, rtol=1e-12)


def test_probing_a_graph_without_edges():
    graph = Graph.from_edges([], [], n_nodes=5)
    C = Resolvent(graph, 0.6).self_weight(method="probe")
    np.testing.assert_allclose(C.value, 0.4, atol=1e-6)
    assert "standard error" in repr(C)
    with pytest.raises(ValueError, match="`rows` must be None for method='probe'"):
        Resolvent(graph, 0.6).self_weight(method="probe", rows=[0])


def test_probes_on_a_directed_graph():
    _, graph = random_graph(9, n=60, n_edges=200, directed=True)
    exact = np.diag(reference.power(dense_operator(graph, "row", False), 2))
    C = Power(graph, 2, norm="row").self_weight(method="probe", n_probes=2000)
    assert np.abs(C.value - exact).max() < 0.1


def test_bad_input():
    _, graph = random_graph(0)
    P = Resolvent(graph, 0.5)
    with pytest.raises(ValueError, match="`method` must be one of 'auto', 'exact'"):
        P.self_weight(method="guess")
    with pytest.raises(ValueError, match="`tol` must be strictly between"):
        P.self_weight(tol=0)
    with pytest.raises(ValueError, match=r"`nodes` must hold node numbers in 0…24; got 99"):
        P.self_weight([1, 99])
    with pytest.raises(ValueError, match=r"`nodes` as a mask must have one entry per node \(25\)"):
        P.self_weight([True, False])
    with pytest.raises(TypeError, match="`nodes` must be node numbers or a mask; got float64"):
        P.self_weight([0.5])
    with pytest.raises(ValueError, match="got 'short', which is for kinds with few steps"):
        P.self_weight(method="short")
    with pytest.raises(ValueError, match="got 'push', which is for damped propagation"):
        Power(graph, 2).self_weight(method="push")
    _, directed = random_graph(0, directed=True)
    with pytest.raises(ValueError, match="on a directed graph; got 'push'"):
        Resolvent(directed, 0.5).self_weight(method="push")
    with pytest.raises(ValueError, match="on a directed graph; got 'short'"):
        Power(directed, 3).self_weight(method="short")
    with pytest.raises(ValueError, match="clamped iteration is not linear"):
        Iteration(graph, 0.5, 3, clamp=(0, 1)).self_weight()
    assert P.self_weight([]).value.shape == (0,)
    assert "nodes: 25 by push" in repr(P.self_weight())
