"""The quickstart: scikit-learn's digits, a nearest-neighbour graph, few labels."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ._check import check_count
from .graph import Graph
from .label_trick import label_matrix
from .resolvent import Resolvent

N_NEIGHBORS = 10


@dataclass(frozen=True)
class Problem:
    """Digits as a graph problem: images are nodes, joined to the most similar ones."""

    X: np.ndarray
    y: np.ndarray
    graph: Graph
    train: np.ndarray
    test: np.ndarray


@dataclass(frozen=True)
class Score:
    """How one way of predicting did on the nodes whose label was hidden."""

    method: str
    uses: str
    accuracy: float
    seconds: float


def make_problem(label_share: float = 0.1, seed: int = 0) -> Problem:
    """1,797 images of digits, of which a random ``label_share`` is labelled."""
    from sklearn.datasets import load_digits
    from sklearn.neighbors import kneighbors_graph

    X, y = load_digits(return_X_y=True)
    graph = Graph.from_edges(*kneighbors_graph(X, N_NEIGHBORS).nonzero(), n_nodes=len(y))
    check_count("seed", seed)
    order = np.random.default_rng(seed).permutation(len(y))
    n_train = min(max(1, round(label_share * len(y))), len(y) - 1)  # one must be left to score
    if len(np.unique(y[order[:n_train]])) < 2:
        raise ValueError(
            f"`label_share` must label two classes at least; {label_share} labels {n_train} "
            "image(s). Use a larger share."
        )
    return Problem(X / 16.0, y, graph, np.sort(order[:n_train]), np.sort(order[n_train:]))


def predict_from_features(problem: Problem) -> np.ndarray:
    """Features alone: logistic regression, which sees no edge."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(max_iter=1000)
    return model.fit(problem.X[problem.train], problem.y[problem.train]).predict(problem.X)


def predict_from_labels(problem: Problem) -> np.ndarray:
    """Labels alone: label propagation, which sees no image."""
    Y = label_matrix(problem.y, problem.train, n_classes=10)
    return (Resolvent(problem.graph, damping=0.9) @ Y).argmax(axis=1)


def compare(problem: Problem) -> list[Score]:
    """Accuracy and time of each way, on the unlabelled nodes."""
    ways: list[tuple[str, str, Callable[[Problem], np.ndarray]]] = [
        ("logistic regression", "features", predict_from_features),
        ("label propagation", "labels, edges", predict_from_labels),
    ]
    scores = []
    for method, uses, predict in ways:
        begin = time.perf_counter()
        hit = predict(problem)[problem.test] == problem.y[problem.test]
        seconds = time.perf_counter() - begin
        scores.append(Score(method, uses, float(hit.mean()), seconds))
    return scores
