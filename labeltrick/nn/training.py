"""Training of row-wise models: mini-batches, early stopping, ensembles by folds."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import nn

from .. import metrics
from .._progress import Progress, ProgressBar
from .mlp import MLP

_TASK = {"softmax": "classification", "sigmoid": "multilabel", "identity": "regression"}
_CHUNK = 65_536


@dataclass(frozen=True)
class RowData:
    """Inputs, targets (one-hot, indicators or values) and weights of rows."""

    X: np.ndarray
    Y: np.ndarray
    weight: np.ndarray


@dataclass(frozen=True)
class TrainingOptions:
    """How a row-wise model is trained. ``batch_size=None`` goes by the number of rows."""

    hidden: int = 256
    n_layers: int = 3
    dropout: float = 0.5
    learning_rate: float = 0.003
    max_epochs: int = 20
    patience: int = 10
    batch_size: int | None = None


@dataclass
class Ensemble:
    """Networks whose averaged outputs are the prediction.

    ``left_out``: each training row by the member that was not trained on it (NaN if none).
    ``history``: (member, epoch, loss, score) as training went.
    """

    members: list[nn.Module]
    link: str
    left_out: np.ndarray
    history: list[tuple[int, int, float, float]] = field(default_factory=list)

    def predict(self, X: np.ndarray) -> np.ndarray:
        total = sum(predict_rows(member, X, self.link) for member in self.members)
        return np.asarray(total) / len(self.members)


def predict_rows(model: nn.Module, X: np.ndarray, link: str) -> np.ndarray:
    """Linked outputs of a model in evaluation mode, by chunks of rows."""
    model.eval()
    rows = []
    with torch.no_grad():
        for first in range(0, max(len(X), 1), _CHUNK):
            scores = model(torch.from_numpy(np.ascontiguousarray(X[first : first + _CHUNK])))
            rows.append(_linked(scores, link).numpy())
    return np.concatenate(rows).astype(np.float64)


def _linked(scores: torch.Tensor, link: str) -> torch.Tensor:
    if link == "softmax":
        return scores.softmax(dim=1)
    return scores.sigmoid() if link == "sigmoid" else scores


def _losses(scores: torch.Tensor, Y: torch.Tensor, link: str) -> torch.Tensor:
    """Loss of each row."""
    if link == "softmax":
        return nn.functional.cross_entropy(scores, Y, reduction="none")
    if link == "sigmoid":
        each = nn.functional.binary_cross_entropy_with_logits(scores, Y, reduction="none")
        return each.mean(dim=1)
    return ((scores - Y) ** 2).mean(dim=1)


def train_rows(
    model: nn.Module,
    inputs: Callable[[], np.ndarray],
    Y: np.ndarray,
    weight: np.ndarray,
    judged: RowData | None,
    link: str,
    options: TrainingOptions,
    generator: torch.Generator,
    bar: ProgressBar,
) -> list[tuple[int, float, float]]:
    """Train a model in place and put it back to its best epoch; returns (epoch, loss, score).

    ``inputs()`` gives the rows anew for each epoch. The learning rate rises and falls once over
    ``max_epochs`` (one cycle); training ends early after ``patience`` epochs without a better
    score on ``judged``. Without such rows the last epoch is taken.
    """
    n = len(Y)
    size = options.batch_size or int(np.clip(n // 20, 32, 4096))
    n_batches = max(1, min(round(n / size), n // 2))  # batch norm needs two rows a batch
    target = torch.from_numpy(Y.astype(np.float32))
    importance = torch.from_numpy((weight / weight.mean()).astype(np.float32))
    optimizer = torch.optim.Adam(model.parameters(), lr=options.learning_rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, options.learning_rate, total_steps=options.max_epochs * n_batches
    )
    best, best_score, best_epoch = copy.deepcopy(model.state_dict()), -np.inf, 0
    history = []
    for epoch in range(1, options.max_epochs + 1):
        X = torch.from_numpy(np.ascontiguousarray(inputs(), np.float32))
        model.train()
        total = 0.0
        order = torch.randperm(n, generator=generator)
        for batch in torch.tensor_split(order, n_batches):
            optimizer.zero_grad()
            each = _losses(model(X[batch]), target[batch], link)
            loss = (each * importance[batch]).mean()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += float(loss.detach()) * len(batch)
        score = float(epoch)
        if judged is not None:
            rows = predict_rows(model, judged.X, link)
            score = metrics.score(_TASK[link], judged.Y, rows, judged.weight)
        history.append((epoch, total / n, score))
        bar.advance()
        if score > best_score:
            best, best_score, best_epoch = copy.deepcopy(model.state_dict()), score, epoch
        elif epoch - best_epoch >= options.patience:
            break
    model.load_state_dict(best)
    model.eval()
    return history


def train_ensemble(
    data: RowData,
    redraw: Callable[[np.random.Generator], np.ndarray] | None,
    validation: RowData | None,
    link: str,
    n_members: int,
    options: TrainingOptions,
    seed: int,
    progress: Progress = None,
) -> Ensemble:
    """MLPs, each trained without one fold of the rows, which it predicts.

    Parameters
    ----------
    data : the training rows as they are at inference.
    redraw : gives all training rows anew for each epoch (random splits of the labels); None
        trains on ``data`` itself.
    validation : rows that tell the best epoch. Without, the last one is taken: the fold left
        out must not choose it, or its predictions would be flattered.
    """
    rng = np.random.default_rng(seed)
    n_folds = min(n_members if n_members > 1 else 5, len(data.Y))
    fold = rng.permutation(len(data.Y)) % max(n_folds, 1)
    left_out = np.full(data.Y.shape, np.nan)
    ensemble = Ensemble([], link, left_out)
    with ProgressBar(n_members * options.max_epochs, "training", progress) as bar:
        for member in range(n_members):
            outside = np.flatnonzero(fold == member % n_folds)
            inside = np.flatnonzero(fold != member % n_folds)
            others = data.Y[inside]
            if len(inside) < 2:  # too few to leave any out
                inside = np.resize(np.arange(len(fold)), max(2, len(fold)))
            with torch.random.fork_rng(devices=[]):  # leaves the caller's random state alone
                torch.manual_seed(int(rng.integers(2**31)))
                model = MLP(
                    data.X.shape[1],
                    data.Y.shape[1],
                    hidden=options.hidden,
                    n_layers=options.n_layers,
                    dropout=options.dropout,
                )
                history = train_rows(
                    model,
                    _epoch_inputs(data, redraw, inside, rng),
                    data.Y[inside],
                    data.weight[inside],
                    validation,
                    link,
                    options,
                    torch.default_generator,
                    bar,
                )
            if len(others) < 2:  # the network has seen the row: only the other label may speak
                guess = {"softmax": 1 / data.Y.shape[1], "sigmoid": 0.5, "identity": 0.0}[link]
                left_out[outside] = others.mean(axis=0) if len(others) else guess
            else:
                left_out[outside] = predict_rows(model, data.X[outside], link)
            ensemble.members.append(model)
            ensemble.history.extend((member, *step) for step in history)
    return ensemble


def _epoch_inputs(
    data: RowData,
    redraw: Callable[[np.random.Generator], np.ndarray] | None,
    rows: np.ndarray,
    rng: np.random.Generator,
) -> Callable[[], np.ndarray]:
    if redraw is None:
        fixed = data.X[rows]
        return lambda: fixed
    return lambda: redraw(rng)[rows]
