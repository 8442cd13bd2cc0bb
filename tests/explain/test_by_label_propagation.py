"""Label propagation: contributions are entries of the row of P, exactly."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeltrick import Graph, LabelPropagation
from tests import reference
from tests.explain.conftest import make_problem
from tests.support.leaks import TASKS, changed, labeled_nodes, small_problem


def effects_of(explanation):
    return {each.source: each.effect for each in explanation.contributions if each.kind == "label"}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("norm", ["sym", "row", "col"])
@pytest.mark.parametrize("n_steps", [None, 5])
def test_contributions_are_those_of_the_dense_formula(task, norm, n_steps):
    graph, _, y = make_problem(task)
    model = LabelPropagation(0.8, n_steps, norm=norm, calibrate=False, self_loops=True)
    model.fit(None, y, graph=graph)
    A = reference.with_self_loops(graph.to_scipy().toarray())
    S, Y = reference.normalized(A, norm), model.targets_.Y
    P = reference.resolvent(S, 0.8)
    if n_steps is not None:
        P = reference.iteration(S, 0.8, n_steps, np.eye(len(S)))
    unlabeled = np.flatnonzero(~model.targets_.labeled)[:2]
    for node in [*unlabeled, *model.labeled_[:2]]:
        found = model.explain(f"node {node}", top=100, edges=False)
        prior, expected = reference.label_propagation_effects(P, Y, model.labeled_, node)
        for item in found:
            k = found.items.index(item) if task != "classification" else item.output
            assert item.baseline == pytest.approx(prior[k], abs=1e-12)
            effects = effects_of(item)
            assert set(effects) <= {f"node {j}" for j in expected}
            for j, effect in expected.items():
                assert effects.get(f"node {j}", 0.0) == pytest.approx(effect[k], abs=1e-9)
            assert item.rest == pytest.approx(0.0, abs=1e-9)
            assert item.additive
            assert item.error_bound < 1e-8


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_scores_are_those_of_predictions(task, class_weight):
    if task != "classification" and class_weight:
        pytest.skip("class weights are for classes")
    graph, _, y = make_problem(task, seed=3)
    model = LabelPropagation(0.9, class_weight=class_weight).fit(None, y, graph=graph)
    rows = model.predict()[:, None] if task == "regression" else model.predict_proba()
    own = model.calibration_.apply(model.oof_rows_, task)
    found = model.explain(graph.names, edges=False)
    place = {name: k for k, name in enumerate(graph.names.tolist())}
    for item in found:
        node = place[item.node]
        row = own[list(model.labeled_).index(node)] if item.labeled else rows[node]
        k = 0 if item.output is None else int(item.output)
        assert item.score == pytest.approx(row[k], abs=1e-5)
        if task == "classification":
            assert row.argmax() == k


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), task=st.sampled_from(TASKS), directed=st.booleans())
def test_an_own_label_never_contributes(seed, task, directed):
    """Not even to the baseline: another fit with the label changed explains the node equally."""
    graph, _, y = small_problem(seed, task, directed=directed)
    for node in labeled_nodes(y, task):
        other, size = changed(y, node, task)
        items = []
        for known in (y, other):
            model = LabelPropagation(0.8, calibrate=False, task=task)
            model.fit(None, known, graph=graph)
            items.append(model.explain(int(node), target=0, top=100))
        for before, after in zip(*items, strict=True):
            assert node not in effects_of(before)
            assert abs(before.score - after.score) <= 1e-5 * size
            assert abs(before.baseline - after.baseline) <= 1e-9 * size
            assert len(before.contributions) == len(after.contributions)
            told = [{(e.kind, e.source): e.effect for e in item.contributions}
                    for item in (before, after)]  # fmt: skip
            for key, effect in told[0].items():
                assert abs(effect - told[1][key]) <= 1e-5 * size, key


def test_nodes_that_no_label_reaches_have_the_prior():
    graph = Graph.from_edges([0, 2], [1, 3])
    model = LabelPropagation(calibrate=False).fit(None, [0, -1, -1, -1], graph=graph)
    (item,) = model.explain(3, edges=False)
    assert (item.score, item.baseline, item.contributions) == (1.0, 1.0, ())
    model = LabelPropagation(calibrate=False).fit(None, ["a", "b", None, None], graph=graph)
    (item,) = model.explain(3, edges=False)
    assert (item.score, item.baseline) == (0.5, 0.5)


def test_a_single_label_does_not_explain_itself():
    graph = Graph.from_edges([0, 1], [1, 2])
    model = LabelPropagation(calibrate=False).fit(None, [1.5, np.nan, np.nan], graph=graph)
    (item,) = model.explain(0, edges=False)
    assert (item.score, item.contributions) == (0.0, ())


def test_labels_that_are_kept_fixed_are_hidden_one_at_a_time():
    graph, _, y = make_problem()
    model = LabelPropagation(clamp="hard").fit(None, y, graph=graph)
    item = model.explain(f"node {model.labeled_[0]}")[0]
    assert not item.additive
    assert item.node not in effects_of(item)


def test_many_labels_leave_a_rest(monkeypatch):
    from labeltrick.explain import by_label_propagation

    monkeypatch.setattr(by_label_propagation, "_MOST_LABELS", 3)
    graph, _, y = make_problem()
    item = LabelPropagation(0.9).fit(None, y, graph=graph).explain("node 1", top=2, edges=False)[0]
    total = item.baseline + item.rest + sum(each.effect for each in item.contributions)
    assert total == pytest.approx(item.score, abs=1e-12)
    assert item.rest != 0
