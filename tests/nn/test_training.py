"""Batches of training."""

import pytest

torch = pytest.importorskip("torch")

from labeltrick.nn.training import n_batches  # noqa: E402


def test_batches():
    assert n_batches(100, None) == 3
    assert n_batches(10_000, None) == 20
    assert n_batches(1_000_000, None) == round(1_000_000 / 1024)
    assert n_batches(3, None) == 1
    assert n_batches(100, 1) == 50
