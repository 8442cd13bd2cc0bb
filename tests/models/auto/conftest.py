"""What all tests of AutoModel share."""

import pytest

from labeltrick.models.auto.learners import graph_network


@pytest.fixture(autouse=True)
def _few_epochs(monkeypatch):
    monkeypatch.setitem(graph_network.ON_NUMBERS, "max_epochs", 20)
