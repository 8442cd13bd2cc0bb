"""Training of networks on rows of nodes: mini-batches, losses, scores and predictions."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import nn

from .._utils.feature_tables import SparseTable
from .._utils.progress import ProgressBar
from ..evaluation import metrics
from .epochs import EpochScore, Stopping, Training, run_epochs
from .sparse_rows import network_rows
from .threads import threads_for

_TASK = {"softmax": "classification", "sigmoid": "multilabel", "identity": "regression"}
_CHUNK = 65_536
_FEW_VALIDATED = 200


@dataclass(frozen=True)
class RowData:
    """Inputs, targets (one-hot, indicators or values) and weights of rows."""

    X: np.ndarray | SparseTable
    Y: np.ndarray
    weight: np.ndarray


@dataclass(frozen=True)
class TrainingOptions:
    """How a network is trained. ``batch_size=None`` depends on the number of rows."""

    learning_rate: float = 0.003
    max_epochs: int = 20
    patience: int = 10
    batch_size: int | None = None
    weight_decay: float = 0.0
    slowing: bool = False  # cosine decay of the learning rate (`train_whole`)
    validate_every: int = 1  # epochs (`train_whole`)

    def optimizer(self, model: nn.Module) -> torch.optim.Optimizer:
        return torch.optim.Adam(
            model.parameters(),
            lr=self.learning_rate,
            weight_decay=self.weight_decay,
            fused=True,  # one pass over the weights instead of a dozen
        )

    def stopping(self, link: str, n_outputs: int) -> Stopping:
        ceiling = loss_ceiling(link, n_outputs)
        return Stopping(self.max_epochs, self.patience, ceiling, self.validate_every)


@dataclass
class Ensemble:
    """Networks whose mean output is the prediction.

    ``oof`` holds each training row as predicted by the member that was not trained on it, NaN if
    there is none. ``history`` holds (member, epoch, loss, score) of each epoch.
    """

    members: list[nn.Module]
    link: str
    oof: np.ndarray
    history: list[tuple[int, int, float, float]] = field(default_factory=list)

    def predict(self, X: np.ndarray) -> np.ndarray:
        total = sum(predict_rows(member, X, self.link) for member in self.members)
        return np.asarray(total) / len(self.members)


def predict_rows(model: nn.Module, X: Any, link: str) -> np.ndarray:
    """Linked outputs of a model in evaluation mode, computed in chunks of rows.

    ``X`` is an array, or any object with a length whose slices are arrays or sparse tables. Models
    may put further axes before that of the rows.
    """
    model.eval()
    rows = []
    with torch.no_grad():
        for first in range(0, max(len(X), 1), _CHUNK):
            scores = model(network_rows(X[first : first + _CHUNK]))
            rows.append(linked(scores, link).numpy())
    return np.concatenate(rows, axis=-2).astype(np.float64)


def whole_rows(model: nn.Module, scores: Callable[[], torch.Tensor], link: str) -> np.ndarray:
    """Linked scores, computed at once, with the model in evaluation mode."""
    model.eval()
    with torch.no_grad():
        return linked(scores(), link).numpy().astype(np.float64)


def linked(scores: torch.Tensor, link: str) -> torch.Tensor:
    if link == "softmax":
        return scores.softmax(dim=-1)
    return scores.sigmoid() if link == "sigmoid" else scores


def losses(scores: torch.Tensor, Y: torch.Tensor, link: str) -> torch.Tensor:
    """Loss of each row."""
    if link == "softmax":
        return nn.functional.cross_entropy(scores, Y, reduction="none")
    if link == "sigmoid":
        each = nn.functional.binary_cross_entropy_with_logits(scores, Y, reduction="none")
        return each.mean(dim=1)
    return ((scores - Y) ** 2).mean(dim=1)


def loss_ceiling(link: str, n_outputs: int) -> float:
    """A loss that only a diverged training reaches: a thousand times that of a blind guess."""
    return 1000 * (math.log(max(n_outputs, 2)) if link == "softmax" else 1.0)


def validation_score(rows: np.ndarray, Y: np.ndarray, weight: np.ndarray, link: str) -> EpochScore:
    """Score of predicted rows, and the rank of their epoch.

    Epochs are ranked by score or, where few nodes are validated and most epochs score alike, by
    loss.
    """
    if link == "identity":
        each = ((rows - Y) ** 2).mean(axis=1)
    else:
        right = np.where(Y > 0.5, rows, 1.0 if link == "softmax" else 1 - rows)
        each = -np.log(np.maximum(right, 1e-12)).sum(axis=1)
    score = metrics.score(_TASK[link], Y, rows, weight)
    loss = float(weight @ each / weight.sum())
    return EpochScore(score, (score, -loss) if len(rows) >= _FEW_VALIDATED else (-loss,))


def n_batches(n_rows: int, batch_size: int | None) -> int:
    """Steps per epoch; by default, a batch has a twentieth of the rows, from 32 to 1024."""
    size = batch_size or int(np.clip(n_rows // 20, 32, 1024))
    return max(1, min(round(n_rows / size), n_rows // 2))  # batch norm needs two rows per batch


class RunningAverage:
    """Keeps ``model`` at a running average of the weights of ``learner``, which varies less.

    Weights and running statistics are averaged over about the last ``horizon`` steps, and over a
    tenth of the steps taken while those are fewer.
    """

    def __init__(self, model: nn.Module, learner: nn.Module, horizon: int) -> None:
        # Listed once: for a small network, listing all tensors takes longer than averaging them.
        pairs = list(zip(model.state_dict().values(), learner.state_dict().values(), strict=True))
        self._numbers = [pair for pair in pairs if pair[0].is_floating_point()]
        self._counters = [pair for pair in pairs if not pair[0].is_floating_point()]
        self._horizon = max(horizon, 1)
        self._n_taken = 0

    @torch.no_grad()
    def follow(self) -> None:
        """Update the average after a step of the learner."""
        self._n_taken += 1
        share = max(1 / self._horizon, 9 / (10 + self._n_taken))
        averages, latest = zip(*self._numbers, strict=True)
        torch._foreach_lerp_(averages, latest, share)
        for average, now in self._counters:
            average.copy_(now)


Draw = Callable[[], tuple[np.ndarray | SparseTable, np.ndarray]]
"""Inputs of the rows for one epoch, and which of them (numbers) are trained on in it."""


def train_rows(
    model: nn.Module,
    draw: Draw,
    Y: np.ndarray,
    weight: np.ndarray,
    validation: RowData | None,
    link: str,
    options: TrainingOptions,
    generator: torch.Generator,
    bar: ProgressBar,
) -> Training:
    """Train a model in place, in mini-batches of rows, and restore its best epoch.

    ``draw()`` returns the rows of an epoch. The running average of the weights over an epoch is
    validated and kept: it is as good as the weights after a decayed learning rate. Training ends
    after ``patience`` epochs without a better score on ``validation``; without validation rows the
    last epoch is kept.
    """
    n = len(Y)
    n_steps = n_batches(n, options.batch_size)
    target = torch.from_numpy(Y.astype(np.float32))
    importance = torch.from_numpy((weight / weight.mean()).astype(np.float32))
    learner = copy.deepcopy(model).train()
    optimizer = options.optimizer(learner)
    average = RunningAverage(model, learner, n_steps)

    def run_epoch() -> float:
        inputs, rows = draw()
        X: Any = inputs
        if not isinstance(inputs, SparseTable):
            X = torch.from_numpy(np.ascontiguousarray(inputs, np.float32))
        order = torch.from_numpy(rows)[torch.randperm(len(rows), generator=generator)]
        total = torch.zeros(())
        for batch in torch.tensor_split(order, n_steps):
            if len(batch) < 2:  # a split with almost no targets
                continue
            optimizer.zero_grad()
            each = losses(learner(network_rows(X[batch])), target[batch], link)
            loss = (each * importance[batch]).mean()
            loss.backward()
            optimizer.step()
            average.follow()
            total += loss.detach() * len(batch)
        return float(total) / max(len(rows), 1)

    def validate() -> EpochScore:
        assert validation is not None
        rows = predict_rows(model, validation.X, link)
        return validation_score(rows, validation.Y, validation.weight, link)

    chooses = None if validation is None else validate
    with threads_for(model, n // n_steps):
        return run_epochs(model, run_epoch, chooses, options.stopping(link, Y.shape[1]), bar)


def train_whole(
    model: nn.Module,
    draw: Callable[[nn.Module], tuple[torch.Tensor, np.ndarray]],
    n_nodes: int,
    Y: np.ndarray,
    weight: np.ndarray,
    validate: Callable[[nn.Module], EpochScore] | None,
    link: str,
    options: TrainingOptions,
    bar: ProgressBar,
) -> Training:
    """Train a model that scores many nodes at once, with one step per epoch.

    It is restored to its best epoch. ``draw(model)`` returns the scores of the targets of this
    epoch, and which rows of ``Y`` they are. ``n_nodes`` is the number of rows that it computes.
    """
    target = torch.from_numpy(Y.astype(np.float32))
    importance = torch.from_numpy((weight / weight.mean()).astype(np.float32))
    optimizer = options.optimizer(model)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, options.max_epochs)

    def run_epoch() -> float:
        optimizer.zero_grad()
        scores, places = draw(model)
        chosen = torch.from_numpy(places)
        if not len(chosen):  # a split without targets
            return 0.0
        each = losses(scores, target[chosen], link)
        loss = (each * importance[chosen]).mean()
        loss.backward()
        optimizer.step()
        if options.slowing:
            schedule.step()
        return float(loss.detach())

    chooses = None if validate is None else lambda: validate(model)
    with threads_for(model, n_nodes):
        return run_epochs(model, run_epoch, chooses, options.stopping(link, Y.shape[1]), bar)
