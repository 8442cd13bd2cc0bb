"""Models that are prepared for few labels nearby, or none."""

import numpy as np
import pytest

from labeltrick import Graph, audit_leakage, load_model, save_model
from labeltrick._utils.targets import encode_targets
from labeltrick.models.auto.label_dropout import LabelDropout
from tests.support.auto import numbers, quick
from tests.support.estimator_checks import check_out_of_fold_rows
from tests.support.graphs import blocks, word_graph

QUICK = {"budget": 1e-9, "n_folds": 2}  # trees only


def labels(n=400):
    return encode_targets(np.arange(n) % 3, n, "classification")


def test_without_dropout_all_labels_are_inputs():
    known, dropout = labels(), LabelDropout()
    assert dropout.shown(known, 5) is known
    assert [view is known for view in dropout.views(known, 5)] == [True]
    assert dropout.shares_shown((0.35, 0.95)) == (0.35, 0.95)


def test_a_share_of_the_labels_is_hidden_whatever_they_are():
    known, dropout = labels(), LabelDropout(0.8, seed=3)
    shown = dropout.shown(known, 5).labeled
    assert 0.12 < shown.mean() < 0.28
    other = encode_targets((np.arange(400) + 1) % 3, 400, "classification")
    np.testing.assert_array_equal(dropout.shown(other, 5).labeled, shown)
    assert (dropout.shown(known, 6).labeled != shown).any()
    part, few, none = dropout.views(known, 5)
    np.testing.assert_array_equal(part.labeled, shown)
    assert 0.1 < few.labeled.sum() / shown.sum() < 0.35
    assert not (few.labeled & ~shown).any()
    assert not none.labeled.any()
    assert dropout.n_views == len(dropout.views(known, 5))


def test_with_all_labels_hidden_there_is_one_view():
    (none,) = LabelDropout(1.0).views(labels(), 0)
    assert not none.labeled.any()


def two_graphs(seed=0, n=300):
    """Features say little of a node, and more of its neighbors together; labels say most."""
    return blocks(seed, n=n, share=0.9, signal=0.8), blocks(seed + 100, n=n, signal=0.8)


@pytest.fixture(scope="module")
def fitted():
    (graph, X, _, y), _ = two_graphs()
    shares = (0.0, 0.9, 1.0)
    return {share: quick(label_dropout=share, **QUICK).fit(X, y, graph=graph) for share in shares}


def test_another_graph_without_labels(fitted):
    _, (graph, X, truth, _) = two_graphs()
    none = np.full(len(truth), -1)
    right = {
        share: (m.predict(X, none, graph=graph) == truth).mean() for share, m in fitted.items()
    }
    assert right[0.9] > right[1.0] - 0.02
    assert right[1.0] > right[0.0] + 0.05


