"""Out-of-fold predictions of trained label propagation: own units, own split rate."""

import numpy as np
import pytest
from sklearn.base import clone

from labeltrick import TrainableLabelPropagation
from tests.support.graphs import blocks

MODELS = {
    "ridge": TrainableLabelPropagation(0.8),
    "squared": TrainableLabelPropagation(0.8, loss="squared", normalize=False),
    "per hop": TrainableLabelPropagation(0.8, weights="per_hop"),
    "gate": TrainableLabelPropagation(0.8, weights="per_hop", gate=True),
    "splits": TrainableLabelPropagation(
        0.8, label_trick="stochastic", split_rate=(0.3, 0.7), max_epochs=8
    ),
    "networks": TrainableLabelPropagation(
        0.8, weights="mlp", hidden=8, n_members=3, max_epochs=3, learning_rate=0.01
    ),
}


def targets(task, seed=3):
    graph, _, truth, y = blocks(seed, n=60)
    rng = np.random.default_rng(seed)
    if task == "regression":
        return graph, np.where(y >= 0, truth + rng.normal(size=60), np.nan)
    if task == "multilabel":
        Y = np.stack([truth == 0, truth != 1], axis=1).astype(float)
        Y[y < 0] = np.nan
        return graph, Y
    return graph, y


def changed(y, node, task):
    other = y.copy()
    if task == "regression":
        other[node] = -4.0 if y[node] > np.nanmedian(y) else 6.0  # moves the median too
    elif task == "multilabel":
        other[node] = 1 - y[node]
    else:
        other[node] = (y[node] + 1) % 3
    return other


@pytest.mark.parametrize("with_validation", [False, True])
@pytest.mark.parametrize("task", ["regression", "multilabel", "classification"])
@pytest.mark.parametrize("name", MODELS)
def test_the_own_label_moves_nothing(name, task, with_validation):
    if name == "networks":
        pytest.importorskip("torch")
    graph, y = targets(task)
    known = np.flatnonzero(
        ~np.isnan(y.reshape(60, -1)[:, 0].astype(float)) & (y.reshape(60, -1)[:, 0] != -1)
    )
    validation = known[::4] if with_validation else None
    place = 4
    model = clone(MODELS[name]).set_params(task=task)
    first = clone(model).fit(None, y, graph=graph, validation=validation)
    node = first.labeled_[place]
    second = clone(model).fit(None, changed(y, node, task), graph=graph, validation=validation)
    rows = [np.asarray(fit.oof_rows_) for fit in (first, second)]
    np.testing.assert_allclose(rows[0][place], rows[1][place], atol=1e-6)
    assert np.abs(rows[0] - rows[1]).max() > 1e-6  # … but those of others
