"""A model and its folder."""

import pytest

from labeltrick import GraphBoosting, save_model
from tests.support.graphs import wavy


@pytest.fixture(scope="session")
def boosted():
    graph, X, _, y = wavy(0, n=120)
    return GraphBoosting(n_rounds=20, progress=False).fit(X, y, graph=graph)


@pytest.fixture
def saved(boosted, tmp_path):
    """The model, and a folder of its own that a test may damage."""
    return boosted, save_model(boosted, tmp_path / "model")
