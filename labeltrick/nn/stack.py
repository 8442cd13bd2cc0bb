"""Several small networks on the same rows, trained in the same steps.

A step of a small network is mostly overhead of calls: three networks in one step take little longer
than one.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from .._utils.feature_tables import SparseTable
from .dropout import Dropout
from .epochs import EpochScore, run_members
from .mlp import MLP
from .sparse_rows import network_rows
from .threads import threads_for
from .training import (
    RowData,
    RunningAverage,
    TrainingOptions,
    losses,
    n_batches,
    predict_rows,
    validation_score,
)


class MLPStack(nn.Module):
    """Perceptrons of the same shape with layer norm, side by side.

    Scores have the members as an additional first axis.
    """

    def __init__(self, members: Sequence[MLP]) -> None:
        super().__init__()
        linear = [member.linear_layers() for member in members]
        norms = [[part for part in member if isinstance(part, nn.LayerNorm)] for member in members]
        n_layers, self.n_members = len(linear[0]), len(members)
        # The first layers read the rows once for all members.
        self.first = nn.Parameter(torch.cat([layers[0][0] for layers in linear], dim=1).detach())
        self.weights = _stacked([layers[k][0] for layers in linear] for k in range(1, n_layers))
        self.biases = _stacked([layers[k][1][None] for layers in linear] for k in range(n_layers))
        depth = range(len(norms[0]))
        self.gains = _stacked([parts[k].weight[None] for parts in norms] for k in depth)
        self.shifts = _stacked([parts[k].bias[None] for parts in norms] for k in depth)
        self.dropout = Dropout(next((p.p for p in members[0] if isinstance(p, Dropout)), 0.0))

    def forward(self, rows: Any) -> torch.Tensor:
        x = rows @ self.first
        x = x.view(len(x), self.n_members, -1).transpose(0, 1) + self.biases[0]
        for k, weight in enumerate(self.weights):
            x = nn.functional.layer_norm(x, x.shape[-1:]) * self.gains[k] + self.shifts[k]
            x = torch.baddbmm(self.biases[k + 1], self.dropout(torch.relu(x)), weight)
        return x

    def copy_to(self, k: int, member: MLP) -> None:
        """Copy the weights of member k to the perceptron that it was made from."""
        width = self.first.shape[1] // self.n_members
        firsts = self.first[:, k * width : (k + 1) * width]
        weights = [firsts, *(weight[k] for weight in self.weights)]
        norms = [part for part in member if isinstance(part, nn.LayerNorm)]
        with torch.no_grad():
            for j, (weight, bias) in enumerate(member.linear_layers()):
                weight.copy_(weights[j])
                bias.copy_(self.biases[j][k, 0])
            for j, norm in enumerate(norms):
                norm.weight.copy_(self.gains[j][k, 0])
                norm.bias.copy_(self.shifts[j][k, 0])


def _stacked(parts: Any) -> nn.ParameterList:
    return nn.ParameterList(nn.Parameter(torch.stack(list(part)).detach()) for part in parts)


def train_stack(
    members: Sequence[MLP],
    draw: Callable[[], SparseTable | np.ndarray],
    learns: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray,
    validation: RowData | None,
    link: str,
    options: TrainingOptions,
    generator: torch.Generator,
) -> list[int]:
    """Train perceptrons in place, each like `training.train_rows`, and return their best epochs.

    Each perceptron is restored to its own best epoch. ``learns[k]`` masks the rows that member k
    learns from; no other row affects its weights.
    """
    stack = MLPStack(members)
    learner = copy.deepcopy(stack).train()
    optimizer = options.optimizer(learner)
    n, n_steps = len(Y), n_batches(len(Y), options.batch_size)
    average = RunningAverage(stack, learner, n_steps)
    # Each member's weights have mean 1 over its rows. On other rows its targets are zeros, whose
    # loss is always finite.
    shares = np.stack([np.where(mine, weight / weight[mine].mean(), 0.0) for mine in learns])
    importance = torch.from_numpy(shares.astype(np.float32))
    counted = torch.from_numpy(learns.astype(np.float32))
    target = torch.from_numpy(np.where(learns[:, :, None], Y, 0.0).astype(np.float32))

    def run_epoch() -> list[float]:
        X: Any = draw()
        if not isinstance(X, SparseTable):
            X = torch.from_numpy(np.ascontiguousarray(X, np.float32))
        total = torch.zeros(len(members))
        for batch in torch.tensor_split(torch.randperm(n, generator=generator), n_steps):
            optimizer.zero_grad()
            scores = learner(network_rows(X[batch])).flatten(0, 1)
            each = losses(scores, target[:, batch].flatten(0, 1), link).view(len(members), -1)
            n_mine = counted[:, batch].sum(dim=1).clamp(min=1)
            loss = (each * importance[:, batch]).sum(dim=1) / n_mine
            loss.sum().backward()
            optimizer.step()
            average.follow()
            total += loss.detach()
        return (total / n_steps).tolist()

    def validate() -> list[EpochScore]:
        assert validation is not None
        found = predict_rows(stack, validation.X, link)
        return [validation_score(mine, validation.Y, validation.weight, link) for mine in found]

    with threads_for(stack, n // n_steps):
        trained = run_members(
            len(members),
            run_epoch,
            None if validation is None else validate,
            lambda k: stack.copy_to(k, members[k]),
            options.stopping(link, Y.shape[1]),
        )
    return [training.best_epoch for training in trained]
