"""Boosted trees on graphs: each mode, gradients through the graph, parameters, bad input."""

import numpy as np
import pandas as pd
import pytest

from labeltrick import GraphBoosting, audit_leakage
from tests.support.estimator_checks import run_scikit_learns_checks
from tests.support.graphs import blocks, wavy

MODES = ("features", "two_stage", "end_to_end")
modes = pytest.mark.parametrize("mode", MODES)


def model(mode, **options):
    options = {"n_rounds": 20, "learning_rate": 0.15, **options}
    return GraphBoosting(mode, progress=False, **options)


@modes
def test_numbers_are_predicted_better_than_by_the_columns_alone(mode):
    graph, X, truth, y = wavy()
    hidden = np.isnan(y)
    alone = model("features", neighbor_hops=0, label_hops=0, damping=None)
    with pytest.warns(UserWarning, match="no graph"):
        alone.fit(X, y)
    fitted = model(mode).fit(X, y, graph=graph)
    errors = [np.abs(m.predict() - truth)[hidden].mean() for m in (alone, fitted)]
    assert errors[1] < 0.7 * errors[0]
    assert 0 < fitted.n_rounds_ <= 20
    assert fitted.oof_score_ > 0.5


@modes
@pytest.mark.parametrize("kind", ["classes", "two classes", "several", "columns"])
def test_every_task(mode, kind):
    graph, X, truth, y = blocks(3, n=150)
    if kind == "two classes":
        y, truth = np.where(y >= 0, y > 0, -1), truth > 0
    elif kind == "several":
        rows = np.column_stack([truth == 0, truth == 1]).astype(float)
        y, truth = np.where((y >= 0)[:, None], rows, np.nan), rows
    elif kind == "columns":
        rows = np.column_stack([truth * 1.5, -2.5 * truth + 0.25])
        y, truth = np.where((y >= 0)[:, None], rows, np.nan), rows
    fitted = model(mode, n_rounds=40).fit(X, y, graph=graph)
    if kind == "columns":
        assert fitted.predict().shape == truth.shape
        assert np.corrcoef(fitted.predict()[:, 0], truth[:, 0])[0, 1] > 0.6
        return
    proba = fitted.predict_proba()
    if kind != "several":
        np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-6)
    assert ((proba >= 0) & (proba <= 1)).all()
    assert (fitted.predict() == truth).mean() > 0.6


@modes
def test_the_own_label_moves_no_out_of_fold_prediction(mode):
    graph, X, _, y = wavy(1, n=120)
    place = 7
    node = np.flatnonzero(~np.isnan(y))[place]
    rows = []
    for shift in (0.0, 5.0):
        other = y.copy()
        other[node] += shift
        rows.append(model(mode).fit(X, other, graph=graph).oof_prediction_)
    assert abs(rows[0][place] - rows[1][place]) < 1e-6
    assert np.abs(rows[0] - rows[1]).max() > 1e-3


def test_the_audit_finds_no_leak_in_label_columns():
    graph, X, _, y = wavy(2, n=100)
    train = np.flatnonzero(~np.isnan(y))
    fitted = model("features").fit(X, y, graph=graph)

    def predict(labels):
        return fitted.predict(y=labels)

    assert not audit_leakage(predict, y, train).leaks


@modes
def test_the_audit_finds_no_leak_in_out_of_fold_predictions(mode):
    graph, X, _, y = wavy(2, n=80)

    def predict(labels):
        fitted = GraphBoosting(mode, n_rounds=6, progress=False).fit(X, labels, graph=graph)
        rows = np.zeros(len(labels))
        rows[fitted.labeled_] = fitted.oof_prediction_
        return rows

    train = np.flatnonzero(~np.isnan(y))
    assert not audit_leakage(predict, y, train, n_samples=3).leaks


@modes
def test_a_seed_gives_the_same_numbers(mode):
    graph, X, _, y = wavy(3, n=150)
    first, second, other = (
        model(mode, random_state=seed).fit(X, y, graph=graph).predict() for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, second)
    assert np.abs(first - other).max() > 0


