"""`GNN` and its backbones; epochs of training; propagation by torch's own products."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from labeltrick import (
    GNN,
    audit_leakage,
)
from tests.support.graphs import blocks, random_graph

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")


BACKBONES = pytest.mark.parametrize("backbone", ["gcn", "sage", "gat", "gin", "appnp"])
SMALL = {"hidden": 16, "max_epochs": 40, "calibrate": False}


@BACKBONES
@pytest.mark.parametrize("trick", [None, "stochastic"])
def test_learns_and_is_repeatable(backbone, trick):
    graph, X, truth, y = blocks(0, signal=1.0)
    model = GNN(backbone, label_trick=trick, **SMALL).fit(X, y, graph=graph)
    assert model.score(None, np.where(y < 0, truth, -1)) > 0.55
    again = clone(model).fit(X, y, graph=graph)
    np.testing.assert_array_equal(model.predict_proba(), again.predict_proba())


@BACKBONES
@pytest.mark.parametrize("options", [{}, {"combine": "add"}, {"n_reuse": 1}], ids=str)
def test_no_prediction_moves_with_its_own_label(backbone, options):
    graph, X, _, y = blocks(1, n=60)
    model = GNN(backbone, **{**SMALL, "max_epochs": 5}, **options).fit(X, y, graph=graph)
    report = audit_leakage(lambda y: model.predict_proba(y=y), y, y >= 0, n_samples=10)
    assert not report.leaks


def test_a_plain_pass_over_labeled_nodes_would_leak():
    graph, X, _, y = blocks(1, n=60)
    model = GNN(**SMALL).fit(X, y, graph=graph)
    x, adjacency = model._tensors_of(model.fitted_inputs)

    def plain(labels):
        given = torch.from_numpy(labels)
        return model._forward(model.network_, x, adjacency, given, torch.from_numpy(y >= 0))

    assert audit_leakage(plain, y, y >= 0, n_samples=10).leaks


def test_labels_at_random_score_at_chance():
    scores = []
    for seed in range(3):
        _, graph = random_graph(seed, n=200, n_edges=600)
        rng = np.random.default_rng(seed)
        y, X = rng.integers(0, 3, 200), rng.normal(size=(200, 5))
        scores.append(GNN(**{**SMALL, "max_epochs": 15}).fit(X, y, graph=graph).oof_score_)
    assert np.mean(scores) < 0.42


def test_numbers_and_several_labels_and_sparse_features():
    import scipy.sparse as sp

    graph, X, truth, y = blocks(2, signal=1.0)
    values = np.where(y < 0, np.nan, truth * 10.0 + 0.5)
    assert GNN(**SMALL).fit(X, values, graph=graph).score(None, truth * 10 + 0.5) > 0.2
    several = np.eye(3)[truth]
    several[y < 0] = np.nan
    assert GNN(**SMALL).fit(X, several, graph=graph).predict_proba().shape == (150, 3)
    dense = GNN(scale=False, **SMALL).fit(X, y, graph=graph).predict_proba()
    sparse = GNN(scale=False, **SMALL).fit(sp.csr_array(X), y, graph=graph).predict_proba()
    np.testing.assert_allclose(sparse, dense, atol=1e-6)


def test_validation_labels_are_neither_inputs_nor_targets():
    graph, X, _, y = blocks(3)
    validation = np.flatnonzero(y >= 0)[:20]
    flipped = y.copy()
    flipped[validation] = (flipped[validation] + 1) % 3
    model = GNN(**{**SMALL, "max_epochs": 1})
    rows = [
        model.fit(X, v, graph=graph, validation=validation).predict_proba() for v in (y, flipped)
    ]
    np.testing.assert_array_equal(*rows)


def test_bad_input():
    graph, X, _, y = blocks(4, n=40)
    with pytest.raises(ValueError, match="must be None or 'stochastic' here; got 'deterministic'"):
        GNN(label_trick="deterministic").fit(X, y, graph=graph)
    with pytest.raises(ValueError, match="`backbone` must be one of 'gcn', 'sage'"):
        GNN("transformer").fit(X, y, graph=graph)
    with pytest.raises(ValueError, match="learns from features; got None"):
        GNN().fit(None, y, graph=graph)
    with pytest.raises(FloatingPointError, match="`learning_rate` must be lower"):
        GNN(learning_rate=1e30, **SMALL).fit(X, y, graph=graph)


def test_can_be_pickled():
    graph, X, _, y = blocks(5, n=40)
    model = GNN(hidden=8, max_epochs=2, calibrate=False).fit(X, y, graph=graph)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(), model.predict_proba())
