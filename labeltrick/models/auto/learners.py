"""Learners on rows: networks, trees and linear models, stored as plain arrays after the fit."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._utils.feature_tables import SparseTable
from ..._utils.progress import ProgressBar
from ..._utils.targets import Targets, TargetScale
from ..._utils.threads import one_blas_thread, run_blocks
from ..base.weights import apply_link, link_of
from ..boosting.node_columns import NodeColumns
from ..boosting.trees import TreeOptions, Trees, fit_trees

_WITHOUT_VALIDATION = {"network": 15, "trees": 100}  # epochs and rounds where labels are very few
_SMALL_TABLE = 4_000_000  # numbers
# Numbers of rows of words for which half as many steps, twice as long, are as good and take half
# the time; with fewer rows, batches are small anyway.
_FEW_ROWS = (640, 4000)
_LARGE_LAYER = 30_000_000  # weights of a first layer; larger networks are fitted one by one


@dataclass(frozen=True)
class Rows:
    """Training rows, and validation rows for early stopping (None if labels are too few).

    ``X`` is an array for networks and linear models (or a `SparseTable` for networks), and
    `NodeColumns` for trees.
    """

    X: Any
    Y: np.ndarray
    weight: np.ndarray
    validation: tuple[Any, np.ndarray, np.ndarray] | None
    task: str
    seed: int

    @classmethod
    def joined(cls, parts: list[Rows]) -> Rows:
        """The rows of all parts."""
        first, *more = parts
        if not more:
            return first
        validation = None
        if first.validation is not None:
            each = [part.validation for part in parts if part.validation is not None]
            validation = (
                _joined([X for X, _, _ in each]),
                np.concatenate([Y for _, Y, _ in each]),
                np.concatenate([weight for _, _, weight in each]),
            )
        return replace(
            first,
            X=_joined([part.X for part in parts]),
            Y=np.concatenate([part.Y for part in parts]),
            weight=np.concatenate([part.weight for part in parts]),
            validation=validation,
        )


def _joined(parts: list[Any]) -> Any:
    """Arrays or `NodeColumns`, one below the other."""
    first = parts[0]
    if isinstance(first, NodeColumns):
        return replace(first, values=_joined([part.values for part in parts]))
    return sp.vstack(parts, format="csr") if sp.issparse(first) else np.concatenate(parts)


@dataclass(frozen=True)
class MemberLabels:
    """The labels of one member.

    ``given`` are the labels of the nodes ``inside``, which it is trained on. ``validation_nodes``
    are other nodes, for early stopping; ``truth`` are their labels, in units of ``scale``, and
    weights.
    """

    given: Targets
    inside: np.ndarray
    validation_nodes: np.ndarray
    truth: tuple[np.ndarray, np.ndarray]
    scale: TargetScale
    seed: int

    def rows(self, X: Any, every: Any) -> Rows:
        """Training rows ``X`` of the nodes inside, with the validation rows among ``every``."""
        at = self.validation_nodes
        validation = (every[at], *self.truth) if len(at) else None
        Y, weight = self.scale.to(self.given.Y[self.inside]), self.given.weight[self.inside]
        return Rows(X, Y, weight, validation, self.given.task, self.seed)


# -- networks ----------------------------------------------------------------------------------
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

    from ...nn.mlp import MLP
    from ...nn.training import RowData, train_rows

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

    from ...nn.mlp import MLP
    from ...nn.stack import train_stack
    from ...nn.training import RowData

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
    from ...nn.training import TrainingOptions

    n, few = len(rows.Y), rows.validation is None
    return TrainingOptions(
        learning_rate=0.005,
        weight_decay=1e-4,
        max_epochs=_WITHOUT_VALIDATION["network"] if few else max(40, 12_000 // max(n, 1)),
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


# -- linear ------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Linear:
    """A linear model with a link function."""

    weights: np.ndarray
    bias: np.ndarray
    link: str

    def predict(self, X: np.ndarray) -> np.ndarray:
        def block(start: int, stop: int) -> np.ndarray:
            return X[start:stop].astype(np.float64) @ self.weights + self.bias

        return apply_link(run_blocks(block, len(X)), self.link)


def fit_linear(rows: Rows, *, penalties: tuple[float, float] = (0.05, 0.5)) -> Linear:
    """Fit least squares for numbers or logistic regression for classes. Validation rows choose the
    penalty; without any, it is the second."""
    found = []
    for penalty in penalties if rows.validation is not None else penalties[1:]:
        # Small products gain little from threads, and lose time if cores are busy.
        with one_blas_thread() if rows.X.size < _SMALL_TABLE else nullcontext():
            model = _fit_linear(rows, penalty)
        loss = 0.0
        if rows.validation is not None:
            X, Y, weight = rows.validation
            loss = row_loss(rows.task, Y, model.predict(X), weight)
        found.append((loss, model))
    return min(found, key=lambda pair: pair[0])[1]


def _fit_linear(rows: Rows, penalty: float) -> Linear:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression, Ridge

    X, Y, weight = rows.X, rows.Y, rows.weight / rows.weight.mean()
    link, c = link_of(rows.task), Y.shape[1]
    with warnings.catch_warnings():
        # If it does not converge, it is a weaker learner, which validation shows.
        warnings.simplefilter("ignore", ConvergenceWarning)
        if rows.task == "regression":
            model = Ridge(penalty * 10).fit(X.astype(np.float64), Y, weight)
            coefficients = np.asarray(model.coef_).reshape(c, -1).T
            return Linear(coefficients, np.broadcast_to(model.intercept_, (c,)).copy(), link)
        weights, bias = np.zeros((X.shape[1], c)), np.full(c, -30.0)
        # In float32 like the rows: half the time, and the same weights to five digits.
        options: dict[str, Any] = {"C": 1 / (10 * penalty), "max_iter": 80}
        if rows.task == "multilabel":
            for k in range(c):
                if len(np.unique(Y[:, k])) < 2:
                    bias[k] = 30.0 if Y[0, k] else -30.0
                    continue
                model = LogisticRegression(**options).fit(X, Y[:, k], weight)
                weights[:, k], bias[k] = model.coef_[0], model.intercept_[0]
            return Linear(weights, bias, link)
        codes = Y.argmax(axis=1)
        present = np.unique(codes)
        if len(present) == 1:
            bias[present] = 0.0
            return Linear(weights, bias, link)
        model = LogisticRegression(**options).fit(X, codes, weight)
        coefficients, intercept = model.coef_, model.intercept_
        if len(present) == 2:  # one row for the second of two classes
            coefficients = np.concatenate([0 * coefficients, coefficients])
            intercept = np.concatenate([0 * intercept, intercept])
        weights[:, present], bias[present] = coefficients.T, intercept
        return Linear(weights, bias, link)


# -- trees -------------------------------------------------------------------------------------
def fit_forest(rows: Rows, *, n_rounds: int = 1000, learning_rate: float = 0.08) -> Trees:
    columns: NodeColumns = rows.X
    if rows.validation is None:
        n_rounds = min(n_rounds, _WITHOUT_VALIDATION["trees"])
    options = TreeOptions(
        n_rounds=n_rounds,
        learning_rate=learning_rate,
        max_leaves=15,
        patience=15,
        seed=rows.seed,
        # Coarse bins and fewer columns are several times as fast, and as good in a blend.
        extra=(("feature_fraction", 0.8 if len(columns.names) < 60 else 0.4), ("max_bin", 63)),
    )
    with ProgressBar(1, "trees", False) as bar:
        return fit_trees(columns, rows.Y, rows.weight, rows.validation, rows.task, options, bar)


# -- loss --------------------------------------------------------------------------------------
def losses(task: str, Y: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Log loss or squared error of each row."""
    if task == "regression":
        return ((Y - rows) ** 2).mean(axis=1)
    p = np.clip(rows, 1e-6, 1 - 1e-6)
    if task == "multilabel":
        return -np.where(Y > 0.5, np.log(p), np.log1p(-p)).mean(axis=1)
    return -np.where(Y > 0.5, np.log(p), 0.0).sum(axis=1)


def row_loss(task: str, Y: np.ndarray, rows: np.ndarray, weight: np.ndarray) -> float:
    """The mean loss, by which learners are compared."""
    return float(np.average(losses(task, Y, rows), weights=weight))
