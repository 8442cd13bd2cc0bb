"""A product of sparse features with weights, fast in both directions."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch


class SparseRows:
    """A constant CSR matrix and its transpose: torch's own gradient would transpose at each step.

    >>> rows = SparseRows(sp.csr_array(np.float32([[0, 2], [1, 0]])))
    >>> weight = torch.ones(2, 3, requires_grad=True)
    >>> (rows @ weight).sum().backward()
    >>> weight.grad[:, 0].tolist()
    [1.0, 2.0]
    """

    def __init__(self, X: Any) -> None:
        X = sp.csr_array(X)
        self.forward, self.backward = csr_tensor(X), csr_tensor(sp.csr_array(X.T))

    def __matmul__(self, weight: torch.Tensor) -> torch.Tensor:
        return _Product.apply(weight, self)


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: torch.Tensor, rows: SparseRows) -> torch.Tensor:
        ctx.rows = rows
        return rows.forward @ weight

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None]:
        return ctx.rows.backward @ gradients[0].contiguous(), None


def csr_tensor(X: sp.csr_array) -> torch.Tensor:
    """A SciPy matrix for torch, without its word on the state of sparse tensors."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(
            torch.from_numpy(X.indptr.astype(np.int64)),
            torch.from_numpy(X.indices.astype(np.int64)),
            torch.from_numpy(X.data),
            size=X.shape,
            check_invariants=False,
        )
