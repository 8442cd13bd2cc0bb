"""Out-of-fold predictions do not move with their own label, for any task and settings."""

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
    GraphBoosting,
    LabelFeatureRegression,
    LabelPropagation,
    TrainableCorrectAndSmooth,
    TrainableLabelPropagation,
)
from tests.support.graphs import blocks

TASKS = ("classification", "multilabel", "regression")
CLASSES = TASKS[:2]
SMALL_LEAVES = {"min_data_in_leaf": 2}  # or few labels would not suffice for a single split

LABELS_ALONE = {
    "cross-entropy": TrainableLabelPropagation(0.8),
    "squared": TrainableLabelPropagation(0.8, loss="squared", split_rate=0.5),
    "per hop": TrainableLabelPropagation(0.8, weights="per_hop"),
    "splits": TrainableLabelPropagation(
        0.8, label_trick="stochastic", split_rate=0.5, max_epochs=10
    ),
}
BY_TORCH = {
    "sgc": SGC(2, max_epochs=4),
    "sgc, splits": SGC(2, label_trick="stochastic", max_epochs=4),
    "sgc, features": SGC(2, label_trick=None, max_epochs=4),
    "sign": SIGN(2, hidden=8, max_epochs=4),
    "sign, hops": SIGN(2, hops="concat", hidden=8, max_epochs=4),
    "twirls": TWIRLS(hidden=8, max_epochs=4),
    "twirls, splits": TWIRLS(hidden=8, label_trick="stochastic", max_epochs=4),
    "twirls, deep": TWIRLS(hidden=8, n_before=2, max_epochs=4),
    "gnn": GNN("gcn", hidden=8, max_epochs=4),
    "gnn, features": GNN("gcn", hidden=8, label_trick=None, max_epochs=4),
    "end to end": TrainableCorrectAndSmooth(mode="end_to_end", hidden=8, n_layers=2, max_epochs=4),
}
NETWORKS = {
    "networks": TrainableLabelPropagation(
        0.8, weights="mlp", hidden=8, n_members=3, max_epochs=3, learning_rate=0.01
    ),
}
WITH_BASE = {
    "correct and smooth": CorrectAndSmooth(),
    "trainable": TrainableCorrectAndSmooth(label_trick="deterministic"),
    "trainable, pairs": TrainableCorrectAndSmooth(
        label_trick="deterministic", correct=[0.9, 0.5], smooth=[0.5, 0.3]
    ),
    "trainable, splits": TrainableCorrectAndSmooth(n_splits=2, n_folds=2, max_epochs=5),
}
OTHERS = {
    "propagation": LabelPropagation(0.8),
    "regression": LabelFeatureRegression(0.8, 5, split_rate=0.5),
    "regression, limit": LabelFeatureRegression(0.8, None, split_rate=0.5),
    "regression, features": LabelFeatureRegression(0.8, 5, label_trick=None),
    "regression, all rates": LabelFeatureRegression(0.8, 5),
    **{
        f"trees, {mode}": GraphBoosting(mode, n_rounds=5, lightgbm_params=SMALL_LEAVES)
        for mode in ("features", "two_stage", "end_to_end")
    },
    "auto": AutoModel(n_folds=3, progress=False, learners=["trees", "linear"]),
}
MODELS = {**LABELS_ALONE, **NETWORKS, **BY_TORCH, **WITH_BASE, **OTHERS}
# Each entry is tried for all tasks, except for those of these names.
TASKS_OF = {"squared": CLASSES}  # a single rate has a closed form for classes only
CASES = [(name, task) for name in MODELS for task in TASKS_OF.get(name, TASKS)]


def made(name, task, **settings):
    """A fresh estimator for a task; the test is skipped where its extra is not installed."""
    if name in BY_TORCH or name in NETWORKS:
        pytest.importorskip("torch")
    if name.startswith("gnn"):
        pytest.importorskip("torch_geometric")
    model = clone(MODELS[name]).set_params(task=task, **settings)
    if name in WITH_BASE:
        model.base = Ridge() if task == "regression" else LogisticRegression()
    return model


def problem(task):
    """(graph, X, y, node, other labels of that node).

    A number is the median of all of them: wherever it moves, the median and the spread follow.
    """
    graph, X, truth, y = blocks(20, n=60)
    nodes = np.flatnonzero(y >= 0)
    if task == "classification":
        return graph, X, y, nodes[4], [(y[nodes[4]] + 1) % 3]
    hidden = y < 0
    if task == "multilabel":
        y = np.column_stack([truth == 0, truth != 2]).astype(float)
        y[hidden] = np.nan
        return graph, X, y, nodes[4], [1 - y[nodes[4]]]
    y = np.where(hidden, np.nan, truth + X[:, 0] + 10.0)
    known = y[nodes]
    node = nodes[np.argsort(known)[len(nodes) // 2]]
    return graph, X, y, node, [y[node] + 3 * known.std(), y[node] - 0.5 * known.std()]


def largest_moves(name, task, **settings):
    """(largest move of the own row, largest move of any row) when the label changes."""
    graph, X, y, node, others = problem(task)

    def rows(label):
        changed = y.copy()
        changed[node] = label
        model = made(name, task, **settings).fit(X, changed, graph=graph)
        return model.oof_rows_, np.searchsorted(model.labeled_, node)

    before, place = rows(y[node])
    moves = np.stack([np.abs(rows(label)[0] - before) for label in others])
    return moves[:, place].max(), moves.max()


@pytest.mark.parametrize(("name", "task"), CASES)
def test_the_own_label_moves_nothing(name, task):
    own, any_row = largest_moves(name, task)
    assert own < 2e-6
    assert any_row > 1e-5  # labels do move the predictions of other nodes


@pytest.mark.parametrize("name", MODELS)
def test_balanced_classes_are_counted_without_the_own_label(name):
    own, any_row = largest_moves(name, "classification", class_weight="balanced")
    assert own < 2e-6
    assert any_row > 1e-5


def test_balanced_propagation_without_a_label_is_a_fit_without_it():
    graph, _, _, y = blocks(21, n=60)
    whole = LabelPropagation(0.8, class_weight="balanced", calibrate=False).fit(
        None, y, graph=graph
    )
    for place, node in enumerate(whole.labeled_[:6]):
        others = y.copy()
        others[node] = -1
        without = clone(whole).fit(None, others, graph=graph)
        np.testing.assert_allclose(
            whole.oof_proba_[place], without.predict_proba()[node], atol=1e-6
        )
