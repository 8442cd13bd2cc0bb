"""Boosted trees: SHAP values of columns, and labels hidden from the label columns."""

import numpy as np
import polars as pl
import pytest

from labeltrick import GraphBoosting
from labeltrick.explain import by_trees
from tests.explain.conftest import make_problem
from tests.support.leaks import TASKS


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_columns_add_up_to_the_prediction(task, n_classes):
    graph, X, y = make_problem(task)
    if n_classes == 3:
        if task != "classification":
            pytest.skip("classes only")
        y = np.where((y == 0) & (X[:, 1] > 0), 2, y)
    model = GraphBoosting(n_rounds=15, progress=False).fit(X, y, graph=graph)
    rows = model.predict().reshape(60, -1) if task == "regression" else model.predict_proba()
    for item in model.explain(graph.names[::7], edges=False):
        k = 0 if item.output is None else int(item.output)
        node = int(item.node.removeprefix("node "))
        assert item.additive
        assert item.score == pytest.approx(rows[node, k], abs=1e-6)
        summed = sum(each.effect for each in item.contributions if each.adds_up)
        assert item.baseline + item.rest + summed == pytest.approx(item.score, abs=1e-9)
        assert {each.kind for each in item.contributions if not each.adds_up} <= {"label"}


def test_hidden_labels_are_hidden_as_by_predicting_again():
    graph, X, y = make_problem("regression", seed=2)
    model = GraphBoosting(n_rounds=30, progress=False).fit(X, y, graph=graph)
    item = model.explain("node 7", top=4, edges=False)[0]
    labels = [each for each in item.contributions if each.kind == "label"]
    assert labels
    for each in labels:
        hidden = y.copy()
        hidden[int(each.source.removeprefix("node "))] = np.nan
        again = model.predict(None, hidden)[7]
        assert each.effect == pytest.approx(item.score - again, abs=1e-6)
    nothing = model.predict(None, np.full(60, np.nan))[7]
    assert item.without_labels == pytest.approx(nothing, abs=1e-6)


def test_columns_of_frames_keep_their_names_and_values():
    graph, X, y = make_problem()
    frame = pl.DataFrame({"age": X[:, 0], "town": np.where(X[:, 1] > 0, "Ulm", "Bonn")})
    options = {"neighbor_hops": 0, "label_hops": 0, "damping": None, "progress": False}
    model = GraphBoosting(n_rounds=10, **options).fit(frame, y, graph=graph)
    item = model.explain("node 4", top=50, edges=False)[0]
    shown = {each.source: each.value for each in item.contributions if each.kind == "own column"}
    assert shown["age"] == pytest.approx(X[4, 0])
    assert shown.get("town", "Ulm") in ("Ulm", "Bonn")


def test_linear_trees_are_explained_by_changes():
    graph, X, y = make_problem("regression")
    options = {"linear_tree": True}
    model = GraphBoosting(n_rounds=3, lightgbm_params=options, progress=False)
    model.fit(X, y, graph=graph)
    assert not by_trees.suits(model)
    assert not model.explain("node 1", edges=False)[0].additive
