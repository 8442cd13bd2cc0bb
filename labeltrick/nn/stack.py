"""Several small networks that read the same rows, trained in the same steps.

A step of a small network is mostly spent on calls, not on numbers: three networks in one step
take little longer than one.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from .._features import SparseTable
from .averaging import RunningAverage
from .dropout import Dropout
from .mlp import MLP
from .sparse_rows import network_rows
from .threads import threads_for
from .training import (
    RowData,
    TrainingOptions,
    judge_rows,
    linked,
    loss_ceiling,
    losses,
    n_batches,
)


class MLPStack(nn.Module):
    """Perceptrons of the same shape, with layer norm, side by side.

    Scores have one more axis, in front: the members.
    """

    def __init__(self, members: Sequence[MLP]) -> None:
        super().__init__()
        linear = [member.linear_layers() for member in members]
        norms = [[part for part in member if isinstance(part, nn.LayerNorm)] for member in members]
        n_layers, self.n_members = len(linear[0]), len(members)
        # The first layer reads the rows once for all members.
        self.first = nn.Parameter(torch.cat([layers[0][0] for layers in linear], dim=1).detach())
        self.weights = _stacked([layers[k][0] for layers in linear] for k in range(1, n_layers))
        self.biases = _stacked([layers[k][1][None] for layers in linear] for k in range(n_layers))
        depth = range(len(norms[0]))
        self.gains = _stacked([parts[k].weight[None] for parts in norms] for k in depth)
        self.shifts = _stacked([parts[k].bias[None] for parts in norms] for k in depth)
        self.dropout = Dropout(next(part.p for part in members[0] if isinstance(part, Dropout)))

    def forward(self, rows: Any) -> torch.Tensor:
        x = rows @ self.first
        x = x.view(len(x), self.n_members, -1).transpose(0, 1) + self.biases[0]
        for k, weight in enumerate(self.weights):
            x = nn.functional.layer_norm(x, x.shape[-1:]) * self.gains[k] + self.shifts[k]
            x = torch.baddbmm(self.biases[k + 1], self.dropout(torch.relu(x)), weight)
        return x

    def copy_to(self, k: int, member: MLP) -> None:
        """Give a member's weights to the perceptron that it came from."""
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
    judged: RowData | None,
    link: str,
    options: TrainingOptions,
    generator: torch.Generator,
) -> list[int]:
    """Train perceptrons in place, as `training.train_rows` does one; each is put back to its own
    best epoch, which is returned. ``learns[k]`` tells the rows that member k learns from; no other
    row has a say in its weights."""
    stack = MLPStack(members)
    learner = copy.deepcopy(stack).train()
    optimizer = options.optimizer(learner)
    n, n_steps = len(Y), n_batches(len(Y), options.batch_size)
    average = RunningAverage(stack, learner, n_steps)
    target = torch.from_numpy(Y.astype(np.float32))
    # Each member's weights have mean one over its rows.
    shares = np.stack([np.where(mine, weight / weight[mine].mean(), 0.0) for mine in learns])
    importance = torch.from_numpy(shares.astype(np.float32))
    counted = torch.from_numpy(learns.astype(np.float32))

    def run_epoch() -> float:
        X: Any = draw()
        X = X if isinstance(X, SparseTable) else torch.from_numpy(X)
        total = torch.zeros(())
        for batch in torch.tensor_split(torch.randperm(n, generator=generator), n_steps):
            optimizer.zero_grad()
            scores = learner(network_rows(X[batch]))
            wanted = target[batch].repeat(len(members), 1)
            each = losses(scores.flatten(0, 1), wanted, link).view(len(members), -1)
            n_mine = counted[:, batch].sum(dim=1).clamp(min=1)
            loss = ((each * importance[:, batch]).sum(dim=1) / n_mine).sum()
            loss.backward()
            optimizer.step()
            average.follow()
            total += loss.detach()
        return float(total) / (n_steps * len(members))

    ceiling = loss_ceiling(link, Y.shape[1])
    with threads_for(stack, n // n_steps):
        return _run_epochs(stack, members, run_epoch, judged, link, options, ceiling)


def _run_epochs(
    stack: MLPStack,
    members: Sequence[MLP],
    run_epoch: Callable[[], float],
    judged: RowData | None,
    link: str,
    options: TrainingOptions,
    ceiling: float,
) -> list[int]:
    """Until no member's score has risen for its ``patience``. A member that is done goes on in the
    steps of the others, for nothing."""
    best: list[tuple[float, ...]] = [()] * len(members)
    best_epoch = [0] * len(members)
    done = [False] * len(members)
    inputs = None if judged is None else network_rows(judged.X)
    for epoch in range(1, options.max_epochs + 1):
        loss = run_epoch()
        if not math.isfinite(loss) or (epoch > 1 and loss > ceiling):
            break
        if judged is not None:
            stack.eval()
            with torch.no_grad():
                rows = linked(stack(inputs).flatten(0, 1), link).numpy().astype(np.float64)
            rows = rows.reshape(len(members), len(judged.Y), -1)
        for k, member in enumerate(members):
            if done[k]:
                continue
            rank: tuple[float, ...] = (epoch,)  # without a judge the last epoch is kept
            if judged is not None:
                rank = judge_rows(rows[k], judged.Y, judged.weight, link).rank
            if best_epoch[k] == 0 or rank > best[k]:
                best[k], best_epoch[k] = rank, epoch
                stack.copy_to(k, member)
            done[k] = epoch - best_epoch[k] >= options.patience
        if all(done):
            break
    return best_epoch
