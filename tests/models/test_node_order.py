"""Renumbering the nodes renumbers the predictions and changes nothing else."""

import numpy as np
import pytest
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
from labeltrick.graph.node_keys import node_keys
from tests.support.leaks import TASKS
from tests.support.node_order import Problem

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
    """Few edges and no features: some nodes cannot be distinguished, and share a fold."""
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
