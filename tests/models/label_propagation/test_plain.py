import numpy as np
import pytest
from sklearn.base import clone

from labeltrick import Graph, Iteration, LabelPropagation, Resolvent, audit_leakage
from labeltrick.io import datasets
from tests import reference
from tests.support.estimator_checks import run_scikit_learns_checks
from tests.support.graphs import random_graph


def problem(seed=0, n=60, n_edges=150, **options):
    A, graph = random_graph(seed, n=n, n_edges=n_edges, **options)
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    y[rng.random(n) < 0.5] = -1
    return A, graph, y


def dense_shares(P, Y, mask, prior):
    """(P Y)/(P 1) over labeled nodes, the prior where nothing arrives."""
    spread, mass = P[:, mask] @ Y[mask], P[:, mask].sum(axis=1)
    return np.where(mass[:, None] > 1e-9, spread / np.maximum(mass, 1e-300)[:, None], prior)


@pytest.mark.parametrize("norm", ["sym", "row", "col"])
@pytest.mark.parametrize("n_steps", [None, 4])
@pytest.mark.parametrize("kind", [{}, {"weighted": True}, {"directed": True}])
def test_probabilities_match_the_formula(norm, n_steps, kind):
    A, graph, y = problem(**kind)
    S = reference.normalized(A, norm)
    eye = np.eye(len(A))
    P = reference.resolvent(S, 0.7) if n_steps is None else reference.iteration(S, 0.7, 4, eye)
    mask = y >= 0
    Y = np.eye(3)[np.maximum(y, 0)]
    model = LabelPropagation(0.7, n_steps, norm=norm, tol=1e-12, calibrate=False).fit(
        None, y, graph=graph
    )
    expected = dense_shares(P, Y, mask, Y[mask].mean(axis=0))
    np.testing.assert_allclose(model.predict_proba(), expected, atol=1e-8)
    np.testing.assert_array_equal(model.predict(), model.classes_[expected.argmax(axis=1)])
    np.testing.assert_allclose(model.predict_proba().sum(axis=1), 1.0)
    # leave-one-out: the same formula with the node's label really taken away
    for place, i in enumerate(model.labeled_):
        without = mask.copy()
        without[i] = False
        row = dense_shares(P, Y, without, Y[without].mean(axis=0))[i]
        np.testing.assert_allclose(model.oof_proba_[place], row, atol=2e-2)


def test_regression_and_several_targets():
    A, graph, y = problem(1)
    P = reference.resolvent(reference.normalized(A, "row"), 0.8)
    mask = y >= 0
    values = np.random.default_rng(0).normal(size=(60, 2)) + 100
    values[~mask] = np.nan
    model = LabelPropagation(0.8, norm="row", tol=1e-12).fit(None, values, graph=graph)
    clean = np.nan_to_num(values)
    expected = dense_shares(P, clean, mask, clean[mask].mean(axis=0))
    np.testing.assert_allclose(model.predict(), expected, rtol=1e-7)
    one = LabelPropagation(0.8, norm="row").fit(None, values[:, 0], graph=graph)
    assert one.predict().shape == (60,)
    assert one.oof_prediction_.shape == (mask.sum(),)
    with pytest.raises(AttributeError, match="has no attribute 'predict_proba'"):
        one.predict_proba()


def test_multilabel():
    _, graph, y = problem(2)
    Y = np.random.default_rng(0).integers(0, 2, (60, 4)).astype(float)
    Y[y < 0] = np.nan
    model = LabelPropagation(0.8).fit(None, Y, graph=graph)
    assert model.predict().shape == (60, 4)
    assert set(np.unique(model.predict())) <= {0, 1}
    assert ((model.predict_proba() >= 0) & (model.predict_proba() <= 1)).all()


def test_unreached_nodes_are_reported_and_get_the_prior():
    graph = Graph.from_edges([0, 1, 3], [1, 2, 4], n_nodes=6)
    model = LabelPropagation(0.5, calibrate=False).fit(
        None, ["a", "b", "a", None, None, None], graph=graph
    )
    assert model.reached_.tolist() == [True, True, True, False, False, False]
    np.testing.assert_allclose(model.predict_proba()[3:], [[2 / 3, 1 / 3]] * 3)
    assert np.isfinite(model.predict_proba()).all()


def test_newly_known_labels_edges_and_nodes_without_retraining():
    graph = Graph.from_edges([0, 1], [1, 2], n_nodes=4)
    model = LabelPropagation(0.9).fit(None, ["a", None, None, "b"], graph=graph)
    assert model.predict().tolist() == ["a", "a", "a", "b"]
    assert model.predict(y=[None, None, "b", "a"]).tolist() == ["b", "b", "b", "a"]
    larger = Graph.from_edges([0, 1, 3], [1, 2, 4], n_nodes=5)
    known = ["a", None, None, "b", None]
    assert model.predict(y=known, graph=larger).tolist() == ["a", "a", "a", "b", "b"]
    assert model.predict().tolist() == ["a", "a", "a", "b"]  # the fit is as it was


def test_leave_one_out_is_leak_free():
    _, graph, y = problem(3)
    labeled = np.flatnonzero(y >= 0)

    def oof(labels):
        model = LabelPropagation(0.9).fit(None, labels, graph=graph)
        rows = np.zeros((len(labels), 3))
        rows[model.labeled_] = model.oof_proba_
        return rows

    assert not audit_leakage(oof, y, labeled).leaks

    def with_own(labels):
        return LabelPropagation(0.9).fit(None, labels, graph=graph).predict_proba()

    assert audit_leakage(with_own, y, labeled).leaks


