"""Members fitted by workers of a cluster: the same model as here, whatever happens to a worker."""

import numpy as np
import pytest
import scipy.sparse as sp

from labeltrick import open_graph, save_graph
from labeltrick.models.auto import nested
from tests.support.auto import numbers, quick
from tests.support.clusters import OwnCluster
from tests.support.graphs import blocks

pytest.importorskip("distributed")

QUICK = {"learners": ["trees", "linear"]}


def assert_equal(there, here):
    assert there.plan_ == here.plan_
    assert there.chosen_ == here.chosen_
    assert there.oof_score_ == here.oof_score_
    np.testing.assert_array_equal(there.oof_rows_, here.oof_rows_)
    np.testing.assert_array_equal(there.predict(), here.predict())
    scores = [[(each.name, each.score) for each in model.trials_] for model in (there, here)]
    np.testing.assert_equal(*scores)


def test_all_learners_give_the_same_model_as_here(cluster):
    pytest.importorskip("torch")
    graph, X, _, y = blocks(3, n=120)
    here = quick().fit(X, y, graph=graph)
    there = quick().fit(X, y, graph=graph.on(address=cluster.address))
    assert len(there.plan_.learners) >= 5
    assert_equal(there, here)
