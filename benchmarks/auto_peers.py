"""Peers of AutoModel for `auto.py`, each tuned on the validation nodes.

GCN, GraphSAGE and label propagation are PyG's, Correct & Smooth is PyG's on an MLP, and trees are
LightGBM on a node's own columns. All use the same split. Validation nodes choose the epoch, the
number of rounds and the settings; test nodes choose nothing.
"""

from __future__ import annotations

import copy
import functools
import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import lightgbm
import numpy as np
import scipy.sparse as sp
import torch
from sklearn.impute import SimpleImputer
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch_geometric.nn import CorrectAndSmooth, LabelPropagation
from torch_geometric.nn.models import GCN, MLP, GraphSAGE
from torch_geometric.utils import to_torch_csr_tensor

EPOCHS, PATIENCE = 200, 40


@dataclass(frozen=True)
class Problem:
    """A dataset and one of its splits, in the form that the peers take.

    ``metric`` is "accuracy", "roc_auc" or "rmse"; scores are such that more is better.
    """

    X: np.ndarray | sp.csr_array
    y: np.ndarray
    edge_index: np.ndarray
    train: np.ndarray
    val: np.ndarray
    test: np.ndarray
    metric: str

    @property
    def is_regression(self) -> bool:
        return self.metric == "rmse"

    @property
    def n_outputs(self) -> int:
        return 1 if self.is_regression else int(self.y.max()) + 1

    def score(self, rows: np.ndarray, nodes: np.ndarray) -> float:
        """Score of probabilities or numbers; higher is better, so RMSE is negative."""
        truth, rows = self.y[nodes], rows[nodes]
        if self.is_regression:
            return -float(np.sqrt(np.mean((rows[:, 0] - truth) ** 2)))
        if self.metric == "roc_auc":
            return float(roc_auc_score(truth, rows[:, 1]))
        return float(np.mean(rows.argmax(axis=1) == truth))


@dataclass
class Candidate:
    """One setting of a peer: its predictions of all nodes."""

    setting: str
    rows: np.ndarray


def best(problem: Problem, candidates: Iterable[Candidate]) -> Candidate:
    return max(candidates, key=lambda found: problem.score(found.rows, problem.val))


# -- networks ----------------------------------------------------------------------------------
def dense_features(problem: Problem) -> torch.Tensor:
    """Features with missing values filled by the mean, and scaled."""
    filled = SimpleImputer().fit_transform(problem.X)
    return torch.from_numpy(StandardScaler().fit_transform(filled).astype(np.float32))


class _SparseProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, dense: torch.Tensor, X: torch.Tensor, Xt: torch.Tensor) -> torch.Tensor:
        ctx.Xt = Xt
        return X @ dense

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        return ctx.Xt @ gradients[0], None, None


class SparseLinear(nn.Module):
    """A linear layer whose input is a fixed sparse matrix; its argument is ignored. With ``mean``
    the input is mean·X, which is not sparse, so the weights are applied first."""

    def __init__(self, linear: nn.Module, X: Any, mean: Any = None) -> None:
        super().__init__()
        self.weight, self.bias = linear.weight, linear.bias
        self.steps = [(to_torch(step), to_torch(step.T)) for step in (X, mean) if step is not None]

    def forward(self, _: torch.Tensor) -> torch.Tensor:
        product = self.weight.t()
        for step in self.steps:
            product = _SparseProduct.apply(product, *step)
        return product if self.bias is None else product + self.bias


def to_torch(X: Any) -> torch.Tensor:
    """The features as a sparse matrix, or dense if that is faster."""
    X = sp.csr_array(X, dtype=np.float32)
    if X.nnz > 0.05 * X.shape[0] * X.shape[1]:
        return torch.from_numpy(X.toarray())
    return torch.sparse_csr_tensor(
        torch.from_numpy(X.indptr.astype(np.int64)),
        torch.from_numpy(X.indices.astype(np.int64)),
        torch.from_numpy(X.data),
        X.shape,
    )


