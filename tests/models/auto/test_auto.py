"""`AutoModel`: what it learns, that no label leaks, that it can be saved, resumed and bounded."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

from labeltrick import AutoModel, Graph, audit_leakage, load_model, save_model
from labeltrick.models.auto import trials
from labeltrick.models.auto.blend import (
    Correction,
    choose_correction,
    choose_shares,
    mixed,
    nearby_residuals,
    residual_views,
)
from labeltrick.models.auto.columns import AutoColumns, ColumnRecipe, Signal
from labeltrick.models.auto.learners import Rows, fit_network, row_loss
from labeltrick.models.base.folds import draw_folds
from labeltrick.models.base.node_inputs import NodeInputs
from labeltrick.models.base.tables import read_table
from tests.support.estimator_checks import check_left_out_rows
from tests.support.graphs import blocks


@pytest.fixture(autouse=True)
def _few_epochs(monkeypatch):
    monkeypatch.setitem(trials.ON_NUMBERS, "max_epochs", 20)


def quick(**options):
    return AutoModel(**{"n_folds": 3, "progress": False, **options})


def numbers(seed=0, n=300):
    """A number along a path, two columns that tell some of it."""
    rng = np.random.default_rng(seed)
    graph = Graph.from_edges(np.arange(n - 1), np.arange(1, n))
    value = np.sin(np.arange(n) / 12) + 0.1 * rng.normal(size=n)
    X = np.column_stack([value + rng.normal(size=n), rng.normal(size=n)])
    y = np.where(rng.random(n) < 0.6, value, np.nan)
    return graph, X, value, y


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
    check_left_out_rows(*blocks(20, n=90))


def test_validation_labels_are_never_inputs():
    graph, X, _, y = blocks(7, n=200)
    held = np.flatnonzero(y >= 0)[::3]
    model = quick().fit(X, y, graph=graph, validation=held)
    assert not set(held) & set(model.labeled_)
    without = np.where(np.isin(np.arange(len(y)), held), -1, y)
    np.testing.assert_array_equal(
        model.predict_proba(), model.predict_proba(X, without, graph=graph)
    )


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
        loaded.predict(more, graph=bigger), model.predict(more, graph=bigger)
    )


def test_without_columns_without_edges_without_torch(monkeypatch):
    graph, X, truth, y = blocks(9, n=150)
    labels_alone = quick().fit(None, y, graph=graph)
    assert (labels_alone.predict() == truth)[y < 0].mean() > 0.6
    assert "features alone" not in labels_alone.baselines_
    lonely = quick().fit(X, y, graph=Graph.from_edges([], [], n_nodes=len(y)))
    assert "label propagation" not in lonely.shares_
    monkeypatch.setattr(trials, "find_spec", lambda name: None)
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


def test_the_budget_is_kept_by_leaving_learners_out():
    graph, X, _, y = blocks(4, n=120)
    tight = quick(budget=1e-9).fit(X, y, graph=graph)
    ran = [t.name for t in tight.trials_ if not np.isnan(t.score)]
    assert ran[:3] == ["majority", "label propagation", "trees"]
    assert all("budget" in t.note for t in tight.trials_ if np.isnan(t.score))
    spec = trials.learners(Signal.of(read_table(X, ()), 0), 1, "classification")[0]
    small = trials.Sizes(100, 500, 50, 3, 10, 10, 10, 10)
    large = trials.Sizes(10**6, 10**7, 10**5, 40, 300, 300, 50, 300)
    assert trials.estimate_seconds(spec, small, 5) < 5 < trials.estimate_seconds(spec, large, 5)
    words = trials.LearnerSpec("", "nearby", trials.ColumnRecipe(0, 0), trials.NEARBY)
    dense = replace(large, n_dense=large.n_table)
    assert trials.estimate_seconds(words, dense, 5) > 1.5 * trials.estimate_seconds(words, large, 5)


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


def test_trees_see_single_words_unless_these_are_very_many():
    rng = np.random.default_rng(0)
    words = sp.random_array((80, 1500), density=0.02, rng=rng, format="csr")
    graph = Graph.from_edges(range(79), range(1, 80))
    for n_words, n_own in ((400, 400), (1500, 48)):
        table = read_table(words[:, :n_words])
        signal = Signal.of(table, 0)
        inputs = NodeInputs(None, graph, table)
        columns = AutoColumns.of(signal, inputs, [2])
        seen = columns.tree_features(inputs, ColumnRecipe(2, 0))
        assert seen.values.shape == (80, n_own + 2 * 48)
        assert signal.n_own_for_trees == n_own
        if n_words == n_own:
            np.testing.assert_allclose(seen.values[:, :400], signal.values(table))


def test_words_are_weighed_and_summed_up():
    rng = np.random.default_rng(0)
    words = sp.random_array((80, 1500), density=0.02, rng=rng, format="csr")
    wide = Signal.of(read_table(words), 0)
    assert wide.components.shape == (1500, 79)
    assert wide.for_trees.shape == (79, 48)
    some = Signal.of(read_table(words[:, :400]), 0)
    assert some.components is None
    values = some.values(read_table(words[:, :400]))
    np.testing.assert_allclose(np.linalg.norm(values[values.any(axis=1)], axis=1), 1, rtol=1e-5)
    assert some.tree_values(values).shape == (80, 48)


def test_frozen_networks_say_what_torch_says():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)).astype(np.float32)
    Y = np.eye(2)[(X[:, 0] > 0).astype(int)]
    rows = Rows(X, Y, np.ones(60), (X, Y, np.ones(60)), "classification", 3)
    state = torch.get_rng_state()
    network = fit_network(rows, n_layers=3, dropout=0.2, hidden=16)
    assert torch.equal(state, torch.get_rng_state())
    layers = []
    for k, norm in enumerate(network.norms):
        linear, scale = torch.nn.Linear(*network.weights[k].shape), torch.nn.LayerNorm(16)
        linear.weight.data = torch.from_numpy(network.weights[k].T.copy())
        linear.bias.data = torch.from_numpy(network.biases[k])
        scale.weight.data, scale.bias.data = (torch.from_numpy(part.copy()) for part in norm)
        layers += [linear, scale, torch.nn.ReLU()]
    last = torch.nn.Linear(16, 2)
    last.weight.data = torch.from_numpy(network.weights[-1].T.copy())
    last.bias.data = torch.from_numpy(network.biases[-1])
    model = torch.nn.Sequential(*layers, last, torch.nn.Softmax(dim=1))
    with torch.no_grad():
        expected = model(torch.from_numpy(X)).numpy()
    np.testing.assert_allclose(network.predict(X), expected, atol=1e-6)
    assert (network.predict(X).argmax(axis=1) == Y.argmax(axis=1)).mean() > 0.8


def test_shares_are_those_of_least_loss():
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(200, 1))
    noise = [rng.normal(size=(200, 1)) for _ in range(2)]
    rows = [Y + noise[0], Y - noise[0], Y + 10 * noise[1]]
    shares = choose_shares(rows, Y, np.ones(200), "regression")
    assert shares[2] == 0
    assert sorted(shares)[1:] == [0.4, 0.6]
    best = row_loss("regression", Y, mixed(rows, shares), np.ones(200))
    assert best <= min(row_loss("regression", Y, part, np.ones(200)) for part in rows)


def test_residuals_of_others_leave_out_the_own():
    graph, _, value, y = numbers(3, 60)
    labeled = ~np.isnan(y)
    residual = np.where(labeled, value, 0.0)[:, None]
    before = nearby_residuals(residual, labeled, residual_views(graph, 0.8))
    node = np.flatnonzero(labeled)[5]
    changed = residual.copy()
    changed[node] += 100
    after = nearby_residuals(changed, labeled, residual_views(graph, 0.8))
    assert np.abs(after - before)[node] < 1e-6
    assert np.abs(after - before).max() > 1


def test_labels_that_come_later_hand_no_residual_back():
    graph, X, value, y = numbers(5, 120)
    model = quick().fit(X, y, graph=graph)
    nodes = model.labeled_
    model._correction = Correction(0.8, 1.0, nodes, model.oof_rows_, model.targets_.Y[nodes])
    now = np.where(np.isnan(y) & (np.arange(120) % 2 == 0), value, y)
    node = np.flatnonzero(np.isnan(y) & ~np.isnan(now))[3]
    changed = now.copy()
    changed[node] += 5.0
    before, after = (model.predict(X, labels, graph=graph) for labels in (now, changed))
    assert abs(after - before)[node] < 1e-6
    assert np.abs(after - before).max() > 1e-3


def test_two_labels_are_left_out_one_by_one():
    model = quick().fit(*tiny()[:2], graph=tiny()[2])
    assert draw_folds(model.targets_, model.labeled_, 5, 0).max() == 2


def tiny():
    graph = Graph.from_edges(range(9), range(1, 10))
    y = np.array([0, -1, -1, 0, -1, -1, -1, 1, -1, -1])
    return np.arange(10.0)[:, None], y, graph


def test_a_correction_that_gains_nothing_is_none():
    graph, X, _, y = numbers(4, 200)
    model = quick().fit(X, y, graph=graph)
    rng = np.random.default_rng(0)
    nodes = model.labeled_
    rows = np.where(model.targets_.labeled[:, None], model.targets_.Y, 0.0)
    rows = rows + rng.normal(size=rows.shape)  # residuals that tell nothing of each other
    judged = nodes, model.targets_.Y[nodes], np.ones(len(nodes))
    found, same = choose_correction(rows, rows[nodes], model.fitted_inputs, judged, {})
    assert found is None
    assert same is rows


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


def mines(seed, side=32):
    """A board: any field may hold a mine, and half of the fields tell how many neighbors do."""
    rng = np.random.default_rng(seed)
    at = np.arange(side * side).reshape(side, side)
    steps = [(at[:, :-1], at[:, 1:]), (at[:-1], at[1:]), (at[:-1, :-1], at[1:, 1:]),
             (at[:-1, 1:], at[1:, :-1])]  # fmt: skip
    ends = [np.concatenate([step[k].ravel() for step in steps]) for k in (0, 1)]
    graph = Graph.from_edges(*ends)
    truth = (rng.random(side * side) < 0.25).astype(int)
    count = (graph.to_scipy() @ truth).astype(int)
    X = np.eye(9)[count][:, :7] * (rng.random(side * side) < 0.5)[:, None]
    return graph, X, np.where(rng.random(side * side) < 0.6, truth, -1)


@pytest.mark.slow
def test_the_graph_network_earns_its_place_where_counts_matter(monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setitem(trials.ON_NUMBERS, "max_epochs", 120)
    graph, X, y = mines(0)
    model = quick(n_folds=2).fit(X, y, graph=graph)
    loss = {trial.name: trial.loss for trial in model.trials_}
    assert loss["graph network"] < min(0.8 * loss["majority"], loss["trees"], loss["linear"])
    assert "graph network" in model.shares_
    assert loss["blend"] < min(loss[name] for name in model.shares_)


def test_a_graph_network_predicts_as_arrays_what_torch_does():
    torch = pytest.importorskip("torch")
    from labeltrick import Power
    from labeltrick.models.auto.graph_network import GraphNetwork
    from labeltrick.nn.sage import MeanNetwork

    graph, X, _, _ = blocks(2, n=60)
    torch.manual_seed(0)
    network = MeanNetwork(X.shape[1], 3, hidden=8, n_layers=3, dropout=0.5).eval()
    rows = GraphNetwork(*network.arrays(), "softmax").predict(X.astype(np.float32), graph)
    with torch.no_grad():
        mean = Power(graph, 1, norm="row")
        expected = network(torch.from_numpy(X.astype(np.float32)), mean).softmax(dim=1)
    np.testing.assert_allclose(rows, expected.numpy(), atol=1e-6)
    dense = graph.to_scipy().toarray()
    dense /= np.maximum(dense.sum(axis=1, keepdims=True), 1)
    h = X
    for own, near in zip(network.own, network.near, strict=True):
        W, V = own.weight.detach().numpy().T, near.weight.detach().numpy().T
        h = np.maximum(h @ W + dense @ h @ V + own.bias.detach().numpy(), 0)
    scores = h @ network.last.weight.detach().numpy().T + network.last.bias.detach().numpy()
    by_hand = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(rows, by_hand, atol=1e-5)
