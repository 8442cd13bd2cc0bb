"""A problem whose nodes can be renumbered."""

import numpy as np
from sklearn.base import clone

from labeltrick import (
    Graph,
)


class Problem:
    """Three communities, weighted edges, features that tell a little."""

    def __init__(self, seed, task, n=90, *, edges_per_node=5, ring=True):
        rng = np.random.default_rng(seed)
        truth = rng.integers(0, 3, n)
        edges = rng.integers(0, n, (2, edges_per_node * n))
        kept = (truth[edges[0]] == truth[edges[1]]) | (rng.random(edges.shape[1]) < 0.2)
        edges = edges[:, kept]
        if ring:  # no node is alone: the weights of its edges tell it from all others
            edges = np.concatenate([edges, [np.arange(n), (np.arange(n) + 1) % n]], axis=1)
        self.edges, self.task, self.n = edges, task, n
        self.weight = rng.uniform(0.1, 2.0, edges.shape[1])
        self.X = rng.normal(size=(n, 4)) + 0.7 * truth[:, None]
        known = rng.random(n) < 0.5
        if task == "classification":
            self.y = np.where(known, truth, -1)
        elif task == "multilabel":
            several = np.stack([truth == 0, truth > 0, rng.random(n) < 0.5], axis=1)
            self.y = np.where(known[:, None], several.astype(float), np.nan)
        else:
            self.y = np.where(known, truth + 0.3 * rng.normal(size=n), np.nan)

    def rows(self, model, order):
        """Predictions where node k is ``order[k]`` of ours, in our order; then out-of-fold rows."""
        number = np.argsort(order)
        graph = Graph.from_edges(*number[self.edges], weight=self.weight, n_nodes=self.n)
        model = clone(model).fit(self.X[order], self.y[order], graph=graph)
        numbers = self.task == "regression"
        found = [model.predict() if numbers else model.predict_proba()]
        if model.has_oof:
            oof = np.zeros((self.n, model.oof_rows_.shape[1]))
            oof[model.labeled_] = model.oof_rows_
            found.append(oof)
        return [rows[number] for rows in found]