def read_words(model: nn.Module, problem: Problem) -> torch.Tensor:
    """Give a model's first layer the sparse features, and return the argument to call it with.

    The model stays the same, to rounding; with thousands of words its first layer takes a
    hundredth of the time. GraphSAGE's mean of the neighbors' words is taken after the weights.
    """
    X = sp.csr_array(problem.X, dtype=np.float32)
    if isinstance(model, MLP):
        model.lins[0] = SparseLinear(model.lins[0], X)
    elif isinstance(model, GCN):
        model.convs[0].lin = SparseLinear(model.convs[0].lin, X)
    else:
        source, target = problem.edge_index
        n = len(problem.y)
        A = sp.csr_array((np.ones(len(source)), (target, source)), shape=(n, n))
        mean = sp.diags_array(1 / np.maximum(A.sum(axis=1), 1)) @ A
        model.convs[0].lin_l = SparseLinear(model.convs[0].lin_l, X, mean)
        model.convs[0].lin_r = SparseLinear(model.convs[0].lin_r, X)
    return torch.empty(len(problem.y), 0)


def prepared(
    problem: Problem, make: Callable[[int], nn.Module], seed: int
) -> tuple[nn.Module, torch.Tensor]:
    """A new model, and the features to call it with."""
    torch.manual_seed(seed)
    model = make(problem.X.shape[1])
    sparse = sp.issparse(problem.X)
    return model, read_words(model, problem) if sparse else dense_features(problem)


def train(
    problem: Problem, model: nn.Module, forward: Callable[[nn.Module], Any], decay: float
) -> np.ndarray:
    """Adam on all training nodes at once; validation nodes choose the epoch."""
    center, spread = 0.0, 1.0
    if problem.is_regression:
        center, spread = (
            float(problem.y[problem.train].mean()),
            float(problem.y[problem.train].std()),
        )
        target = torch.from_numpy((problem.y - center) / spread).float()[:, None]
        loss = nn.MSELoss()
    else:
        target, loss = torch.from_numpy(problem.y).long(), nn.CrossEntropyLoss()
    at = torch.from_numpy(problem.train)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=decay)
    kept, kept_score, kept_at = None, -np.inf, 0
    for epoch in range(EPOCHS):
        model.train()
        optimizer.zero_grad()
        loss(forward(model)[at], target[at]).backward()
        optimizer.step()
        model.eval()
        with torch.no_grad():
            scores = forward(model)
        rows = (scores * spread + center) if problem.is_regression else scores.softmax(dim=1)
        found = problem.score(rows.numpy(), problem.val)
        if found > kept_score:
            kept, kept_score, kept_at = copy.deepcopy(rows.numpy()), found, epoch
        elif epoch - kept_at >= PATIENCE:
            break
    assert kept is not None
    return kept


def network(problem: Problem, kind: type, seed: int) -> Candidate:
    """2 or 4 layers of 128 units, dropout 0.2 or 0.5. Edges are a sparse matrix, with which PyG is
    two to four times as fast on a CPU as with a list of edges."""
    n = len(problem.y)
    edge_index: Any = to_torch_csr_tensor(torch.from_numpy(problem.edge_index), size=(n, n))
    found = []
    for n_layers, dropout in itertools.product((2, 4), (0.2, 0.5)):
        sizes = (128, n_layers, problem.n_outputs, dropout)
        model, x = prepared(problem, functools.partial(_graph_network, kind, *sizes), seed)
        rows = train(problem, model, functools.partial(_call, x=x, edge_index=edge_index), 5e-4)
        found.append(Candidate(f"{n_layers} layers, dropout {dropout}", rows))
    return best(problem, found)


def _graph_network(
    kind: type, hidden: int, n_layers: int, n_outputs: int, dropout: float, width: int
) -> nn.Module:
    more = {"cached": True} if kind is GCN else {}
    return kind(width, hidden, n_layers, n_outputs, dropout=dropout, **more)


def _call(model: nn.Module, **inputs: torch.Tensor) -> torch.Tensor:
    return model(**inputs)


