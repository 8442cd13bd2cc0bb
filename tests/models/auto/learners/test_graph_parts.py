"""Large graphs in parts."""

import numpy as np
import pytest

from labeltrick import Graph, Power, audit_leakage, open_graph, save_graph
from labeltrick.models.auto.learners import graph_network, graph_parts
from labeltrick.models.auto.learners.graph_parts import has_parts, in_parts_of, n_parts_of
from tests.support.auto import quick
from tests.support.estimator_checks import check_out_of_fold_rows
from tests.support.graphs import blocks


@pytest.fixture
def small_parts(monkeypatch):
    """Graphs of more than 50 nodes are divided into parts of 30."""
    monkeypatch.setattr(graph_network, "MOST_WHOLE", 50)
    monkeypatch.setattr(graph_parts, "_PART", 30)


def grid(side):
    at = np.arange(side * side).reshape(side, side)
    ends = [at[:, :-1].ravel(), at[:-1].ravel()], [at[:, 1:].ravel(), at[1:].ravel()]
    return Graph.from_edges(*(np.concatenate(each) for each in ends))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_means_within_parts_ignore_edges_between_them(small_parts, directed, weighted):
    rng = np.random.default_rng(0)
    ends, weights = rng.integers(0, 95, (2, 400)), rng.random(400) + 0.1
    graph = Graph.from_edges(
        *ends, weight=weights if weighted else None, n_nodes=100, directed=directed
    )
    divided, values = in_parts_of(graph), rng.normal(size=(100, 3))
    assert divided.n_parts == n_parts_of(100) == 3
    found = np.concatenate([divided.mean(part) @ values[divided.order][part]
                            for part in divided.parts()])  # fmt: skip
    A = graph.to_scipy().toarray()[np.ix_(divided.order, divided.order)]
    which = np.repeat(np.arange(3), [part.stop - part.start for part in divided.parts()])
    A = A * (which[:, None] == which)
    size = A.sum(axis=1, keepdims=True)
    expected = np.divide(A, size, out=np.zeros_like(A), where=size > 0) @ values[divided.order]
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_one_part_is_the_whole_graph():
    graph, _, known, _ = blocks(3, n=40)
    from labeltrick._utils.targets import encode_targets

    targets = encode_targets(known, 40)
    found = graph_parts.whole(graph, targets)
    (part,) = found.parts()
    values = np.random.default_rng(0).normal(size=(40, 2))
    means = (found.mean(part) @ values[found.order])[found.place]
    np.testing.assert_allclose(means, Power(graph, 1, norm="row") @ values, atol=1e-12)


def test_whether_a_graph_has_parts(small_parts, tmp_path):
    assert has_parts(grid(20))
    rng = np.random.default_rng(0)
    assert not has_parts(Graph.from_edges(*rng.integers(0, 400, (2, 4000)), n_nodes=400))
    stored = open_graph(save_graph(grid(20), tmp_path / "graph.lt"))
    assert has_parts(stored)  # rows of the grid follow one another


def test_members_trained_in_parts_know_nothing_of_the_fold_they_leave_out(small_parts):
    pytest.importorskip("torch")
    options = {"learners": ["graph network"], "exclude": ["features alone"]}
    check_out_of_fold_rows(*blocks(20, n=90), **options)


@pytest.mark.parametrize("stored", [False, True])
def test_a_network_trained_in_parts_learns_and_does_not_leak(
    small_parts, monkeypatch, stored, tmp_path
):
    pytest.importorskip("torch")
    monkeypatch.setattr(graph_parts, "_PART", 150)
    side, rng = 24, np.random.default_rng(1)
    graph = grid(side)
    if stored:
        graph = open_graph(save_graph(graph, tmp_path / "graph.lt"))
    place = np.arange(side * side)
    truth = (place // side // 8 + place % side // 8) % 3  # squares of 8 x 8 nodes
    X = np.eye(3)[truth] + 2 * rng.normal(size=(side * side, 3))
    known = np.where(rng.random(side * side) < 0.5, truth, -1)
    model = quick(n_folds=2, learners=["graph network"]).fit(X, known, graph=graph)
    assert model._learners[0].learner.options["in_parts"]
    hidden = known < 0
    alone = (X.argmax(axis=1) == truth)[hidden].mean()
    assert (model.predict() == truth)[hidden].mean() > alone + 0.2
    again = quick(n_folds=2, learners=["graph network"], plan=model.plan_)
    again.fit(X, known, graph=graph)
    np.testing.assert_array_equal(again.predict_proba(), model.predict_proba())
    report = audit_leakage(
        model.rows_for, model.targets_.codes, model.labeled_, n_samples=10, progress=False
    )
    assert not report.leaks, str(report)


def test_very_large_graphs_without_parts_have_no_graph_network(small_parts, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(graph_network, "MOST_UNDIVIDED", 60)
    graph, X, _, y = blocks(4, n=90)
    model = quick(learners=["graph network", "linear"]).fit(X, y, graph=graph)
    notes = {trial.name: trial.note for trial in model.trials_}
    assert notes["graph network"] == "not run: does not suit these data"
