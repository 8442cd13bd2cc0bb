"""A graph network with mean aggregation (GraphSAGE) on the kernels of this library."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import torch
from torch import nn

from ..propagation.base import Propagation
from .dropout import Dropout
from .propagation import propagate


class MeanNetwork(nn.Module):
    """ReLU layers of own values and neighbor means, followed by a linear layer.

    Layers are not normalized by node: the number of neighbors with a property can be what matters.
    ``batch_norm``, which keeps it, is what deep networks need to learn at all.
    """

    def __init__(
        self,
        n_inputs: int,
        n_outputs: int,
        hidden: int,
        n_layers: int,
        dropout: float,
        batch_norm: bool = False,
    ) -> None:
        super().__init__()
        sizes = [n_inputs, *[hidden] * n_layers]
        pairs = list(itertools.pairwise(sizes))
        self.own = nn.ModuleList(nn.Linear(a, b) for a, b in pairs)
        self.near = nn.ModuleList(nn.Linear(a, b, bias=False) for a, b in pairs)
        self.last = nn.Linear(hidden, n_outputs)
        self.dropout = Dropout(dropout)
        self.norms = nn.ModuleList(
            nn.BatchNorm1d(hidden) if batch_norm else nn.Identity() for _ in range(n_layers)
        )
        if batch_norm:
            # It removes the biases: their gradients are only rounding, which Adam would turn into
            # steps of full size.
            for layer in self.own:
                layer.bias.requires_grad_(False)

    def forward(self, x: torch.Tensor, mean: Propagation) -> torch.Tensor:
        for own, near, norm in zip(self.own, self.near, self.norms, strict=True):
            x = self.dropout(torch.relu(norm(own(x) + propagate(mean, near(x)))))
        return self.last(x)

    def arrays(
        self,
    ) -> tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray], np.ndarray, np.ndarray]:
        """(own weights, neighbor weights and bias of each layer; last weights and bias). Batch
        norms, which are linear after training, are part of the weights."""
        scales, shifts = zip(*(_linear(norm) for norm in self.norms), strict=True)
        own, near = (
            [_array(layer.weight.T * scale) for layer, scale in zip(part, scales, strict=True)]
            for part in (self.own, self.near)
        )
        biases = [
            _array(layer.bias * scale + shift)
            for layer, scale, shift in zip(self.own, scales, shifts, strict=True)
        ]
        return own, near, biases, _array(self.last.weight.T), _array(self.last.bias)


def _linear(norm: nn.Module) -> tuple[torch.Tensor, torch.Tensor]:
    """Scale and shift of a normalization in evaluation mode."""
    if not isinstance(norm, nn.BatchNorm1d):
        return torch.ones(()), torch.zeros(())
    assert norm.running_mean is not None
    assert norm.running_var is not None
    scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
    return scale, norm.bias - norm.running_mean * scale


def _array(tensor: Any) -> np.ndarray:
    return np.array(tensor.detach().numpy(), order="C")
