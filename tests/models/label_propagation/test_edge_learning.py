"""`TrainableLabelPropagation(edge_weights="learned")`."""

import numpy as np
import pytest
import scipy.sparse as sp

from labeltrick import Graph, TrainableLabelPropagation, load_model, save_model
from labeltrick.models.base.estimator import GraphEstimator
from labeltrick.models.label_propagation.edge_learning import EdgeLearner
from tests.support import leaks
from tests.support.estimator_checks import run_scikit_learns_checks
from tests.support.graphs import blocks

pytest.importorskip("torch")


def learned(**options):
    return TrainableLabelPropagation(edge_weights="learned", progress=False, **options)


def told_by_features(seed=0, n=400, share=0.5):
    """Most edges are noise, and noise joins nodes whose features differ. Features do not
    tell the class: each class has all kinds of them."""
    rng = np.random.default_rng(seed)
    truth, group = rng.integers(0, 3, n), rng.integers(0, 4, n)
    u, v = rng.integers(0, n, (2, 80 * n))
    sound = (truth[u] == truth[v]) & (group[u] == group[v]) & (rng.random(len(u)) < 0.3)
    noise = (group[u] != group[v]) & (rng.random(len(u)) < 0.12)
    graph = Graph.from_edges(u[sound | noise], v[sound | noise], n_nodes=n)
    X = np.eye(4)[group] + 0.2 * rng.normal(size=(n, 4))
    return graph, X, truth, np.where(rng.random(n) < share, truth, -1)


def test_edges_that_features_tell_to_be_noise_lose_their_weight():
    graph, X, truth, y = told_by_features()
    hidden = y < 0
    plain = TrainableLabelPropagation().fit(None, y, graph=graph)
    model = learned().fit(X, y, graph=graph)
    before, after = (np.mean((m.predict() == truth)[hidden]) for m in (plain, model))
    assert after > before + 0.1
    assert abs(model.oof_score_ - after) < 0.07
    rows = np.repeat(np.arange(graph.n_nodes), graph.degrees)
    same = truth[rows] == truth[graph.indices]
    assert model.edge_weights_[same].mean() > 2 * model.edge_weights_[~same].mean()
    assert model.graph_ is graph
    assert graph.weights is None
    assert plain.edge_weights_ is None
    assert plain.edge_function_ is None


def test_noise_scores_at_chance():
    scores = []
    for seed in range(4):
        graph, X, _, _ = blocks(seed, n=200)
        y = np.random.default_rng([seed, 1]).integers(0, 2, 200)
        scores.append(learned(max_epochs=30).fit(X, y, graph=graph).oof_score_)
    assert abs(np.mean(scores) - 0.5) < 0.06


# -- no node sees its own label ------------------------------------------------------------------
SETTINGS = [
    k
    for k, model in enumerate(leaks.ESTIMATORS["TrainableLabelPropagation"])
    if model.edge_weights == "learned"
]


def seeds_of(setting, task):
    """Two seeds for which `leaks.make` chooses that setting."""
    n = len(leaks.ESTIMATORS["TrainableLabelPropagation"])
    return [3 * (setting + n * k) + leaks.TASKS.index(task) for k in range(2)]


@pytest.mark.filterwarnings("ignore:the resolvent did not")
@pytest.mark.parametrize("task", leaks.TASKS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_no_prediction_moves_with_its_own_label(setting, task):
    name = "TrainableLabelPropagation"
    for seed in seeds_of(setting, task):
        assert leaks.make(name, task, seed).edge_weights == "learned"
        for measure in (leaks.worst_out_of_fold, leaks.worst_prediction):
            n_tried, worst = measure(name, task, seed)
            assert n_tried
            assert worst <= leaks.TOLERANCE + leaks.ROUNDING, (measure.__name__, seed)


def test_edge_weights_that_have_seen_the_fold_are_caught(monkeypatch):
    name, learn = "TrainableLabelPropagation", EdgeLearner.learn
    kept = {}

    def with_all_labels(self, known):
        # The object is kept too: another one could get its id.
        return learn(self, kept.setdefault(id(self), (self, known))[1])

    monkeypatch.setattr(EdgeLearner, "learn", with_all_labels)
    worst = [
        leaks.worst_out_of_fold(name, "classification", seed)[1]
        for seed in seeds_of(SETTINGS[0], "classification")
    ]
    assert max(worst) > 100 * leaks.TOLERANCE


# -- other data and files ------------------------------------------------------------------------
def test_another_graph_needs_its_features():
    graph, X, _, y = told_by_features(0)
    model = learned(max_epochs=40).fit(X, y, graph=graph)
    other, X2, truth2, y2 = told_by_features(1, n=300)
    with pytest.raises(ValueError, match="`X` must be given for another graph"):
        model.predict(y=y2, graph=other)
    found = model.predict(X2, y2, graph=other)
    given = TrainableLabelPropagation().fit(None, y, graph=graph).predict(None, y2, graph=other)
    assert np.mean((found == truth2)[y2 < 0]) > np.mean((given == truth2)[y2 < 0]) + 0.05
    np.testing.assert_allclose(model.predict_proba(X, y, graph=graph), model.predict_proba())
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :2])


