"""Renumbering the nodes renumbers the predictions and changes nothing else."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge

from labeltrick import (
    GNN,
    SGC,
    SIGN,
    TWIRLS,
    AutoModel,
    CorrectAndSmooth,
    Graph,
    GraphBoosting,
    LabelFeatureRegression,
    LabelPropagation,
    SelfExcludedLabels,
    TrainableCorrectAndSmooth,
    TrainableLabelPropagation,
)
from labeltrick._utils.targets import encode_targets
from labeltrick.graph.node_keys import node_keys
from labeltrick.models.base.draws import draw_part
from labeltrick.models.base.folds import draw_folds
from tests.support.leaks import TASKS

Trainable = TrainableLabelPropagation
EXACT = {
    "propagation": LabelPropagation(),
    "propagation, steps": LabelPropagation(0.9, 8, norm="row"),
    "shared": Trainable(),
    "shared, squared": Trainable(loss="squared"),
    "shared, gate": Trainable(gate=True),
    "per hop": Trainable(weights="per_hop"),
    "learned edges": Trainable(edge_weights="learned", max_epochs=30),
    "C&S": CorrectAndSmooth(None),
    "trainable C&S": TrainableCorrectAndSmooth(None, n_splits=3, max_epochs=20),
    "trainable C&S, deterministic": TrainableCorrectAndSmooth(None, label_trick="deterministic"),
    "boosting": GraphBoosting(n_rounds=15),
    "boosting, two stages": GraphBoosting(n_rounds=15, mode="two_stage"),
    "boosting, end to end": GraphBoosting(n_rounds=15, mode="end_to_end"),
}
# Features are propagated in float32 or to the tolerance of a solver, networks are of float32.
SINGLE = {
    "regression": LabelFeatureRegression(),
    "regression, limit": LabelFeatureRegression(n_steps=None),
    "regression, splits": LabelFeatureRegression(label_trick="stochastic", split_rate=0.5),
    "splits": Trainable(label_trick="stochastic", split_rate=0.5, max_epochs=20),
    "mlp": Trainable(weights="mlp", hidden=8, n_members=3, max_epochs=4),
    "mlp, splits": Trainable(
        weights="mlp", label_trick="stochastic", hidden=8, n_members=3, max_epochs=4
    ),
    "SGC": SGC(2, max_epochs=8),
    "SIGN": SIGN(2, hidden=8, max_epochs=8),
    "SIGN, splits": SIGN(2, hidden=8, max_epochs=8, label_trick="stochastic"),
    "TWIRLS": TWIRLS(hidden=8, max_epochs=8),
    "GNN": GNN("gcn", hidden=8, max_epochs=8),
    "AutoModel": AutoModel(n_folds=2),
}
TOLERANCE = {**dict.fromkeys(EXACT, 1e-6), **dict.fromkeys(SINGLE, 2e-5)}
BY_TORCH = (
    "learned edges",
    "mlp",
    "mlp, splits",
    "SGC",
    "SIGN",
    "SIGN, splits",
    "TWIRLS",
    "GNN",
    "AutoModel",
)


class Problem:
    """Three communities, weighted edges, features that tell a little."""

    def __init__(self, seed, task, n=90, *, edges_per_node=5, ring=True):
        rng = np.random.default_rng(seed)
        truth = rng.integers(0, 3, n)
        edges = rng.integers(0, n, (2, edges_per_node * n))
        kept = (truth[edges[0]] == truth[edges[1]]) | (rng.random(edges.shape[1]) < 0.2)
        edges = edges[:, kept]
        if ring:  # no node is alone: the weights of its edges tell it from all others
            edges = np.concatenate([edges, [np.arange(n), (np.arange(n) + 1) % n]], axis=1)
        self.edges, self.task, self.n = edges, task, n
        self.weight = rng.uniform(0.1, 2.0, edges.shape[1])
        self.X = rng.normal(size=(n, 4)) + 0.7 * truth[:, None]
        known = rng.random(n) < 0.5
        if task == "classification":
            self.y = np.where(known, truth, -1)
        elif task == "multilabel":
            several = np.stack([truth == 0, truth > 0, rng.random(n) < 0.5], axis=1)
            self.y = np.where(known[:, None], several.astype(float), np.nan)
        else:
            self.y = np.where(known, truth + 0.3 * rng.normal(size=n), np.nan)

    def rows(self, model, order):
        """Predictions where node k is ``order[k]`` of ours, in our order; then out-of-fold rows."""
        number = np.argsort(order)
        graph = Graph.from_edges(*number[self.edges], weight=self.weight, n_nodes=self.n)
        model = clone(model).fit(self.X[order], self.y[order], graph=graph)
        numbers = self.task == "regression"
        found = [model.predict() if numbers else model.predict_proba()]
        if model.has_oof:
            oof = np.zeros((self.n, model.oof_rows_.shape[1]))
            oof[model.labeled_] = model.oof_rows_
            found.append(oof)
        return [rows[number] for rows in found]


def model_for(name, task):
    model = clone({**EXACT, **SINGLE}[name])
    if "C&S" in name:
        model.base = Ridge() if task == "regression" else LogisticRegression(tol=1e-8)
    if "progress" in model.get_params():
        model.set_params(progress=False)
    return model


def check(name, task, seed, **options):
    if name in BY_TORCH:
        pytest.importorskip("torch")
    if name == "GNN":
        pytest.importorskip("torch_geometric")
    problem, model = Problem(seed, task, **options), model_for(name, task)
    as_given = problem.rows(model, np.arange(problem.n))
    renumbered = problem.rows(model, np.random.default_rng(seed).permutation(problem.n))
    for before, after in zip(as_given, renumbered, strict=True):
        np.testing.assert_allclose(after, before, atol=TOLERANCE[name])


FAST = [name for name in TOLERANCE if name != "AutoModel"]


@pytest.mark.parametrize("name", FAST)
def test_predictions_do_not_depend_on_the_order_of_the_nodes(name):
    check(name, TASKS[FAST.index(name) % 3], 0)


@pytest.mark.parametrize("name", ["shared", "regression"])
@pytest.mark.parametrize("task", TASKS[:2])
def test_calibrated_probabilities_do_not_depend_on_the_order_of_the_nodes(name, task):
    check(name, task, 1)


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", TOLERANCE)
def test_the_same_for_every_task_on_several_graphs(name, task):
    for seed in range(2, 3 if name == "AutoModel" else 6):
        check(name, task, seed)


@pytest.mark.parametrize("name", ["shared", "per hop", "shared, squared"])
def test_twins_and_nodes_without_edges_keep_together(name):
    """Few edges and no features: some nodes cannot be told apart, and share a fold."""
    options = {"edges_per_node": 3, "ring": False}
    problem = Problem(5, "classification", **options)
    graph = Graph.from_edges(*problem.edges, weight=problem.weight, n_nodes=problem.n)
    keys = node_keys(graph, None, (problem.y >= 0).astype(int))[problem.y >= 0]
    assert len(np.unique(keys)) < len(keys)
    check(name, "classification", 5, **options)


@pytest.mark.parametrize("task", TASKS)
def test_columns_of_labels_do_not_depend_on_the_order_of_the_nodes(task):
    problem = Problem(0, task)
    rows = []
    for order in (np.arange(problem.n), np.random.default_rng(1).permutation(problem.n)):
        number = np.argsort(order)
        graph = Graph.from_edges(*number[problem.edges], weight=problem.weight, n_nodes=problem.n)
        columns = SelfExcludedLabels(graph, fill="prior", task=task, progress=False)
        rows.append(columns.fit_transform(problem.X[order], problem.y[order])[number])
    np.testing.assert_allclose(rows[1], rows[0], atol=1e-5)


# -- keys and draws ------------------------------------------------------------------------------
def test_keys_are_renumbered_with_the_nodes_and_know_no_labels():
    problem = Problem(0, "classification", n=60)
    part = (problem.y >= 0).astype(int)
    order = np.random.default_rng(0).permutation(60)
    number = np.argsort(order)
    found = []
    for X in (problem.X, None):
        graph = Graph.from_edges(*problem.edges, weight=problem.weight, n_nodes=60)
        moved = Graph.from_edges(*number[problem.edges], weight=problem.weight, n_nodes=60)
        keys = node_keys(graph, X, part)
        there = node_keys(moved, None if X is None else X[order], part[order])
        np.testing.assert_array_equal(there, keys[order])
        found.append(keys)
    assert len(np.unique(found[0])) == 60
    few = np.where(problem.X > 1, problem.X, 0.0)
    sparse = node_keys(graph, sp.csr_array(few), part)
    np.testing.assert_array_equal(sparse, node_keys(graph, few, part))


def test_nodes_that_cannot_be_told_apart_share_a_key():
    star = Graph.from_edges([0, 0, 0, 0], [1, 2, 3, 4], n_nodes=6)
    keys = node_keys(star, None, np.ones(6, int))
    assert len(np.unique(keys)) == 3  # the hub, its leaves, the node without edges
    assert len(np.unique(keys[1:5])) == 1
    path = Graph.from_edges(range(199), range(1, 200))
    assert len(np.unique(node_keys(path, None, np.ones(200, int)))) == 100  # mirror images
    arrow = Graph.from_edges(range(199), range(1, 200), directed=True)
    assert len(np.unique(node_keys(arrow, None, np.ones(200, int)))) == 200


@pytest.mark.parametrize("n_folds", [2, 3, 5])
@pytest.mark.parametrize("n", [1, 2, 5, 7, 40, 201])
def test_folds_are_even_and_keep_equal_keys_together(n, n_folds):
    rng = np.random.default_rng(n)
    nodes = np.arange(n)
    for n_kinds in (1, max(1, n // 3), 10 * n):
        known = encode_targets(np.zeros(n, int), n)
        keys = rng.integers(0, n_kinds, n).astype(np.uint64)
        object.__setattr__(known, "keys", keys)
        fold = draw_folds(known, nodes, n_folds, 0)
        size = np.bincount(fold, minlength=min(n, n_folds))
        largest = max(np.bincount(keys.astype(int)).max(), 1)
        assert size.min() >= 1
        assert np.ptp(size) <= (1 if largest > n // n_folds else max(1, largest))
        for key in np.unique(keys):
            if (keys == key).sum() <= n // min(n, n_folds):
                assert len(np.unique(fold[keys == key])) == 1
        kept, drawn = draw_part(known, nodes, n // 4, np.random.default_rng(0))
        assert np.array_equal(np.sort(np.concatenate([kept, drawn])), nodes)
