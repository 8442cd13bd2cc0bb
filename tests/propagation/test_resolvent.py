import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from labeltrick import (
    Graph,
    Resolvent,
)
from tests import reference
from tests.support.graphs import random_graph, wide_graph


def signal(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


@pytest.mark.parametrize("lam", [0.1, 0.6, 0.9, 0.99])
@pytest.mark.parametrize("directed", [False, True])
def test_row_error_is_within_tol(lam, directed):
    A, graph = random_graph(2, n=60, n_edges=150, directed=directed, weighted=True)
    S = reference.normalized(A, "row")
    F = signal(0, 60, 7) * np.logspace(-3, 3, 7)  # each column has its own scale
    for tol in (1e-4, 1e-8):
        P = Resolvent(graph, lam, norm="row", tol=tol)
        error = np.abs(P @ F - reference.resolvent(S, lam) @ F).max(axis=0)
        assert (error <= tol * np.abs(F).max(axis=0)).all()
        assert P.last_solve.converged
        assert P.last_solve.n_steps > 2


@pytest.mark.parametrize("norm", ["sym", "row", "col"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_error_is_within_tol_in_the_scale_of_the_norm(norm, dtype):
    """On a star of many leaves, where scales differ most; the answer is known."""
    n, lam, tol = 20_000, 0.9, 1e-5
    graph = Graph.from_edges(np.zeros(n, int), np.arange(1, n + 1))
    degrees = graph.degrees.astype(float)
    scale = {"sym": degrees**-0.5, "row": np.ones(n + 1), "col": 1 / degrees}[norm]
    for F in (np.ones(n + 1), np.eye(n + 1, 1)[:, 0], np.random.default_rng(0).normal(size=n + 1)):
        # in the scale H = scale∘F every norm is D⁻¹A, whose resolvent on a star is explicit
        H = scale * F
        hub = (1 - lam) / (1 - lam**2) * (H[0] + lam * H[1:].mean())
        expected = np.concatenate([[hub], (1 - lam) * H[1:] + lam * hub])
        P = Resolvent(graph, lam, norm=norm, tol=tol)
        error = np.abs(scale * (P @ F.astype(dtype)) - expected).max()
        assert error <= 2 * tol * np.abs(H).max()
        assert P.last_solve.converged


def test_results_that_are_not_numbers_never_pass_as_converged():
    graph = Graph.from_edges(np.zeros(50, int), np.arange(1, 51))
    P = Resolvent(graph, 0.6, norm="col")
    with np.errstate(all="ignore"), pytest.warns(ConvergenceWarning):
        P @ np.full(51, 3e38, np.float32)
    assert not P.last_solve.converged


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
            P = Resolvent(graph, lam, tol=1e-7)
            P @ signal(0, 300, 4).astype(np.float32)
            assert P.last_solve.converged
            assert P.last_solve.residual < 1e-6


@pytest.mark.parametrize("norm", ["sym", "row", "col"])
@pytest.mark.parametrize("directed", [False, True])
def test_unscaled_errors_are_within_tol_for_weights_of_any_size(norm, directed):
    for seed in range(10):
        graph = wide_graph(seed, decades=6, directed=directed)
        S = graph.normalized(norm).to_scipy().toarray()
        F = np.eye(graph.n_nodes)
        exact = reference.resolvent(S, 0.6)
        for tol in (1e-6, 1e-11):
            P = Resolvent(graph, 0.6, norm=norm, tol=tol, unscaled=True)
            # Rounding of the dense inverse: columns of "col" hold numbers up to strength ratios.
            assert (np.abs(P @ F - exact) <= tol + 1e-12 * np.abs(exact)).all()


def test_resolvent_coefficients_sum_to_one_within_tol():
    P = Resolvent(random_graph(0)[1], 0.8, tol=1e-5)
    assert 0 <= 1 - P.coefficients().sum() <= 1e-5
    assert len(P.coefficients(7)) == 7
