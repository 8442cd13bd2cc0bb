"""Features made from the edges: spectral coordinates, and features spread along the edges.

They serve models that see only a node's own features, such as the base of Correct & Smooth.
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
    """Eigenvectors of S = D^−½AD^−½ with the largest eigenvalues.

    The mean square of each column is one, and its largest entry is positive. In a graph with
    several components, which share the largest eigenvalue, some components may get no coordinate
    of their own. O(edges × components) per iteration of SciPy's solver.

    Parameters
    ----------
    graph : Graph
        An undirected graph with edges.
    n_components : int, default=32
        Number of eigenvectors; must be below the number of nodes.
    self_loops : bool, default=False
        Whether to add a loop of weight 1 to each node that has none.
    random_state : int, default=0
        Seed of the starting vector.

    Returns
    -------
    array of shape (n_nodes, n_components)
        The eigenvectors, in descending order of their eigenvalues.

    See Also
    --------
    propagation.diffusion_features : Propagate features with the resolvent.

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
    """Propagate features with the resolvent, for one or several values of the damping.

    No labels are used.

    Parameters
    ----------
    graph : Graph
        The graph to propagate on.
    X : array or SciPy sparse matrix of shape (n_nodes,) or (n_nodes, n_features)
        Features, one row per node. The columns of a sparse matrix are made dense block by block.
    damping : float or sequence of float, default=(0.5, 0.9)
        λ in (0, 1), or several of them.
    norm : {"sym", "row", "col"}, default="row"
        Normalization of the adjacency: D^-1/2 A D^-1/2, D^-1 A or A D^-1.
    self_loops : bool, default=True
        Whether to add a loop of weight 1 to each node that has none.
    progress : bool, callable or None, default=None
        None shows a bar on a terminal after a second; True or False always or never shows one;
        a function is called as ``f(done, total)``.

    Returns
    -------
    array of shape (n_nodes, n_features × number of dampings)
        P·X of each damping, side by side.

    See Also
    --------
    propagation.spectral_features : Eigenvectors of S as features.
    Resolvent : Label propagation in the limit of infinitely many steps.

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
