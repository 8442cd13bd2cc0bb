"""The loop over epochs: keep the best, stop after ``patience`` or if the loss diverges."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from .._utils.allowance import steps
from .._utils.progress import ProgressBar


class EpochScore(NamedTuple):
    """The validation score of an epoch, and the tuple by which epochs are ranked."""

    score: float
    rank: tuple[float, ...]


@dataclass
class Training:
    """Course of a training.

    Attributes
    ----------
    history : list of (int, float, float)
        Epoch, loss and validation score of each epoch; the score is NaN if it was not computed.
    best_epoch : int
        The epoch whose weights were kept; 0 if the first epoch diverged.
    diverged_at : int or None
        The epoch in which the loss diverged.
    """

    history: list[tuple[int, float, float]] = field(default_factory=list)
    best_epoch: int = 0
    diverged_at: int | None = None


class Stopping(NamedTuple):
    """When training ends.

    It ends after ``max_epochs``, after ``patience`` epochs without a better score, or if the loss
    is not finite or, after the first epoch, above ``ceiling``. Every ``validate_every``-th epoch
    and the last one are validated.
    """

    max_epochs: int
    patience: int
    ceiling: float
    validate_every: int = 1


def run_epochs(
    model: nn.Module,
    run_epoch: Callable[[], float],
    validate: Callable[[], EpochScore] | None,
    stopping: Stopping,
    bar: ProgressBar,
) -> Training:
    """Train a model until its score stops rising, and restore its best epoch; see `run_members`."""
    best = _snapshot(model)

    def train() -> list[float]:
        model.train()
        loss = run_epoch()
        model.eval()
        return [loss]

    def keep(_: int) -> None:
        nonlocal best
        best = _snapshot(model)

    scores = None if validate is None else lambda: [validate()]
    (training,) = run_members(1, train, scores, keep, stopping, bar)
    model.load_state_dict(best)
    model.eval()
    return training


def _snapshot(model: nn.Module) -> dict[str, Any]:
    """A copy of the state of a model. Of tensors, `copy.deepcopy` takes several times as long."""
    state = model.state_dict()
    for name, value in state.items():
        plain = isinstance(value, torch.Tensor) and not is_lazy(value)
        state[name] = value.clone() if plain else copy.deepcopy(value)
    return state


def run_members(
    n_members: int,
    run_epoch: Callable[[], Sequence[float]],
    validate: Callable[[], list[EpochScore]] | None,
    keep: Callable[[int], None],
    stopping: Stopping,
    bar: ProgressBar | None = None,
) -> list[Training]:
    """Train members that share their steps until all of them are done.

    ``run_epoch()`` takes the steps of one epoch and returns the mean loss of each member,
    ``validate()`` scores the members, and ``keep(k)`` stores the weights of member k as its best.
    Without validation, the last epoch before a divergence is kept. A member that is done takes part
    in further steps without effect. Time may end the training too; see `_utils.allowance`.
    """
    members = [Training() for _ in range(n_members)]
    ranks: list[tuple[float, ...]] = [()] * n_members
    done = [False] * n_members
    another = steps()
    for epoch in range(1, stopping.max_epochs + 1):
        losses = run_epoch()
        for k, loss in enumerate(losses):
            if not done[k] and (not math.isfinite(loss) or (epoch > 1 and loss > stopping.ceiling)):
                members[k].diverged_at, done[k] = epoch, True
        if all(done):
            break
        skipped = epoch % stopping.validate_every != 0 and epoch < stopping.max_epochs
        scores = None if validate is None or skipped else validate()
        for k, training in enumerate(members):
            if done[k]:
                continue
            score, rank = (math.nan, ()) if scores is None else scores[k]
            training.history.append((epoch, losses[k], score))
            if validate is not None and scores is None:
                continue
            if validate is None or training.best_epoch == 0 or rank > ranks[k]:
                ranks[k], training.best_epoch = rank, epoch
                keep(k)
            else:
                done[k] = epoch - training.best_epoch >= stopping.patience
        if bar is not None:
            shown = "" if scores is None else f", score {scores[0].score:.3f}"
            bar.advance(note=f"loss {losses[0]:.3f}{shown}")
        if all(done) or not another():
            break
    return members
