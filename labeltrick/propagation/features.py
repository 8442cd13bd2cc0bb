"""Features made from the edges: spectral coordinates, and features spread along the edges.

For models that see a node alone, such as the base of Correct & Smooth.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._utils.checks import check_count
from .._utils.progress import Progress
from ..graph.graph import Graph
from .resolvent import Resolvent


def spectral_features(
    graph: Graph, n_components: int = 32, *, self_loops: bool = False, random_state: int = 0
) -> np.ndarray:
    """(n, n_components) eigenvectors of S = D^−½AD^−½ with the largest eigenvalues, by SciPy.

    Scaled so that a column has mean square one; of the two signs, the one that makes the
    largest entry positive. O(edges × components) a round. In a graph of several parts, where the
    largest eigenvalue is that of each of them, not every part need have a coordinate of its own.

    Examples
    --------
    >>> two = Graph.from_edges([0, 1, 2, 3, 4, 5, 0], [1, 2, 0, 4, 5, 3, 3])  # two triangles
    >>> second = spectral_features(two, 2)[:, 1]
    >>> bool(np.sign(second[:3]).sum() == -np.sign(second[3:]).sum())
    True
    """
    import scipy.sparse.linalg

    if graph.directed:
        raise ValueError(
            "`graph` must be undirected for spectral features; got a directed one. Make it with "
            "directed=False."
        )
    if not graph.nnz:
        raise ValueError("`graph` must have edges for spectral features; got none.")
    n, k = graph.n_nodes, check_count("n_components", n_components, 1)
    if k >= n:
        raise ValueError(f"`n_components` must be below the number of nodes ({n}); got {k}.")
    S = graph.normalized("sym", self_loops=self_loops).to_scipy()
    start = np.random.default_rng(random_state).normal(size=n)
    if k >= n - 1 or n <= 50:
        values, vectors = np.linalg.eigh(S.toarray())
    else:
        values, vectors = scipy.sparse.linalg.eigsh(S, k, which="LA", v0=start, tol=1e-6)
    order = np.argsort(-values)[:k]
    found = vectors[:, order]
    largest = np.abs(found).argmax(axis=0)
    sign = np.sign(found[largest, np.arange(k)])
    return found * sign * np.sqrt(n)


def diffusion_features(
    graph: Graph,
    X: Any,
    damping: float | Sequence[float] = (0.5, 0.9),
    *,
    norm: str = "row",
    self_loops: bool = True,
    progress: Progress = None,
) -> np.ndarray:
    """P·X for one or several λ, side by side: each node's neighborhood in its own columns.

    P is the resolvent; labels are no part of it. Sparse ``X`` is spread block by block.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1], [1, 2])
    >>> diffusion_features(path, [[1.0], [0.0], [0.0]], 0.5).round(2).ravel().tolist()
    [0.72, 0.15, 0.05]
    """
    each = np.atleast_1d(np.asarray(damping, np.float64))
    if not len(each):
        raise ValueError("`damping` must hold at least one number; got none.")
    if not hasattr(X, "tocsr"):
        X = np.asarray(X)
        X = X[:, None] if X.ndim == 1 else X
    kinds = [Resolvent(graph, float(lam), norm=norm, self_loops=self_loops) for lam in each]
    return np.concatenate([P.apply(X, progress=progress) for P in kinds], axis=1)
