"""Label propagation and single products by other libraries, for comparison.

Every function returns a callable that does the work, so that setup is not timed, unless the library
cannot separate it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from labeltrick import Graph

Work = Callable[[], np.ndarray]


def scipy_operator(graph: Graph, self_loops: bool):
    return graph.normalized("sym", self_loops=self_loops).to_scipy().astype(np.float32)


def scipy_step(graph: Graph, F: np.ndarray, self_loops: bool) -> Work:
    S = scipy_operator(graph, self_loops)
    return lambda: S @ F


def scipy_propagation(graph: Graph, Y: np.ndarray, lam: float, n_steps: int) -> Work:
    S = scipy_operator(graph, True)

    def work() -> np.ndarray:
        F = Y
        for _ in range(n_steps):
            F = lam * (S @ F) + (1 - lam) * Y
        return F

    return work


def torch_operator(graph: Graph, self_loops: bool):
    import torch

    S = scipy_operator(graph, self_loops)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "sparse CSR support is in beta"
        return torch.sparse_csr_tensor(
            torch.from_numpy(S.indptr.astype(np.int64)),
            torch.from_numpy(S.indices.astype(np.int64)),
            torch.from_numpy(S.data),
            S.shape,
        )


def torch_step(graph: Graph, F: np.ndarray, self_loops: bool) -> Work:
    import torch

    S, tensor = torch_operator(graph, self_loops), torch.from_numpy(F)
    return lambda: (S @ tensor).numpy()


def torch_propagation(graph: Graph, Y: np.ndarray, lam: float, n_steps: int) -> Work:
    import torch

    S, Y0 = torch_operator(graph, True), torch.from_numpy(Y)

    def work() -> np.ndarray:
        F = Y0
        for _ in range(n_steps):
            F = lam * (S @ F) + (1 - lam) * Y0
        return F.numpy()

    return work


def pyg_propagation(
    graph: Graph, y: np.ndarray, train: np.ndarray, lam: float, n_steps: int
) -> Work:
    """PyG's LabelPropagation on an edge_index with self-loops."""
    import torch
    from torch_geometric.nn import LabelPropagation
    from torch_geometric.utils import add_remaining_self_loops

    edge_index = add_remaining_self_loops(graph.to_edge_index("torch"))[0]
    labels, mask = torch.from_numpy(y), torch.zeros(len(y), dtype=torch.bool)
    mask[train] = True
    model = LabelPropagation(num_layers=n_steps, alpha=lam)
    return lambda: model(labels, edge_index, mask=mask).numpy()


def sklearn_propagation(
    graph: Graph, y: np.ndarray, train: np.ndarray, lam: float, n_steps: int
) -> Work:
    """scikit-learn's LabelSpreading, which takes a graph only as the kernel of an array of ids."""
    from sklearn.semi_supervised import LabelSpreading

    A = graph.to_scipy()
    hidden = np.full(len(y), -1)
    hidden[train] = y[train]
    ids = np.arange(len(y), dtype=np.float64)[:, None]

    def work() -> np.ndarray:
        model = LabelSpreading(
            kernel=lambda X, Z=None: A.copy(), alpha=lam, max_iter=n_steps, tol=0.0
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "max_iter was reached" is intended
            return model.fit(ids, hidden).label_distributions_

    return work


def sknetwork_propagation(
    graph: Graph, y: np.ndarray, train: np.ndarray, lam: float, n_steps: int
) -> Work:
    """scikit-network's PageRankClassifier: one personalized PageRank per class."""
    import scipy.sparse as sp
    from sknetwork.classification import PageRankClassifier

    A = sp.csr_matrix(graph.to_scipy())
    labels = {int(i): int(y[i]) for i in train}

    def work() -> np.ndarray:
        model = PageRankClassifier(damping_factor=lam, solver="piteration", n_iter=n_steps)
        return model.fit_predict_proba(A, labels)

    return work
