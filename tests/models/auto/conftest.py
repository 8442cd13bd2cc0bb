"""What all tests of AutoModel share."""

import pytest

from labeltrick.models.auto import nested
from labeltrick.models.auto.learners import graph_network


@pytest.fixture(autouse=True)
def _few_fits(request, monkeypatch):
    monkeypatch.setitem(graph_network.ON_NUMBERS, "max_epochs", 20)
    monkeypatch.setitem(graph_network.DEEP, "max_epochs", 20)
    if "test_nested" not in request.path.name:
        monkeypatch.setattr(nested, "MOST_LABELS", 0)
