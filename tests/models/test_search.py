import numpy as np
import pytest
from sklearn.base import clone

from labeltrick import LabelPropagation, TrainableLabelPropagation, audit_leakage
from labeltrick.models.search import GraphSearch
from tests.support.graphs import communities, heterophilous


# -- search ----------------------------------------------------------------------------------
def test_leave_one_out_finds_what_validation_would():
    graph, truth, y = heterophilous(n=500)
    grid = [{"weights": ["per_hop"], "n_hops": [1, 2]}, {"weights": ["shared"]}]
    search = GraphSearch(TrainableLabelPropagation(norm="row"), grid).fit(None, y, graph=graph)
    assert len(search.trials_) == 3
    assert search.best_score_ == max(trial.score for trial in search.trials_)
    assert search.best_params_["weights"] == "per_hop"
    hidden = y < 0
    assert (search.predict() == truth)[hidden].mean() > 0.8
    np.testing.assert_array_equal(search.predict(), search.best_estimator_.predict())
    np.testing.assert_allclose(search.predict_proba(), search.best_estimator_.predict_proba())
    assert search.oof_score_ == search.best_score_
    assert search.predict(y=np.roll(y, 3)).shape == y.shape


@pytest.mark.parametrize("model", [LabelPropagation(), TrainableLabelPropagation()])
def test_validation_labels_never_enter(model):
    graph, truth = communities()
    rng = np.random.default_rng(0)
    validation = rng.choice(400, 80, replace=False)
    grid = {"damping": [0.3, 0.9], "self_loops": [False, True]}
    search = GraphSearch(model, grid).fit(None, truth, graph=graph, validation=validation)
    assert not np.isin(search.labeled_, validation).any()
    # the scores are those of the validation nodes
    hit = search.best_estimator_.predict()[validation] == truth[validation]
    assert search.best_score_ == pytest.approx(hit.mean())
    changed = truth.copy()
    changed[validation] = 1 - changed[validation]
    other = GraphSearch(model, {"damping": [search.best_params_["damping"]]})
    a = other.fit(None, truth, graph=graph, validation=validation).predict()
    b = other.fit(None, changed, graph=graph, validation=validation).predict()
    np.testing.assert_array_equal(a, b)


def test_validation_of_strings_and_numbers():
    graph, truth = communities()
    names = np.array(["no", "yes"], dtype=object)[truth]
    search = GraphSearch(LabelPropagation(), {"damping": [0.5]})
    assert set(search.fit(None, names, graph=graph, validation=range(50)).predict()) == {
        "no",
        "yes",
    }
    numbers = truth + np.random.default_rng(0).normal(size=400)
    search.fit(None, numbers, graph=graph, validation=range(50))
    assert search.predict().dtype == np.float64


def test_own_scoring_clone_and_audit():
    graph, truth = communities(n=120)

    def log_likelihood(Y, rows):
        return float(np.log(np.maximum((Y * rows).sum(axis=1), 1e-9)).mean())

    search = GraphSearch(LabelPropagation(), {"damping": [0.2, 0.8]}, scoring=log_likelihood)
    search.fit(None, truth, graph=graph)
    assert search.best_score_ < 0
    assert clone(search).get_params()["grid"] == search.grid

    def oof(labels):
        return search.best_estimator_.__class__(0.8).fit(None, labels, graph=graph).oof_proba_

    assert not audit_leakage(oof, truth, np.arange(120), n_samples=10).leaks