@modes
def test_new_nodes_edges_and_labels_without_training(mode):
    from labeltrick import Graph

    graph, X, truth, y = wavy(4, n=200, share=0.3, noise=20.0)
    fitted = model(mode).fit(X, y, graph=graph)
    src, dst = graph.to_edge_index()
    bigger = Graph.from_edges(
        np.r_[src, np.arange(200, 210)], np.r_[dst, np.arange(100, 110)], n_nodes=210
    )
    more = pd.concat([X, X.iloc[100:110]], ignore_index=True)
    assert fitted.predict(more, np.append(y, [np.nan] * 10), graph=bigger).shape == (210,)
    odd = np.arange(200) % 2 == 1
    low, high = (
        fitted.predict(y=np.where(odd, value, y))[~odd & np.isnan(y)].mean() for value in (7, 13)
    )
    assert low < truth.mean() < high


def test_validation_labels_choose_the_rounds_and_are_no_inputs():
    graph, X, _, y = wavy(5)
    val = np.flatnonzero(~np.isnan(y))[::4]
    seen = [
        model("features").fit(X, labels, graph=graph, validation=val).predict()
        for labels in (y, np.where(np.isin(np.arange(300), val), y + 1e-9, y))
    ]
    np.testing.assert_allclose(*seen, atol=1e-6)
    fitted = model("features").fit(X, y, graph=graph, validation=val)
    assert not np.isin(val, fitted.labeled_).any()


def test_importances_distinguish_own_neighbor_and_label_columns():
    graph, X, _, y = wavy(6)
    fitted = model("features").fit(X, y, graph=graph)
    assert set(fitted.group_importances_) == {"own", "neighbor", "label"}
    assert sum(fitted.group_importances_.values()) == pytest.approx(1)
    assert len(fitted.feature_names_) == len(fitted.feature_groups_)
    assert len(fitted.feature_names_) == len(fitted.feature_importances_)
    assert fitted.feature_names_[:3] == ["hint", "kind", "flag"]
    assert "hint, neighbors 1 away" in fitted.feature_names_
    assert "label, 1 away" in fitted.feature_names_
    assert set(model("end_to_end").fit(X, y, graph=graph).group_importances_) == {
        "own",
        "neighbor",
    }


def test_monotone_constraints_by_name():
    rng = np.random.default_rng(0)
    from labeltrick import Graph

    X = pd.DataFrame({"up": rng.normal(size=300), "other": rng.normal(size=300)})
    y = np.where(rng.random(300) < 0.6, -X["up"] + 0.5 * rng.normal(size=300), np.nan)
    graph = Graph.from_edges([], [], n_nodes=300)
    fitted = model(
        "features",
        neighbor_hops=0,
        label_hops=0,
        damping=None,
        lightgbm_params={"monotone_constraints": {"up": 1}},
    ).fit(X, y, graph=graph)
    grid = pd.DataFrame({"up": np.linspace(-2, 2, 300), "other": 0.0})
    assert (np.diff(fitted.predict(grid, graph=graph)) >= 0).all()


def test_wide_sparse_columns():
    import scipy.sparse as sp

    graph, _, truth, y = blocks(7, n=200)
    rng = np.random.default_rng(0)
    words = (rng.random((200, 400)) < 0.02 + 0.1 * (np.arange(400) % 3 == truth[:, None])) * 1.0
    X = sp.csr_array(words)
    fitted = model("features").fit(X, y, graph=graph)
    assert any(name.startswith("component") for name in fitted.feature_names_)
    assert (fitted.predict() == truth).mean() > 0.8


# -- bad input ---------------------------------------------------------------------------------
def test_constant_and_infinite_targets():
    graph, X, _, y = wavy(8, n=100)
    with pytest.raises(ValueError, match="`y` must vary for regression; all labels are 3"):
        model("features", task="regression").fit(X, np.where(np.isnan(y), np.nan, 3.0), graph=graph)
    with pytest.raises(ValueError, match="must be finite"):
        model("features").fit(X, np.where(np.isnan(y), np.inf, y), graph=graph)


