"""Statistics of a graph: degrees, components, homophily."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.checks import as_numpy
from .._utils.targets import missing_labels

if TYPE_CHECKING:
    from .graph import Graph


@dataclass(frozen=True)
class GraphSummary:
    """Statistics returned by `Graph.summary`; prints as a small table.

    Parameters
    ----------
    n_nodes : int
        Number of nodes.
    n_edges : int
        Number of edges; an undirected edge counts once.
    n_self_loops : int
        Number of edges from a node to itself.
    n_isolated : int
        Number of nodes without an edge to or from another node.
    n_components : int
        Number of (weakly) connected components.
    largest_component : int
        Number of nodes in the largest component.
    mean_degree, median_degree : float
        Mean and median number of neighbors.
    max_degree : int
        Largest number of neighbors.
    directed, weighted : bool
        Whether edges have a direction, and weights.
    n_labeled, n_classes : int or None, default=None
        Number of labeled nodes and of classes, if labels were given.
    homophily : float or None, default=None
        Share of edges between labeled nodes whose ends have the same label.
    adjusted_homophily : float or None, default=None
        Homophily corrected for chance at these class sizes; 1 is perfect.

    See Also
    --------
    Graph.summary : Compute the statistics of a graph.
    Graph : A graph in memory.

    Examples
    --------
    >>> from labeltrick import Graph
    >>> summary = Graph.from_edges([0, 1, 2], [1, 2, 0], n_nodes=4).summary([0, 0, 1, 1])
    >>> summary.n_isolated, summary.n_components, round(summary.homophily, 2)
    (1, 2, 0.33)
    """

    n_nodes: int
    n_edges: int
    n_self_loops: int
    n_isolated: int
    n_components: int
    largest_component: int
    mean_degree: float
    median_degree: float
    max_degree: int
    directed: bool
    weighted: bool
    n_labeled: int | None = None
    n_classes: int | None = None
    homophily: float | None = None
    adjusted_homophily: float | None = None

    def __str__(self) -> str:
        lines = []
        for name, value in asdict(self).items():
            if value is not None:
                shown = f"{value:,.4g}" if isinstance(value, float) else f"{value:,}"
                if isinstance(value, bool):
                    shown = "yes" if value else "no"
                lines.append(f"{name.replace('_', ' '):>19}  {shown}")
        return "\n".join(lines)


def encode_labels(y: Any, n_nodes: int) -> np.ndarray:
    """Class codes 0…c−1 of any labels; −1 if unlabeled (−1, None, NaN)."""
    labels = as_numpy("y", y)
    if labels.shape != (n_nodes,):
        raise ValueError(f"`y` must have one label per node ({n_nodes}); got shape {labels.shape}.")
    missing = missing_labels(labels)
    codes = np.full(n_nodes, -1, np.int64)
    codes[~missing] = np.unique(labels[~missing], return_inverse=True)[1]
    return codes


def adjusted_homophily(edge_homophily: float, codes: np.ndarray, degrees: np.ndarray) -> float:
    """Homophily corrected for chance at these class sizes; 1 for a perfect graph.

    (h − Σ_k p_k²)/(1 − Σ_k p_k²), with p_k the share of the labeled nodes' degrees in class k.
    """
    labeled = codes >= 0
    mass = np.bincount(codes[labeled], weights=degrees[labeled])
    if mass.sum() == 0:
        return float("nan")
    chance = float(np.sum((mass / mass.sum()) ** 2))
    return (edge_homophily - chance) / (1 - chance) if chance < 1 else float("nan")


def summarize(graph: Graph, y: Any) -> GraphSummary:
    """Compute the statistics of a graph and, if ``y`` is not None, of its labels."""
    sizes = np.bincount(graph.components) if graph.n_nodes else np.zeros(0, int)
    degrees = graph.degrees if graph.n_nodes else np.zeros(1, int)
    labels: dict[str, Any] = {}
    if y is not None:
        codes = encode_labels(y, graph.n_nodes)
        h = graph.homophily(y)
        labels = {
            "n_labeled": int((codes >= 0).sum()),
            "n_classes": int(codes.max(initial=-1) + 1),
            "homophily": h,
            "adjusted_homophily": adjusted_homophily(h, codes, graph.degrees),
        }
    return GraphSummary(
        n_nodes=graph.n_nodes,
        n_edges=graph.n_edges,
        n_self_loops=graph.n_self_loops,
        n_isolated=len(graph.isolated),
        n_components=len(sizes),
        largest_component=int(sizes.max(initial=0)),
        mean_degree=float(degrees.mean()),
        median_degree=float(np.median(degrees)),
        max_degree=int(degrees.max()),
        directed=graph.directed,
        weighted=graph.weighted,
        **labels,
    )
