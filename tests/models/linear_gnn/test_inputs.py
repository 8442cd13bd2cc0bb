"""What SGC, SIGN, TWIRLS and the regression say to bad input, and scikit-learn's own checks."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from labeltrick import SGC, SIGN, TWIRLS, LabelFeatureRegression
from labeltrick.models.search import GraphSearch
from tests.support.estimator_checks import run_scikit_learns_checks
from tests.support.graphs import blocks
from tests.support.linear_models import EVERY, TRAINED

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
    [SGC(learning_rate=0.1, max_epochs=20), LabelFeatureRegression()],
    ids=["sgc", "regression"],
)
def test_scikit_learns_checks(model):
    by_contract = {"check_classifiers_classes": "−1 marks a missing label"}
    run_scikit_learns_checks(model, by_contract, uses_features=True)
