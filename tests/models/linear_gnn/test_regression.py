"""The regression on labels and features against its closed form."""

import numpy as np

from labeltrick import LabelFeatureRegression, label_matrix
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
