"""`AutoModel`: what it learns, that no label leaks, that it can be saved, resumed and bounded."""

import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from labeltrick import Graph, audit_leakage, load_model, save_model
from labeltrick._utils import extras
from labeltrick.models.base.folds import draw_folds
from tests.support.auto import numbers, quick
from tests.support.estimator_checks import check_out_of_fold_rows
from tests.support.graphs import blocks


def test_beats_what_labels_and_features_do_alone():
    graph, X, truth, y = blocks(3, n=240)
    model = quick().fit(X, y, graph=graph)
    hidden = y < 0
    own = (model.predict() == truth)[hidden].mean()
    for name in model.baselines_:
        alone = model.baseline(name).argmax(axis=1)
        assert own >= (alone == truth)[hidden].mean() - 0.02
    names = [trial.name for trial in model.trials_]
    assert names[:3] == ["majority", "label propagation", "trees"]
    assert sum(model.shares_.values()) == pytest.approx(1)
    assert all(share > 0 for share in model.shares_.values())


def test_numbers_with_residuals_of_others_and_intervals():
    graph, X, value, y = numbers()
    model = quick().fit(X, y, graph=graph)
    hidden = np.isnan(y)
    error = np.sqrt(np.mean((model.predict() - value)[hidden] ** 2))
    assert error < 0.35 * value.std()
    low, high = model.predict_interval(coverage=0.8).T
    assert np.mean((low <= value) & (value <= high), where=hidden) > 0.65
    assert model.oof_score_ > 0.8


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_no_prediction_moves_with_its_own_label(task):
    if task == "classes":
        graph, X, _, y = blocks(5, n=150)
        model = quick().fit(X, y, graph=graph)
        labels = model.targets_.codes
    else:
        graph, X, _, labels = numbers(1, 150)
        model = quick().fit(X, labels, graph=graph)
    report = audit_leakage(model.rows_for, labels, model.labeled_, n_samples=40, progress=False)
    assert not report.leaks, str(report)
    assert report.largest_change < 1e-6


def test_members_know_nothing_of_the_fold_they_leave_out():
    """Each learner's left-out rows stay when one label changes; only the blend may move."""
    check_out_of_fold_rows(*blocks(20, n=90))


def test_labels_of_validation_nodes_are_inputs_of_predictions_alone():
    graph, X, _, y = blocks(7, n=200)
    validation = np.flatnonzero(y >= 0)[::3]
    model = quick().fit(X, y, graph=graph, validation=validation)
    assert not set(validation) & set(model.labeled_)
    without = np.where(np.isin(np.arange(len(y)), validation), -1, y)
    found = model.predict_proba()
    np.testing.assert_array_equal(found, model.predict_proba(X, y, graph=graph))
    assert (found != model.predict_proba(X, without, graph=graph)).any()
    np.testing.assert_array_equal(  # choices and calibration are made without them
        model.scores_of(model.fitted_inputs), model.scores_of(model.inputs_of(X, without, graph))
    )
    frame = model.predict_frame()
    np.testing.assert_array_equal(frame["labeled"].to_numpy(), y >= 0)


@pytest.mark.parametrize("make", [blocks, numbers])
def test_no_prediction_of_a_validation_node_moves_with_its_label(make):
    graph, X, _, y = make(7, n=200)
    validation = np.flatnonzero(~np.isnan(y) & (y != -1))[::3]
    model = quick().fit(X, y, graph=graph, validation=validation)
    before = model.scores_of(model.inputs_of(None, None, None))
    for node in validation[:10]:
        changed = np.array(y)
        changed[node] = {0: 1}.get(y[node], 0)
        after = model.scores_of(model.inputs_of(None, changed, None))
        np.testing.assert_allclose(after[node], before[node], atol=1e-6)


@pytest.mark.parametrize("make", [blocks, numbers])
def test_saved_models_predict_the_same_bits(tmp_path, make):
    graph, X, _, y = make(1, n=120)
    model = quick().fit(X, y, graph=graph)
    loaded = load_model(save_model(model, tmp_path / "model"))
    for ask in (
        lambda m: m.predict(),
        lambda m: m.oof_rows_,
        lambda m: m.scores_of(m.fitted_inputs),
    ):
        np.testing.assert_array_equal(ask(loaded), ask(model))
    bigger = Graph.from_edges(*np.nonzero(np.triu(graph.to_scipy().toarray())), n_nodes=121)
    more = np.vstack([X, X[:1]])
    np.testing.assert_array_equal(
        loaded.predict(more, np.append(y, -1), graph=bigger),
        model.predict(more, np.append(y, -1), graph=bigger),
    )


def test_without_columns_without_edges_without_torch(monkeypatch):
    graph, X, truth, y = blocks(9, n=150)
    labels_alone = quick().fit(None, y, graph=graph)
    assert (labels_alone.predict() == truth)[y < 0].mean() > 0.6
    assert "features alone" not in labels_alone.baselines_
    lonely = quick().fit(X, y, graph=Graph.from_edges([], [], n_nodes=len(y)))
    assert "label propagation" not in lonely.shares_
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    bare = quick().fit(X, y, graph=graph)
    assert [t.name for t in bare.trials_ if "network" in t.name] == []
    assert (bare.predict() == truth)[y < 0].mean() > 0.6


WITHOUT_TORCH = """
import importlib.util, sys
find = importlib.util.find_spec
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "torch":
            raise ImportError("blocked")
sys.meta_path.insert(0, Blocked())
importlib.util.find_spec = lambda name, *rest: None if name == "torch" else find(name, *rest)
import numpy as np
from labeltrick import AutoModel, Graph
graph = Graph.from_edges(range(59), range(1, 60))
y = np.repeat([0, 1], 30)
model = AutoModel(n_folds=2, progress=False)
model.fit(None, np.where(np.arange(60) % 2, y, -1), graph=graph)
print((model.predict() == y).mean() > 0.9, "torch" in sys.modules)
"""


def test_the_core_runs_without_torch_installed():
    run = subprocess.run([sys.executable, "-c", WITHOUT_TORCH], capture_output=True, text=True)
    assert run.stdout.split() == ["True", "False"], run.stderr


def test_mixed_tables_with_gaps_and_unseen_categories():
    graph, X, _, y = blocks(6, n=150)
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "a": np.where(rng.random(150) < 0.2, np.nan, X[:, 0]),
            "b": pl.Series(rng.choice(["u", "v"], 150), dtype=pl.Categorical),
            "c": rng.random(150) < 0.5,
        }
    )
    model = quick().fit(frame, y, graph=graph)
    other = frame.with_columns(pl.lit("new").cast(pl.Categorical).alias("b"))
    assert model.predict(other, graph=graph).shape == (150,)


def test_two_labels_are_each_predicted_out_of_fold():
    model = quick().fit(*tiny()[:2], graph=tiny()[2])
    assert draw_folds(model.targets_, model.labeled_, 5, 0).max() == 2


def tiny():
    graph = Graph.from_edges(range(9), range(1, 10))
    y = np.array([0, -1, -1, 0, -1, -1, -1, 1, -1, -1])
    return np.arange(10.0)[:, None], y, graph


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"budget": -1}, "`budget`"),
        ({"n_folds": 1}, "`n_folds`"),
        ({"metric": "f7"}, "`metric`"),
        ({"random_state": -1}, "`random_state`"),
    ],
)
def test_bad_parameters(options, said):
    graph, X, _, y = blocks(0, n=60)
    with pytest.raises(ValueError, match=said):
        quick(**options).fit(X, y, graph=graph)
