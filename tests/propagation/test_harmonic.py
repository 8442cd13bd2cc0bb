import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from labeltrick import Graph, LabelPropagation
from labeltrick.propagation import harmonic
from tests import reference
from tests.support.graphs import random_graph


@pytest.mark.parametrize("norm", ["sym", "row", "col"])
@pytest.mark.parametrize("lam", [0.6, 0.95])
@pytest.mark.parametrize("kind", [{}, {"weighted": True}, {"directed": True}])
def test_the_limit_solves_the_equations(norm, lam, kind):
    A, graph = random_graph(0, n=40, n_edges=80, **kind)
    rng = np.random.default_rng(0)
    labeled = rng.random(40) < 0.3
    Y = rng.normal(size=(40, 2))
    S = reference.normalized(A, norm)
    got = harmonic.clamped_limit(graph.normalized(norm), Y, labeled, lam, tol=1e-11)
    np.testing.assert_allclose(got, reference.hard_clamp(S, lam, Y, labeled), atol=1e-8)
    np.testing.assert_array_equal(got[labeled], Y[labeled])
    many = harmonic.clamped_steps(graph.normalized(norm), Y, labeled, lam, 600)
    np.testing.assert_allclose(many, got, atol=1e-6)


def test_harmonic_values_are_means_of_neighbors():
    path = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    y = [0.5, np.nan, np.nan, np.nan, 8.5]
    model = LabelPropagation(1.0, norm="row", clamp="hard", tol=1e-12).fit(None, y, graph=path)
    np.testing.assert_allclose(model.predict(), [0.5, 2.5, 4.5, 6.5, 8.5])


def test_labeled_nodes_keep_their_class():
    _, graph = random_graph(1, n=60, n_edges=150)
    y = np.random.default_rng(1).integers(0, 3, 60)
    y[::2] = -1
    for n_steps in (None, 8):
        model = LabelPropagation(0.9, n_steps, clamp="hard").fit(None, y, graph=graph)
        np.testing.assert_array_equal(model.predict()[y >= 0], y[y >= 0])
        assert np.isfinite(model.predict_proba()).all()
        assert model.calibration_.temperature == 1.0
        with pytest.raises(AttributeError, match="need clamp=None"):
            model.oof_proba_


def test_a_component_without_labels_gets_the_prior():
    graph = Graph.from_edges([0, 2], [1, 3])
    model = LabelPropagation(1.0, clamp="hard").fit(None, ["a", None, None, None], graph=graph)
    assert model.reached_.tolist() == [True, True, False, False]


def test_bad_clamp_and_too_few_steps(monkeypatch):
    _, graph = random_graph(2)
    y = np.arange(25) % 2
    with pytest.raises(ValueError, match="`clamp` must be None, 'hard' or a pair"):
        LabelPropagation(clamp="soft").fit(None, y, graph=graph)
    with pytest.raises(ValueError, match="`damping` must be strictly between"):
        LabelPropagation(1.0).fit(None, y, graph=graph)
    monkeypatch.setattr(harmonic, "_MOST_STEPS", 2)
    y[4:] = -1
    with pytest.warns(ConvergenceWarning, match="hard clamp stopped"):
        LabelPropagation(0.99, clamp="hard", tol=1e-12).fit(None, y, graph=graph)
