"""Components, homophily and the summary of a graph."""

import numpy as np
import pytest

from labeltrick import Graph


def test_components_and_summary():
    graph = Graph.from_edges([0, 1, 3], [1, 2, 4], n_nodes=6)
    assert graph.components.tolist() == [0, 0, 0, 1, 1, 2]
    summary = graph.summary(y=["a", "a", "b", "b", "b", None])
    assert (summary.n_components, summary.largest_component, summary.n_isolated) == (3, 3, 1)
    assert (summary.n_labeled, summary.n_classes) == (5, 2)
    assert summary.homophily == pytest.approx(2 / 3)
    assert "homophily" in str(summary)
    directed = Graph.from_edges([0, 2], [1, 1], directed=True)
    assert directed.summary().n_components == 1


@pytest.mark.parametrize(
    "y",
    [
        [0, 0, 1, -1],
        [0.0, 0.0, 1.0, np.nan],
        np.array(["x", "x", "y", None], dtype=object),
    ],
)
def test_homophily_ignores_unlabeled_nodes_and_loops(y):
    graph = Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 0], n_nodes=4)
    assert graph.homophily(y) == 0.5


def test_homophily_without_labeled_edges_is_nan():
    graph = Graph.from_edges([0], [1])
    assert np.isnan(graph.homophily([0, -1]))


def test_adjusted_homophily_is_one_for_perfect_and_near_zero_for_random_labels():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 600)
    src, dst = rng.integers(0, 600, (2, 6000))
    graph = Graph.from_edges(src, dst, n_nodes=600)
    assert abs(graph.summary(y).adjusted_homophily) < 0.03
    same = y[src] == y[dst]
    perfect = Graph.from_edges(src[same], dst[same], n_nodes=600)
    assert perfect.summary(y).adjusted_homophily == pytest.approx(1)


def test_bad_labels_and_nodes():
    graph = Graph.from_edges([0], [1])
    with pytest.raises(ValueError, match="`y` must have one label per node"):
        graph.homophily([0, 1, 2])
    with pytest.raises(ValueError, match="`node` must be below n_nodes=2; got 7"):
        graph.neighbors(7)