def four_kinds(seed, n=300):
    """Four kinds, and means over the neighbors that say more of a node than a few labels."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, n)
    src, dst = rng.integers(0, n, (2, 32 * n))
    kept = (truth[src] == truth[dst]) | (rng.random(32 * n) < 1 / 7)
    graph = Graph.from_edges(src[kept][: 7 * n], dst[kept][: 7 * n], n_nodes=n)
    return graph, 0.8 * np.eye(4)[truth] + rng.normal(size=(n, 4)), truth


@pytest.mark.parametrize(
    "learners", [["linear"], pytest.param(["network"], marks=pytest.mark.slow)]
)
def test_a_few_labels_there_are_not_worse_than_none(learners):
    """Their share lies between those that training rows see."""
    if learners == ["network"]:
        pytest.importorskip("torch")
    options = {"n_folds": 2, "learners": learners, "exclude": ["features alone"]}
    right = np.zeros((3, 3))
    for seed in range(3):
        (graph, X, y), (other, other_X, truth) = four_kinds(seed), four_kinds(seed + 100)
        model = quick(label_dropout=0.5, random_state=seed, **options).fit(X, y, graph=graph)
        drawn = np.random.default_rng(seed).random(len(truth))
        hidden = drawn >= 0.1
        for k, share in enumerate((0.0, 0.05, 0.1)):
            some = np.where(drawn < share, truth, -1)
            found = model.predict(other_X, some, graph=other)
            right[seed, k] = (found == truth)[hidden].mean()
    none, *few = right.mean(axis=0)
    assert min(few) > none - 0.05, right.round(3)


def test_the_score_is_that_without_labels_nearby(fitted):
    _, (graph, X, truth, _) = two_graphs()
    model = fitted[1.0]
    found = (model.predict(X, np.full(len(truth), -1), graph=graph) == truth).mean()
    assert abs(model.oof_score_ - found) < 0.06
    assert fitted[0.0].oof_score_ > fitted[0.9].oof_score_ > model.oof_score_ - 0.02
    assert "label propagation" in fitted[0.9].baselines_
    assert "label propagation" not in model.baselines_
    assert "label propagation" not in [trial.name for trial in model.trials_]
    assert model.damping_curve_ == []


def test_labels_are_never_inputs_if_all_were_hidden(fitted):
    _, (graph, X, truth, y) = two_graphs()
    model = fitted[1.0]
    none = np.full(len(truth), -1)
    np.testing.assert_array_equal(
        model.predict_proba(X, y, graph=graph), model.predict_proba(X, none, graph=graph)
    )
    some = fitted[0.9]
    assert (some.predict(X, y, graph=graph) == truth)[y < 0].mean() > (
        some.predict(X, none, graph=graph) == truth
    )[y < 0].mean()


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_saved_models_predict_the_same_bits(tmp_path, share):
    graph, X, _, y = blocks(1, n=90)
    model = quick(label_dropout=share, **QUICK).fit(X, y, graph=graph)
    loaded = load_model(save_model(model, tmp_path / "model"))
    assert loaded.label_dropout == share
    other = Graph.from_edges([0, 1, 2], [1, 2, 3])
    for given in ([-1, -1, -1, -1], [0, 2, -1, 1]):
        expected = model.predict_proba(X[:4], given, graph=other)
        np.testing.assert_array_equal(loaded.predict_proba(X[:4], given, graph=other), expected)
    np.testing.assert_array_equal(loaded.oof_rows_, model.oof_rows_)


@pytest.mark.parametrize(
    ("problem", "name", "share"),
    [
        (blocks(20, n=90), "linear", 0.5),
        (blocks(20, n=90), "graph network", 0.5),
        (blocks(20, n=90), "graph network", 1.0),
        (word_graph(20, n=90), "words nearby", 0.5),
        (word_graph(20, n=90), "words nearby", 1.0),
    ],
)
def test_members_know_nothing_of_the_fold_they_leave_out(problem, name, share):
    pytest.importorskip("torch")
    alone = {"learners": [name], "exclude": ["features alone"]}
    check_out_of_fold_rows(*problem, label_dropout=share, **alone)


@pytest.mark.parametrize("make", [blocks, numbers])
def test_no_prediction_moves_with_its_own_label(make):
    graph, X, _, y = make(5, n=150)
    model = quick(label_dropout=0.5, **QUICK).fit(X, y, graph=graph)
    report = audit_leakage(model.rows_for, y, model.labeled_, n_samples=30, progress=False)
    assert not report.leaks, str(report)


def test_validation_nodes_choose_without_labels_nearby():
    (graph, X, truth, y), _ = two_graphs(1, 300)
    validation = np.flatnonzero(y >= 0)[::3]
    options = {"graph": graph, "validation": validation}
    model = quick(label_dropout=1, **QUICK).fit(X, y, **options)
    trial = next(trial for trial in model.trials_ if trial.name == "trees")
    none = np.full(len(y), -1)
    right = (model.predict(X, none, graph=graph) == truth)[validation].mean()
    assert trial.score == pytest.approx(right)


def test_nothing_to_learn_from():
    graph, _, _, y = blocks(0, n=60)
    with pytest.raises(ValueError, match="`label_dropout` must be below 1 if X is None"):
        quick(label_dropout=1).fit(None, y, graph=graph)


@pytest.mark.parametrize(
    ("share", "error"), [(-0.1, ValueError), (2, ValueError), ("a", TypeError)]
)
def test_bad_shares(share, error):
    graph, X, _, y = blocks(0, n=60)
    with pytest.raises(error, match="`label_dropout` must be"):
        quick(label_dropout=share).fit(X, y, graph=graph)


def test_label_propagation_has_no_say_where_no_label_arrives():
    _, (graph, X, truth, y) = two_graphs()
    (first, first_X, _, first_y), _ = two_graphs()
    model = quick(label_dropout=0.5, **QUICK).fit(first_X, first_y, graph=first)
    none = np.full(len(truth), -1)
    model.shares_ = {"trees": 1.0}
    trees = model.predict_proba(X, none, graph=graph)
    for shares in ({"label propagation": 0.4, "trees": 0.6}, {"label propagation": 1.0}):
        model.shares_ = shares
        np.testing.assert_allclose(model.predict_proba(X, none, graph=graph), trees, atol=1e-12)
        assert np.abs(model.predict_proba(X, y, graph=graph) - trees).max() > 0.1
