"""Peers of AutoModel for `auto_scale.py`: PyG's GCN and GraphSAGE, and SIGN, with usual settings.

Each is one model: 3 layers (SIGN: 3 hops and an MLP of 2 layers) of 256 units, or 128 units on more
than a million nodes, dropout 0.5, Adam with a rate of 0.01, at most 200 epochs. Validation nodes
choose the epoch, and training ends after 30 epochs without a gain. It stops when time is over, or
after two epochs if it could not end in time.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from auto_scale_problem import Problem
from torch import nn
from torch_geometric.nn.models import GCN, MLP, GraphSAGE

EPOCHS, PATIENCE, _MANY_NODES = 200, 30, 1_000_000
_BATCH, _NEIGHBORS = 1024, [10, 10, 10]


@dataclass
class Found:
    """Predictions of all nodes by the best epoch, and whether training came to its end."""

    rows: np.ndarray
    setting: str
    ended: bool


def _hidden(problem: Problem) -> int:
    return 128 if len(problem.y) > _MANY_NODES else 256


def _scaled(X: np.ndarray) -> np.ndarray:
    spread = X.std(axis=0)
    return ((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1)).astype(np.float32)


def _train(
    problem: Problem,
    epoch: Callable[[], None],
    predict: Callable[[], np.ndarray],
    until: float,
) -> tuple[np.ndarray, bool]:
    """Scores of the best epoch by validation accuracy."""
    best, best_score, best_at = np.zeros((len(problem.y), problem.n_classes), np.float32), -1.0, 0
    begin = time.perf_counter()
    for k in range(EPOCHS):
        epoch()
        rows = predict()
        score = problem.accuracy(rows, problem.val)
        if score > best_score:
            best, best_score, best_at = rows, score, k
        elif k - best_at >= PATIENCE:
            return best, True
        now = time.perf_counter()
        if now > until or (k == 1 and begin + (now - begin) * (PATIENCE + 1) / 2 > until):
            return best, False
    return best, True


def _edge_index(problem: Problem) -> torch.Tensor:
    return torch.from_numpy(np.asarray(problem.graph.to_edge_index()))


def _matrix(problem: Problem, kind: str) -> torch.Tensor:
    """The normalized adjacency as a sparse matrix, the fastest form for PyG on a CPU."""
    S = problem.graph.normalized(kind, self_loops=kind == "sym").to_scipy().tocsr()
    parts = S.indptr.astype(np.int64), S.indices.astype(np.int64), S.data.astype(np.float32)
    return torch.sparse_csr_tensor(*map(torch.from_numpy, parts), S.shape)


def _whole(problem: Problem, model: nn.Module, A: torch.Tensor, until: float) -> Any:
    """Full-batch training."""
    x, y = torch.from_numpy(_scaled(problem.X)), torch.from_numpy(problem.y)
    at = torch.from_numpy(problem.train)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

    def epoch() -> None:
        model.train()
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x, A)[at], y[at]).backward()
        optimizer.step()

    def predict() -> np.ndarray:
        model.eval()
        with torch.no_grad():
            return model(x, A).numpy()

    return _train(problem, epoch, predict, until)


def gcn(problem: Problem, seed: int, until: float) -> Found:
    sizes = (problem.X.shape[1], _hidden(problem), 3, problem.n_classes)
    model = GCN(*sizes, dropout=0.5, norm="batch_norm", normalize=False)
    return Found(*_inserted("full batch", _whole(problem, model, _matrix(problem, "sym"), until)))


def graph_sage(problem: Problem, seed: int, until: float) -> Found:
    sizes = (problem.X.shape[1], _hidden(problem), 3, problem.n_classes)
    model = GraphSAGE(*sizes, dropout=0.5, norm="batch_norm")
    if any(importlib.util.find_spec(name) for name in ("pyg_lib", "torch_sparse")):
        return _sampled(problem, model, until)
    found = _whole(problem, model, _matrix(problem, "row"), until)
    return Found(*_inserted("full batch: no sampler is installed", found))


def _sampled(problem: Problem, model: nn.Module, until: float) -> Found:
    from torch_geometric.data import Data
    from torch_geometric.loader import NeighborLoader

    x = torch.from_numpy(_scaled(problem.X))
    data = Data(x=x, y=torch.from_numpy(problem.y), edge_index=_edge_index(problem))
    options: dict[str, Any] = {"num_neighbors": _NEIGHBORS, "batch_size": _BATCH}
    loader = NeighborLoader(
        data, input_nodes=torch.from_numpy(problem.train), shuffle=True, **options
    )
    nodes = np.concatenate([problem.val, problem.test])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

    def epoch() -> None:
        model.train()
        for batch in loader:
            optimizer.zero_grad()
            scores = model(batch.x, batch.edge_index)[: batch.batch_size]
            nn.functional.cross_entropy(scores, batch.y[: batch.batch_size]).backward()
            optimizer.step()

    def rows_of(some: np.ndarray) -> np.ndarray:
        model.eval()
        rows = np.zeros((len(problem.y), problem.n_classes), np.float32)
        batches = NeighborLoader(data, input_nodes=torch.from_numpy(some), **options)
        with torch.no_grad():
            for batch in batches:
                scores = model(batch.x, batch.edge_index)[: batch.batch_size]
                rows[batch.n_id[: batch.batch_size].numpy()] = scores.numpy()
        return rows

    best: dict[str, Any] = {"score": -1.0}

    def predict() -> np.ndarray:
        rows = rows_of(problem.val)
        score = problem.accuracy(rows, problem.val)
        if score > best["score"]:
            weights = {name: part.clone() for name, part in model.state_dict().items()}
            best.update(score=score, weights=weights)
        return rows

    _, ended = _train(problem, epoch, predict, until)
    model.load_state_dict(best["weights"])
    return Found(rows_of(nodes), f"NeighborLoader {_NEIGHBORS}", ended)


def sign(problem: Problem, seed: int, until: float) -> Found:
    """SIGN (Frasca et al.): hops of the features are computed once, then an MLP in batches."""
    A, x = _matrix(problem, "sym"), torch.from_numpy(_scaled(problem.X))
    hops = [x]
    for _ in range(3):
        hops.append(A @ hops[-1])
    Z, y = torch.cat(hops, dim=1), torch.from_numpy(problem.y)
    del hops
    hidden = _hidden(problem)
    model = MLP([Z.shape[1], hidden, hidden, problem.n_classes], dropout=0.5)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

    def epoch() -> None:
        model.train()
        order = torch.from_numpy(np.random.permutation(problem.train))
        for at in torch.split(order, 8192):
            if len(at) < 2:  # batch norm needs two rows
                continue
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(Z[at]), y[at]).backward()
            optimizer.step()

    def predict() -> np.ndarray:
        model.eval()
        with torch.no_grad():
            return torch.cat([model(part) for part in torch.split(Z, 65_536)]).numpy()

    return Found(*_inserted("3 hops", _train(problem, epoch, predict, until)))


def _inserted(setting: str, found: tuple[np.ndarray, bool]) -> tuple[np.ndarray, str, bool]:
    rows, ended = found
    return rows, setting, ended


PEERS = {"GCN": gcn, "GraphSAGE": graph_sage, "SIGN": sign}
