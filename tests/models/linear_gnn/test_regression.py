"""The regression on labels and features against its closed form."""

import numpy as np
import pytest
from sklearn.base import clone

from labeltrick import LabelFeatureRegression, label_matrix
from labeltrick.models.base.folds import draw_folds
from labeltrick.propagation.polynomials import Iteration
from labeltrick.self_exclusion import objective
from tests.support.graphs import blocks


def test_regression_minimises_the_corollary():
    graph, X, _, y = blocks(1, n=60)
    options = {"scale": False, "ridge": 0.5, "split_rate": 0.3}
    model = LabelFeatureRegression(0.8, 5, calibrate=False, **options).fit(X, y, graph=graph)
    train = np.flatnonzero(y >= 0)
    P = Iteration(graph, 0.8, 5, self_loops=True)
    ones = np.concatenate([P @ X, np.ones((60, 1))], axis=1)
    problem = objective.label_trick_problem(P, label_matrix(y, n_classes=3), train, tol=1e-9)
    problem = objective.LabelTrickProblem(
        problem.target, problem.label_inputs, ones[train], problem.penalty
    )
    ridge = np.array([0.5] * 3 + [1e-9] + [0.5] * 3)
    (found,) = objective.minimize(problem, 0.3, ridge=ridge)
    np.testing.assert_allclose(model.coef_features_, found.features[:3], atol=1e-5)
    np.testing.assert_allclose(model.intercept_, found.features[3], atol=1e-5)
    np.testing.assert_allclose(model.coef_labels_, found.labels, atol=1e-5)


def test_random_splits_come_to_the_closed_form():
    graph, X, _, y = blocks(2, n=60, share=0.8)
    options = {"split_rate": 0.5, "calibrate": False}
    exact = LabelFeatureRegression(0.8, 5, **options).fit(X, y, graph=graph)
    far = LabelFeatureRegression(0.8, 5, label_trick=None, **options).fit(X, y, graph=graph)
    drawn = LabelFeatureRegression(0.8, 5, label_trick="stochastic", n_splits=2000, **options)
    drawn.fit(X, y, graph=graph)
    error = np.abs(drawn.predict_proba() - exact.predict_proba()).mean()
    assert error < 0.1 * np.abs(far.predict_proba() - exact.predict_proba()).mean()


def test_a_drawn_penalty_is_near_the_exact_one(monkeypatch):
    """On large graphs the penalty's sums are drawn; made to here."""
    from labeltrick.models.linear_gnn import regression

    graph, X, _, y = blocks(2, n=300)
    options = {"split_rate": 0.2, "calibrate": False}
    exact = LabelFeatureRegression(0.9, 9, **options).fit(X, y, graph=graph)
    monkeypatch.setattr(regression, "_MOST_COLUMN_ENTRIES", 0)
    monkeypatch.setattr(objective, "_RARE", 0)  # no exact energies for small classes
    drawn = LabelFeatureRegression(0.9, 9, **options).fit(X, y, graph=graph)
    options["split_rate"] = 1.0
    free = LabelFeatureRegression(0.9, 9, **options).fit(X, y, graph=graph)
    far = np.abs(free.coef_labels_ - exact.coef_labels_).max()
    near = np.abs(drawn.coef_labels_ - exact.coef_labels_).max()
    assert 0 < near < 0.1 * far
    np.testing.assert_allclose(drawn.oof_proba_, exact.oof_proba_, atol=0.02)


def test_inner_folds_share_a_drawn_penalty(monkeypatch):
    """The choice of a rate draws the penalty of the other labels once, not for each inner fold."""
    from labeltrick.models.linear_gnn import regression

    graph, X, _, y = blocks(2, n=120)
    monkeypatch.setattr(regression, "_MOST_COLUMN_ENTRIES", 0)
    model = LabelFeatureRegression(0.9, 9, split_rate=(0.2, 0.8)).fit(X, y, graph=graph)
    drawn, whole = [], regression.probed_penalty

    def counted(P, Y, nodes, **options):
        drawn.append(len(nodes))
        return whole(P, Y, nodes, **options)

    monkeypatch.setattr(regression, "probed_penalty", counted)
    assert model.oof_score_ > 0.5
    assert len(drawn) == 10
    assert min(drawn) > 0.75 * len(model.labeled_)


def test_out_of_fold_rows_have_the_rate_of_their_fold():
    graph, X, _, y = blocks(5, n=150, signal=0.2)
    rates = (0.05, 0.5, 1.0)
    model = LabelFeatureRegression(0.8, 5, split_rate=rates).fit(X, y, graph=graph)
    at_rate = [
        clone(model).set_params(split_rate=rate).fit(X, y, graph=graph).oof_proba_ for rate in rates
    ]
    scores = [(rows.argmax(axis=1) == y[model.labeled_]).mean() for rows in at_rate]
    assert list(model.split_rate_scores_.values()) == pytest.approx(scores)
    assert model.split_rate_ == rates[int(np.argmax(scores))]
    fold = draw_folds(model.targets_, model.labeled_, 5, 0)
    for k in range(5):
        here = model.oof_proba_[fold == k]
        assert any(np.array_equal(here, rows[fold == k]) for rows in at_rate)


def test_a_fold_of_numbers_is_predicted_by_a_fit_without_its_labels():
    """Without a penalty, whose energies are sums over all labeled rows, exactly so."""
    graph, X, truth, y = blocks(5, n=150)
    y = np.where(y < 0, np.nan, 10 + 3 * truth + X[:, 0])
    model = LabelFeatureRegression(0.8, 5, split_rate=1.0).fit(X, y, graph=graph)
    fold = draw_folds(model.targets_, model.labeled_, 5, 0)
    for k in range(5):
        nodes, others = model.labeled_[fold == k], y.copy()
        others[nodes] = np.nan
        without = clone(model).fit(X, others, graph=graph)
        np.testing.assert_allclose(
            model.oof_prediction_[fold == k], without.predict(y=y)[nodes], rtol=1e-6
        )
