"""Out-of-fold predictions do not move with their own label, for any settings."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from labeltrick import (
    GNN,
    SGC,
    SIGN,
    TWIRLS,
    CorrectAndSmooth,
    LabelFeatureRegression,
    LabelPropagation,
    TrainableCorrectAndSmooth,
    TrainableLabelPropagation,
)
from tests.support.graphs import blocks

LABELS_ALONE = {
    "propagation": LabelPropagation(0.8),
    "cross-entropy": TrainableLabelPropagation(0.8),
    "squared": TrainableLabelPropagation(0.8, loss="squared", split_rate=0.5),
    "per hop": TrainableLabelPropagation(0.8, weights="per_hop"),
    "splits": TrainableLabelPropagation(
        0.8, label_trick="stochastic", split_rate=0.5, max_epochs=10
    ),
}
BY_TORCH = {
    "networks": TrainableLabelPropagation(
        0.8, weights="mlp", hidden=8, n_members=3, max_epochs=3, learning_rate=0.01
    ),
    "sgc": SGC(2, max_epochs=4),
    "sign": SIGN(2, hidden=8, max_epochs=4),
    "twirls": TWIRLS(hidden=8, max_epochs=4),
    "gnn": GNN("gcn", hidden=8, max_epochs=4),
}
OTHERS = {
    "regression": LabelFeatureRegression(0.8, 5, split_rate=0.5),
    "correct and smooth": CorrectAndSmooth(LogisticRegression()),
    "trainable": TrainableCorrectAndSmooth(LogisticRegression(), label_trick="deterministic"),
}
MODELS = {**LABELS_ALONE, **BY_TORCH, **OTHERS}


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("name", MODELS)
def test_the_own_label_moves_nothing(name, class_weight):
    if name in BY_TORCH:
        pytest.importorskip("torch")
    if name == "gnn":
        pytest.importorskip("torch_geometric")
    graph, X, _, y = blocks(20, n=60)
    place = 4
    node = np.flatnonzero(y >= 0)[place]
    rows = []
    for label in (y[node], (y[node] + 1) % 3):
        other = y.copy()
        other[node] = label
        model = clone(MODELS[name]).set_params(class_weight=class_weight)
        rows.append(model.fit(X, other, graph=graph).oof_proba_)
    np.testing.assert_allclose(rows[0][place], rows[1][place], atol=1e-6)
    assert np.abs(rows[0] - rows[1]).max() > 1e-6  # … but those of others


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
