"""Multilayer perceptrons on rows, stored as plain arrays after the fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ...._utils.extras import is_installed
from ...._utils.feature_tables import SparseTable
from ...._utils.progress import ProgressBar
from ...._utils.threads import run_blocks
from ...base.weights import apply_link, link_of
from .protocol import STEP_SECONDS, Learner, Problem, Sizes
from .row_wise import RowLearner, spread_seconds
from .rows import Rows

_WITHOUT_VALIDATION = 15  # epochs where labels are very few
# Numbers of rows of words for which half as many steps, twice as long, are as good and take half
# the time; with fewer rows, batches are small anyway.
_FEW_ROWS = (640, 4000)
_LARGE_LAYER = 30_000_000  # weights of a first layer; larger networks are fitted one by one
_HIDDEN, _EPOCHS = 256, 25
SPEED = 2e10  # operations per second of a typical core


@dataclass(frozen=True)
class NetworkLearner(RowLearner):
    """A perceptron on a node's own columns, its neighbors' means and nearby labels."""

    def suits(self, problem: Problem) -> bool:
        return is_installed("torch")

    def prepared(self, problem: Problem) -> Learner:
        return replace(self, recipe=problem.recipe(2, 2))

    def cost(self, sizes: Sizes, n_folds: int) -> float:
        rows, width = self.size_of_rows(sizes)
        inner = _HIDDEN * (self.options["n_layers"] - 2) + sizes.n_outputs
        # Few rows make short epochs, but more of them.
        n_steps = max(rows // 1024, min(rows // 32, 20), 1) * max(_EPOCHS, 6000 // max(rows, 1))
        epochs = rows * 6 * _HIDDEN * (width + inner) * _EPOCHS / SPEED
        return spread_seconds(self.recipe, sizes) + n_folds * (epochs + n_steps * STEP_SECONDS)

    def fit_rows(self, rows: Rows) -> Network:
        return fit_network(rows, **self.options)


@dataclass(frozen=True)
class DeepNetworkLearner(NetworkLearner):
    """A deeper perceptron that sees farther."""

    def suits(self, problem: Problem) -> bool:
        return super().suits(problem) and problem.has_edges and not problem.has_words

    def prepared(self, problem: Problem) -> Learner:
        return replace(self, recipe=problem.recipe(4, 3))


@dataclass(frozen=True)
class Network:
    """An MLP with layer norm as arrays. It predicts without torch, with identical results on any
    number of threads."""

    weights: list[np.ndarray]
    biases: list[np.ndarray]
    norms: list[np.ndarray]  # gain and shift of each hidden layer
    link: str

    def predict(self, X: np.ndarray | SparseTable) -> np.ndarray:
        return run_blocks(lambda start, stop: self._block(X[start:stop]), len(X))

    def _block(self, X: Any) -> np.ndarray:
        for k, norm in enumerate(self.norms):
            X = X @ self.weights[k] + self.biases[k]
            X -= X.mean(axis=1, keepdims=True)
            X /= np.sqrt(np.mean(X * X, axis=1, keepdims=True) + np.float32(1e-5))
            X = np.maximum(X * norm[0] + norm[1], 0)
        scores = X @ self.weights[-1] + self.biases[-1]
        return apply_link(scores.astype(np.float64), self.link)


def fit_network(rows: Rows, **shape: Any) -> Network:
    """Train an MLP of a given shape with Adam, averaged weights and early stopping; see
    `nn.training.train_rows`."""
    import torch

    from ....nn.mlp import MLP
    from ....nn.training import RowData, train_rows

    link, n = link_of(rows.task), len(rows.Y)
    validation = None if rows.validation is None else RowData(*rows.validation)
    twice = np.arange(max(n, 2)) % max(n, 1)  # batches need two rows
    X, Y, weight = rows.X[twice], rows.Y[twice], rows.weight[twice]
    everyone = np.arange(len(Y))
    with torch.random.fork_rng(devices=[]), ProgressBar(1, "network", False) as bar:
        torch.manual_seed(rows.seed)
        model = MLP(X.shape[1], Y.shape[1], norm="layer", **shape)
        patience = 10 if rows.task == "regression" else 6  # classes are learned sooner
        args = (link, _training_options(rows, patience), torch.default_generator, bar)
        train_rows(model, lambda: (X, everyone), Y, weight, validation, *args)
    return _as_arrays(model, link)


def fit_networks(
    rows: Rows, learns: np.ndarray, *, words_dropout: float, patience: int, **shape: Any
) -> list[Network]:
    """Train one MLP of a given shape per row of ``learns``, a mask of its training rows; see
    `nn.stack.train_stack`. In each epoch, a random share ``words_dropout`` of the entries of sparse
    rows is dropped."""
    import torch

    from ....nn.mlp import MLP
    from ....nn.stack import train_stack
    from ....nn.training import RowData

    link, X = link_of(rows.task), rows.X
    validation = None if rows.validation is None else RowData(*rows.validation)
    words = isinstance(X, SparseTable)
    rng = np.random.default_rng(rows.seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(rows.seed)
        width, n_outputs = X.shape[1], rows.Y.shape[1]
        members = [MLP(width, n_outputs, norm="layer", words=words, **shape) for _ in learns]
        options = _training_options(rows, patience)
        if _FEW_ROWS[0] <= len(rows.Y) < _FEW_ROWS[1]:
            options = replace(options, batch_size=len(rows.Y) // 10, learning_rate=0.01)
        args = (validation, link, options, torch.default_generator)
        draw = partial(X.thinned, words_dropout, rng) if words else lambda: X
        together = [slice(None)]
        if width * shape["hidden"] > _LARGE_LAYER:
            together = [slice(k, k + 1) for k in range(len(members))]
        for some in together:
            train_stack(members[some], draw, learns[some], rows.Y, rows.weight, *args)
    return [_as_arrays(member, link) for member in members]


def _training_options(rows: Rows, patience: int) -> Any:
    """Options of the training. Few rows make short epochs, so patience is longer."""
    from ....nn.training import TrainingOptions

    n, few = len(rows.Y), rows.validation is None
    return TrainingOptions(
        learning_rate=0.005,
        weight_decay=1e-4,
        max_epochs=_WITHOUT_VALIDATION if few else max(40, 12_000 // max(n, 1)),
        patience=patience if n > 1000 else 5 * patience // 2,
    )


def _as_arrays(model: Any, link: str) -> Network:
    linear = model.linear_layers()
    norms = [layer for layer in model if type(layer).__name__ == "LayerNorm"]
    return Network(
        [np.ascontiguousarray(weight.detach().numpy()) for weight, _ in linear],
        [bias.detach().numpy().copy() for _, bias in linear],
        [np.stack([part.detach().numpy() for part in (layer.weight, layer.bias)])
         for layer in norms],
        link,
    )  # fmt: skip
