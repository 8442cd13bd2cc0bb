"""Learners by name, left out by name, and estimators of scikit-learn among them."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import ExtraTreesClassifier, RandomForestRegressor
from sklearn.linear_model import RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier

from labeltrick import AutoModel, audit_leakage, save_model
from labeltrick.models.auto.learners.linear import LinearLearner
from labeltrick.models.auto.learners.registry import LEARNERS, check_learners
from tests.support.auto import numbers
from tests.support.graphs import blocks

FOREST = ExtraTreesClassifier(30, random_state=0)


def fit(X, y, graph, **options):
    return AutoModel(n_folds=2, progress=False, **options).fit(X, y, graph=graph)


def ran(model):
    return {trial.name for trial in model.trials_ if not np.isnan(trial.score)}


def test_names_choose_and_exclude():
    graph, X, _, y = blocks(0, n=120)
    model = fit(X, y, graph, learners=["linear", "trees"], exclude=["trees"])
    assert ran(model) - {"blend"} == {"majority", "label propagation", "linear", "features alone"}
    assert "features alone" not in ran(
        fit(X, y, graph, learners=["linear"], exclude=["features alone"])
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"learners": ["tree"]}, "Did you mean 'trees'"),
        ({"learners": "trees"}, r"Write \['trees'"),
        ({"exclude": "trees"}, "list of names"),
        ({"exclude": ["boost"]}, "`exclude` must hold names"),
        ({"learners": [3]}, "got 3"),
        ({"learners": ["trees", "trees"]}, "twice"),
        ({"learners": ["trees"], "exclude": ["trees"]}, "at least one"),
        ({"learners": [RidgeClassifier()]}, "CalibratedClassifierCV"),
    ],
)
def test_errors_say_what_to_write(options, words):
    graph, X, _, y = blocks(0, n=60)
    with pytest.raises((TypeError, ValueError), match=words):
        fit(X, y, graph, **options)


def test_an_estimator_takes_part_without_its_own_label(tmp_path):
    graph, X, truth, y = blocks(1, n=200)
    model = fit(X, y, graph, learners=["linear", FOREST])
    assert "ExtraTreesClassifier" in ran(model)
    assert "ExtraTreesClassifier" in model.shares_
    assert (model.predict() == truth)[y < 0].mean() > 0.6
    report = audit_leakage(model.rows_for, y, model.labeled_, n_samples=30, progress=False)
    assert not report.leaks, str(report)
    with pytest.raises(TypeError, match="ExtraTreesClassifier"):
        save_model(model, tmp_path / "model")


def test_two_estimators_of_one_class_have_two_names():
    asked, _ = check_learners([FOREST, FOREST, "linear"], [])
    assert [each.name for each in asked][:2] == ["ExtraTreesClassifier", "ExtraTreesClassifier #2"]


@pytest.mark.parametrize("columns", [1, 2])
def test_regressors_and_several_targets(columns):
    graph, X, _, y = numbers(0, n=120)
    both = np.column_stack([y, 2 * y])[:, :columns]
    forest = RandomForestRegressor(20, random_state=0)
    model = fit(X, both if columns > 1 else y, graph, learners=[forest])
    assert "RandomForestRegressor" in ran(model)
    assert np.isfinite(model.predict()).all()


def test_several_labels_with_an_estimator():
    graph, X, _, y = blocks(2, n=120)
    several = np.where(y[:, None] < 0, np.nan, np.column_stack([y == 0, y > 0, y >= 0]))
    model = fit(X, several, graph, learners=[KNeighborsClassifier(3)], task="multilabel")
    assert model.predict_proba().shape == (120, 3)


def test_what_does_not_suit_is_reported():
    graph, X, _, y = blocks(0, n=80)
    model = fit(X, y, graph, learners=["linear", RandomForestRegressor()])
    assert [t.note for t in model.trials_ if t.name == "RandomForestRegressor"] == [
        "not run: does not suit these data"
    ]


class Broken(ClassifierMixin, BaseEstimator):
    """Misbehaves in one of three ways."""

    def __init__(self, how="raise"):
        self.how = how

    def fit(self, X, y):
        if self.how == "raise":
            raise RuntimeError("the disk is\non fire")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[np.zeros(len(X), int)]

    def predict_proba(self, X):
        if self.how == "shape":
            return np.ones((len(X), 1))
        return np.full((len(X), len(self.classes_)), np.nan)


@pytest.mark.parametrize(
    ("how", "note"), [("raise", "the disk is"), ("shape", "shape"), ("nan", "finite")]
)
def test_a_learner_that_misbehaves_is_left_out_and_reported(how, note):
    graph, X, _, y = blocks(0, n=100)
    with pytest.warns(UserWarning, match="learner 'Broken' was left out"):
        model = fit(X, y, graph, learners=["linear", Broken(how)])
    (trial,) = [t for t in model.trials_ if t.name == "Broken"]
    assert np.isnan(trial.score)
    assert note in trial.note
    assert "Broken" not in model.shares_
    assert np.isfinite(model.predict_proba()).all()
    with (
        pytest.warns(UserWarning, match="Broken"),
        pytest.raises(ValueError, match="them failed"),
    ):
        fit(X, y, graph, learners=[Broken(how)])


def test_a_learner_of_ones_own_is_one_class():
    class Shy(LinearLearner):
        def fit_rows(self, rows):
            fitted = super().fit_rows(rows)
            return type(fitted)(0.1 * fitted.weights, fitted.bias, fitted.link)

    graph, X, _, y = blocks(0, n=100)
    model = fit(X, y, graph, learners=[Shy("shy"), "linear"])
    assert {"shy", "linear"} <= ran(model)


def test_the_leaderboard_is_a_frame_with_the_best_first():
    graph, X, _, y = blocks(0, n=100)
    model = fit(X, y, graph, learners=["linear", "trees"], budget=1e-9)
    frame = model.leaderboard()
    assert frame.columns == ["learner", "score", "loss", "seconds", "share", "note"]
    run = frame.filter(~frame["loss"].is_nan())
    assert run["loss"].is_sorted()
    assert frame.tail(len(frame) - len(run))["note"].str.contains("budget").all()
    assert frame["share"].sum() == pytest.approx(1)
    assert model.leaderboard("pandas")["learner"].tolist() == frame["learner"].to_list()


def test_every_name_is_documented():
    assert all(f'"{each.name}"' in " ".join(AutoModel.__doc__.split())
               for each in LEARNERS if not each.baseline)  # fmt: skip
