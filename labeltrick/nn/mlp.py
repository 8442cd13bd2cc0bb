"""A multilayer perceptron on the rows of a table."""

from __future__ import annotations

import torch
from torch import nn

from .dropout import Dropout
from .sparse_batch import SparseBatch
from .sparse_rows import SparseRows

_Rows = torch.Tensor | SparseRows | SparseBatch


class WordLinear(nn.Module):
    """`torch.nn.Linear` with the weights of each input side by side, as sparse rows read them: a
    step on thousands of words takes a third of the time."""

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        like = nn.Linear(in_features, out_features)
        self.weight = nn.Parameter(like.weight.detach().T.contiguous())
        self.bias = like.bias

    def forward(self, rows: _Rows) -> torch.Tensor:
        return rows @ self.weight + self.bias


class MLP(nn.Sequential):
    """Linear layers with batch norm, ReLU and dropout between them (as in Correct & Smooth).

    Parameters
    ----------
    in_features, out_features : columns in and out.
    hidden : width of the layers between.
    n_layers : linear layers in all; 1 is a linear map.
    dropout : share of the hidden values set to zero in training.
    norm : "batch"; or "layer", which keeps the rows of a batch to themselves.
    words : whether inputs are mostly sparse rows: the same network, laid out for them.

    Examples
    --------
    >>> import torch
    >>> net = MLP(8, 3, hidden=16, n_layers=2)
    >>> net(torch.ones(5, 8)).shape
    torch.Size([5, 3])
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        hidden: int = 256,
        n_layers: int = 3,
        dropout: float = 0.5,
        norm: str = "batch",
        words: bool = False,
    ) -> None:
        if n_layers < 1:
            raise ValueError(f"`n_layers` must be at least 1; got {n_layers}.")
        if norm not in ("batch", "layer"):
            raise ValueError(f"`norm` must be 'batch' or 'layer'; got {norm!r}.")
        layers: list[nn.Module] = []
        width = in_features
        for k in range(n_layers - 1):
            linear = WordLinear if words and k == 0 else nn.Linear
            layers += [
                linear(width, hidden),
                nn.BatchNorm1d(hidden) if norm == "batch" else nn.LayerNorm(hidden),
                nn.ReLU(),
                Dropout(dropout),
            ]
            if norm == "batch":
                # Batch norm takes it off again: its gradient is nothing but rounding, of which Adam
                # would make steps of full size.
                layers[-4].bias.requires_grad_(False)
            width = hidden
        last = WordLinear if words and n_layers == 1 else nn.Linear
        super().__init__(*layers, last(width, out_features))
        sizes = {"in_features": in_features, "out_features": out_features, "hidden": hidden}
        rest = {"n_layers": n_layers, "dropout": dropout, "norm": norm, "words": words}
        self.recipe = ("mlp", {**sizes, **rest})

    def forward(self, input: _Rows) -> torch.Tensor:
        first, *others = self
        if isinstance(input, torch.Tensor) or isinstance(first, WordLinear):
            return super().forward(input)
        assert isinstance(first, nn.Linear)
        rows = input @ first.weight.T + first.bias  # sparse rows of a network of dense ones
        for layer in others:
            rows = layer(rows)
        return rows

    def linear_layers(self) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """(weights with a row for each input, bias) of each layer."""
        found: list[tuple[torch.Tensor, torch.Tensor]] = []
        for layer in self:
            if isinstance(layer, WordLinear):
                found.append((layer.weight, layer.bias))
            elif isinstance(layer, nn.Linear):
                found.append((layer.weight.T, layer.bias))
        return found