def test_leave_one_out_of_a_node_alone_knows_nothing():
    graph = Graph.from_edges([1], [2], n_nodes=4)  # node 0 sees no label but its own
    for own in (0, 1):
        model = LabelPropagation(0.6).fit(None, [own, 0, 1, 1], graph=graph)
        np.testing.assert_allclose(model.oof_proba_[0], [1 / 3, 2 / 3])
    single = LabelPropagation(0.6).fit(None, [0, -1, -1, -1], graph=graph)
    np.testing.assert_allclose(single.oof_proba_, [[1.0]])


def test_clamp():
    _, graph, y = problem(4)
    model = LabelPropagation(0.9, 10, norm="col", clamp=(0, 1)).fit(None, y, graph=graph)
    Y = np.where((y >= 0)[:, None], np.eye(3)[np.maximum(y, 0)], 0)
    F = Iteration(graph, 0.9, 10, norm="col", clamp=(0, 1)) @ Y
    F = F[F.sum(axis=1) > 0]
    expected = F / F.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba()[model.reached_], expected, atol=1e-12)
    with pytest.raises(ValueError, match="`n_steps` must be given with `clamp`"):
        LabelPropagation(clamp=(0, 1)).fit(None, y, graph=graph)
    with pytest.raises(ValueError, match="`clamp` must be None or 'hard' for regression"):
        LabelPropagation(0.9, 5, clamp=(0, 1)).fit(None, y + 0.5, graph=graph)


@pytest.mark.parametrize(
    "y",
    [[1, 1, -1, -1], [0, 1, 0, 1], ["x", None, None, None], [0, 1, 2, -1]],
    ids=["one class", "all labeled", "one label", "classes seen once"],
)
def test_sparse_labels_give_right_answers(y):
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3])
    model = LabelPropagation().fit(None, y, graph=graph)
    assert np.isfinite(model.predict_proba()).all()
    assert np.isfinite(model.oof_proba_).all()
    assert set(model.predict()) <= set(model.classes_)


def test_bad_input():
    graph = Graph.from_edges([0, 1], [1, 2])
    with pytest.raises(ValueError, match="at least one label"):
        LabelPropagation().fit(None, [-1, -1, -1], graph=graph)
    with pytest.raises(ValueError, match=r"`y` must have one row per node \(3\); got 2"):
        LabelPropagation().fit(None, [0, 1], graph=graph)
    with pytest.raises(ValueError, match=r"`X` must have one row per node \(3\); got 2"):
        LabelPropagation().fit(np.ones((2, 2)), [0, 1, 1], graph=graph)
    with pytest.raises(TypeError, match="`graph` must be a labeltrick.Graph or a networkx"):
        LabelPropagation().fit(None, [0, 1, 1], graph=[0])
    with pytest.raises(ValueError, match="`y` must be given"):
        LabelPropagation().fit(None, None, graph=graph)
    with pytest.raises(ValueError, match="`damping` must be strictly between"):
        LabelPropagation(damping=2).fit(None, [0, 1, 1], graph=graph)


def test_parameters_clone_and_repr():
    model = LabelPropagation(0.8, norm="row")
    assert clone(model).get_params() == model.get_params()
    assert "damping=0.8" in repr(model)
    assert model.set_params(damping=0.5).damping == 0.5


@pytest.mark.parametrize("task", ["auto", "regression"])
def test_scikit_learns_checks(task):
    run_scikit_learns_checks(LabelPropagation(task=task))


def test_arxiv_gives_the_papers_accuracy(data_dir):
    data = datasets.load("ogbn-arxiv", data_dir)
    y = np.full(len(data.y), -1)
    y[data.split.train] = data.y[data.split.train]
    for n_steps in (50, None):
        model = LabelPropagation(0.6, n_steps, self_loops=True).fit(None, y, graph=data.graph)
        hit = model.predict()[data.split.test] == data.y[data.split.test]
        assert round(100 * hit.mean(), 2) == 67.11


@pytest.fixture(scope="module")
def arxiv(data_dir):
    return datasets.load("ogbn-arxiv", data_dir)


@pytest.fixture(scope="module")
def Y(arxiv):
    Y = np.zeros((arxiv.graph.n_nodes, 40), np.float32)
    Y[arxiv.split.train, arxiv.y[arxiv.split.train]] = 1
    return Y


def accuracy_on_test(arxiv, F):
    test = arxiv.split.test
    return round(100 * float((F[test].argmax(axis=1) == arxiv.y[test]).mean()), 2)


def test_label_propagation_gives_the_papers_accuracy(arxiv, Y):
    P = Iteration(arxiv.graph, 0.6, 50, self_loops=True)
    assert accuracy_on_test(arxiv, P @ Y) == 67.11


def test_the_resolvent_predicts_as_fifty_steps_do(arxiv, Y):
    steps = Iteration(arxiv.graph, 0.6, 50, self_loops=True) @ Y
    exact = Resolvent(arxiv.graph, 0.6, self_loops=True) @ Y
    assert np.array_equal(steps.argmax(axis=1), exact.argmax(axis=1))
    assert accuracy_on_test(arxiv, exact) == 67.11


def test_correct_and_smooths_variant_with_clamp(arxiv, Y):
    P = Iteration(arxiv.graph, 0.9, 50, norm="col", clamp=(0, 1))
    assert accuracy_on_test(arxiv, P @ Y) == 68.35
