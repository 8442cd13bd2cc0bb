"""What every estimator must get right: odd labels, odd graphs, honest scores."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from labeltrick import Graph, LabelFeatureRegression, LabelPropagation, TrainableLabelPropagation
from labeltrick._utils.targets import encode_targets
from labeltrick.models.search import GraphSearch
from tests.support.graphs import random_graph

RING = Graph.from_edges(range(12), [(i + 1) % 12 for i in range(12)])
HALVES = np.array([0] * 6 + [1] * 6)
MODELS = pytest.mark.parametrize(
    "model",
    [
        LabelPropagation(),
        TrainableLabelPropagation(),
        TrainableLabelPropagation(loss="squared"),
        TrainableLabelPropagation(
            weights="per_hop", label_trick="stochastic", split_rate=0.5, max_epochs=20
        ),
        TrainableLabelPropagation(weights="mlp", hidden=8, max_epochs=3, n_members=5),
    ],
    ids=["plain", "convex", "theorem", "stochastic", "mlp"],
)


def cliques(n_cliques, size):
    pairs = [
        (k * size + i, k * size + j)
        for k in range(n_cliques)
        for i in range(size)
        for j in range(i)
    ]
    return Graph.from_edges(*np.array(pairs).T, n_nodes=n_cliques * size)


# -- honest scores -------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"weights": "per_hop"},
        {"weights": "per_hop", "label_trick": "stochastic", "split_rate": 0.5, "max_epochs": 60},
        {"weights": "mlp", "hidden": 32, "n_members": 5},
        {"weights": "mlp", "label_trick": "stochastic", "hidden": 32, "n_members": 5},
    ],
    ids=["convex", "per hop", "stochastic", "mlp", "mlp stochastic"],
)
def test_labels_at_random_are_predicted_no_better_than_chance(options):
    scores = []
    for seed in range(4):
        _, graph = random_graph(seed, n=240, n_edges=700)
        y = np.random.default_rng(seed + 100).integers(0, 3, 240)
        model = TrainableLabelPropagation(**options).fit(None, y, graph=graph)
        scores.append(model.oof_score_)
    assert np.mean(scores) < 0.40  # chance is 1/3; the spread of the mean is 0.015


def test_nodes_without_edges_do_not_give_their_label_back():
    """The mean of the *others* is an affine function of the own label: weights could invert it."""
    y = np.random.default_rng(0).normal(size=40)
    empty = Graph.from_edges([], [], n_nodes=40)
    for ridge in (0, 1e-3, 0.1):
        model = TrainableLabelPropagation(ridge=ridge).fit(None, y, graph=empty)
        assert model.oof_score_ < 0.2
        classes = (y > 0).astype(int)
        model = TrainableLabelPropagation(ridge=ridge).fit(None, classes, graph=empty)
        assert model.oof_score_ < 0.8


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ridge": 1e-3},
        {"weights": "per_hop", "ridge": 1e-3},
        {"loss": "squared"},
        {"label_trick": "stochastic", "split_rate": 0.5, "learning_rate": 0.05, "max_epochs": 100},
        {"weights": "mlp", "hidden": 32, "max_epochs": 60},
    ],
    ids=["convex", "weak ridge", "per hop", "theorem", "stochastic", "mlp"],
)
def test_labels_cannot_be_read_off_a_sum_that_all_share(options):
    """In a clique every node sees the total less its own: out-of-fold scores must not profit."""
    graph = cliques(1, 40)
    scores = []
    for seed in range(4):
        y = np.random.default_rng(seed).integers(0, 3, 40)
        scores.append(TrainableLabelPropagation(**options).fit(None, y, graph=graph).oof_score_)
    assert np.mean(scores) < 0.5  # chance is 1/3


def test_a_wild_target_does_not_move_its_own_out_of_fold_prediction_much():
    empty = Graph.from_edges([], [], n_nodes=5)
    oof = [
        TrainableLabelPropagation()
        .fit(None, [v, 1.2, 2.3, 3.1, 4.7], graph=empty)
        .oof_prediction_[0]
        for v in (0.5, 1000.5)
    ]
    assert abs(oof[1] - oof[0]) < 3
    graph = cliques(2, 6)
    y = np.array([1.0, 1.1, 0.9, 1.0, 1.05, 0.95, 5.0, 5.1, 4.9, 5.0, 5.05, 1000.0]) + 0.001
    found = TrainableLabelPropagation().fit(None, y, graph=graph).suspicious_labels(1)
    assert found.nodes.tolist() == [11]


def test_one_label_has_no_honest_score():
    y = np.full(12, np.nan)
    y[0] = 50.5
    for model in (
        LabelPropagation(task="regression"),
        TrainableLabelPropagation(task="regression"),
    ):
        model.fit(None, y, graph=RING)
        np.testing.assert_allclose(model.predict(), 50.5, atol=1e-6)
        assert np.isnan(model.oof_score_)


def test_constant_targets_are_right_not_minus_infinity():
    model = LabelPropagation(task="regression").fit(None, np.full(12, 0.1), graph=RING)
    assert model.oof_score_ == 1.0


def test_whole_numbers_of_a_regression_may_be_minus_one():
    targets = encode_targets(np.array([-2, -1, 0, 1]), 4, "regression")
    assert targets.labeled.all()


def test_classes_of_lists_with_none_can_be_scored():
    y = [0, 0, None, 0, None, 0, 1, 1, 1, None, 1, 1]
    model = LabelPropagation().fit(None, y, graph=RING)
    assert model.classes_.dtype.kind == "i"
    assert model.score(None, HALVES) > 0.5


@MODELS
@pytest.mark.parametrize("n_labels", [1, 2, 3, 4])
def test_few_labels(model, n_labels):
    y = np.full(12, -1)
    y[[0, 6, 3, 9][:n_labels]] = [0, 1, 0, 1][:n_labels]
    model.fit(None, y, graph=RING)
    assert np.isfinite(model.predict_proba()).all()
    assert model.predict().shape == (12,)


def test_networks_of_two_labels_predict_each_out_of_fold():
    y = np.full(12, -1)
    y[[0, 6]] = [0, 1]
    options = {"weights": "mlp", "hidden": 8, "max_epochs": 3}
    model = TrainableLabelPropagation(**options).fit(None, y, graph=RING)
    np.testing.assert_allclose(
        model.oof_proba_, [[0, 1], [1, 0]]
    )  # each is predicted from the other


def test_a_node_among_nodes_without_labels_has_none():
    """Several labels a node: three cliques with the label A, B and none."""
    graph = cliques(3, 8)
    Y = np.repeat([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], 8, axis=0)
    Y[::8] = np.nan
    for options in ({}, {"weights": "per_hop"}):
        model = TrainableLabelPropagation(**options).fit(None, Y, graph=graph)
        assert model.predict()[::8].tolist() == [[1, 0], [0, 1], [0, 0]]


def test_unreached_nodes_get_the_prior_by_raw_views_too():
    graph = Graph.from_edges(range(6), [1, 2, 3, 4, 5, 0], n_nodes=8)
    y = [0, 1, 1, 1, 1, 1, -1, -1]
    for options in ({"loss": "squared"}, {"normalize": False}):
        model = TrainableLabelPropagation(**options, calibrate=False).fit(None, y, graph=graph)
        np.testing.assert_allclose(model.predict_proba()[6:], [[1 / 6, 5 / 6]] * 2)
        assert model.reached_.tolist() == [True] * 6 + [False] * 2


def test_no_ridge_and_one_class():
    y = np.where(np.arange(12) % 2, 1, -1)
    assert (TrainableLabelPropagation(ridge=0).fit(None, y, graph=RING).predict() == 1).all()


# -- validation and weights ------------------------------------------------------------------------
def test_a_class_that_only_validation_has():
    y = np.array(["a"] + ["b"] * 5 + ["c"] * 5 + ["b"])
    validation = [0, 4, 9]
    search = GraphSearch(LabelPropagation(), {"damping": [0.3, 0.6]})
    search.fit(None, y, graph=RING, validation=validation)
    assert search.classes_.tolist() == ["a", "b", "c"]
    assert search.best_score_ == pytest.approx(
        (search.predict()[validation] == y[validation]).mean()
    )


@MODELS
def test_balanced_weights_do_not_count_validation_labels(model):
    validation = [2, 3, 4, 5]
    flipped = HALVES.copy()
    flipped[validation] = 1 - flipped[validation]
    model = clone(model).set_params(class_weight="balanced", calibrate=False)
    rows = [
        model.fit(None, y, graph=RING, validation=validation).targets_.weight
        for y in (HALVES, flipped)
    ]
    np.testing.assert_array_equal(rows[0], rows[1])


def test_search_keeps_the_winners_class_weight():
    y = np.where(np.arange(12) % 3, HALVES, 0)
    model = LabelPropagation(class_weight="balanced", calibrate=False)
    search = GraphSearch(model, {"damping": [0.9]}).fit(None, y, graph=RING)
    np.testing.assert_allclose(search.predict_proba(y=y), search.best_estimator_.predict_proba(y=y))


def test_class_weights_by_name():
    model = LabelPropagation(class_weight={0: 2.0}).fit(None, HALVES, graph=RING)
    assert model.predict(y=np.where(HALVES, 1, -1)).shape == (12,)
    with pytest.raises(ValueError, match="must name classes of y; got 'dog'"):
        LabelPropagation(class_weight={"dog": 2}).fit(None, HALVES, graph=RING)


# -- what to predict with ------------------------------------------------------------------------
def test_scores_of_labels_that_the_fit_used_come_with_a_warning():
    y = np.where(np.arange(12) % 3, HALVES, -1)
    model = LabelPropagation().fit(None, y, graph=RING)
    with pytest.warns(UserWarning, match="labels of 8 of the 12 scored nodes") as w:
        model.score(None, HALVES)
    assert w[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.score(None, np.where(y < 0, HALVES, -1))


@MODELS
def test_wrong_shapes_at_prediction(model):
    model.fit(None, HALVES, graph=RING)
    with pytest.raises(ValueError, match=r"`y` must have one row per node \(12\); got 11"):
        model.predict(y=HALVES[:-1])
    with pytest.raises(ValueError, match=r"predict\(\)\[nodes\]"):
        model.predict(np.array([3, 4]))
    with pytest.raises(ValueError, match=r"`X` must have one row per node \(12\); got 2"):
        model.predict(np.zeros((2, 3)))
    with pytest.warns(UserWarning, match="no labels are used"):
        model.predict(graph=cliques(1, 5))
    with pytest.raises(ValueError, match=r"score\(None, y\)"):
        model.score()
    model = clone(model).set_params(class_weight="balanced").fit(None, HALVES, graph=RING)
    assert model.predict(y=np.full(12, -1)).shape == (12,)


def test_graphs_are_not_forgotten():
    with pytest.raises(ValueError, match="`graph` must be given if X is None"):
        LabelPropagation().fit(None, HALVES)
    with pytest.raises(TypeError, match="got a Graph. Pass it as graph="):
        LabelPropagation().fit(RING, HALVES)
    with pytest.raises(NotFittedError):
        LabelPropagation().oof_score_
    Y = np.ones((12, 3))
    Y[:6, 0] = 0
    with pytest.raises(ValueError, match="`y` must have the 3 columns of the fit; got 2"):
        LabelPropagation().fit(None, Y, graph=RING).predict(y=Y[:, :2])


def test_a_graph_that_lacks_one_edge_type_is_predicted_on():
    types = ["a", "b"] * 6
    graph = Graph.from_edges(range(12), [(i + 1) % 12 for i in range(12)], edge_type=types)
    model = TrainableLabelPropagation().fit(None, HALVES, graph=graph)
    fewer = Graph.from_edges([0], [1], n_nodes=12, edge_type=["a"])
    assert model.predict(y=HALVES, graph=fewer).shape == (12,)
    with pytest.raises(ValueError, match="`edge_type` must have no missing types; row 1"):
        Graph.from_edges([0, 1], [1, 2], edge_type=["a", None])


def test_a_refit_of_another_task_forgets_the_classes():
    model = LabelPropagation().fit(None, HALVES, graph=RING)
    model.fit(None, HALVES + 0.5, graph=RING)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"damping": 7.0, "weights": "per_hop"}, "`damping` must be strictly between"),
        ({"max_epochs": 0, "label_trick": "stochastic"}, "`max_epochs` must be at least 1"),
        ({"norm": ()}, "`norm` must be one of"),
        ({"split_rate": (), "label_trick": "stochastic"}, "`split_rate` must be strictly between"),
    ],
)
def test_odd_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        TrainableLabelPropagation(**options).fit(None, HALVES, graph=RING)
    with pytest.raises(ValueError, match="`grid` must hold at least one setting"):
        GraphSearch(LabelPropagation(), []).fit(None, HALVES, graph=RING)
    with pytest.raises(TypeError, match="`scoring` must be None or a function"):
        GraphSearch(LabelPropagation(), {}, scoring="accuracy").fit(None, HALVES, graph=RING)
    with pytest.raises(ValueError, match="`validation` must hold at least one node"):
        LabelPropagation().fit(None, HALVES, graph=RING, validation=[])


@pytest.mark.parametrize("model", [LabelPropagation(), LabelFeatureRegression()])
def test_warnings_name_the_line_of_the_caller(model):
    X, y = np.arange(12.0)[:, None], np.arange(12) % 2
    with pytest.warns(UserWarning, match="no graph was given") as caught:
        model.fit(X, y)
    assert caught[0].filename == __file__
