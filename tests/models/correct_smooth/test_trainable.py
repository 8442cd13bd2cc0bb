"""Trainable Correct & Smooth: against its formula, in every mode, and no label seen twice."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression

from labeltrick import CorrectAndSmooth, Graph, Spread, TrainableCorrectAndSmooth, audit_leakage
from labeltrick.models.correct_smooth.views import SideBySide, StepViews
from tests.support.correct_smooth import accuracy
from tests.support.estimator_checks import run_scikit_learns_checks
from tests.support.graphs import blocks

MODES = {
    "splits": {
        "base": LogisticRegression(),
        "split_rate": 0.5,
        "n_splits": 4,
        "max_epochs": 30,
    },
    "deterministic": {"base": LogisticRegression(), "label_trick": "deterministic"},
    "exact": {"base": LogisticRegression(), "label_trick": "deterministic", "scale": 1.0},
    "end to end": {"base": "linear", "mode": "end_to_end", "max_epochs": 30},
}
EVERY = pytest.mark.parametrize("mode", MODES)


def model_of(mode, **more):
    if mode == "end to end":
        pytest.importorskip("torch")
    return TrainableCorrectAndSmooth(**{**MODES[mode], **more})


@pytest.mark.parametrize("label_trick", ["stochastic", "deterministic"])
def test_weights_of_one_are_the_untrained_formula(label_trick):
    graph, X, _, y = blocks(4)
    steps = {"correct": Spread(0.9, None, clamp=False), "smooth": Spread(0.8, None, clamp=False)}
    options = {"base": LogisticRegression(), "scale": 1.0, "calibrate": False, **steps}
    model = TrainableCorrectAndSmooth(
        label_trick=label_trick, split_rate=0.5, base_predictions="in_sample", **options
    )
    model.fit(X, y, graph=graph)
    model.model_.fit.weights[:] = np.concatenate([np.eye(3)] * 2)
    plain = CorrectAndSmooth(**options).fit(X, y, graph=graph)
    scores = np.log(model.predict_proba())
    shares = plain.predict_proba()
    expected = shares - np.log(np.exp(shares).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(scores, expected, atol=2e-2)  # tidied to shares in the plain one
    assert (model.predict() == plain.predict()).all()


# -- as estimators -------------------------------------------------------------------------------
@EVERY
def test_it_learns(mode):
    graph, X, truth, y = blocks(6)
    more = {"max_epochs": 150, "calibrate": False} if mode == "end to end" else {}
    model = model_of(mode, **more).fit(X, y, graph=graph)
    alone = model.base_prediction_.argmax(axis=1)
    assert accuracy(model, truth, y) > (alone == truth)[y < 0].mean() + 0.05
    np.testing.assert_allclose(model.predict_proba().sum(axis=1), 1)
    assert model.coef_smooth_.shape == model.coef_correct_.shape == (3, 3)
    assert model.split_rate_ > 0
    if mode != "end to end":  # six more trainings
        assert 0.5 < model.oof_score_ <= 1


@EVERY
def test_the_same_seed_gives_the_same_numbers(mode):
    graph, X, _, y = blocks(7, n=60)
    found = [model_of(mode, random_state=3).fit(X, y, graph=graph).predict_proba() for _ in "ab"]
    np.testing.assert_array_equal(*found)


@EVERY
def test_out_of_fold_predictions_pass_the_audit(mode):
    graph, X, truth, y = blocks(8, n=60)
    train = np.flatnonzero(y >= 0)
    model = model_of(mode)

    def predict(labels):
        full = np.full((60, 3), 1 / 3)
        known = np.where(np.isin(np.arange(60), train), labels, -1)
        full[train] = clone(model).fit(X, known, graph=graph).oof_proba_
        return full

    report = audit_leakage(predict, truth, train, n_samples=3)
    assert not report.leaks, str(report)


@EVERY
def test_new_labels_and_weights(mode):
    graph, X, truth, y = blocks(9)
    model = model_of(mode).fit(X, y, graph=graph, sample_weight=np.linspace(1, 2, 150))
    assert (model.predict(None, truth) == truth).mean() > (model.predict() == truth).mean()
    balanced = model_of(mode, class_weight="balanced").fit(X, y, graph=graph)
    assert np.isfinite(balanced.predict_proba()).all()


@EVERY
def test_numbers(mode):
    rng = np.random.default_rng(10)
    n = 300
    graph = Graph.from_edges(range(n - 1), range(1, n))
    X, wave = rng.normal(size=(n, 2)), np.sin(np.arange(n) / 15)
    Y = 1000 + 50 * np.column_stack([X[:, 0] + 2 * wave, X[:, 1] - 2 * wave])
    known = rng.random(n) < 0.5
    y = np.where(known[:, None], Y, np.nan)
    # Weights after the smoothing cannot undo it: little of it for targets that features tell.
    more = {"base": LinearRegression(), "correct": 0.9, "smooth": 0.05}
    if mode == "end to end":
        more |= {"base": "linear", "max_epochs": 600}
    model = model_of(mode, **more).fit(X, y, graph=graph)
    error = np.abs(model.predict() - Y)[~known].mean()
    assert error < 0.7 * np.abs(LinearRegression().fit(X[known], Y[known]).predict(X) - Y).mean()
    if mode != "end to end":
        assert model.oof_score_ > 0.3


def test_the_split_rate_is_chosen_by_validation():
    graph, X, truth, y = blocks(11)
    validation = np.flatnonzero(y < 0)[:40]
    y[validation] = truth[validation]
    model = TrainableCorrectAndSmooth(LogisticRegression(), max_epochs=20)
    model.fit(X, y, graph=graph, validation=validation)
    assert set(model.split_rate_scores_) == {round(0.1 * k, 1) for k in range(1, 10)}
    assert model.split_rate_scores_[model.split_rate_] == max(model.split_rate_scores_.values())


def test_without_a_correction():
    graph, X, truth, y = blocks(12)
    plain = CorrectAndSmooth(LogisticRegression(), correct=None).fit(X, y, graph=graph)
    for trick in ("stochastic", "deterministic"):
        model = TrainableCorrectAndSmooth(
            LogisticRegression(), correct=None, label_trick=trick, split_rate=0.5
        ).fit(X, y, graph=graph)
        assert accuracy(model, truth, y) > accuracy(plain, truth, y)
        assert model.coef_correct_.shape == (0, 3)


def test_what_was_fitted_outside_has_no_honest_score_unless_said_so():
    rng = np.random.default_rng(15)
    X, y = rng.normal(size=(80, 100)), rng.integers(0, 2, 80)  # learnt by heart
    graph = Graph.from_edges(rng.integers(0, 80, 160), rng.integers(0, 80, 160), n_nodes=80)
    base = LogisticRegression(C=1e6, max_iter=2000).fit(X, y)
    for given_base in (base, base.predict_proba(X)):
        model = TrainableCorrectAndSmooth(given_base, label_trick="deterministic")
        model.fit(X, y, graph=graph)
        with pytest.raises(AttributeError, match="base_predictions='out_of_fold'"):
            model.oof_score_
    model = TrainableCorrectAndSmooth(clone(base), label_trick="deterministic")
    assert model.fit(X, y, graph=graph).oof_score_ < 0.7


# -- bad input -----------------------------------------------------------------------------------
def test_bad_parameters():
    pytest.importorskip("torch")
    graph, X, _, y = blocks(13, n=40)

    def fit(base=None, **options):
        base = LogisticRegression() if base is None else base
        return TrainableCorrectAndSmooth(base, **options).fit(X, y, graph=graph)

    with pytest.raises(ValueError, match="for mode='end_to_end', which trains it; got Logis"):
        fit(mode="end_to_end")
    with pytest.raises(ValueError, match="needs label_trick='stochastic' and a correction"):
        fit("mlp", mode="end_to_end", label_trick="deterministic")
    with pytest.raises(ValueError, match="`smooth` must be a damping or a Spread; got None"):
        fit(smooth=None)
    with pytest.raises(ValueError, match="`split_rate` must be strictly between"):
        fit(split_rate=1.0)
    with pytest.raises(ValueError, match="`mode` must be one of"):
        fit(mode="three")
    model = TrainableCorrectAndSmooth("linear", mode="end_to_end", learning_rate=1e30)
    with pytest.raises(FloatingPointError, match="`learning_rate` must be lower"):
        model.fit(X, y, graph=graph)
    assert np.isfinite(model.set_params(calibrate=False).predict_proba()).all()


def test_labels_at_random_are_predicted_no_better_than_chance():
    rng = np.random.default_rng(14)
    X, y = rng.normal(size=(300, 5)), rng.integers(0, 2, 300)
    cliques = np.repeat(np.arange(60), 5)
    src, dst = np.nonzero(cliques[:, None] == cliques)
    graph = Graph.from_edges(src[src < dst], dst[src < dst])
    for scale in ("auto", 1.0):
        model = TrainableCorrectAndSmooth(
            LogisticRegression(), label_trick="deterministic", scale=scale
        )
        assert abs(model.fit(X, y, graph=graph).oof_score_ - 0.5) < 0.1


def test_scikit_learns_checks():
    by_contract = {
        "check_classifiers_classes": "−1 marks a missing label",
        "check_estimators_nan_inf": "whether NaN is welcome is for the base to say",
        "check_class_weight_classifiers": "rows of the fit are its nodes, and have their labels",
    }
    options = {"label_trick": "deterministic", "base_predictions": "in_sample", "calibrate": False}
    model = TrainableCorrectAndSmooth(LogisticRegression(), **options)
    run_scikit_learns_checks(model, by_contract, uses_features=True)


def test_several_pairs_of_steps():
    graph, X, truth, y = blocks(21)
    model = model_of("deterministic", correct=[0.5, 0.9], smooth=[0.2, 0.6])
    model.fit(X, y, graph=graph)
    assert model.coef_smooth_.shape == model.coef_correct_.shape == (6, 3)
    assert accuracy(model, truth, y) > 0.6
    one = StepViews(graph, Spread(0.5, None), Spread(0.2, None), "auto")
    np.testing.assert_allclose(SideBySide((one, one)).unit(3).sum(axis=0), 2)
    for options, message in [
        ({"correct": [0.5, 0.9]}, "same number of steps; got 2 and 1"),
        ({"correct": [0.5], "smooth": [None]}, "`smooth` must be a damping"),
    ]:
        with pytest.raises(ValueError, match=message):
            model_of("deterministic", **options).fit(X, y, graph=graph)


def test_by_fold_needs_a_base_to_fit():
    graph, X, _, y = blocks(22, n=60)
    for options in ({"base": np.full((60, 3), 1 / 3)}, {"label_trick": "stochastic"}):
        model = model_of("deterministic", base_predictions="by_fold", **options)
        with pytest.raises(ValueError, match="base_predictions='by_fold' needs"):
            model.fit(X, y, graph=graph)


def test_numbers_find_their_own_zero():
    """A base that is off by a constant everywhere is put right by the constant column."""
    rng = np.random.default_rng(23)
    graph = Graph.from_edges(rng.integers(0, 200, 600), rng.integers(0, 200, 600), n_nodes=200)
    truth = rng.normal(size=200) ** 2 * 3
    y = np.where(rng.random(200) < 0.5, truth, np.nan)
    model = TrainableCorrectAndSmooth(
        truth + 50.0,
        label_trick="deterministic",
        correct=None,
        smooth=0.01,
        ridge=0.0,
        task="regression",
        base_predictions="out_of_fold",
    ).fit(None, y, graph=graph)
    hidden = np.isnan(y)
    assert np.abs(model.predict() - truth)[hidden].mean() < 1.0
