"""Rows that are made when they are asked for are those of the whole arrays."""

import numpy as np
import pytest

from labeltrick import AutoModel, Graph
from labeltrick.models.auto import columns
from labeltrick.models.auto.learners import row_wise
from labeltrick.models.boosting import node_columns


def fitted(validation):
    rng = np.random.default_rng(0)
    n = 150
    y = np.arange(n) % 3
    ends = rng.integers(0, n, (2, 900))
    near = (y[ends[0]] == y[ends[1]]) | (rng.random(900) < 0.2)
    X = np.column_stack([y + rng.normal(size=n), rng.normal(size=n)])
    X[::7, 1] = np.nan
    known = np.where(rng.random(n) < 0.5, y, -1)
    at = np.flatnonzero(known >= 0)[::4] if validation else None
    graph = Graph.from_edges(*ends[:, near], n_nodes=n)
    model = AutoModel(learners=["trees", "linear"], n_folds=2, progress=False)
    return model.fit(X, known, graph=graph, validation=at)


@pytest.mark.parametrize("validation", [False, True])
def test_a_large_graph_gives_the_same_model(monkeypatch, validation):
    usual = fitted(validation)
    monkeypatch.setattr(columns, "_MANY_NUMBERS", 0)
    monkeypatch.setattr(row_wise, "_AT_ONCE", 40)
    monkeypatch.setattr(node_columns, "_AT_ONCE", 1)  # label columns one by one
    found = fitted(validation)
    np.testing.assert_allclose(found.predict_proba(), usual.predict_proba(), atol=1e-12)
    np.testing.assert_allclose(found.oof_proba_, usual.oof_proba_, atol=1e-12)
    assert found.trials_[2].loss == pytest.approx(usual.trials_[2].loss)
    assert [name for name, *_ in found.column_importances_] == [
        name for name, *_ in usual.column_importances_
    ]


@pytest.mark.parametrize("validation", [False, True])
def test_baselines_out_of_fold_change_the_rows_of_labeled_nodes_alone(validation):
    model = fitted(validation)
    for name in model.baselines_[1:]:
        plain, oof = model.baseline(name), model.baseline(name, oof=True)
        assert plain.shape == oof.shape
        others = np.setdiff1d(np.arange(150), model.labeled_)
        np.testing.assert_array_equal(plain[others], oof[others])
        np.testing.assert_array_equal(oof[model.labeled_], model._oof_of_baselines[name])
