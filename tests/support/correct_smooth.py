"""Problems and dense formulas of Correct and Smooth."""

import numpy as np

from labeltrick import Graph, Spread
from tests import reference


def given(seed=0, n=60, c=3):
    """Graph, dense A, base predictions, one-hot labels and the mask of labeled nodes."""
    rng = np.random.default_rng(seed)
    src, dst = rng.integers(0, n - 2, (2, 3 * n))  # the last two nodes have no edges
    graph = Graph.from_edges(src, dst, n_nodes=n)
    base = rng.dirichlet(np.ones(c), n)
    Y = np.eye(c)[rng.integers(0, c, n)]
    return graph, graph.to_scipy().toarray(), base, Y, rng.random(n) < 0.4


def dense(graph, spread):
    S = reference.normalized(graph.to_scipy().toarray(), spread.norm)
    if spread.n_steps is None:
        return reference.resolvent(S, spread.damping)
    return reference.iteration(S, spread.damping, spread.n_steps, np.eye(len(S)))


def scale_of(kind, residual, train):
    """γ as the formula has it."""
    if kind != "auto":
        return lambda rows: kind * rows
    sigma = np.abs(residual[train]).sum() / train.sum()

    def gamma(rows):
        size = np.abs(rows).sum(axis=1)
        factor = np.where((size > 0) & (size * 1000 >= sigma), sigma / np.maximum(size, 1e-300), 1)
        return factor[:, None] * rows

    return gamma


STEPS = [
    (Spread(0.9, None, clamp=False), Spread(0.6, None)),
    (Spread(0.8, 3, norm="row", clamp=False), Spread(0.7, 4, norm="col")),
    (Spread(0.7, None, clamp=False), Spread(0.7, None)),
]


# -- any base ------------------------------------------------------------------------------------
def accuracy(model, truth, y):
    return float((model.predict() == truth)[y < 0].mean())
