"""Batches of sparse rows."""

import numpy as np
import pytest
import scipy.sparse as sp

from labeltrick._utils.feature_tables import SparseTable

torch = pytest.importorskip("torch")

from labeltrick.nn.sparse_batch import SparseBatch  # noqa: E402
from labeltrick.nn.sparse_rows import SparseRows, network_rows  # noqa: E402
from tests.support.stacks import WIDTH, N, dense, table  # noqa: E402


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