def correct_and_smooth(problem: Problem, seed: int) -> Candidate:
    """An MLP (3 × 256, batch norm, dropout 0.5), corrected and smoothed with training labels;
    numbers are scaled to [0, 1] first, because PyG's steps clamp."""
    edge_index = torch.from_numpy(problem.edge_index)
    model, x = prepared(
        problem, lambda width: MLP([width, 256, 256, problem.n_outputs], dropout=0.5), seed
    )
    rows = train(problem, model, functools.partial(_call, x=x), 5e-4)
    found = [Candidate("MLP without steps", rows)]
    low, size = 0.0, 1.0
    known: Any = torch.from_numpy(problem.y[problem.train])
    if problem.is_regression:
        low, size = float(known.min()), float(known.max() - known.min())
        known = ((known - low) / size).float()[:, None]
    soft = torch.from_numpy(((rows - low) / size).astype(np.float32))
    at = torch.from_numpy(problem.train)
    for correct, smooth in ((0.979, 0.756), (0.8, 0.8), (0.8, 0.3), (0.5, 0.5), (0.95, 0.3)):
        post = CorrectAndSmooth(50, correct, 50, smooth, autoscale=True)
        both = post.smooth(post.correct(soft, known, at, edge_index), known, at, edge_index)
        found.append(Candidate(f"{correct}, {smooth}", both.numpy() * size + low))
    return best(problem, found)


# -- others ------------------------------------------------------------------------------------
def trees(problem: Problem, seed: int) -> Candidate:
    """LightGBM on the nodes' own columns, leaves 15 or 63, early stopping."""
    objective = {"objective": "regression"}
    if not problem.is_regression:
        objective = {"objective": "multiclass", "num_class": problem.n_outputs}
    X = sp.csr_matrix(problem.X, dtype=np.float64) if sp.issparse(problem.X) else problem.X
    found = []
    for leaves in (15, 63):
        options = {"learning_rate": 0.05, "num_leaves": leaves, "verbosity": -1, "seed": seed}
        options |= {"num_threads": torch.get_num_threads()}
        data = lightgbm.Dataset(X[problem.train], problem.y[problem.train])
        judge = data.create_valid(X[problem.val], problem.y[problem.val])
        stop = lightgbm.early_stopping(50, verbose=False)
        model = lightgbm.train(
            options | objective, data, 1000, valid_sets=[judge], callbacks=[stop]
        )
        rows = np.asarray(model.predict(X))
        found.append(Candidate(f"{leaves} leaves", rows[:, None] if rows.ndim == 1 else rows))
    return best(problem, found)


def label_propagation(problem: Problem, seed: int) -> Candidate:
    """PyG's with 50 steps; numbers are divided by the weight that arrives."""
    edge_index, mask = torch.from_numpy(problem.edge_index), torch.zeros(len(problem.y), dtype=bool)
    mask[torch.from_numpy(problem.train)] = True
    found = []
    for alpha in (0.3, 0.6, 0.8, 0.9, 0.99):
        spread = LabelPropagation(50, alpha)
        if not problem.is_regression:
            y = torch.from_numpy(problem.y).clamp(min=0)
            rows = spread(y, edge_index, mask).numpy()
            found.append(Candidate(f"{alpha}", rows))
            continue
        low, high = problem.y[problem.train].min(), problem.y[problem.train].max()
        scaled = np.nan_to_num((problem.y - low) / (high - low))
        both = torch.from_numpy(np.stack([scaled, np.ones(len(scaled))], axis=1)).float()
        total, mass = spread(both, edge_index, mask).numpy().T
        mean = problem.y[problem.train].mean()
        rows = np.where(mass > 1e-6, low + (high - low) * total / np.maximum(mass, 1e-6), mean)
        found.append(Candidate(f"{alpha}", rows[:, None]))
    return best(problem, found)


PEERS: dict[str, Callable[[Problem, int], Candidate]] = {
    "GCN": lambda problem, seed: network(problem, GCN, seed),
    "GraphSAGE": lambda problem, seed: network(problem, GraphSAGE, seed),
    "C&S on an MLP": correct_and_smooth,
    "LightGBM": trees,
    "label propagation": label_propagation,
}
