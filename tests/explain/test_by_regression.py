"""`LabelFeatureRegression`: contributions of labels and columns, exactly."""

import numpy as np
import pytest
import scipy.sparse as sp

from labeltrick import LabelFeatureRegression
from tests import reference
from tests.explain.conftest import make_problem


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("n_steps", [None, 4])
def test_contributions_are_those_of_the_dense_formula(task, n_steps):
    graph, X, y = make_problem(task)
    model = LabelFeatureRegression(0.8, n_steps, split_rate=0.5, calibrate=False)
    model.fit(X, y, graph=graph)
    S = reference.normalized(reference.with_self_loops(graph.to_scipy().toarray()), "sym")
    P = reference.resolvent(S, 0.8)
    if n_steps is not None:
        P = reference.iteration(S, 0.8, n_steps, np.eye(len(S)))
    scale, target = model._rows.feature_scale, model._target_scale
    Y = model._rows.label_inputs(model.fitted_inputs)
    for node in (3, 40, int(model.labeled_[0])):
        item = model.explain(f"node {node}", top=200, edges=False)[0]
        k = 0 if item.output is None else item.output
        arguments = (P, X, Y, model.labeled_, node, scale.center, scale.spread)
        weights = model.coef_features_, model.coef_labels_
        own, others, labels = reference.regression_effects(*arguments, *weights)
        raw = target.back(model.intercept_) + (own + others).sum(axis=0) * target.spread
        raw = raw + sum(labels.values()) * target.spread
        if task == "regression":  # otherwise shares are divided by their sum at the end
            expected = {("own column", f"column {f}"): own[f] for f in range(2)}
            expected |= {("neighbor column", f"column {f}"): others[f] for f in range(2)}
            expected |= {("label", f"node {j}"): effect for j, effect in labels.items()}
            found = {(each.kind, each.source): each.effect for each in item.contributions}
            for key, effect in expected.items():
                wanted = effect[0] * target.spread[0]
                assert found.get(key, 0.0) == pytest.approx(wanted, abs=1e-5)
        total = np.clip(raw, 0, 1)[k] / np.clip(raw, 0, 1).sum() if task != "regression" else raw[0]
        assert item.score == pytest.approx(total, abs=1e-5)
        assert item.additive
        assert item.error_bound < 1e-8
        assert f"node {node}" not in {each.source for each in item.contributions}


@pytest.mark.parametrize("label_trick", ["deterministic", "stochastic", None])
@pytest.mark.parametrize("sparse", [False, True])
def test_effects_add_up_to_the_prediction(label_trick, sparse):
    graph, X, y = make_problem()
    X = sp.csr_array(X) if sparse else X
    model = LabelFeatureRegression(label_trick=label_trick, split_rate=0.5, n_splits=3)
    model.fit(X, y, graph=graph)
    rows = model.predict_proba()
    for item in model.explain(graph.names[:8], edges=False):
        node = int(item.node.removeprefix("node "))
        summed = sum(each.effect for each in item.contributions if each.adds_up)
        assert item.baseline + item.rest + summed == pytest.approx(item.score, abs=1e-12)
        assert item.score == pytest.approx(rows[node, item.output], abs=1e-4)
        if label_trick is None:
            assert item.without_labels == pytest.approx(item.score)
