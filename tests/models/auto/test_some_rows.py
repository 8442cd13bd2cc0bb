"""Rows that are made when they are asked for are those of the whole arrays."""

import numpy as np
import pytest

from labeltrick import AutoModel, Graph
from labeltrick.models.auto import columns, crossfit
from labeltrick.models.auto.learners import row_wise
from labeltrick.models.auto.some_rows import RowsOfSome
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


def test_a_fit_computes_the_rows_that_it_needs(monkeypatch):
    """Only scales, which are computed from a sample, differ from those of all rows."""
    usual, asked = fitted(True), []

    def note(self, known, scale, graph, nodes=None, **more):
        asked.append(nodes)
        return values(self, known, scale, graph, nodes, **more)

    values = node_columns.LabelColumns.values
    monkeypatch.setattr(node_columns.LabelColumns, "values", note)
    monkeypatch.setattr(columns, "_MANY_NUMBERS", 0)
    monkeypatch.setattr(columns, "_N_OTHERS", 20)
    found = fitted(True)
    needed = set(found.labeled_) | set(found.validation_)
    for nodes in asked:
        assert needed <= set(nodes)
        assert len(nodes) <= len(needed) + 20
    # Trees take no scale: their predictions are the same.
    rows = [model._maker.rows(model._learners[0], model.fitted_inputs) for model in (usual, found)]
    np.testing.assert_allclose(rows[0], rows[1], atol=1e-12)
    assert asked[-1] is None  # predictions of all nodes
    np.testing.assert_allclose(found.predict_proba(), usual.predict_proba(), atol=0.1)
    assert found._maker.columns.only(found.graph_) is None


@pytest.mark.parametrize("most", [1, 200, 700])
def test_predictions_are_made_block_by_block(monkeypatch, most):
    model = fitted(True)
    expected = model.predict_proba()
    model._cache.clear()
    monkeypatch.setattr(crossfit, "_MOST_NUMBERS", most)
    assert len(model._maker.blocks(model.fitted_inputs)) > 1
    np.testing.assert_allclose(model.predict_proba(), expected, atol=1e-12)


def test_rows_that_are_not_computed_are_refused():
    rows = RowsOfSome.of(np.arange(6.0).reshape(3, 2), np.array([1, 4, 5]), 7)
    assert rows.shape == (7, 2)
    np.testing.assert_array_equal(rows[np.array([5, 1])], [[4, 5], [0, 1]])
    np.testing.assert_array_equal(rows.columns([1])[np.array([4])], [[3]])
    assert rows[:0].shape == (0, 2)
    with pytest.raises(IndexError, match="not computed"):
        rows[np.array([1, 2])]


@pytest.mark.parametrize("validation", [False, True])
def test_baselines_out_of_fold_change_the_rows_of_labeled_nodes_alone(validation):
    model = fitted(validation)
    for name in model.baselines_[1:]:
        plain, oof = model.baseline(name), model.baseline(name, oof=True)
        assert plain.shape == oof.shape
        others = np.setdiff1d(np.arange(150), model.labeled_)
        np.testing.assert_array_equal(plain[others], oof[others])
        np.testing.assert_array_equal(oof[model.labeled_], model._oof_of_baselines[name])
