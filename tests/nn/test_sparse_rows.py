"""Networks on sparse features: the same as on dense ones, without filling them."""

import numpy as np
import pytest
import scipy.sparse as sp

from labeltrick import SIGN, CorrectAndSmooth, TrainableCorrectAndSmooth
from labeltrick._utils import feature_tables
from labeltrick._utils.feature_tables import FeatureScale, SparseTable
from tests.support.graphs import blocks

torch = pytest.importorskip("torch")

from labeltrick.nn import MLP, sparse_rows  # noqa: E402
from labeltrick.nn.sparse_rows import SparseBatch, SparseRows, network_rows, scaled_rows  # noqa: E402
from tests.support.stacks import WIDTH, N, dense, table  # noqa: E402


def words(n=60, width=200, share=0.03, seed=0):
    made = sp.random(n, width, share, "csr", rng=np.random.default_rng(seed))
    return sp.csr_array(made, dtype=np.float32)


def word_problem():
    graph, _, full, y = blocks(0, n=90)
    own = sp.csr_array((np.ones(90, np.float32), (np.arange(90), full)), (90, 200))
    return graph, sp.csr_array(words(90) + own), full, y


@pytest.mark.parametrize("share", [0.03, 0.5])
@pytest.mark.parametrize("how", ["global", "columns", False])
def test_a_network_on_sparse_rows_is_that_on_dense_ones(how, share):
    X = words(share=share)
    scale = FeatureScale.of(X, how)
    rows = scaled_rows(X, scale)
    # Columns of their own spread would fill; many entries are faster as a dense product.
    assert isinstance(rows, SparseRows) == (how != "columns" and share < 0.05)
    torch.manual_seed(0)
    net = MLP(200, 3, hidden=8, dropout=0.0)
    weights = torch.randn(60, 3)
    found = []
    for inputs in (rows, torch.from_numpy(scale.apply(X.toarray()))):
        scores = net(inputs)
        trained = [part for part in net.parameters() if part.requires_grad]
        gradients = torch.autograd.grad((scores * weights).sum(), trained)
        found.append([scores, *gradients])
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-3, rtol=1e-3)


def test_a_column_far_from_zero_loses_no_digits():
    X = sp.csr_array(sp.hstack([words(), np.full((60, 1), 1e6, np.float32)], format="csr"))
    scale = FeatureScale.of(X, "global")
    weight = torch.randn(201, 4)
    found = scaled_rows(X, scale) @ weight
    expected = torch.from_numpy(scale.apply(X.toarray())) @ weight
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def test_a_batch_of_sparse_rows_is_the_product_with_dense_ones():
    rows = table()
    found = []
    for inputs in (SparseBatch(rows), torch.from_numpy(dense(rows))):
        torch.manual_seed(3)
        weight = torch.randn(WIDTH, 7, requires_grad=True)
        product = inputs @ weight
        (product * torch.randn(N, 7)).sum().backward()
        found.append((product.detach(), weight.grad))
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)


def test_small_batches_and_large_ones_take_different_ways():
    large = SparseTable(sp.csr_array(np.ones((2000, 20), np.float32)), np.zeros(20, np.float32))
    assert isinstance(network_rows(large), SparseRows)
    small = network_rows(large[:100])
    assert isinstance(small, SparseBatch)
    weight = torch.randn(20, 3)
    torch.testing.assert_close(small @ weight, (network_rows(large) @ weight)[:100])


def test_end_to_end_on_words_is_that_on_a_dense_table():
    graph, X, full, y = word_problem()
    model = TrainableCorrectAndSmooth(
        "mlp", mode="end_to_end", max_epochs=20, hidden=8, calibrate=False
    )
    sparse = model.fit(X, y, graph=graph).predict_proba()
    assert isinstance(sparse_rows.scaled_rows(X, model.model_.feature_scale), SparseRows)
    assert (sparse.argmax(axis=1) == full).mean() > 0.8
    base = model.base_prediction_
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(feature_tables, "DENSE_SHARE", 0.0)
        again = model.fit(X, y, graph=graph)
        np.testing.assert_allclose(again.predict_proba(), sparse, atol=5e-3)
        np.testing.assert_allclose(again.base_prediction_, base, atol=5e-3)


@pytest.mark.parametrize("hidden_norm", ["layer", "batch"])
def test_a_perceptron_in_batches_of_words_is_that_on_a_dense_table(hidden_norm, monkeypatch):
    graph, X, full, y = word_problem()
    options = dict(label_trick=None, hidden_norm=hidden_norm, dropout=0.0, hidden=8, max_epochs=15)
    model = SIGN(0, **options, calibrate=False, scale="global").fit(X, y, graph=graph)
    found = model.predict_proba()
    assert isinstance(model._table(model.fitted_inputs, 1.0), feature_tables.SparseTable)
    assert (found.argmax(axis=1) == full).mean() > 0.6
    dense = SIGN(0, **options, calibrate=False, scale="global").fit(X.toarray(), y, graph=graph)
    np.testing.assert_allclose(dense.predict_proba(), found, atol=5e-3)
    monkeypatch.setattr(feature_tables, "DENSE_SHARE", 0.0)  # sparse features, filled by batches
    again = SIGN(0, **options, calibrate=False, scale="global").fit(X, y, graph=graph)
    np.testing.assert_allclose(again.predict_proba(), dense.predict_proba(), atol=1e-5)


def test_words_of_a_base_are_not_filled_in(monkeypatch):
    graph, X, _, y = word_problem()

    def refuse(self, *_, **__):
        raise AssertionError("filled in")

    monkeypatch.setattr(sp.csr_array, "toarray", refuse)
    model = CorrectAndSmooth("mlp", calibrate=False).fit(X, y, graph=graph)
    assert np.isfinite(model.predict_proba()).all()
