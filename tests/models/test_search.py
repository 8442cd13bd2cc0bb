import numpy as np
import pytest
from sklearn.base import clone

from labeltrick import Graph, LabelPropagation, TrainableLabelPropagation, audit_leakage
from labeltrick.evaluation.splits import split_nodes
from labeltrick.models.search import GraphSearch
from tests.support.graphs import heterophilous, random_graph


def communities(seed=0, n=400, noise=0.1):
    """Two classes, mostly joined within; a share of the labels is wrong."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    pools = [np.flatnonzero(truth == k) for k in (0, 1)]
    src = rng.integers(0, n, 4 * n)
    other = rng.random(len(src)) < noise
    dst = np.array([rng.choice(pools[k]) for k in np.where(other, 1 - truth[src], truth[src])])
    return Graph.from_edges(src, dst, n_nodes=n), truth


# -- splits ----------------------------------------------------------------------------------
def test_splits_are_disjoint_seeded_and_of_the_right_size():
    y = np.array([0, 1, -1, 1, 0] * 20)
    split = split_nodes(y, random_state=3)
    parts = np.concatenate([split.train, split.val, split.test])
    assert len(parts) == len(set(parts)) == 80
    assert (len(split.train), len(split.val), len(split.test)) == (48, 16, 16)
    assert (y[parts] >= 0).all()
    np.testing.assert_array_equal(split.train, split_nodes(y, random_state=3).train)
    assert not np.array_equal(split.train, split_nodes(y, random_state=4).train)


def test_stratified_splits_keep_shares():
    y = np.array([0] * 90 + [1] * 10)
    split = split_nodes(y, (0.5, 0.3, 0.2), random_state=0, stratify=True)
    assert [int((y[part] == 1).sum()) for part in (split.train, split.val, split.test)] == [5, 3, 2]


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.9, 0.2, 0.2), (-0.1, 0.5, 0.5), (0, 0, 0)])
def test_bad_shares(shares):
    with pytest.raises(ValueError, match="`shares` must be three numbers"):
        split_nodes(10, shares)


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
    held = rng.choice(400, 80, replace=False)
    grid = {"damping": [0.3, 0.9], "self_loops": [False, True]}
    search = GraphSearch(model, grid).fit(None, truth, graph=graph, validation=held)
    assert not np.isin(search.labeled_, held).any()
    # the scores are those of the validation nodes
    hit = search.best_estimator_.predict()[held] == truth[held]
    assert search.best_score_ == pytest.approx(hit.mean())
    changed = truth.copy()
    changed[held] = 1 - changed[held]
    other = GraphSearch(model, {"damping": [search.best_params_["damping"]]})
    a = other.fit(None, truth, graph=graph, validation=held).predict()
    b = other.fit(None, changed, graph=graph, validation=held).predict()
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


# -- doubtful labels ---------------------------------------------------------------------------
@pytest.mark.parametrize("model", [LabelPropagation(0.8), TrainableLabelPropagation(0.8)])
def test_wrong_labels_come_first(model):
    graph, truth = communities(n=600, noise=0.05)
    rng = np.random.default_rng(1)
    wrong = rng.choice(600, 30, replace=False)
    y = truth.copy()
    y[wrong] = 1 - y[wrong]
    found = model.fit(None, y, graph=graph).suspicious_labels(30)
    assert len(found) == 30
    assert np.isin(found.nodes, wrong).mean() > 0.7
    np.testing.assert_array_equal(found.given, y[found.nodes])
    assert (np.diff(found.doubt) <= 0).all()
    assert "suggested" in str(found)
    whole = model.suspicious_labels()
    assert len(whole) == 600
    assert whole.doubt.min() >= -1
    assert whole.doubt.max() <= 1


def test_doubtful_numbers_and_indicators():
    _, graph = random_graph(0, n=80, n_edges=300)
    y = np.random.default_rng(0).normal(size=80)
    y[17] = 40.0
    model = LabelPropagation(0.5).fit(None, y, graph=graph)
    assert 17 in model.suspicious_labels(1).nodes
    Y = np.ones((80, 2))
    Y[5, 1] = 0
    Y[60:, 0] = 0
    assert len(LabelPropagation(0.5).fit(None, Y, graph=graph).suspicious_labels(3)) == 3
