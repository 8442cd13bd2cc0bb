"""What all tests of AutoModel share."""

import pytest

from labeltrick.models.auto import trials


@pytest.fixture(autouse=True)
def _few_epochs(monkeypatch):
    monkeypatch.setitem(trials.ON_NUMBERS, "max_epochs", 20)
