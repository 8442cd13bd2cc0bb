"""Products of sparse features with weights, fast in both directions."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from .._utils.feature_tables import FeatureScale, SparseTable, scaled_sparse
from ..propagation.engine.block_kernels import add_product, add_transposed_product

# With more entries, torch's products are as fast as those of a batch on two threads, and faster on
# more.
_MOST_ENTRIES = 30_000


class SparseRows:
    """A constant CSR matrix and its transpose, which torch's gradient would compute at each step.

    ``center`` is subtracted from every row without filling any entries.

    >>> rows = SparseRows(sp.csr_array(np.float32([[0, 2], [1, 0]])))
    >>> weight = torch.ones(2, 3, requires_grad=True)
    >>> (rows @ weight).sum().backward()
    >>> weight.grad[:, 0].tolist()
    [1.0, 2.0]
    """

    def __init__(self, X: Any, center: np.ndarray | None = None) -> None:
        X = sp.csr_array(X)
        self.shape = X.shape
        self.center = None if center is None else torch.from_numpy(center)
        self.forward, self.backward = csr_tensor(X), csr_tensor(sp.csr_array(X.T))

    def __matmul__(self, weight: torch.Tensor) -> torch.Tensor:
        return _Product.apply(weight, self)

    def times(self, weight: torch.Tensor) -> torch.Tensor:
        product = self.forward @ weight
        return product if self.center is None else product.sub_(self.center @ weight)

    def transposed_times(self, gradient: torch.Tensor) -> torch.Tensor:
        product = self.backward @ gradient
        if self.center is not None:  # in place: weights of many words take megabytes
            product.addr_(self.center, gradient.sum(dim=0), alpha=-1)
        return product


class SparseBatch:
    """Rows of a `SparseTable` that are used for one step.

    Building torch's matrices of a small batch and of its transpose would take longer than the
    products.
    """

    def __init__(self, table: SparseTable) -> None:
        self.shape, self.center = table.shape, torch.from_numpy(table.center)
        self._csr = (table.X.indptr, table.X.indices, table.X.data)

    def __matmul__(self, weight: torch.Tensor) -> torch.Tensor:
        return _Product.apply(weight, self)

    def times(self, weight: torch.Tensor) -> torch.Tensor:
        weight = weight.detach().contiguous()
        product = (self.center @ weight).neg_().repeat(self.shape[0], 1)
        add_product(*self._csr, weight.numpy(), product.numpy())
        return product

    def transposed_times(self, gradient: torch.Tensor) -> torch.Tensor:
        product = torch.outer(self.center, gradient.sum(dim=0).neg_())
        add_transposed_product(*self._csr, gradient.numpy(), product.numpy())
        return product


def network_rows(X: Any) -> torch.Tensor | SparseRows | SparseBatch:
    """Network inputs from an array, a tensor, or a sparse table that is used only briefly."""
    if isinstance(X, SparseTable):
        return SparseBatch(X) if X.X.nnz < _MOST_ENTRIES else SparseRows(X.X, X.center)
    return X if isinstance(X, torch.Tensor) else torch.from_numpy(np.ascontiguousarray(X))


def scaled_rows(X: Any, scale: FeatureScale) -> torch.Tensor | SparseRows:
    """Scaled features for a network; sparse features stay sparse if that is faster."""
    if not sp.issparse(X):
        return torch.from_numpy(scale.apply(X))
    sparse = scaled_sparse(X, scale)
    if sparse is None:
        return torch.from_numpy(scale.apply(X.toarray()))
    return SparseRows(sparse.X, sparse.center)


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: torch.Tensor, rows: SparseRows | SparseBatch) -> torch.Tensor:
        ctx.rows = rows
        return rows.times(weight)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None]:
        return ctx.rows.transposed_times(gradients[0].contiguous()), None


def csr_tensor(X: sp.csr_array) -> torch.Tensor:
    """A SciPy matrix as a torch tensor, without torch's warning about sparse tensors."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(
            torch.from_numpy(X.indptr.astype(np.int64)),
            torch.from_numpy(X.indices.astype(np.int64)),
            torch.from_numpy(X.data),
            size=X.shape,
            check_invariants=False,
        )
