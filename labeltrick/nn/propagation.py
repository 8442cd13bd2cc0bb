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
        # Through `propagate` again, so that gradients of gradients exist too.
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
        # Like torch: NaN stays NaN, and the loss shows it.
        result = np.full(P._out_shape(values.shape), np.nan, values.dtype)
    return torch.from_numpy(result).to(device=F.device, dtype=F.dtype)


def propagate(P: Propagation, F: torch.Tensor) -> torch.Tensor:
    """Compute P·F for a tensor; gradients flow back through Pᵀ.

    Tensors on the CPU use the kernels of this library, and those on a GPU torch's sparse products.
    Other devices go through the CPU. Each direction takes O(steps × edges × columns).

    Parameters
    ----------
    P : Propagation
        Any propagation.
    F : torch.Tensor of shape (n,) or (n, c)
        Values with one row per node, float32 or float64.

    Returns
    -------
    result : torch.Tensor
        P·F, with the type and device of F.

    See Also
    --------
    nn.propagate_weighted : Propagate with gradients of the edge weights.
    nn.self_excluded_form : Self-exclusion inside a network.

    Examples
    --------
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
    """Self-exclusion inside a network: 𝒫h₀([X, Y]) − 𝒞h₀([X, Y]) + 𝒞h₀([X, 0]) (paper, eq. 13).

    The result is differentiable in both tensors.

    Parameters
    ----------
    P : Propagation
        The linear propagation 𝒫 inside the network.
    with_labels : torch.Tensor of shape (n, d)
        h₀([X, Y]): the output of a node-wise function of features and labels.
    without_labels : torch.Tensor of shape (n, d)
        h₀([X, 0]): the output of the same function with labels set to zero.
    self_weight : SelfWeight, torch.Tensor or ndarray of shape (n,) or (n, K+1)
        C at all nodes, with one column per hop for `Hops`.

    Returns
    -------
    result : torch.Tensor of shape (n, d), or (n, (K+1)·d) for `Hops`
        Input of the part of the network after the propagation, h₁.

    See Also
    --------
    nn.propagate : Propagate a tensor, with gradients.
    self_excluded_form : Self-exclusion inside a model.

    Examples
    --------
    >>> import torch
    >>> from labeltrick import Graph, Power
    >>> from labeltrick.nn import self_excluded_form
    >>> P = Power(Graph.from_edges([0, 1, 2], [1, 2, 0]), 2, norm="row")
    >>> weight = torch.tensor([[1.0]], requires_grad=True)
    >>> labels = torch.tensor([[4.0], [8.0], [0.0]])
    >>> inputs = self_excluded_form(P, labels @ weight, torch.zeros(3, 1), P.self_weight())
    >>> inputs.sum().backward()
    >>> inputs[:, 0].tolist(), weight.grad.item()
    ([2.0, 1.0, 3.0], 6.0)
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
            f"`self_weight` must have one value per node ({P.n_nodes}); got {len(C)}. "
            "Compute it for all nodes: P.self_weight()."
        )
    own = with_labels - without_labels
    excess = C.reshape(len(C), -1, 1) * own.reshape(len(C), 1, -1)
    result = propagate(P, with_labels)
    return result - excess.reshape(result.shape)
