"""Labels that neighbors contradict."""

import numpy as np
import pytest

from labeltrick import LabelPropagation, TrainableLabelPropagation
from tests.support.graphs import communities, random_graph


# -- doubtful labels ---------------------------------------------------------------------------
@pytest.mark.parametrize("model", [LabelPropagation(0.8), TrainableLabelPropagation(0.8)])
def test_wrong_labels_come_first(model):
    graph, truth = communities(n=600, noise=0.05)
    rng = np.random.default_rng(1)
    wrong = rng.choice(600, 30, replace=False)
    y = truth.copy()
    y[wrong] = 1 - y[wrong]
    found = model.fit(None, y, graph=graph).suspicious_labels(30)
    assert len(found) == 30
    assert np.isin(found.nodes, wrong).mean() > 0.7
    np.testing.assert_array_equal(found.given, y[found.nodes])
    assert (np.diff(found.doubt) <= 0).all()
    assert "suggested" in str(found)
    whole = model.suspicious_labels()
    assert len(whole) == 600
    assert whole.doubt.min() >= -1
    assert whole.doubt.max() <= 1


def test_doubtful_numbers_and_indicators():
    _, graph = random_graph(0, n=80, n_edges=300)
    y = np.random.default_rng(0).normal(size=80)
    y[17] = 40.0
    model = LabelPropagation(0.5).fit(None, y, graph=graph)
    assert 17 in model.suspicious_labels(1).nodes
    Y = np.ones((80, 2))
    Y[5, 1] = 0
    Y[60:, 0] = 0
    assert len(LabelPropagation(0.5).fit(None, Y, graph=graph).suspicious_labels(3)) == 3