def test_wrong_parameters():
    graph, X, _, y = wavy(9, n=60)
    for options, message in [
        ({"mode": "both"}, "`mode` must be one of"),
        ({"lightgbm_params": {"objective": "l1"}}, "must not set 'objective'"),
        ({"lightgbm_params": {"machines": "a:1"}}, "connects to other machines"),
        ({"lightgbm_params": {"forcedsplits_filename": "x"}}, "reads or writes files"),
        ({"lightgbm_params": {"monotone_constraints": {"no": 1}}}, "got 'no'"),
        (
            {"lightgbm_params": {"monotone_constraints": {"kind": 1}}},
            "categorical columns.*got 'kind'",
        ),
        ({"lightgbm_params": {"monotone_constraints": [1] * 99}}, "at most"),
        ({"lightgbm_params": {"n_estimators": 3}}, "must not set 'n_estimators'"),
        ({"lightgbm_params": {"max_bin": "x"}}, "must be valid for LightGBM"),
        ({"mode": "end_to_end", "correct": [0.5, 0.8]}, "same number"),
        ({"unseen_categories": "new"}, "`unseen_categories` must be one of"),
    ]:
        with pytest.raises((ValueError, TypeError), match=message):
            GraphBoosting(**{"n_rounds": 5, **options}).fit(X, y, graph=graph)
    with pytest.raises(ValueError, match="learns from columns"):
        GraphBoosting().fit(None, y, graph=graph)


@modes
@pytest.mark.parametrize(
    "labels",
    [
        ["a"],
        ["a"] * 12,
        ["a", "b"],
        ["a", "b", "c", "a", "b"],
        ["a"] * 15 + ["b"] * 14 + ["c"],
    ],
    ids=["one label", "one class", "two labels", "five labels", "a class of one"],
)
def test_few_labels_and_classes(mode, labels):
    """Also where a fold has no label of some class: calibration needs left-out predictions."""
    graph, X, _, _ = wavy(11, n=60)
    y = np.full(60, None, dtype=object)
    y[: len(labels)] = labels
    fitted = model(mode).fit(X, y, graph=graph)
    proba = fitted.predict_proba()
    assert proba.shape == (60, len(set(labels)))
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-6)
    assert fitted.oof_proba_.shape == (len(labels), len(set(labels)))
    assert len(fitted.feature_importances_) == len(fitted.feature_names_)


@modes
def test_a_class_of_validation_nodes_alone(mode):
    graph, X, _, _ = wavy(12, n=60)
    y = np.full(60, None, dtype=object)
    y[:30], y[30:34], y[34] = ["a", "b"] * 15, "a", "c"
    fitted = model(mode).fit(X, y, graph=graph, validation=np.arange(30, 35))
    assert fitted.predict_proba().shape == (60, 3)


@modes
def test_only_ratios_of_weights_matter(mode):
    graph, X, _, y = wavy(13, n=120)
    rows = [
        model(mode).fit(X, y, graph=graph, sample_weight=size).predict() for size in (1.0, 1e-5)
    ]
    np.testing.assert_allclose(*rows, rtol=1e-3)
    assert np.ptp(rows[1]) > 1


def test_few_labels_grow_trees_too():
    graph, X, _, y = wavy(14, n=200, noise=0.1)
    few = np.where(np.cumsum(~np.isnan(y)) <= 15, y, np.nan)
    assert np.ptp(model("features").fit(X, few, graph=graph).predict()) > 0.5


def test_every_target_has_its_own_rounds():
    graph, X, truth, y = wavy(15)
    noise = np.random.default_rng(0).normal(size=len(y))
    both = np.where(np.isnan(y)[:, None], np.nan, np.column_stack([truth, noise]))
    rounds = model("features").fit(X, both, graph=graph).model_.trees.rounds
    assert rounds[0] > 2 * rounds[1]


def test_a_failed_fit_leaves_no_half_fitted_model():
    graph, X, _, y = wavy(10, n=60)
    fitted = model("features").fit(X, y, graph=graph)
    with pytest.raises(ValueError, match="must vary"):
        fitted.set_params(task="regression").fit(X, np.ones(60), graph=graph)
    assert not hasattr(fitted, "targets_")


@pytest.mark.filterwarnings("ignore:.*constant columns")
@pytest.mark.parametrize("task", ["auto", "regression"])
def test_scikit_learns_checks(task):
    run_scikit_learns_checks(
        model("features", task=task, n_rounds=8, learning_rate=0.4, calibrate=False),
        {
            "check_dtype_object": "columns of few texts are categories, of many an error of ours",
            "check_classifiers_classes": "−1 is a missing label, not a class",
        },
        uses_features=True,
    )
