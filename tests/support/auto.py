"""AutoModel with few folds, and numbers along a path."""

import numpy as np

from labeltrick import AutoModel, Graph


def quick(**options):
    return AutoModel(**{"n_folds": 3, "progress": False, **options})


def numbers(seed=0, n=300):
    """A number along a path, two columns that tell some of it."""
    rng = np.random.default_rng(seed)
    graph = Graph.from_edges(np.arange(n - 1), np.arange(1, n))
    value = np.sin(np.arange(n) / 12) + 0.1 * rng.normal(size=n)
    X = np.column_stack([value + rng.normal(size=n), rng.normal(size=n)])
    y = np.where(rng.random(n) < 0.6, value, np.nan)
    return graph, X, value, y
