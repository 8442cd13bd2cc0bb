"""Members fitted by workers of a cluster: the same model as here, whatever happens to a worker."""

import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

from labeltrick import Graph, load_model, open_graph, save_graph, save_model
from labeltrick.models.auto import columns, nested
from labeltrick.models.auto.budget import finish_early
from labeltrick.models.auto.plan import FitPlan
from labeltrick.propagation.engine.cluster.connection import ClusterError
from tests.support.auto import numbers, quick
from tests.support.clusters import OwnCluster
from tests.support.graphs import blocks, wavy, word_graph

pytest.importorskip("distributed")

QUICK = {"learners": ["trees", "linear"]}


def assert_equal(there, here):
    assert there.plan_ == here.plan_
    assert there.chosen_ == here.chosen_
    assert there.oof_score_ == here.oof_score_
    np.testing.assert_array_equal(there.oof_rows_, here.oof_rows_)
    np.testing.assert_array_equal(there.scores_of(there.fitted_inputs),
                                  here.scores_of(here.fitted_inputs))  # fmt: skip
    scores = [[(each.name, each.score, each.note) for each in model.trials_]
              for model in (there, here)]  # fmt: skip
    np.testing.assert_equal(*scores)


def fit_both(cluster, X, y, graph, **options):
    """The model that workers have fitted, after it was compared with the one fitted here."""
    here = quick(**options).fit(X, y, graph=graph)
    there = quick(**options).fit(X, y, graph=graph.on(address=cluster.address))
    assert_equal(there, here)
    return there


def test_all_learners_give_the_same_model_as_here(cluster, tmp_path):
    pytest.importorskip("torch")
    graph, X, _, y = blocks(3, n=90)
    there = fit_both(cluster, X, y, graph, n_folds=2)
    assert len(there.plan_.learners) >= 5
    again = load_model(save_model(there, tmp_path / "model"))
    np.testing.assert_array_equal(again.predict_proba(), there.predict_proba())


def test_words(cluster):
    pytest.importorskip("torch")
    graph, X, _, y = word_graph(1, n=120)
    options = {"learners": ["words nearby", "trees"], "n_folds": 2, "label_dropout": 0.5}
    there = fit_both(cluster, X, y, graph, **options)
    assert "words nearby" in there.plan_.learners


def test_categories_gaps_and_numbers_to_predict(cluster):
    graph, X, _, y = wavy(2, n=150)
    there = fit_both(cluster, X, y, graph, **QUICK)
    assert "features alone" in there.plan_.learners


@pytest.mark.parametrize("directed", [False, True])
def test_edges_with_weights_and_without_features(cluster, directed):
    rng = np.random.default_rng(0)
    source, target = rng.integers(0, 100, (2, 600))
    weight = rng.uniform(0.5, 2, 600)
    graph = Graph.from_edges(source, target, weight=weight, directed=directed, n_nodes=100)
    y = np.where(np.arange(100) % 3, np.arange(100) // 50, -1)
    fit_both(cluster, None, y, graph, **QUICK)


def test_a_graph_folder(cluster, tmp_path):
    graph, X, _, y = blocks(4, n=120)
    stored = open_graph(save_graph(graph, tmp_path / "graph.lt"))
    fit_both(cluster, X, y, stored, **QUICK)


def test_pairs_of_folds_of_few_labels(cluster, monkeypatch):
    monkeypatch.setattr(nested, "MOST_LABELS", 300)
    graph, X, _, y = blocks(5, n=90)
    assert fit_both(cluster, X, y, graph, **QUICK).plan_.nested


@pytest.mark.parametrize("choice", [{}, {"choice": [2]}])
def test_a_plan_is_repeated(cluster, monkeypatch, choice):
    monkeypatch.setattr(nested, "MOST_LABELS", 300)
    graph, X, _, y = blocks(6, n=90)
    plan = FitPlan(("trees",), {"trees 1": [7], **choice}, nested=True)
    there = fit_both(cluster, X, y, graph, plan=plan, budget=60.0, **QUICK)
    assert there.plan_.steps["trees 1"] == [7]


def test_a_budget_that_ends_trainings_is_recorded_in_a_plan(cluster):
    graph, X, _, y = blocks(7, n=120)
    begin = time.monotonic()
    there = quick(budget=11.0, learners=["trees"]).fit(
        X, y, graph=graph.on(address=cluster.address)
    )
    assert time.monotonic() - begin < 20
    again = quick(plan=there.plan_, learners=["trees"]).fit(X, y, graph=graph)
    np.testing.assert_array_equal(again.predict_proba(), there.predict_proba())


def test_an_interrupted_fit_resumes(cluster, tmp_path):
    graph, X, _, y = blocks(8, n=90)
    there = graph.on(address=cluster.address)

    def interrupt(done, total):
        if done == 5:
            raise KeyboardInterrupt

    kept = {"resume_from": tmp_path / "kept", **QUICK}
    with pytest.raises(KeyboardInterrupt):
        quick(**{**kept, "progress": interrupt}).fit(X, y, graph=there)
    parts = [path for path in (tmp_path / "kept").iterdir() if path.is_dir()]
    assert len(parts) >= 5
    model = quick(**kept).fit(X, y, graph=there)
    assert all(path.exists() for path in parts)
    assert_equal(model, quick(**QUICK).fit(X, y, graph=graph))


def test_workers_compute_the_rows_that_a_fit_needs(cluster, monkeypatch):
    graph, X, _, y = blocks(4, n=120)
    monkeypatch.setattr(columns, "_MANY_NUMBERS", 0)
    monkeypatch.setattr(columns, "_N_OTHERS", 10)
    here = quick(**QUICK).fit(X, y, graph=graph)
    assert_equal(quick(**QUICK).fit(X, y, graph=graph.on(address=cluster.address)), here)


def test_who_is_asked_to_finish_keeps_what_is_done(cluster):
    graph, X, _, y = blocks(9, n=90)

    def ask(done, total):
        if done == 1:
            finish_early()

    # Workers are ahead of what is reported, but not by so many fits.
    model = quick(progress=ask, **{**QUICK, "n_folds": 10}).fit(
        X, y, graph=graph.on(address=cluster.address)
    )
    assert model.plan_.learners
    assert any("asked to finish" in each.note for each in model.trials_)


class Tree(ClassifierMixin, BaseEstimator):
    """A tree that writes down each fit. Copies of `made_like` are sent to workers as a whole,
    because workers cannot import this module."""

    def __init__(self, folder=None, dies=0, fails=False):
        self.folder, self.dies, self.fails = folder, dies, fails

    def fit(self, X, y):
        before = len(list(Path(self.folder).iterdir()))
        (Path(self.folder) / f"{before}-{time.monotonic_ns()}").touch()
        if before < self.dies:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.fails:
            raise RuntimeError("the disk is\non fire")
        self.tree_ = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X):
        return self.tree_.predict(X)

    def predict_proba(self, X):
        return self.tree_.predict_proba(X)


