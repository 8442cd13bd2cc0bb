"""Correct & Smooth: the original against formulas and PyG, and on any base."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import LinearSVC

from labeltrick import SGC, CorrectAndSmooth, Graph, Spread, audit_leakage
from labeltrick.models.correct_smooth.steps import as_spread
from labeltrick.models.search import GraphSearch
from tests.support.correct_smooth import accuracy
from tests.support.estimator_checks import run_scikit_learns_checks
from tests.support.graphs import blocks


@pytest.mark.parametrize(
    "base",
    [
        LogisticRegression(),
        RandomForestClassifier(20, random_state=0),
        SGC(0, label_trick=None, max_epochs=30),
    ],
    ids=["scikit-learn", "forest", "labeltrick"],
)
def test_neighbors_correct_what_features_do_not_show(base):
    if isinstance(base, SGC):
        pytest.importorskip("torch")
    graph, X, truth, y = blocks(0)
    model = CorrectAndSmooth(base).fit(X, y, graph=graph)
    alone = model.base_prediction_.argmax(axis=1)
    assert accuracy(model, truth, y) > (alone == truth)[y < 0].mean() + 0.1
    assert not hasattr(base, "classes_")  # the caller's estimator is not touched
    proba = model.predict_proba()
    np.testing.assert_allclose(proba.sum(axis=1), 1)


def test_networks_by_name():
    pytest.importorskip("torch")
    graph, X, truth, y = blocks(1)
    for name in ("mlp", "linear"):
        model = CorrectAndSmooth(name).fit(X, y, graph=graph)
        assert accuracy(model, truth, y) > 0.7


def test_a_base_fitted_outside_is_used_as_it_is():
    graph, X, truth, y = blocks(2)
    names = np.array(["x", "y", "z"])
    base = LogisticRegression().fit(X, names[truth][::-1])  # on wrong labels, to tell it apart
    coefficients = base.coef_.copy()
    labels = [names[k] if k >= 0 else None for k in y]
    model = CorrectAndSmooth(base).fit(X, labels, graph=graph)
    np.testing.assert_allclose(model.base_prediction_, base.predict_proba(X))
    assert model.model_.base.model is base
    np.testing.assert_array_equal(base.coef_, coefficients)
    with pytest.raises(AttributeError, match="base_predictions='out_of_fold'"):
        model.oof_proba_
    said = CorrectAndSmooth(base, base_predictions="out_of_fold").fit(X, labels, graph=graph)
    assert said.oof_proba_.shape == ((y >= 0).sum(), 3)


def test_a_torch_module_and_an_array():
    torch = pytest.importorskip("torch")
    graph, X, _, y = blocks(3)
    module = torch.nn.Linear(3, 3)
    found = CorrectAndSmooth(module).fit(X, y, graph=graph)
    scores = module(torch.from_numpy(X).float()).detach()
    rows = scores.softmax(dim=1).numpy()
    np.testing.assert_allclose(found.base_prediction_, rows, atol=1e-6)
    same = CorrectAndSmooth(rows).fit(None, y, graph=graph)
    np.testing.assert_allclose(same.predict_proba(), found.predict_proba(), atol=1e-6)
    shares = torch.nn.Sequential(module, torch.nn.Softmax(dim=1))
    again = CorrectAndSmooth(shares).fit(X, y, graph=graph)
    np.testing.assert_allclose(again.base_prediction_, rows, atol=1e-6)
    with pytest.raises(ValueError, match="one row of predictions per node"):
        same.predict(None, graph=Graph.from_edges([0], [160]))


def test_out_of_fold_predictions_do_not_know_their_label():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(80, 100)), rng.integers(0, 2, 80)  # pure chance, easily learnt by heart
    graph = Graph.from_edges(rng.integers(0, 80, 160), rng.integers(0, 80, 160), n_nodes=80)
    base = LogisticRegression(C=1e6, max_iter=2000)
    heart = CorrectAndSmooth(base).fit(X, y, graph=graph)
    fold = CorrectAndSmooth(base, base_predictions="out_of_fold").fit(X, y, graph=graph)
    right = [(m.base_prediction_.argmax(axis=1) == y).mean() for m in (heart, fold)]
    assert right[0] > 0.95
    assert right[1] < 0.75
    # … on the features of a later call too.
    np.testing.assert_allclose(fold.predict_proba(X), fold.predict_proba())


def test_steps_can_be_omitted():
    graph, X, _, y = blocks(5)
    options = {"base": LogisticRegression(), "calibrate": False}
    plain = CorrectAndSmooth(correct=None, smooth=None, **options).fit(X, y, graph=graph)
    np.testing.assert_allclose(plain.predict_proba(), plain.base_prediction_)
    smooth = CorrectAndSmooth(correct=None, **options).fit(X, y, graph=graph)
    assert np.abs(smooth.predict_proba() - plain.predict_proba()).max() > 0.1


# -- labels --------------------------------------------------------------------------------------
def test_new_labels_and_new_nodes_without_training_again():
    graph, X, truth, y = blocks(6)
    model = CorrectAndSmooth(LogisticRegression()).fit(X, y, graph=graph)
    more = model.predict(None, truth)
    assert (more == truth).mean() > (model.predict() == truth).mean()
    src, dst = graph.to_edge_index()
    wider = Graph.from_edges([*src, *np.flatnonzero(truth == 2)[:5]], [*dst, *[150] * 5])
    rows = np.vstack([X, [[0.0, 0.0, 0.0]]])
    assert model.predict(rows, np.append(y, -1), graph=wider)[-1] == 2


def test_validation_labels_are_inputs_only_when_asked_for():
    graph, X, truth, _ = blocks(7)
    validation = np.arange(0, 150, 3)
    other = truth.copy()
    other[validation] = (other[validation] + 1) % 3
    options = {"base": LogisticRegression(), "calibrate": False}
    rows = {}
    for use in (False, True):
        model = CorrectAndSmooth(validation_labels=use, **options)
        rows[use] = [
            model.fit(X, y, graph=graph, validation=validation).predict_proba()
            for y in (truth, other)
        ]
    np.testing.assert_array_equal(*rows[False])
    assert np.abs(rows[True][0] - rows[True][1]).max() > 0.1
    again = CorrectAndSmooth(validation_labels=True, base=LogisticRegression())
    again.fit(X, truth, graph=graph, validation=validation)
    assert again.calibration_.ece_before > 0  # measured without the labels it is compared with


def test_out_of_fold_predictions_pass_the_audit():
    graph, X, truth, y = blocks(8, n=60)
    train = np.flatnonzero(y >= 0)
    for how in ("in_sample", "out_of_fold"):
        model = CorrectAndSmooth(LogisticRegression(), base_predictions=how)

        def predict(labels, model=model):
            full = np.full((60, 3), 1 / 3)
            known = np.where(np.isin(np.arange(60), train), labels, -1)
            full[train] = clone(model).fit(X, known, graph=graph).oof_proba_
            return full

        report = audit_leakage(predict, truth, train, n_samples=10)
        assert not report.leaks, str(report)


def test_labels_at_random_are_predicted_no_better_than_chance():
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(300, 20)), rng.integers(0, 2, 300)
    cliques = np.repeat(np.arange(60), 5)
    src, dst = np.nonzero(cliques[:, None] == cliques)
    graph = Graph.from_edges(src[src < dst], dst[src < dst])
    model = CorrectAndSmooth(LogisticRegression()).fit(X, y, graph=graph)
    assert abs(model.oof_score_ - 0.5) < 0.1


# -- numbers, several labels ---------------------------------------------------------------------
def test_numbers_of_any_sign_are_corrected_and_not_clamped():
    rng = np.random.default_rng(10)
    n = 400
    place = np.sort(rng.random(n)) * 10
    graph = Graph.from_edges(range(n - 1), range(1, n))
    hidden = 30 * np.sin(place)  # what neighbors share and features do not tell
    X = rng.normal(size=(n, 2))
    Y = np.column_stack([X[:, 0] * 5 + hidden, -1000 + X[:, 1] - hidden])
    known = rng.random(n) < 0.5
    y = np.where(known[:, None], Y, np.nan)
    for scale, share in (("auto", 0.4), (1.0, 0.9)):
        # Smoothing helps shares; numbers that features tell apart it would blur.
        options = {"correct": 0.95, "smooth": None, "scale": scale}
        model = CorrectAndSmooth(LinearRegression(), **options).fit(X, y, graph=graph)
        assert model.targets_.task == "regression"
        alone = np.abs(model.base_prediction_ - Y)[~known].mean(axis=0)
        assert (np.abs(model.predict() - Y)[~known].mean(axis=0) < share * alone).all()
    both = CorrectAndSmooth(LinearRegression(), smooth=0.3).fit(X, y[:, 0], graph=graph)
    assert both.predict().shape == (n,)
    moved = CorrectAndSmooth(LinearRegression(), smooth=0.3).fit(X, y[:, 0] - 500, graph=graph)
    np.testing.assert_allclose(moved.predict(), both.predict() - 500, atol=1e-6)


def test_several_labels_a_node():
    pytest.importorskip("torch")
    graph, X, truth, _ = blocks(11)
    Y = np.column_stack([truth == 0, truth > 0]).astype(int)
    for base in ("linear", RandomForestClassifier(20, random_state=0), LogisticRegression()):
        y = np.where(np.arange(150)[:, None] % 2, Y, -1).astype(float)
        y[y < 0] = np.nan
        model = CorrectAndSmooth(base, task="multilabel").fit(X, y, graph=graph)
        assert (model.predict() == Y)[::2].mean() > 0.7


def test_columns_that_only_the_base_understands():
    graph, X, truth, y = blocks(12)
    frame = pd.DataFrame(X, columns=list("abc"))
    frame.loc[3, "a"] = np.nan
    target = np.where(y >= 0, truth + 0.5, np.nan)
    model = CorrectAndSmooth(HistGradientBoostingRegressor(random_state=0))
    model.fit(frame, target, graph=graph)
    assert np.isfinite(model.predict(frame)).all()


def test_a_regressor_says_that_whole_numbers_are_numbers():
    graph, X, truth, _ = blocks(18)
    model = CorrectAndSmooth(LinearRegression()).fit(X, truth, graph=graph)
    assert model.targets_.task == "regression"
    assert model.predict().dtype == np.float64


# -- bad input -----------------------------------------------------------------------------------
def test_bad_base_predictions():
    graph, X, _, y = blocks(13, n=40)
    rows = np.full((40, 3), 1 / 3)

    def fit(base, labels=y, features=X, **options):
        return CorrectAndSmooth(base, **options).fit(features, labels, graph=graph)

    with pytest.raises(ValueError, match="sum to one; row 0 sums to 0.6667"):
        fit(rows * np.array([1, 0, 1]))
    with pytest.raises(ValueError, match="must predict probabilities; row 7 contains 3"):
        fit(np.where(np.arange(40)[:, None] == 7, [3.0, -1, -1], rows))
    with pytest.raises(ValueError, match="row 5 contains NaN"):
        fit(np.where(np.arange(40)[:, None] == 5, np.nan, rows))
    with pytest.raises(ValueError, match=r"one column per class \(3\); got 2 columns"):
        fit(rows[:, :2])
    with pytest.raises(ValueError, match=r"one row of predictions per node \(40\); got 39"):
        fit(rows[1:])
    with pytest.raises(TypeError, match="an array of numbers"):
        fit(rows.astype(str))
    with pytest.raises(
        ValueError, match="must know the 3 classes of y; it was fitted on 2 classes"
    ):
        fit(LogisticRegression().fit(X[y >= 0], y[y >= 0] > 0))
    with pytest.raises(TypeError, match="must have predict_proba to predict classes; LinearSVC"):
        fit(LinearSVC())
    with pytest.raises(ValueError, match="`base` must be 'mlp', 'linear'"):
        fit("forest")
    with pytest.raises(TypeError, match="`base` must be 'mlp'"):
        fit(None)
    with pytest.raises(ValueError, match="must accept sample_weight"):
        from sklearn.neighbors import KNeighborsClassifier

        CorrectAndSmooth(KNeighborsClassifier(), class_weight="balanced").fit(X, y, graph=graph)
    with pytest.raises(ValueError, match="`validation` must hold at least one node"):
        model = CorrectAndSmooth(rows)
        model.fit(None, y, graph=graph, validation=[])


def test_bad_parameters():
    graph, X, _, y = blocks(14, n=40)

    def fit(**options):
        return CorrectAndSmooth(LogisticRegression(), **options).fit(X, y, graph=graph)

    with pytest.raises(TypeError, match="`correct` must be a labeltrick.Spread, a damping"):
        fit(correct="strong")
    with pytest.raises(ValueError, match="`smooth` must be strictly between 0 and 1"):
        fit(smooth=1.5)
    with pytest.raises(ValueError, match="`scale` must be 'auto', 'mean' or a number"):
        fit(scale="big")
    with pytest.raises(ValueError, match="`norm` must be one of"):
        fit(correct=Spread(0.9, norm="nonsense"))
    assert fit(correct=Spread(0.9, norm="DA")).predict().shape == (40,)
    with pytest.warns(UserWarning, match="no graph was given"):
        CorrectAndSmooth(LogisticRegression()).fit(X, y)
    with pytest.raises(ValueError, match="`base_predictions` must be one of"):
        fit(base_predictions="none")
    with pytest.raises(ValueError, match="`X` must be given"):
        CorrectAndSmooth(LogisticRegression()).fit(None, y, graph=graph)
    assert as_spread("correct", None) is None


def test_nodes_that_nothing_reaches_keep_the_base_prediction():
    rng = np.random.default_rng(15)
    base = rng.dirichlet(np.ones(3), 6)
    y = [0, 1, 2, -1, -1, -1]
    alone = Graph.from_edges([], [], n_nodes=6)
    model = CorrectAndSmooth(base, calibrate=False).fit(None, y, graph=alone)
    np.testing.assert_allclose(model.predict_proba()[3:], base[3:])
    numbers = CorrectAndSmooth(base[:, 0], calibrate=False)
    numbers.fit(None, [0.5, 1.5, np.nan, np.nan, np.nan, np.nan], graph=alone)
    np.testing.assert_allclose(numbers.predict()[2:], base[2:, 0])


def test_one_class_and_few_labels():
    graph, X, _, _ = blocks(17, n=40)
    for y in ([1] + [-1] * 39, [1, 1] + [-1] * 38, [0, 1] + [-1] * 38, [0, 0, 1] + [-1] * 37):
        model = CorrectAndSmooth(LogisticRegression()).fit(X, y, graph=graph)
        assert np.isfinite(model.predict_proba()).all()
        assert model.oof_proba_.shape == (sum(k >= 0 for k in y), len({*y} - {-1}))


def test_a_search_over_the_steps():
    graph, X, truth, y = blocks(16, n=400)
    model = CorrectAndSmooth(LogisticRegression(), correct=Spread(0.9), calibrate=False)
    search = GraphSearch(model, {"correct__damping": [0.2, 0.9], "smooth": [None, 0.8]})
    search.fit(X, y, graph=graph)
    assert search.best_params_["smooth"] == 0.8
    assert accuracy(search.best_estimator_, truth, y) > 0.8


def test_scikit_learns_checks():
    by_contract = {
        "check_classifiers_classes": "−1 marks a missing label",
        "check_estimators_nan_inf": "whether NaN is welcome is for the base to say",
        "check_class_weight_classifiers": "rows of the fit are its nodes, and have their labels",
    }
    run_scikit_learns_checks(
        CorrectAndSmooth(LogisticRegression(), calibrate=False), by_contract, uses_features=True
    )
