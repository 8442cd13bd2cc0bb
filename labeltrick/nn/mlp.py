"""A multilayer perceptron on the rows of a table."""

from __future__ import annotations

import torch
from torch import nn

from .._utils.checks import check_choice, check_count
from .dropout import Dropout
from .sparse_rows import SparseBatch, SparseRows

_Rows = torch.Tensor | SparseRows | SparseBatch


class WordLinear(nn.Module):
    """`torch.nn.Linear` with transposed weights, the layout that products with sparse rows need.

    A step on thousands of words takes a third of the time.
    """

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        like = nn.Linear(in_features, out_features)
        self.weight = nn.Parameter(like.weight.detach().T.contiguous())
        self.bias = like.bias

    def forward(self, rows: _Rows) -> torch.Tensor:
        return rows @ self.weight + self.bias


class MLP(nn.Sequential):
    """Multilayer perceptron: linear layers with normalization, ReLU and dropout between them.

    Parameters
    ----------
    in_features : int
        Number of input columns.
    out_features : int
        Number of output columns.
    hidden : int, default=256
        Width of the hidden layers.
    n_layers : int, default=3
        Number of linear layers; 1 is a linear map.
    dropout : float, default=0.5
        Share of the hidden values set to zero in training.
    norm : {"batch", "layer"}, default="batch"
        Normalization of the hidden layers. "layer" keeps the rows of a batch independent.
    words : bool, default=False
        Whether inputs are mostly sparse rows. The network is the same, in a layout that suits them.

    See Also
    --------
    nn.LabelTrick : The label trick around any network.
    SIGN : A perceptron on hops of features and labels.

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
        check_count("n_layers", n_layers, 1)
        check_choice("norm", norm, ("batch", "layer"))
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
                # Batch norm removes the bias: its gradient is only rounding, which Adam would
                # turn into steps of full size.
                layers[-4].bias.requires_grad_(False)
            width = hidden
        last = WordLinear if words and n_layers == 1 else nn.Linear
        super().__init__(*layers, last(width, out_features))
        sizes = {"in_features": in_features, "out_features": out_features, "hidden": hidden}
        rest = {"n_layers": n_layers, "dropout": dropout, "norm": norm, "words": words}
        self.recipe = ("mlp", {**sizes, **rest})

    def forward(self, input: _Rows) -> torch.Tensor:
        """Compute the outputs of rows.

        Parameters
        ----------
        input : torch.Tensor, SparseRows or SparseBatch of shape (n, in_features)
            Input rows.

        Returns
        -------
        output : torch.Tensor of shape (n, out_features)
            Output rows, without a link function.
        """
        first, *others = self
        if isinstance(input, torch.Tensor) or isinstance(first, WordLinear):
            return super().forward(input)
        assert isinstance(first, nn.Linear)
        rows = input @ first.weight.T + first.bias  # sparse rows, dense layout
        for layer in others:
            rows = layer(rows)
        return rows

    def linear_layers(self) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Weights and biases of the linear layers.

        Returns
        -------
        layers : list of (torch.Tensor, torch.Tensor)
            The weights, with one row per input, and the bias of each layer.
        """
        found: list[tuple[torch.Tensor, torch.Tensor]] = []
        for layer in self:
            if isinstance(layer, WordLinear):
                found.append((layer.weight, layer.bias))
            elif isinstance(layer, nn.Linear):
                found.append((layer.weight.T, layer.bias))
        return found
