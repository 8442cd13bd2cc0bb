"""Differentiable propagation: P as a torch operation whose gradient is Pᵀ."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ..propagation.base import Propagation
from ..propagation.diagonal.self_weight import SelfWeight
from .device import applied_on_device


class _Apply(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, F: torch.Tensor, P: Propagation) -> torch.Tensor:
        ctx.P = P
        return _applied(P, F)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None]:
        # Through apply again, so that gradients of gradients exist too.
        return propagate(ctx.P.T, gradients[0]), None


def _applied(P: Propagation, F: torch.Tensor) -> torch.Tensor:
    if F.is_cuda:
        return applied_on_device(P, F)
    values = F.detach().cpu().contiguous().numpy()
    try:
        result = P.apply(values, progress=False)
    except ValueError:
        if torch.isfinite(F).all():
            raise
        # As all of torch does: what is no number stays none, and the loss shows it.
        result = np.full(P._out_shape(values.shape), np.nan, values.dtype)
    return torch.from_numpy(result).to(device=F.device, dtype=F.dtype)


def propagate(P: Propagation, F: torch.Tensor) -> torch.Tensor:
    """P·F of a tensor with one row a node; gradients flow back through Pᵀ.

    On the CPU by the kernels of this library, on a GPU by torch's sparse products, elsewhere by
    way of the CPU. O(steps × edges × columns) each way.

    >>> from labeltrick import Graph, Power
    >>> P = Power(Graph.from_edges([0, 1], [1, 2]), 1, norm="row")
    >>> F = torch.tensor([[1.0], [2.0], [3.0]], requires_grad=True)
    >>> propagate(P, F).sum().backward()
    >>> F.grad.ravel().tolist()
    [0.5, 2.0, 0.5]
    """
    if not torch.is_tensor(F):
        raise TypeError(
            f"`F` must be a torch tensor; got {type(F).__name__}. Use P @ F for arrays."
        )
    if F.dtype not in (torch.float32, torch.float64):
        raise TypeError(f"`F` must be float32 or float64; got {F.dtype}. Convert it: F.float().")
    if not isinstance(P, Propagation):
        raise TypeError(f"`P` must be a Propagation; got {type(P).__name__}.")
    return _Apply.apply(F, P)


def self_excluded_form(
    P: Propagation,
    with_labels: torch.Tensor,
    without_labels: torch.Tensor,
    self_weight: SelfWeight | torch.Tensor | np.ndarray,
) -> torch.Tensor:
    """𝒫h₀([X, Y]) − 𝒞h₀([X, Y]) + 𝒞h₀([X, 0]), differentiable in both (paper, eq. 14).

    Like `labeltrick.self_excluded_form`: ``self_weight`` is C at all nodes, with one column per hop
    for `Hops`.
    """
    if with_labels.shape != without_labels.shape:
        raise ValueError(
            "`with_labels` and `without_labels` must have the same shape; "
            f"got {tuple(with_labels.shape)} and {tuple(without_labels.shape)}."
        )
    if isinstance(self_weight, SelfWeight):
        self_weight = self_weight.value
    C = torch.as_tensor(self_weight).to(device=with_labels.device, dtype=with_labels.dtype)
    if len(C) != P.n_nodes:
        raise ValueError(
            f"`self_weight` must have one value a node ({P.n_nodes}); got {len(C)}. "
            "Ask for all nodes: P.self_weight()."
        )
    own = with_labels - without_labels
    excess = C.reshape(len(C), -1, 1) * own.reshape(len(C), 1, -1)
    result = propagate(P, with_labels)
    return result - excess.reshape(result.shape)
