"""Features made from the edges."""

import numpy as np
import pytest
import scipy.sparse as sp

from labeltrick import Graph
from labeltrick.propagation.features import diffusion_features, spectral_features
from tests import reference
from tests.support.graphs import random_graph


@pytest.mark.parametrize("n", [12, 120])
def test_spectral_features_are_eigenvectors(n):
    graph = Graph.from_edges([*range(n), *range(0, n, 2)], [*range(1, n), 0, *range(0, n, 2)[::-1]])
    S = reference.normalized(graph.to_scipy().toarray(), "sym")
    found = spectral_features(graph, 4)
    values = np.linalg.eigvalsh(S)[::-1][:4]
    np.testing.assert_allclose(S @ found, found * values, atol=1e-3)
    np.testing.assert_allclose(found.T @ found / n, np.eye(4), atol=1e-4)
    largest = np.abs(found).argmax(axis=0)
    assert (found[largest, np.arange(4)] > 0).all()
    np.testing.assert_array_equal(spectral_features(graph, 4), found)


def test_diffusion_features():
    A, graph = random_graph(1, n=20, n_edges=40)
    X = np.random.default_rng(1).normal(size=(20, 3))
    S = reference.normalized(reference.with_self_loops(A), "row")
    expected = np.hstack([reference.resolvent(S, lam) @ X for lam in (0.5, 0.9)])
    np.testing.assert_allclose(diffusion_features(graph, X), expected, atol=1e-5)
    np.testing.assert_allclose(diffusion_features(graph, sp.csr_array(X)), expected, atol=1e-5)


def test_bad_input():
    ring = Graph.from_edges(range(6), [1, 2, 3, 4, 5, 0])
    with pytest.raises(ValueError, match="`n_components` must be below the number of nodes"):
        spectral_features(ring, 6)
    one_way = Graph.from_edges([0, 1], [1, 2], directed=True)
    with pytest.raises(ValueError, match="`graph` must be undirected for spectral features"):
        spectral_features(one_way, 1)
    with pytest.raises(ValueError, match="`damping` must be strictly between 0 and 1"):
        diffusion_features(ring, np.ones((6, 1)), 1.5)
