"""SGC, SIGN, TWIRLS and the regression against dense formulas; honesty; bad input."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from labeltrick import SGC, SIGN, TWIRLS, Graph, LabelFeatureRegression, audit_leakage
from labeltrick.models.search import GraphSearch
from tests.support.estimator_checks import run_scikit_learns_checks
from tests.support.graphs import blocks, random_graph
from tests.support.linear_models import EVERY, EVERY_WAY, TRAINED, with_epochs

torch = pytest.importorskip("torch")

TRICK = pytest.mark.parametrize("trick", [None, "deterministic", "stochastic"])


# -- what all of them do --------------------------------------------------------------------------
@EVERY
@TRICK
def test_labels_and_features_predict_better_than_chance(model, trick):
    graph, X, truth, y = blocks(0, signal=1.0)
    model = with_epochs(model, 80).set_params(label_trick=trick, calibrate=False)
    model.fit(X, y, graph=graph)
    np.testing.assert_allclose(model.predict_proba().sum(axis=1), 1)
    assert model.score(None, np.where(y < 0, truth, -1)) > 0.55


@EVERY
def test_the_same_seed_gives_the_same_numbers(model):
    graph, X, _, y = blocks(0)
    first, second = (clone(model).fit(X, y, graph=graph) for _ in range(2))
    np.testing.assert_array_equal(first.predict_proba(), second.predict_proba())
    np.testing.assert_array_equal(first.oof_proba_, second.oof_proba_)
    assert first.oof_proba_.shape == ((y >= 0).sum(), 3)
    assert first.calibration_.temperature > 0
    if hasattr(model, "max_epochs"):
        torch.manual_seed(5)  # what others drew before does not matter, nor is it touched
        before = torch.random.get_rng_state()
        third = clone(model).set_params(random_state=1).fit(X, y, graph=graph)
        assert torch.equal(torch.random.get_rng_state(), before)
        assert not np.allclose(first.predict_proba(), third.predict_proba())
        assert len(first.history_) == first.n_iter_ >= first.best_epoch_ >= 1


@EVERY_WAY
@pytest.mark.parametrize("trick", ["deterministic", "stochastic"])
def test_no_prediction_moves_with_its_own_label(model, trick):
    graph, X, _, y = blocks(3, n=80)
    model = clone(model).set_params(label_trick=trick, calibrate=False).fit(X, y, graph=graph)
    report = audit_leakage(lambda y: model.predict_proba(y=y), y, y >= 0, n_samples=15)
    assert not report.leaks


@EVERY_WAY
def test_labels_at_random_score_at_chance(model):
    scores = []
    for seed in range(3):
        _, graph = random_graph(seed, n=200, n_edges=600)
        rng = np.random.default_rng(seed)
        y, X = rng.integers(0, 3, 200), rng.normal(size=(200, 5))
        scores.append(clone(model).fit(X, y, graph=graph).oof_score_)
    assert np.mean(scores) < 0.42  # chance is 1/3; the spread of the mean is 0.02


@EVERY_WAY
@pytest.mark.parametrize("trick", ["deterministic", "stochastic"])
def test_nothing_is_learned_from_the_rounding_of_an_own_label(model, trick):
    """One labeled node a component: no node sees another label, only what is left of its own."""
    pairs = [(6 * k + a, 6 * k + b) for k in range(60) for a, b in ((0, 1), (1, 2), (0, 2), (2, 3))]
    graph = Graph.from_edges(*np.array(pairs).T, n_nodes=360)
    rng = np.random.default_rng(0)
    y, X = np.full(360, -1), rng.normal(size=(360, 3))
    y[::6] = rng.integers(0, 2, 60)
    model = with_epochs(model, 60).set_params(label_trick=trick, calibrate=False)
    model.fit(X, y, graph=graph)
    if trick == "deterministic":
        assert model.oof_score_ < 0.75
        if isinstance(model, LabelFeatureRegression):
            assert model.set_params(ridge=0, n_steps=None).fit(X, y, graph=graph).oof_score_ < 0.75
    assert (model.predict() == y)[::6].mean() < 0.9


@pytest.mark.parametrize(
    "model",
    [
        SGC(1, learning_rate=0.1, max_epochs=200, validation_fraction=0.0),
        SGC(2, norm="row", self_loops=False, learning_rate=0.1, max_epochs=100),
        SIGN(1, hidden=32, max_epochs=60),
        TWIRLS(hidden=16, max_epochs=60),
        LabelFeatureRegression(0.8, 2, ridge=1e-3),
    ],
    ids=["sgc", "sgc by rows", "sign", "twirls", "regression"],
)
def test_labels_cannot_be_read_off_a_sum_that_all_share(model):
    """In a clique every node sees the total less its own: out-of-fold scores must not profit."""
    src, dst = np.triu_indices(40, 1)
    graph = Graph.from_edges(src, dst)
    rng = np.random.default_rng(1)
    y, X = rng.normal(size=40), rng.normal(size=(40, 3))
    assert model.fit(X, y, graph=graph).oof_score_ < 0.2


@EVERY
def test_numbers_and_several_labels(model):
    graph, X, truth, y = blocks(4)
    values = np.where(y < 0, np.nan, truth * 10.0 + 0.5)
    model = with_epochs(model, 80)
    found = model.fit(X, values, graph=graph)
    assert found.score(None, truth * 10.0 + 0.5) > 0.3
    both = np.stack([values, -values], axis=1)
    assert model.fit(X, both, graph=graph).predict().shape == (150, 2)
    several = np.eye(3)[truth]
    several[y < 0] = np.nan
    model.fit(X, several, graph=graph)
    assert ((model.predict_proba() >= 0) & (model.predict_proba() <= 1)).all()
    assert (model.predict() == np.eye(3)[truth]).mean() > 0.7


@EVERY
def test_sparse_features_are_dense_ones(model):
    graph, X, _, y = blocks(5)
    X = np.where(X > 0.5, X, 0.0)
    model = clone(model).set_params(scale=False, calibrate=False)
    dense = model.fit(X, y, graph=graph).predict_proba()
    for kind in (sp.csr_matrix, sp.csc_array, sp.coo_array):
        found = model.fit(kind(X), y, graph=graph).predict_proba()
        np.testing.assert_allclose(found, dense, atol=1e-3)


@EVERY
def test_new_labels_nodes_and_features_without_training_again(model):
    graph, X, _, y = blocks(6)
    model = clone(model).set_params(calibrate=False).fit(X, y, graph=graph)
    plain = model.predict_proba()
    assert not np.allclose(model.predict_proba(y=np.where(y < 0, -1, (y + 1) % 3)), plain)
    np.testing.assert_allclose(model.predict_proba(X, y, graph=graph), plain, atol=1e-6)
    src, dst = graph.to_edge_index()
    larger = Graph.from_edges([*src, 0], [*dst, 150], n_nodes=151)
    known = np.append(y, -1)
    with pytest.raises(ValueError, match="`X` must be given for another graph"):
        model.predict(y=known, graph=larger)
    assert model.predict(np.vstack([X, X[:1]]), known, graph=larger).shape == (151,)
    assert not np.allclose(model.predict_proba(X[::-1]), plain)


@TRAINED
def test_validation_labels_are_never_inputs(model):
    graph, X, _, y = blocks(7)
    validation = np.flatnonzero(y >= 0)[:20]
    model = clone(model).set_params(max_epochs=1, calibrate=False)
    flipped = y.copy()
    flipped[validation] = (flipped[validation] + 1) % 3
    rows = [
        model.fit(X, labels, graph=graph, validation=validation).predict_proba()
        for labels in (y, flipped)
    ]
    np.testing.assert_array_equal(*rows)
    assert not model.targets_.labeled[validation].any()


@EVERY
def test_weights_of_samples_and_classes(model):
    graph, X, _, y = blocks(8)
    model = with_epochs(model, 60).set_params(calibrate=False)
    weight = np.where(np.arange(150) % 3 == 0, 0.0, 1.0)
    found = model.fit(X, y, graph=graph, sample_weight=weight).predict_proba()
    oof = model.fit(X, np.where(weight > 0, y, -1), graph=graph).predict_proba()
    np.testing.assert_allclose(found, oof, atol=1e-6)
    balanced = model.set_params(class_weight={0: 50.0}).fit(X, y, graph=graph)
    assert (balanced.predict() == 0).mean() > (oof.argmax(axis=1) == 0).mean()


@EVERY
def test_few_labels_and_odd_columns(model):
    graph, X, _, _ = blocks(9, n=30)
    X = np.concatenate([X, np.full((30, 1), 7.0), np.zeros((30, 1))], axis=1)
    for n_labels in (1, 2, 3, 4):
        y = np.full(30, -1)
        y[[0, 9, 18, 27][:n_labels]] = [0, 1, 0, 1][:n_labels]
        model = clone(model).fit(X, y, graph=graph)
        assert np.isfinite(model.predict_proba()).all()
    only_constant = clone(model).fit(X[:, 3:], np.arange(30) % 2, graph=graph)
    assert np.isfinite(only_constant.predict_proba()).all()


@EVERY
def test_a_class_that_only_validation_has(model):
    graph, X, truth, _ = blocks(10)
    validation = np.concatenate([np.flatnonzero(truth == 2), np.flatnonzero(truth == 0)[:5]])
    model = clone(model).fit(X, truth, graph=graph, validation=validation)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict_proba().shape == (150, 3)


pytest.importorskip("torch")


@EVERY
def test_bad_features(model):
    graph, X, _, y = blocks(11)
    model = clone(model)
    bad = X.copy()
    bad[7, 2] = np.nan
    with pytest.raises(ValueError, match="contains NaN, first at row 7, column 2. Fill"):
        model.fit(bad, y, graph=graph)
    with pytest.raises(ValueError, match="row 7, column 'c'"):
        model.fit(pd.DataFrame(bad, columns=list("abc")), y, graph=graph)
    bad[7, 2] = np.inf
    with pytest.raises(ValueError, match="contains inf"):
        model.fit(sp.csr_array(bad), y, graph=graph)
    with pytest.raises(ValueError, match=r"`X` must have one row per node \(150\); got 149"):
        model.fit(X[1:], y, graph=graph)
    with pytest.raises(ValueError, match="must hold numbers below 1e.15 in size"):
        model.fit(X * 1e200, y, graph=graph)
    with pytest.raises(ValueError, match="learns from features; got None"):
        model.fit(None, y, graph=graph)
    with pytest.raises(ValueError, match="`label_trick` must be one of"):
        clone(model).set_params(label_trick="magic").fit(X, y, graph=graph)
    model.fit(X, y, graph=graph)
    with pytest.raises(ValueError, match="X has 2 features, but"):
        model.predict(X[:, :2])


@TRAINED
def test_training_that_diverges_names_the_learning_rate_and_keeps_the_best(model):
    graph, X, _, y = blocks(12)
    model = clone(model).set_params(learning_rate=1e30, max_epochs=40)
    with pytest.raises(FloatingPointError, match="`learning_rate` must be lower: at 1e.30"):
        model.fit(X, y, graph=graph)
    assert np.isfinite(model.set_params(calibrate=False).predict_proba()).all()


def test_a_fit_that_fails_leaves_nothing_half_fitted():
    graph, X, _, y = blocks(14, n=40)
    for model in (SGC(max_epochs=2), TWIRLS(max_epochs=2)):
        model.fit(X, y, graph=graph)
        with pytest.raises(ValueError, match="`scale` must be one of"):
            model.set_params(scale="bad").fit(X, y, graph=graph)
        with pytest.raises(NotFittedError):
            model.predict()
    short = SGC(max_epochs=3, validation_fraction=0.99).fit(X, np.arange(40) % 2, graph=graph)
    assert np.isfinite(short.predict_proba()).all()


def test_a_search_survives_a_setting_that_diverges():
    graph, X, _, y = blocks(15, n=60)
    search = GraphSearch(SGC(max_epochs=5, calibrate=False), {"learning_rate": [1e30, 0.01]})
    with pytest.warns(UserWarning, match="`learning_rate` must be lower"):
        search.fit(X, y, graph=graph)
    assert search.best_params_ == {"learning_rate": 0.01}


def test_odd_parameters():
    graph, X, _, y = blocks(13, n=40)
    with pytest.raises(ValueError, match="`scale` must be 'global', False or 'auto' for sparse"):
        TWIRLS(scale="columns").fit(sp.csr_array(X), y, graph=graph)
    with pytest.raises(ValueError, match="`hops` must be one of"):
        SIGN(hops="mean").fit(X, y, graph=graph)
    with pytest.raises(ValueError, match="`split_rate` must be strictly between"):
        LabelFeatureRegression(split_rate=2.0).fit(X, y, graph=graph)
    with pytest.raises(AttributeError, match="out-of-fold predictions need"):
        LabelFeatureRegression(label_trick="stochastic").fit(X, y, graph=graph).oof_proba_


@pytest.mark.parametrize(
    "model",
    [SGC(learning_rate=0.2, max_epochs=10), LabelFeatureRegression()],
    ids=["sgc", "regression"],
)
def test_scikit_learns_checks(model):
    by_contract = {"check_classifiers_classes": "−1 marks a missing label"}
    run_scikit_learns_checks(model, by_contract, uses_features=True)
