"""Prediction intervals: as often right as they say, on data they have not seen."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from labeltrick import (
    Graph,
    GraphBoosting,
    LabelFeatureRegression,
    LabelPropagation,
    TrainableCorrectAndSmooth,
    TrainableLabelPropagation,
)
from labeltrick.evaluation.intervals import fewest_labels, interval_radius

MODELS = {
    "propagation": LabelPropagation(0.9, task="regression"),
    "trainable": TrainableLabelPropagation(0.9, task="regression"),
    "features": LabelFeatureRegression(0.8, 5, split_rate=0.5, task="regression"),
    "correct and smooth": TrainableCorrectAndSmooth(
        Ridge(), label_trick="deterministic", task="regression"
    ),
    "boosting": GraphBoosting(n_rounds=60, progress=False, task="regression"),
}


def field(seed, n=800):
    """Numbers on a grid that neighbors share, with noise."""
    rng = np.random.default_rng(seed)
    places = rng.random((n, 2))
    from scipy.spatial import cKDTree

    pairs = cKDTree(places).query(places, 6)[1]
    graph = Graph.from_edges(np.repeat(np.arange(n), 5), pairs[:, 1:].ravel(), n_nodes=n)
    truth = np.sin(6 * places[:, 0]) + np.cos(5 * places[:, 1]) + 0.3 * rng.normal(size=n)
    X = places + 0.1 * rng.normal(size=(n, 2))
    return graph, X, truth, np.where(rng.random(n) < 0.4, truth, np.nan)


@pytest.mark.parametrize("name", MODELS)
def test_measured_coverage(name):
    covered = {0.5: [], 0.9: []}
    for seed in range(3):
        graph, X, truth, y = field(seed)
        model = MODELS[name].fit(X, y, graph=graph)
        hidden = np.isnan(y)
        for coverage, found in covered.items():
            low, high = model.predict_interval(coverage=coverage).T
            found.append(((low <= truth) & (truth <= high))[hidden].mean())
    # 1440 nodes: two standard errors are 0.016 and 0.026; folds make intervals a little wide.
    assert 0.87 < np.mean(covered[0.9]) < 0.95
    assert 0.45 < np.mean(covered[0.5]) < 0.60


def test_the_rank_is_that_of_one_more_node():
    residual = np.array([[3.0], [-1.0], [2.0], [-4.0]])
    assert interval_radius(residual, 0.4).tolist() == [2.0]
    assert interval_radius(residual, 0.8).tolist() == [4.0]
    with pytest.raises(ValueError, match=r"at most 0.8 for 4 labels; got 0.9, which needs 9"):
        interval_radius(residual, 0.9)
    assert fewest_labels(0.9) == 9


def test_several_numbers_a_node():
    graph, _, _, y = field(0, n=200)
    both = np.column_stack([y, -2 * y])
    model = LabelPropagation(0.9).fit(None, both, graph=graph)
    found = model.predict_interval(coverage=0.8)
    assert found.shape == (200, 2, 2)
    widths = found[0, :, 1] - found[0, :, 0]
    assert widths[1] == pytest.approx(2 * widths[0])


def test_wrong_use():
    graph, _, truth, y = field(1, n=100)
    classes = LabelPropagation().fit(None, np.where(np.isnan(y), -1, truth > 0), graph=graph)
    assert not hasattr(classes, "predict_interval")
    model = LabelPropagation(task="regression").fit(None, y, graph=graph)
    with pytest.raises(ValueError, match="`coverage` must be"):
        model.predict_interval(coverage=90)
