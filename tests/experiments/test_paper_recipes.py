"""The paper's trainable predictors by the literal recipe, compared with dense formulas."""

import numpy as np
import pytest

from experiments.paper_recipes import (
    PaperCorrectAndSmooth,
    PaperLabelPropagation,
    Rows,
    Schedule,
    train,
)
from labeltrick import Graph
from tests.reference import normalized, with_self_loops

N, LAM = 60, 0.6


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], N // 3)
    a, b = rng.integers(0, N, (2, 500))
    same = truth[a] == truth[b]
    graph = Graph.from_edges(a[same], b[same], n_nodes=N)
    order = rng.permutation(N)
    y = np.full(N, -1)
    y[order[:45]] = truth[order[:45]]
    return graph, y, truth, order[:30], order[30:45], order[45:]


def schedule(**options):
    given = {"split_rate": (0.5,), "n_splits": 3, "learning_rate": 0.05, "max_epochs": 60}
    return Schedule(**{**given, "patience": 60, **options})


def resolvent(graph, lam, self_loops):
    A = graph.to_scipy().toarray()
    A = with_self_loops(A) if self_loops else A
    return (1 - lam) * np.linalg.inv(np.eye(N) - lam * normalized(A, "sym"))


def one_hot(y):
    return (y[:, None] == np.arange(3)).astype(float)


def label_propagation(seed=0, **options):
    how = {"norm": "sym", "self_loops": True, "tol": 1e-7}
    return PaperLabelPropagation(schedule(**options), seed, LAM, **how)


def test_rows_of_label_propagation(problem):
    graph, y, truth, train_nodes, val, test = problem
    model = label_propagation().fit(None, y, graph=graph, validation=val)
    P, Y = resolvent(graph, LAM, True), np.zeros((N, 3))
    Y[train_nodes] = one_hot(truth[train_nodes])
    np.testing.assert_allclose(model._Z, P @ Y, atol=1e-5)  # validation labels are no inputs
    rng, again = np.random.default_rng(7), np.random.default_rng(7)
    ordered = np.sort(train_nodes)
    found = list(model.splits(ordered, 0.3, rng))
    assert len(found) == 3
    for rows, inside in zip(found, again.random((3, 30)) < 0.3, strict=True):
        Y_in = np.zeros((N, 3))
        Y_in[ordered[inside]] = one_hot(truth[ordered[inside]]) / 0.3
        out = ordered[~inside]
        np.testing.assert_allclose(rows.Z, (P @ Y_in)[out], atol=1e-5)
        np.testing.assert_array_equal(rows.codes, truth[out])
    hit = model.classes_[model.predict_proba().argmax(axis=1)] == truth
    assert hit[test].mean() > 0.8


def test_the_start_and_the_rate_depend_on_the_seed_only(problem):
    graph, y, _, _, val, _ = problem
    options = {"split_rate": (0.2, 0.8)}
    first, second, other = (
        label_propagation(seed, **options).fit(None, y, graph=graph, validation=val)
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first.weights_, second.weights_)
    assert (first.weights_ != other.weights_).any()
    best = max(first.split_rate_scores_.values())
    assert first.split_rate_scores_[first.split_rate_] == best
    start = first.start(np.random.default_rng(0))
    assert np.abs(start).max() <= 1 / np.sqrt(3)


def test_the_gradient():
    rng = np.random.default_rng(0)
    rows = Rows(rng.normal(size=(20, 3)), rng.integers(0, 3, 20))
    W, step = rng.normal(size=(3, 3)), 1e-6

    def loss(W):
        scores = rows.Z @ W
        total = np.log(np.exp(scores).sum(axis=1))
        return np.mean(total - scores[np.arange(20), rows.codes])

    for k in np.ndindex(3, 3):
        moved = W.copy()
        moved[k] += step
        slope = (loss(moved) - loss(W)) / step
        assert rows.gradient(W)[k] == pytest.approx(slope, abs=1e-4)


def test_training_stops_without_gain():
    rows = Rows(np.eye(3), np.arange(3))
    found = train([rows], np.eye(3), rows, schedule(max_epochs=1000, patience=5))
    assert (found.epoch, found.accuracy) == (0, 1.0)


def test_rows_of_correct_and_smooth(problem):
    graph, y, truth, train_nodes, val, _ = problem
    base = np.random.default_rng(1).dirichlet(np.ones(3), N)
    steps = [{"correct": 0.8, "smooth": 0.5, "scale": 1.0}]
    options = {"max_epochs": 1, "learning_rate": 1e-9}
    model = PaperCorrectAndSmooth(schedule(**options), 0, base, steps)
    model.fit(None, y, graph=graph, validation=val)
    P_c, P_s = resolvent(graph, 0.8, False), resolvent(graph, 0.5, False)
    inside = np.isin(np.arange(N), train_nodes)[:, None]
    E = P_c @ np.where(inside, one_hot(truth) - base, 0)
    wanted = P_s @ np.where(inside, one_hot(truth), base + E)  # eq. 14 with W_c = W_s = I
    np.testing.assert_allclose(model._Z @ model.weights_, wanted, atol=1e-4)
    best = {"correct": 0.8, "smooth": 0.5, "scale": 0.0}
    several = PaperCorrectAndSmooth(schedule(**options), 0, one_hot(truth), [*steps, best])
    several.fit(None, y, graph=graph, validation=val)
    assert several.steps_ in [*steps, best]
    assert several.split_rate_scores_[0.5] >= model.split_rate_scores_[0.5]
