"""Training loops around PyG's layers, as in its examples: peers for `linear_gnn.py`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import SGConv
from torch_geometric.transforms import SIGN as SignTransform
from torch_geometric.utils import add_self_loops

Curve = list[tuple[float, float]]
"""(seconds since the start, validation accuracy) after each epoch."""


def _accuracy(scores: torch.Tensor, y: torch.Tensor, nodes: torch.Tensor) -> float:
    return float((scores[nodes].argmax(dim=1) == y[nodes]).float().mean())


def sgc(X: np.ndarray, edge_index: torch.Tensor, y: np.ndarray, train: Any, val: Any) -> Curve:
    """SGConv with its cache, all nodes at once: lr 0.2, 100 epochs, weight decay 5e-5."""
    begin = time.perf_counter()
    x, labels = torch.from_numpy(X), torch.from_numpy(y)
    train, val = torch.from_numpy(train), torch.from_numpy(val)
    torch.manual_seed(0)
    model = SGConv(x.shape[1], int(labels.max()) + 1, K=3, cached=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.2, weight_decay=5e-5)
    curve = []
    for _ in range(100):
        model.train()
        optimizer.zero_grad()
        scores = model(x, edge_index)
        nn.functional.cross_entropy(scores[train], labels[train]).backward()
        optimizer.step()
        model.eval()
        with torch.no_grad():
            accuracy = _accuracy(model(x, edge_index), labels, val)
        curve.append((time.perf_counter() - begin, accuracy))
    return curve


def sign(X: np.ndarray, edge_index: torch.Tensor, y: np.ndarray, train: Any, val: Any) -> Curve:
    """PyG's SIGN transform with summed hops, and an MLP of 256 units (batch norm, dropout 0.5):
    lr 0.003, batches of 1024, 60 epochs."""
    begin = time.perf_counter()
    n = len(X)
    loops = add_self_loops(edge_index, num_nodes=n)[0]
    hops = SignTransform(5)(Data(x=torch.from_numpy(X), edge_index=loops, num_nodes=n))
    x = hops.x + sum(hops[f"x{k}"] for k in range(1, 6))
    labels = torch.from_numpy(y)
    train, val = torch.from_numpy(train), torch.from_numpy(val)
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(x.shape[1], 256),
        nn.BatchNorm1d(256),
        nn.ReLU(),
        nn.Dropout(0.5),
        nn.Linear(256, int(labels.max()) + 1),
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    loader = torch.utils.data.DataLoader(train, batch_size=1024, shuffle=True)
    curve = []
    for _ in range(60):
        model.train()
        for batch in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x[batch]), labels[batch]).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            accuracy = _accuracy(model(x[val]), labels[val], torch.arange(len(val)))
        curve.append((time.perf_counter() - begin, accuracy))
    return curve


PEERS: dict[str, Callable[..., Curve]] = {"SGC": sgc, "SIGN": sign}


def layer_step(model: nn.Module, x: torch.Tensor, adjacency: Any) -> Callable[[], None]:
    """One forward and backward pass, to be timed."""

    def step() -> None:
        model.zero_grad()
        model(x, adjacency).square().mean().backward()

    return step