def test_features_on_the_same_graph_change_its_weights():
    graph, X, _, y = told_by_features(0, n=150)
    model = learned(max_epochs=20).fit(X, y, graph=graph)
    shuffled = np.random.default_rng(0).permutation(X)
    assert np.abs(model.predict_proba(shuffled) - model.predict_proba()).max() > 0.01


@pytest.mark.parametrize(
    "options", [{}, {"weights": "per_hop", "gate": True}, {"loss": "squared", "n_steps": 4}]
)
def test_saved_models(options, tmp_path):
    graph, X, _, y = told_by_features(0, n=150)
    model = learned(max_epochs=10, **options).fit(X, y, graph=graph)
    again = load_model(save_model(model, tmp_path / "m"))
    other, X2, _, y2 = told_by_features(1, n=100)
    for ask in ({}, {"y": np.roll(y, 1)}, {"X": X2, "y": y2, "graph": other}):
        np.testing.assert_array_equal(again.predict_proba(**ask), model.predict_proba(**ask))
    np.testing.assert_array_equal(again.oof_rows_, model.oof_rows_)
    np.testing.assert_array_equal(again.edge_weights_, model.edge_weights_)


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_where_work_is_done_does_not_matter(engine, tmp_path):
    graph, X, _, y = told_by_features(0, n=150)
    there = graph.on(engine, max_memory="4MB")
    rows = [learned(max_epochs=5).fit(X, y, graph=g).predict_proba() for g in (graph, there)]
    np.testing.assert_allclose(rows[1], rows[0], atol=1e-6)


# -- settings ------------------------------------------------------------------------------------
def test_sparse_features_and_all_tasks():
    graph, X, truth, y = told_by_features(0, n=150)
    words = sp.csr_array(np.maximum(X, 0))
    Y = np.where((y >= 0)[:, None], np.eye(3)[truth], np.nan)
    for target, task in ((y, "classification"), (Y, "multilabel"), (Y[:, 0] + 0.5, "regression")):
        plain = TrainableLabelPropagation(task=task).fit(None, target, graph=graph)
        for table in (X, words):
            model = learned(max_epochs=50, task=task).fit(table, target, graph=graph)
            assert np.isfinite(model.oof_rows_).all()
            assert model.oof_score_ > plain.oof_score_ + 0.05


def test_validation_nodes_choose_the_epoch():
    graph, X, _, y = told_by_features(0)
    nodes = np.flatnonzero(y >= 0)[::3]
    model = learned().fit(X, y, graph=graph, validation=nodes)
    other = y.copy()
    other[nodes] = np.random.default_rng(0).integers(0, 3, len(nodes))
    worse = learned().fit(X, other, graph=graph, validation=nodes)
    assert np.abs(model.edge_weights_ - worse.edge_weights_).max() > 1e-3


def test_types_and_directions():
    rng = np.random.default_rng(0)
    graph, X, _, y = told_by_features(0, n=150)
    u, v = np.repeat(np.arange(150), graph.degrees), np.asarray(graph.indices)
    kinds = rng.choice(["a", "b"], len(u))
    typed = Graph.from_edges(u, v, n_nodes=150, directed=True, edge_type=kinds)
    model = learned(max_epochs=5).fit(X, y, graph=typed)
    assert model.oof_score_ > 0.4
    assert not np.allclose(model.edge_weights_, 1.0)


def test_too_little_to_learn_from():
    X = np.random.default_rng(0).normal(size=(6, 3))
    empty = Graph.from_edges([], [], n_nodes=6)
    path = Graph.from_edges(range(5), range(1, 6))
    one = np.array([0, -1, -1, -1, -1, -1])
    for graph, y in ((empty, np.array([0, 1, 0, 1, -1, -1])), (path, one)):
        model = learned().fit(X, y, graph=graph)
        assert model.predict().shape == (6,)
        assert np.all(model.edge_function_.theta == 0)


def test_bad_settings():
    graph, X, _, y = told_by_features(0, n=60)
    with pytest.raises(ValueError, match="`X` must be given with edge_weights='learned'"):
        learned().fit(None, y, graph=graph)
    with pytest.raises(ValueError, match="`weights` must be 'shared' or 'per_hop' with"):
        learned(weights="mlp").fit(X, y, graph=graph)
    with pytest.raises(ValueError, match="`edge_weights` must be"):
        TrainableLabelPropagation(edge_weights="trained").fit(X, y, graph=graph)
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="`X` must be finite"):
        learned().fit(X, y, graph=graph)
    assert isinstance(TrainableLabelPropagation().fit(X, y, graph=graph), GraphEstimator)


def test_scikit_learns_checks():
    reason = "without edges nothing can be learned from X"
    also = {
        "check_classifiers_train": reason,
        "check_regressors_train": reason,
        "check_class_weight_classifiers": "without edges a node has its own label only",
        "check_classifiers_classes": "−1 marks a missing label",
    }
    run_scikit_learns_checks(learned(max_epochs=3), also, uses_features=True)
