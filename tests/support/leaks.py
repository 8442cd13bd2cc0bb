"""The leak property: change one node's label, and see whether its own prediction moves.

For every estimator, on small random graphs with edge weights over up to 10^±12, directed and
undirected, most of them in several parts.
"""

from __future__ import annotations

import numpy as np
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

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

TASKS = ("classification", "multilabel", "regression")
# Of a change of its own label, a node's prediction may take on this share: what views of labels
# certify. Rounding of networks in float32 is an absolute amount.
TOLERANCE, ROUNDING = 1e-5, 2e-6

OWN_LABEL_MODES = ("two_stage", "end_to_end")  # of GraphBoosting: Correct & Smooth is in them

Trainable = TrainableLabelPropagation
ESTIMATORS = {
    "LabelPropagation": [
        LabelPropagation(),
        LabelPropagation(0.9, 8, norm="row", self_loops=True),
    ],
    "TrainableLabelPropagation": [
        Trainable(),
        Trainable(0.8, norm="col"),
        Trainable(loss="squared"),
        Trainable(gate=True, norm=("sym", "row")),
        Trainable(weights="per_hop", n_hops=3),
        Trainable(label_trick="stochastic", split_rate=0.5, max_epochs=3),
        Trainable(edge_weights="learned", max_epochs=8),
        Trainable(edge_weights="learned", weights="per_hop", n_hops=2, gate=True, max_epochs=4),
        Trainable(edge_weights="learned", loss="squared", n_steps=3, max_epochs=4),
        Trainable(weights="mlp", hidden=4, n_layers=2, n_members=2, max_epochs=2),
    ],
    "LabelFeatureRegression": [
        LabelFeatureRegression(split_rate=0.5),
        LabelFeatureRegression(0.8, None, split_rate=0.5),
        LabelFeatureRegression(split_rate=(0.1, 0.5, 1.0)),
    ],
    "SGC": [SGC(2, max_epochs=2)],
    "SIGN": [SIGN(2, hidden=4, max_epochs=2)],
    "TWIRLS": [TWIRLS(hidden=4, max_epochs=2)],
    "GNN": [GNN("gcn", hidden=4, n_layers=2, max_epochs=2)],
    "CorrectAndSmooth": [CorrectAndSmooth()],
    "TrainableCorrectAndSmooth": [
        TrainableCorrectAndSmooth(split_rate=0.5, n_splits=2, n_folds=2, max_epochs=3),
        TrainableCorrectAndSmooth(label_trick="deterministic", n_folds=2),
        TrainableCorrectAndSmooth(mode="end_to_end", hidden=4, n_layers=2, max_epochs=2),
    ],
    "GraphBoosting": [
        GraphBoosting(n_rounds=3),
        GraphBoosting(n_rounds=3, mode="two_stage", correct=0.6, smooth=0.3),
        GraphBoosting(n_rounds=3, mode="end_to_end"),
    ],
    "AutoModel": [
        AutoModel(learners=["trees"], n_folds=3),
        AutoModel(learners=["trees"], n_folds=3, label_dropout=0.5),
        AutoModel(learners=["trees"], n_folds=3, label_dropout=1),
    ],
    "SelfExcludedLabels": [None],
}


