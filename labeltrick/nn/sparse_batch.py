"""Products of a small batch of sparse rows with weights.

A batch is used for one step. Building torch's sparse matrices of a small batch and of its transpose
would take longer than the products.
"""

from __future__ import annotations

from typing import Any

import torch

from .._utils.feature_tables import SparseTable
from ..propagation.engine.block_kernels import add_product, add_transposed_product

# With more entries, torch's products are as fast as these on two threads, and faster on more.
MOST_ENTRIES = 30_000


class SparseBatch:
    """Rows of a `SparseTable` for products with trained weights.

    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> table = SparseTable(sp.csr_array(np.float32([[0, 2], [1, 0]])), np.zeros(2, np.float32))
    >>> weight = torch.ones(2, 3, requires_grad=True)
    >>> (SparseBatch(table) @ weight).sum().backward()
    >>> weight.grad[:, 0].tolist()
    [1.0, 2.0]
    """

    def __init__(self, table: SparseTable) -> None:
        self.shape, self.center = table.shape, torch.from_numpy(table.center)
        self._csr = (table.X.indptr, table.X.indices, table.X.data)

    def __matmul__(self, weight: torch.Tensor) -> torch.Tensor:
        return _Product.apply(weight, self)

    def times(self, weight: torch.Tensor) -> torch.Tensor:
        product = (self.center @ weight).neg_().repeat(self.shape[0], 1)
        add_product(*self._csr, weight.numpy(), product.numpy())
        return product

    def transposed_times(self, gradient: torch.Tensor) -> torch.Tensor:
        product = torch.outer(self.center, gradient.sum(dim=0).neg_())
        add_transposed_product(*self._csr, gradient.numpy(), product.numpy())
        return product


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: torch.Tensor, rows: SparseBatch) -> torch.Tensor:
        ctx.rows = rows
        return rows.times(weight.detach().contiguous())

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None]:
        return ctx.rows.transposed_times(gradients[0].contiguous()), None