@pytest.fixture
def tree(tmp_path):
    from cloudpickle import register_pickle_by_value, unregister_pickle_by_value

    import tests.models.auto.test_on_dask as this

    register_pickle_by_value(this)
    (tmp_path / "fits").mkdir()
    yield lambda **options: Tree(str(tmp_path / "fits"), **options)
    unregister_pickle_by_value(this)


def count_fits(tree):
    return len(list(Path(tree.folder).iterdir()))


def test_the_member_of_a_killed_worker_is_fitted_again(tmp_path, tree):
    graph, X, _, y = blocks(1, n=120)
    mine = tree(dies=1)
    with OwnCluster(tmp_path, 2) as own:
        there = quick(learners=["linear", mine], exclude=["features alone"]).fit(
            X, y, graph=graph.on(address=own.address)
        )
        assert sorted(each.poll() is None for each in own.workers) == [False, True]
    assert count_fits(mine) == 3 + 1
    here = quick(learners=["linear", mine], exclude=["features alone"]).fit(X, y, graph=graph)
    assert_equal(there, here)
    assert "Tree" in there.plan_.learners


@pytest.mark.slow
def test_a_learner_that_kills_all_workers_is_reported(tmp_path, tree, monkeypatch):
    from labeltrick.propagation.engine.cluster import running

    monkeypatch.setattr(running, "WORKER_SECONDS", 3)
    graph, X, _, y = blocks(1, n=120)
    with (
        OwnCluster(tmp_path, 2) as own,
        pytest.raises(ClusterError, match=r"workers .*resume_from"),
    ):
        quick(learners=["linear", tree(dies=9)]).fit(X, y, graph=graph.on(address=own.address))


def test_the_error_of_a_learner_is_reported_as_here(cluster, tree):
    graph, X, _, y = blocks(0, n=100)
    with pytest.warns(UserWarning, match="learner 'Tree' was left out: RuntimeError: the disk is"):
        fit_both(cluster, X, y, graph, learners=["linear", tree(fails=True)])


def test_an_address_that_does_not_answer(cluster):
    graph, X, _, y = blocks(0, n=60)
    with pytest.raises(ConnectionError, match="no Dask scheduler answered"):
        quick(**QUICK).fit(X, y, graph=graph.on(address="tcp://127.0.0.1:9"))


def test_predictions_on_a_graph_on_a_cluster_are_close(cluster):
    graph, X, _, value = numbers(1, n=150)
    there = graph.on(address=cluster.address)
    model = quick(learners=["linear"]).fit(X, value, graph=there)
    np.testing.assert_allclose(model.predict(X, value, graph=there), model.predict(), atol=1e-4)