def make(name, task, seed):
    """A fresh estimator of that name for a task; the seed chooses among its settings."""
    if name == "SelfExcludedLabels":
        return None  # adds columns, predicts nothing
    settings = ESTIMATORS[name]
    model = clone(settings[seed // len(TASKS) % len(settings)], safe=False)
    if name.endswith("CorrectAndSmooth") and getattr(model, "mode", "") != "end_to_end":
        numbers = task == "regression"
        model.base = KNeighborsRegressor(2) if numbers else KNeighborsClassifier(2)
    if name == "TrainableLabelPropagation" and model.loss == "squared" and task != "regression":
        model.set_params(split_rate=0.5)  # one that is not chosen by all labels
    if "progress" in model.get_params():
        model.set_params(progress=False)
    return model.set_params(task=task)


def small_problem(seed, task, *, directed):
    """(graph, X, y): 8 to 15 nodes, 5 of them labeled."""
    rng = np.random.default_rng([seed, 5])
    n = int(rng.integers(8, 16))
    edges = rng.integers(0, n, (2, int(rng.integers(n // 2, 3 * n))))
    decades = rng.uniform(0, 12)
    weight = 10.0 ** rng.uniform(-decades, decades, edges.shape[1])
    graph = Graph.from_edges(*edges, weight=weight, n_nodes=n, directed=directed)
    labeled = rng.permutation(n)[:5]
    if task == "classification":
        y = np.full(n, -1)
        y[labeled] = [0, 1, 0, 1, rng.integers(2)]
    elif task == "multilabel":
        y = np.full((n, 2), np.nan)
        y[labeled] = [[0, 1], [1, 0], [1, 1], [0, 0], [1, 1]]
    else:
        y = np.full(n, np.nan)
        y[labeled] = rng.normal(size=5)
    return graph, rng.normal(size=(n, 3)), y


def changed(y, node, task):
    """(labels with that of the node changed, size of the change).

    Numbers move across the median of all of them, by more than three times their spread.
    """
    other = y.copy()
    if task == "classification":
        other[node] = 1 - y[node]
        return other, 1.0
    if task == "multilabel":
        other[node, 0] = 1 - y[node, 0]
        return other, 1.0
    known = y[~np.isnan(y)]
    center = np.median(known)
    spread = np.median(np.abs(known - center))
    away = y[node] - center
    other[node] = center - (3 * spread if away >= 0 else -3 * spread)
    return other, abs(other[node] - y[node])


def labeled_nodes(y, task):
    missing = y == -1 if task == "classification" else np.isnan(y.reshape(len(y), -1)).any(axis=1)
    return np.flatnonzero(~missing)


def oof_rows(name, task, seed, graph, X, y):
    """Rows of the labeled nodes that are made without their own label, by a fresh fit."""
    if name == "SelfExcludedLabels":
        columns = SelfExcludedLabels(graph, task=task, append=False, progress=False)
        nodes = labeled_nodes(y, task)
        return np.nan_to_num(columns.fit_transform(X, y), nan=-99.0)[nodes]
    return make(name, task, seed).fit(X, y, graph=graph).oof_rows_


def worst_out_of_fold(name, task, seed):
    """(labeled nodes tried, worst movement of an own left-out row beside the change)."""
    directed = bool(seed % 2) and name != "TWIRLS"
    graph, X, y = small_problem(seed, task, directed=directed)
    before = oof_rows(name, task, seed, graph, X, y)
    n_tried, worst = 0, 0.0
    for place, node in enumerate(labeled_nodes(y, task)):
        other, size = changed(y, node, task)
        after = oof_rows(name, task, seed, graph, X, other)
        worst = max(worst, float(np.abs(after[place] - before[place]).max()) / size)
        n_tried += 1
    return n_tried, worst


def worst_prediction(name, task, seed):
    """The same of predictions from changed labels by a model that is fitted once."""
    directed = bool(seed % 2) and name != "TWIRLS"
    graph, X, y = small_problem(seed, task, directed=directed)
    model = make(name, task, seed)
    if model is None or model.sees_own_label or getattr(model, "mode", "") in OWN_LABEL_MODES:
        return 0, 0.0  # the label of a node is an input of its prediction, by definition
    model.fit(X, y, graph=graph)
    known = y if task == "classification" else np.nan_to_num(y)
    before, worst = model.rows_for(known), 0.0
    nodes = labeled_nodes(y, task)
    for node in nodes:
        other = known.copy()
        other[node] = 1 - known[node] if task != "regression" else known[node] + 1.0
        worst = max(worst, float(np.abs(model.rows_for(other)[node] - before[node]).max()))
    return len(nodes), worst
