"""The problems of `auto_scale.py`: arrays that AutoModel and its peers share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from generate import class_edges
from scale_problem import LABELED, N_CLASSES, N_EDGES, N_NODES

N_COLUMNS, _NOISE = 100, 4.0
_GROUP = 3  # classes that the features cannot tell apart
DEGREE = 25  # edges per node in the part that grows
FIRST, LAST = 10_000, 2_000_000  # its nodes


@dataclass(frozen=True)
class Problem:
    """A graph, features and labels of all nodes, and a split."""

    graph: Any
    X: np.ndarray
    y: np.ndarray
    train: np.ndarray
    val: np.ndarray
    test: np.ndarray

    @property
    def n_classes(self) -> int:
        return int(self.y.max()) + 1

    @property
    def known(self) -> np.ndarray:
        """Labels of training and validation nodes, −1 elsewhere."""
        return self.known_at(np.concatenate([self.train, self.val]))

    def known_at(self, nodes: np.ndarray) -> np.ndarray:
        """Labels of these nodes, −1 elsewhere."""
        known = np.full(len(self.y), -1)
        known[nodes] = self.y[nodes]
        return known

    def accuracy(self, rows: np.ndarray, nodes: np.ndarray) -> float:
        return float((rows[nodes].argmax(axis=1) == self.y[nodes]).mean())


def arxiv(data_dir: str | None) -> Problem:
    """ogbn-arxiv with ranked guesses as features, and its official split."""
    from labeltrick.io import datasets

    data = datasets.load("ogbn-arxiv", data_dir)
    X = datasets.rank_features(data.extra["llm_ranked_classes"], data.n_classes)
    split = data.split
    return Problem(data.graph, X, np.asarray(data.y), split.train, split.val, split.test)


def size_of(part: str, share: float) -> tuple[int, int]:
    """(nodes, edges) of a generated graph."""
    if part.startswith("growth"):
        n = int(part.split("-")[1])
        return n, n * DEGREE
    return round(N_NODES * share), round(N_EDGES * share)


def prepare(part: str, work: Path, share: float) -> None:
    """Write the graph folder of a part, once."""
    from labeltrick import build_graph

    folder = work / f"{part.removesuffix('-folder')}.lt"
    if folder.exists():
        return
    n, m = size_of(part, share)

    def chunks() -> Any:
        return ((*ends, None) for ends in class_edges(n, m, N_CLASSES))

    build_graph(chunks, folder, n_nodes=n, max_memory="3GB", progress=False)


def generated(part: str, work: Path, share: float) -> Problem:
    """A block model whose features tell groups of three classes, with much noise; a tenth of its
    labels are validation nodes."""
    from labeltrick import open_graph

    n, _ = size_of(part, share)
    rng = np.random.default_rng(0)
    y = (np.arange(n) % N_CLASSES).astype(np.int64)
    centers = rng.normal(size=(-(-N_CLASSES // _GROUP), N_COLUMNS)).astype(np.float32)
    X = rng.standard_normal((n, N_COLUMNS), np.float32)
    X *= _NOISE
    X += centers[y // _GROUP]
    order = rng.permutation(n)
    labeled = order[: round(LABELED * n)]
    n_val = len(labeled) // 10
    graph = open_graph(work / f"{part.removesuffix('-folder')}.lt")
    return Problem(graph, X, y, labeled[n_val:], labeled[:n_val], order[len(labeled) :])
