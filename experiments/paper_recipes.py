"""The paper's trainable predictors by the literal recipe, without the changes that ours have.

`PaperLabelPropagation` is P·Y_in·W (eq. 4, inputs scaled by 1/α as in eq. 7), and
`PaperCorrectAndSmooth` is eq. 14. Both train a matrix with Adam on the cross-entropy of random
splits; the validation nodes choose the epoch and the split rate. Unlike the estimators of the
package, rows are not divided by the label mass, label propagation starts from random weights (the
default of a linear layer in torch), and Correct & Smooth starts from W = I on predictions of the
first stage that have seen the training labels.

Splits of each rate are drawn and propagated once and cycled over, so that an epoch is one product.
The paper says so of Correct & Smooth; for label propagation it is our choice.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax

from labeltrick import Resolvent, Spread
from labeltrick.models.base.weights import Adam
from labeltrick.models.correct_smooth.views import StepViews

_BLOCK = 160  # columns that are propagated at once


@dataclass(frozen=True)
class Schedule:
    """Settings of the training."""

    split_rate: tuple[float, ...]
    n_splits: int
    learning_rate: float
    max_epochs: int
    patience: int


@dataclass(frozen=True)
class Rows:
    """Inputs of some nodes and the numbers of their classes."""

    Z: np.ndarray
    codes: np.ndarray

    def accuracy(self, W: np.ndarray) -> float:
        return float(np.mean((self.Z @ W).argmax(axis=1) == self.codes))

    def gradient(self, W: np.ndarray) -> np.ndarray:
        """Gradient of the mean cross-entropy."""
        scores = self.Z @ W
        scores -= scores.max(axis=1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=1, keepdims=True)
        scores[np.arange(len(scores)), self.codes] -= 1
        return self.Z.T @ scores / max(len(scores), 1)


@dataclass(frozen=True)
class Trained:
    """Weights of the epoch that is best on the validation nodes, and their accuracy there."""

    W: np.ndarray
    accuracy: float
    epoch: int


def train(splits: list[Rows], start: np.ndarray, validation: Rows, schedule: Schedule) -> Trained:
    """Adam on one split after the other, until the validation nodes see no gain."""
    adam = Adam(start.astype(np.float32), schedule.learning_rate)
    best = Trained(adam.W.copy(), validation.accuracy(adam.W), 0)
    for epoch in range(1, schedule.max_epochs + 1):
        adam.step(splits[(epoch - 1) % len(splits)].gradient(adam.W))
        accuracy = validation.accuracy(adam.W)
        if accuracy > best.accuracy:
            best = Trained(adam.W.copy(), accuracy, epoch)
        elif epoch - best.epoch >= schedule.patience:
            break
    return best


class PaperPredictor(ABC):
    """What both predictors share: reading the labels, the search over α, and predictions."""

    def __init__(self, schedule: Schedule, seed: int) -> None:
        self.schedule, self.seed = schedule, seed

    def fit(self, X: Any, y: Any, *, graph: Any, validation: np.ndarray) -> Any:
        """``y`` holds the labels of training and validation nodes, and −1 elsewhere. Those of
        validation nodes choose; they are never inputs."""
        y = np.asarray(y)
        self.classes_ = np.unique(y[y >= 0])
        labeled = y >= 0
        labeled[validation] = False
        train_nodes = np.flatnonzero(labeled)
        self._codes = np.searchsorted(self.classes_, y)
        self._Y = np.zeros((len(y), len(self.classes_)), np.float32)
        self._Y[train_nodes, self._codes[train_nodes]] = 1.0
        self._graph = graph
        self._Z = self.inputs(train_nodes, validation)
        chosen = Rows(self._Z[validation], self._codes[validation])
        found = {}
        for rate in self.schedule.split_rate:
            rng = np.random.default_rng([self.seed, round(1000 * rate)])
            start = self.start(rng)
            splits = list(self.splits(train_nodes, rate, rng))
            found[rate] = train(splits, start, chosen, self.schedule)
        self.split_rate_scores_ = {rate: fit.accuracy for rate, fit in found.items()}
        self.split_rate_ = max(found, key=lambda rate: found[rate].accuracy)
        self.weights_, self.best_epoch_ = found[self.split_rate_].W, found[self.split_rate_].epoch
        return self

    def predict_proba(self) -> np.ndarray:
        return softmax(self._Z @ self.weights_, axis=1)

    @abstractmethod
    def start(self, rng: np.random.Generator) -> np.ndarray:
        """The weights that training starts from."""

    @abstractmethod
    def inputs(self, train_nodes: np.ndarray, validation: np.ndarray) -> np.ndarray:
        """Rows of all nodes at inference, where every training label is an input."""

    @abstractmethod
    def splits(
        self, train_nodes: np.ndarray, rate: float, rng: np.random.Generator
    ) -> Iterator[Rows]:
        """The rows of the targets of each split."""


class PaperLabelPropagation(PaperPredictor):
    """P·Y_in·W with P = (1−λ)(I−λS)⁻¹; 50 steps of its iteration differ by less than 1e-11.

    ``tol`` is the tolerance to which the limit is computed.
    """

    def __init__(self, schedule: Schedule, seed: int, damping: float, **propagation: Any) -> None:
        super().__init__(schedule, seed)
        self.damping, self.propagation = damping, propagation

    def start(self, rng: np.random.Generator) -> np.ndarray:
        """The default of a linear layer in torch: uniform within ±1/√c."""
        c = self._Y.shape[1]
        return rng.uniform(-1, 1, (c, c)) / np.sqrt(c)

    def inputs(self, train_nodes: np.ndarray, validation: np.ndarray) -> np.ndarray:
        self._P = Resolvent(self._graph, self.damping, **self.propagation)
        return self._P.apply(self._Y, progress=False)

    def splits(
        self, train_nodes: np.ndarray, rate: float, rng: np.random.Generator
    ) -> Iterator[Rows]:
        n, c = self._Y.shape
        at_once = max(1, _BLOCK // c)
        for first in range(0, self.schedule.n_splits, at_once):
            several = min(at_once, self.schedule.n_splits - first)
            shown = rng.random((several, len(train_nodes))) < rate
            columns = np.zeros((n, several * c), np.float32)
            for k, inside in enumerate(shown):
                nodes = train_nodes[inside]
                columns[nodes, k * c : (k + 1) * c] = self._Y[nodes] / np.float32(rate)
            spread = self._P.apply(columns, progress=False)
            for k, inside in enumerate(shown):
                out = train_nodes[~inside]
                Z = np.ascontiguousarray(spread[out, k * c : (k + 1) * c])
                yield Rows(Z, self._codes[out])


class PaperCorrectAndSmooth(PaperPredictor):
    """[Ŷ_s, Ŷ_c]·[W_s; Ŵ_c] on given base predictions.

    ``steps`` are settings to choose from, each with λ of both steps and the scale γ; the best on
    the validation nodes at W = I is taken.
    """

    def __init__(
        self, schedule: Schedule, seed: int, base: np.ndarray, steps: list[dict[str, Any]]
    ) -> None:
        super().__init__(schedule, seed)
        self.base, self.steps = base.astype(np.float32), steps

    def start(self, rng: np.random.Generator | None = None) -> np.ndarray:
        return self._views.unit(self._Y.shape[1])

    def inputs(self, train_nodes: np.ndarray, validation: np.ndarray) -> np.ndarray:
        best: tuple[float, Any, Any] = (-1.0, None, None)
        for steps in self.steps:
            spreads = {k: Spread(steps[k], clamp=False) for k in ("correct", "smooth")}
            how = {**spreads, "scale": steps["scale"], "normalize": False, "progress": False}
            self._views = StepViews(self._graph, **how)
            Z = self._rows(train_nodes)
            score = Rows(Z[validation], self._codes[validation]).accuracy(self.start())
            best = max(best, (score, self._views, (Z, steps)), key=lambda found: found[0])
        self._views, (Z, self.steps_) = best[1:]
        return Z

    def splits(
        self, train_nodes: np.ndarray, rate: float, rng: np.random.Generator
    ) -> Iterator[Rows]:
        for _ in range(self.schedule.n_splits):
            inside = rng.random(len(train_nodes)) < rate
            out = train_nodes[~inside]
            Z = np.ascontiguousarray(self._rows(train_nodes[inside])[out])
            yield Rows(Z, self._codes[out])

    def _rows(self, nodes: np.ndarray) -> np.ndarray:
        shown = np.zeros(len(self._Y), bool)
        shown[nodes] = True
        return self._views.rows(self.base, self._Y, shown).astype(np.float32)
