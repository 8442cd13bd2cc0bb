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

    Layers are not normalized: the number of neighbors with a property can be what matters.
    """

    def __init__(
        self, n_inputs: int, n_outputs: int, hidden: int, n_layers: int, dropout: float
    ) -> None:
        super().__init__()
        sizes = [n_inputs, *[hidden] * n_layers]
        pairs = list(itertools.pairwise(sizes))
        self.own = nn.ModuleList(nn.Linear(a, b) for a, b in pairs)
        self.near = nn.ModuleList(nn.Linear(a, b, bias=False) for a, b in pairs)
        self.last = nn.Linear(hidden, n_outputs)
        self.dropout = Dropout(dropout)

    def forward(self, x: torch.Tensor, mean: Propagation) -> torch.Tensor:
        for own, near in zip(self.own, self.near, strict=True):
            x = self.dropout(torch.relu(own(x) + propagate(mean, near(x))))
        return self.last(x)

    def arrays(
        self,
    ) -> tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray], np.ndarray, np.ndarray]:
        """(own weights, neighbor weights and bias of each layer; last weights and bias)."""
        own, near = ([_array(layer.weight.T) for layer in part] for part in (self.own, self.near))
        biases = [_array(layer.bias) for layer in self.own]
        return own, near, biases, _array(self.last.weight.T), _array(self.last.bias)


def _array(tensor: Any) -> np.ndarray:
    return np.array(tensor.detach().numpy(), order="C")
