"""Peers of the automatic choice, each tuned on the validation nodes: `auto.py` runs them.

GCN and GraphSAGE are PyG's own models, Correct & Smooth is PyG's on a perceptron, trees are
LightGBM on a node's own columns, label propagation is PyG's. Every peer sees the same split; the
validation nodes choose the epoch, the number of rounds and the setting, the test nodes nothing.
"""

from __future__ import annotations

import copy
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

EPOCHS, PATIENCE = 200, 40


@dataclass(frozen=True)
class Problem:
    """A dataset and one split of it, as the peers take them.

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
        """Of rows of probabilities or numbers; the root mean squared error is negative."""
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
    """Words as they are; other columns filled by the mean and brought to one scale."""
    if sp.issparse(problem.X):
        return torch.from_numpy(problem.X.toarray().astype(np.float32))
    filled = SimpleImputer().fit_transform(problem.X)
    return torch.from_numpy(StandardScaler().fit_transform(filled).astype(np.float32))


def train(
    problem: Problem, model: nn.Module, forward: Callable[[nn.Module], Any], decay: float
) -> np.ndarray:
    """Adam on all training nodes at once; the epoch that is best on the validation nodes."""
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
    """2 or 4 layers of 128, dropout 0.2 or 0.5."""
    x, edge_index = dense_features(problem), torch.from_numpy(problem.edge_index)
    found = []
    for n_layers in (2, 4):
        for dropout in (0.2, 0.5):
            torch.manual_seed(seed)
            model = kind(x.shape[1], 128, n_layers, problem.n_outputs, dropout=dropout)
            rows = train(problem, model, lambda model: model(x, edge_index), 5e-4)
            found.append(Candidate(f"{n_layers} layers, dropout {dropout}", rows))
    return best(problem, found)


def correct_and_smooth(problem: Problem, seed: int) -> Candidate:
    """A perceptron (3 × 256, batch norm, dropout 0.5), corrected and smoothed with training labels;
    numbers are brought to [0, 1] first, for PyG's steps clamp."""
    x, edge_index = dense_features(problem), torch.from_numpy(problem.edge_index)
    torch.manual_seed(seed)
    model = MLP([x.shape[1], 256, 256, problem.n_outputs], dropout=0.5)
    rows = train(problem, model, lambda model: model(x), 5e-4)
    found = [Candidate("the perceptron alone", rows)]
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
    """PyG's, 50 steps; of numbers, the labels that arrive over the weight that arrives."""
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
