"""Bases of Correct & Smooth: kept as they are, asked in the right way, never shown a label."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from labeltrick import (
    CorrectAndSmooth,
    Graph,
    LabelPropagation,
    TrainableCorrectAndSmooth,
    TrainableLabelPropagation,
)
from labeltrick.models.search import GraphSearch
from tests.support.correct_smooth import accuracy
from tests.support.graphs import blocks


def test_labels_at_a_hub_are_not_cut_and_then_divided():
    star = Graph.from_edges([0] * 30, range(1, 31))
    Y = np.tile([1.0, 0.0], (31, 1))
    Y[20:] = np.nan
    base = np.tile([0.9, 0.1], (31, 1))
    model = CorrectAndSmooth(base, calibrate=False).fit(None, Y, graph=star)
    assert (model.predict() == [1, 0]).all()


def test_a_base_that_is_fitted_later_by_its_owner_changes_nothing():
    rng = np.random.default_rng(19)
    X, y = rng.normal(size=(60, 40)), rng.integers(0, 2, 60)
    base = DecisionTreeClassifier(random_state=0)
    alone = Graph.from_edges([], [], n_nodes=60)
    model = CorrectAndSmooth(base, correct=None, smooth=0.1).fit(X, y, graph=alone)
    base.fit(X, y)
    assert model.oof_score_ < 0.75


def test_class_weights_do_not_reveal_the_label_out_of_fold():
    graph, X, _, y = blocks(20, n=60)
    train = np.flatnonzero(y >= 0)
    rows = []
    for label in (y[train[4]], (y[train[4]] + 1) % 3):
        other = y.copy()
        other[train[4]] = label
        model = CorrectAndSmooth(LogisticRegression(), class_weight="balanced")
        rows.append(model.fit(X, other, graph=graph).oof_proba_[4])
    np.testing.assert_allclose(*rows, atol=1e-12)


def test_a_label_that_all_nodes_have():
    graph, X, truth, y = blocks(21)
    Y = np.column_stack([np.ones(150), truth == 0]).astype(float)
    Y[y < 0] = np.nan
    model = CorrectAndSmooth(DecisionTreeClassifier(random_state=0)).fit(X, Y, graph=graph)
    assert (model.base_prediction_[:, 0] == 1).all()
    one = CorrectAndSmooth(LogisticRegression(), task="multilabel").fit(X, Y[:, 1:], graph=graph)
    assert one.predict().shape == (150, 1)


def test_validation_labels_stay_with_their_nodes():
    _, X, truth, _ = blocks(22)
    model = CorrectAndSmooth(LogisticRegression(), validation_labels=True, calibrate=False)
    with pytest.warns(UserWarning, match="no graph"):
        model.fit(X, truth, validation=np.arange(20))
    rows = model.predict_proba(X[30:80])
    np.testing.assert_allclose(rows, model.model_.base.model.predict_proba(X[30:80]))


def test_a_fitted_base_stays_fitted_in_copies_and_searches():
    graph, X, truth, y = blocks(23)
    base = LogisticRegression(C=1e-4).fit(X, truth)
    search = GraphSearch(CorrectAndSmooth(base, calibrate=False), {"smooth": [0.5]})
    validation = np.flatnonzero(y >= 0)[::3]
    search.fit(X, y, graph=graph, validation=validation)
    np.testing.assert_array_equal(search.best_estimator_.base_prediction_, base.predict_proba(X))
    assert clone(CorrectAndSmooth(base)).base is base
    assert clone(CorrectAndSmooth(LogisticRegression(C=2))).base.C == 2


def test_a_fitted_base_that_knows_more_classes():
    graph, X, truth, y = blocks(24)
    base = LogisticRegression().fit(X, truth)
    model = CorrectAndSmooth(base).fit(X, np.where(y == 2, -1, y), graph=graph)
    np.testing.assert_allclose(model.base_prediction_.sum(axis=1), 1)


def test_texts_as_features():
    graph, _, truth, y = blocks(25)
    texts = np.array([f"word{k} other" for k in truth])
    base = make_pipeline(CountVectorizer(), LogisticRegression())
    model = CorrectAndSmooth(base).fit(texts, y, graph=graph)
    assert (model.predict(texts, graph=graph) == truth).mean() > 0.95


def test_a_module_is_left_as_it_was():
    torch = pytest.importorskip("torch")
    graph, X, _, y = blocks(26)
    module = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3)).double()
    module.train()
    module[1].eval()
    CorrectAndSmooth(module).fit(X, y, graph=graph)
    assert module.training
    assert not module[1].training


def test_a_forest_by_the_same_seed():
    graph, X, _, y = blocks(27)
    model = CorrectAndSmooth(RandomForestClassifier(5), random_state=0, calibrate=False)
    rows = [clone(model).fit(X, y, graph=graph).predict_proba() for _ in "ab"]
    np.testing.assert_array_equal(*rows)


def test_bases_of_this_library():
    graph, _, truth, y = blocks(28)
    for base in (LabelPropagation(), GraphSearch(LabelPropagation(), {"damping": [0.5, 0.9]})):
        model = CorrectAndSmooth(base).fit(None, y, graph=graph)
        assert accuracy(model, truth, y) > 0.7


@pytest.mark.parametrize("name", ["a", 7])
@pytest.mark.parametrize("model", [CorrectAndSmooth, TrainableCorrectAndSmooth])
def test_a_base_warns_of_nothing_that_the_caller_did_not_write(model, name):
    """The base is given class numbers without names, −1 or NaN where a label is missing."""
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(*rng.integers(0, 40, (2, 120)), n_nodes=40)
    graph = graph.permuted(rng.permutation(40))
    known = dict.fromkeys(range(0, 40, 2), name)
    fitted = model(TrainableLabelPropagation())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted.fit(None, known, graph=graph)
        assert (
            fitted.predict(None, known, graph=graph.permuted(np.arange(40)[::-1])) == name
        ).all()


def test_a_base_that_uses_types_is_not_warned_of():
    rng = np.random.default_rng(0)
    ends = rng.integers(0, 40, (2, 120))
    graph = Graph.from_edges(*ends, n_nodes=40, edge_type=rng.integers(0, 2, 120))
    y = np.where(np.arange(40) % 3, np.arange(40) % 2, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CorrectAndSmooth(TrainableLabelPropagation()).fit(None, y, graph=graph)
    with pytest.warns(UserWarning, match="CorrectAndSmooth does not use the 2 edge types"):
        CorrectAndSmooth(LabelPropagation()).fit(None, y, graph=graph)
