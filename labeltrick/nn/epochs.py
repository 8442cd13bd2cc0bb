"""Epochs of training: the best one is kept, patience ends, a loss that runs away stops."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from torch import nn

from .._utils.progress import ProgressBar


class Verdict(NamedTuple):
    """What is thought of an epoch: the score shown, and what epochs are ranked by."""

    score: float
    rank: tuple[float, ...]


@dataclass
class Training:
    """How a training went.

    Attributes
    ----------
    history : (epoch, loss, score) of each epoch; NaN scores where nothing was judged.
    best_epoch : the one whose weights were kept; 0 if none was better than the start.
    diverged_at : the epoch in which the loss ran away, or None.
    """

    history: list[tuple[int, float, float]] = field(default_factory=list)
    best_epoch: int = 0
    diverged_at: int | None = None


def run_epochs(
    model: nn.Module,
    run_epoch: Callable[[], float],
    judge: Callable[[], Verdict] | None,
    *,
    max_epochs: int,
    patience: int,
    ceiling: float,
    bar: ProgressBar,
    judge_every: int = 1,
) -> Training:
    """Run epochs until the score stops rising, and put the model back to its best one.

    ``run_epoch()`` takes the steps of one epoch and returns its mean loss. One epoch in
    ``judge_every`` is judged, the last one always. Without a judge the last sound epoch is kept.
    Training stops once the loss is not a number or above ``ceiling`` after the first epoch.
    """
    training = Training()
    best: dict[str, Any] = copy.deepcopy(model.state_dict())
    best_rank: tuple[float, ...] | None = None
    for epoch in range(1, max_epochs + 1):
        model.train()
        loss = run_epoch()
        model.eval()
        if not math.isfinite(loss) or (epoch > 1 and loss > ceiling):
            training.diverged_at = epoch
            break
        if judge is not None and epoch % judge_every and epoch < max_epochs:
            training.history.append((epoch, loss, math.nan))
            bar.advance(note=f"loss {loss:.3f}")
            continue
        score, rank = (math.nan, ()) if judge is None else judge()
        training.history.append((epoch, loss, score))
        bar.advance(note=f"loss {loss:.3f}" + ("" if judge is None else f", score {score:.3f}"))
        if judge is None or best_rank is None or rank > best_rank:
            best, best_rank = copy.deepcopy(model.state_dict()), rank
            training.best_epoch = epoch
        elif epoch - training.best_epoch >= patience:
            break
    model.load_state_dict(best)
    model.eval()
    return training
