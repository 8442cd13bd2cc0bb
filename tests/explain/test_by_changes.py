"""Any model is explained by hiding labels and replacing columns; no own label contributes."""

import numpy as np
import pytest

from labeltrick.explain.by_changes import means_of, unusual_columns
from tests.explain.conftest import make_problem
from tests.support.leaks import ESTIMATORS, TASKS, labeled_nodes, make, small_problem

NAMES = [name for name in ESTIMATORS if name != "SelfExcludedLabels"]
TORCH = {"SGC", "SIGN", "TWIRLS", "GNN"}


def fitted(name, task, which, seed=0):
    model = make(name, task, which * len(TASKS))
    graph, X, y = make_problem(task, seed=seed)
    if name in TORCH or getattr(model, "hidden", None):
        pytest.importorskip("torch")
    return model.fit(X, y, graph=graph), y


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", NAMES)
def test_every_estimator_explains(name, task):
    model, _ = fitted(name, task, 0)
    found = model.explain(["node 3", f"node {model.labeled_[0]}"], top=2)
    assert len(found) == (4 if task == "multilabel" else 2)
    numbers = task == "regression"
    rows = model.predict().reshape(60, -1) if numbers else model.predict_proba()
    for item in found:
        assert np.isfinite([item.score, item.baseline, item.without_labels, item.rest]).all()
        own = [each for each in item.contributions if each.kind == "label"]
        assert item.node not in {each.source for each in own}
        assert str(item).startswith(f"{item.node}: ")
        if not item.labeled:
            expected = rows[3, 0 if item.output is None else int(item.output)]
            assert item.score == pytest.approx(expected, abs=1e-4)
        if item.additive:
            summed = sum(each.effect for each in item.contributions if each.adds_up)
            assert item.baseline + item.rest + summed == pytest.approx(item.score, abs=1e-9)
    assert found.to_frame().height >= len(found)


@pytest.mark.parametrize("name", NAMES)
def test_a_changed_own_label_changes_no_explanation(name):
    """The model is fitted once, and explains from labels that differ in the node's own."""
    task = "classification"
    graph, X, y = small_problem(4, task, directed=False)
    model = make(name, task, 0).fit(X, y, graph=graph)
    for node in labeled_nodes(y, task)[:3]:
        other = y.copy()
        other[node] = 1 - y[node]
        before = model.explain(int(node), None, y, target=0, top=2)[0]
        after = model.explain(int(node), None, other, target=0, top=2)[0]
        assert before.score == pytest.approx(after.score, abs=1e-5)
        assert before.baseline == pytest.approx(after.baseline, abs=1e-5)
        told = [{(e.kind, e.source): e.effect for e in item.contributions}
                for item in (before, after)]  # fmt: skip
        for key in told[0].keys() & told[1].keys():
            assert told[0][key] == pytest.approx(told[1][key], abs=2e-5), key
        assert ("label", int(node)) not in told[0]


def test_hiding_and_replacing_are_as_by_predicting_again():
    model, y = fitted("TrainableLabelPropagation", "regression", 0)
    item = model.explain("node 5", top=3, edges=False)[0]
    for each in item.contributions:
        hidden = y.copy()
        hidden[int(each.source.removeprefix("node "))] = np.nan
        assert each.effect == pytest.approx(item.score - model.predict(None, hidden)[5], abs=1e-9)


def test_columns_far_from_their_mean_come_first():
    X = np.array([[0.0, 0.0, 1.0], [2.0, 0.0, 1.0], [4.0, 6.0, 1.0], [2.0, 0.0, 1.0]])
    means = means_of(X)
    np.testing.assert_allclose(means, [2.0, 1.5, 1.0])
    assert unusual_columns(X, 2, means, 3).tolist() == [1, 0]
    assert means_of([["text"], ["text"]]) is None
    assert means_of(None) is None
