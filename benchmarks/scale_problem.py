"""The graph and labels of `scale.py`, and its sizes."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from generate import class_edges

N_NODES, N_EDGES, N_CLASSES, LABELED = 2_449_029, 63_000_000, 47, 0.08
DAMPING, TOL = 0.6, 1e-4
LARGE_NODES, LARGE_EDGES, LARGE_MEMORY = 1_000_000, 210_000_000, 400_000_000
TURNS = 5
LINE, N_SPLIT = 16, 16  # columns of a cache line of float32; workers that rows are split over
LARGER = (  # name, nodes, stored entries, columns
    ("ogbn-products: 2.4 M nodes, 62 M edges", 2_449_029, 123_718_280, 47),
    ("ogbn-papers100M: 111 M nodes, 1.6 G edges", 111_059_956, 2 * 1_615_685_872, 172),
    ("10⁹ nodes, 10¹⁰ edges", 10**9, 2 * 10**10, 100),
)


def problem(work: Path) -> tuple[Any, np.ndarray, np.ndarray]:
    """(graph, labels with −1 where unknown, one-hot inputs)."""
    from labeltrick import open_graph

    graph = open_graph(work / "products.lt")
    y = (np.arange(graph.n_nodes) % N_CLASSES).astype(np.int64)
    known = np.random.default_rng(0).random(graph.n_nodes) < LABELED
    Y = np.zeros((graph.n_nodes, N_CLASSES), np.float32)
    Y[known, y[known]] = 1
    return graph, np.where(known, y, -1), Y


def accuracy(predicted: np.ndarray, given: np.ndarray) -> float:
    truth = np.arange(len(given)) % N_CLASSES
    hidden = given < 0
    return float((predicted == truth)[hidden].mean())


def prepare(work: Path, share: float) -> dict[str, float]:
    from labeltrick import build_graph

    n, m = round(N_NODES * share), round(N_EDGES * share)
    begin = time.perf_counter()
    build_graph(
        lambda: ((*ends, None) for ends in class_edges(n, m, N_CLASSES)),
        work / "products.lt",
        n_nodes=n,
        max_memory="3GB",
        progress=False,
    )
    return {"build": time.perf_counter() - begin}
