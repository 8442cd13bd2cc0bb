"""Graph networks of PyG by name; GCN and APPNP run on our kernels, which are faster on a CPU."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from .._utils.extras import require
from ..graph.graph import Graph
from ..propagation.polynomials import Iteration, Power
from .dropout import Dropout
from .propagation import propagate

models: Any = require("torch_geometric.nn", "labeltrick.GNN")

BACKBONES = ("gcn", "sage", "gat", "gin", "appnp")
_PYG_NAMES = {"sage": "GraphSAGE", "gat": "GAT", "gin": "GIN"}


class PropagatedConv(nn.Module):
    """A GCN layer S·(xW) + b that takes a `Propagation` instead of edges."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.lin = nn.Linear(in_channels, out_channels, bias=False)
        self.bias = nn.Parameter(torch.zeros(out_channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        nn.init.xavier_uniform_(self.lin.weight)
        nn.init.zeros_(self.bias)

    def forward(self, x: torch.Tensor, P: Any, edge_weight: Any = None) -> torch.Tensor:
        # (Sx)W = S(xW): propagate the narrower one.
        if x.shape[1] < self.lin.out_features:
            return self.lin(propagate(P, x)) + self.bias
        return propagate(P, self.lin(x)) + self.bias


class KernelGCN(models.GCN):
    """PyG's GCN with `PropagatedConv` layers."""

    def init_conv(self, in_channels: int, out_channels: int, **options: Any) -> nn.Module:
        return PropagatedConv(in_channels, out_channels)


class Appnp(nn.Module):
    """A perceptron followed by steps of personalized PageRank."""

    def __init__(self, perceptron: nn.Module) -> None:
        super().__init__()
        self.perceptron = perceptron

    def forward(self, x: torch.Tensor, P: Any) -> torch.Tensor:
        return propagate(P, self.perceptron(x))


def build_backbone(
    name: str, n_inputs: int, n_outputs: int, *, hidden: int, n_layers: int, dropout: float
) -> nn.Module:
    """A module that takes features and `adjacency_for` its name, and returns scores."""
    sizes = {"n_inputs": n_inputs, "n_outputs": n_outputs, "hidden": hidden}
    recipe = ("backbone", {"name": name, **sizes, "n_layers": n_layers, "dropout": dropout})
    if name == "appnp":
        widths = [n_inputs, *[hidden] * (n_layers - 1), n_outputs]
        network: Any = Appnp(models.MLP(widths, dropout=dropout, norm=None))
    else:
        kind = KernelGCN if name == "gcn" else getattr(models, _PYG_NAMES[name])
        network = kind(n_inputs, hidden, n_layers, n_outputs, dropout=dropout)
        network.dropout = Dropout(dropout)
    network.recipe = recipe
    return network


def adjacency_for(name: str, graph: Graph, *, damping: float, n_steps: int) -> Any:
    """The second argument of a backbone: a `Propagation` or an edge index."""
    if name == "gcn":
        return Power(graph, 1, self_loops=True)
    if name == "appnp":
        return Iteration(graph, damping, n_steps, self_loops=True)
    return graph.to_edge_index("torch")
