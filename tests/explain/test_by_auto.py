"""`AutoModel`: changed rows alone give what predicting the whole graph again gives."""

import numpy as np
import pytest

from labeltrick import AutoModel, Graph
from labeltrick.explain import auto_rows
from labeltrick.explain.found import Question
from tests.explain.conftest import make_problem
from tests.support.leaks import TASKS


def fitted(task, learners=("trees", "linear"), seed=0, **options):
    graph, X, y = make_problem(task, seed=seed)
    model = AutoModel(learners=list(learners), n_folds=2, progress=False, **options)
    return model.fit(X, y, graph=graph), y


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("seed", [0, 1])
def test_hidden_labels_are_hidden_as_by_predicting_again(task, seed):
    model, y = fitted(task, seed=seed)
    assert auto_rows.suits(model, model.fitted_inputs)
    numbers = task == "regression"
    rows = model.predict().reshape(60, -1) if numbers else model.predict_proba()
    for item in model.explain(["node 7", "node 41"], top=3, edges=False):
        node, k = int(item.node.removeprefix("node ")), int(item.output or 0)
        assert item.score == pytest.approx(rows[node, k], abs=1e-5)
        for each in item.contributions:
            if each.kind != "label":
                continue
            hidden = y.copy()
            hidden[int(each.source.removeprefix("node "))] = (
                -1 if task == "classification" else np.nan
            )
            again = model.predict(None, hidden) if numbers else model.predict_proba(None, hidden)
            effect = item.score - again.reshape(60, -1)[node, k]
            assert each.effect == pytest.approx(effect, abs=1e-4)


def test_no_labels_are_as_by_predicting_again():
    model, y = fitted("regression")
    item = model.explain("node 7", edges=False)[0]
    nothing = model.predict(None, np.full(len(y), np.nan))[7]
    assert item.without_labels == pytest.approx(nothing, abs=1e-5)


@pytest.mark.parametrize("learners", [("trees",), ("linear",)])
def test_columns_of_each_learner_are_explained(learners):
    model, _ = fitted("regression", learners)
    if learners[0] not in model.shares_:
        pytest.skip("label propagation has the whole blend")
    item = model.explain("node 20", top=20, edges=False)[0]
    kinds = {each.kind for each in item.contributions}
    assert {"label", "own column", "neighbor column", "label column"} <= kinds
    assert not item.additive
    assert "do not add up" in str(item)


def test_label_dropout_is_explained_by_predicting_again():
    model, _ = fitted("classification", ("trees",), label_dropout=0.5)
    assert not auto_rows.suits(model, model.fitted_inputs)
    assert model.explain("node 3", top=2, edges=False)[0].score > 0


def test_without_features():
    graph, _, y = make_problem()
    model = AutoModel(learners=["trees"], n_folds=2, progress=False).fit(None, y, graph=graph)
    item = model.explain("node 3", edges=False)[0]
    assert {each.kind for each in item.contributions} <= {"label", "label column"}


def test_graph_networks_are_explained_by_predicting_again():
    pytest.importorskip("torch")
    model, y = fitted("regression", ("graph network",))
    if auto_rows.suits(model, model.fitted_inputs):
        pytest.skip("the network has no share of the blend")
    node = int(np.flatnonzero(np.isnan(y))[0])
    item = model.explain(f"node {node}", top=2, edges=False)[0]
    for each in item.contributions:
        if each.kind == "label":
            hidden = y.copy()
            hidden[int(each.source.removeprefix("node "))] = np.nan
            again = model.predict(None, hidden)[node]
            assert each.effect == pytest.approx(item.score - again, abs=1e-5)


def test_what_no_label_reaches_is_not_predicted_from_the_own_label():
    """The prior of label propagation is that of the other labels."""
    graph = Graph.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 5], n_nodes=12)
    y = np.array([0.0, 1, 2, 3, 4, 5, np.nan, 1, 2, 3, 4, 90])
    model = AutoModel(learners=["trees"], n_folds=2, progress=False, task="regression")
    model.fit(None, y, graph=graph)
    rows = auto_rows.AutoRows(
        Question(model, model.fitted_inputs, np.array([11]), 3), np.array([11])
    )
    np.testing.assert_allclose(rows._priors, [[np.nanmean(y[:11])]])
