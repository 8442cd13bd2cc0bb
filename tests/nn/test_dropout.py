"""Dropout."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from labeltrick.nn.dropout import Dropout, drop  # noqa: E402


@pytest.mark.parametrize("share", [0.1, 0.5, 0.93])
def test_dropout_drops_the_share_and_keeps_the_mean(share):
    torch.manual_seed(0)
    x = torch.ones(401, 501)  # no multiple of four
    found = drop(x, share)
    n = x.numel()
    assert abs(float((found == 0).float().mean()) - share) < 5 * np.sqrt(share * (1 - share) / n)
    assert float(found.max()) == pytest.approx(1 / (1 - share), rel=2e-4)
    assert set(np.unique(found)) == {0.0, float(found.max())}
    # Decisions that share a random number are no more alike than others.
    kept = (found.flatten()[: n - 1] > 0).double()
    pairs = torch.corrcoef(torch.stack([kept[:-1], kept[1:]]))
    assert abs(float(pairs[0, 1])) < 5 / np.sqrt(n)


def test_dropout_passes_gradients_where_it_passes_values():
    torch.manual_seed(1)
    x = torch.randn(64, 32, dtype=torch.float64, requires_grad=True)
    found = drop(x, 0.3)
    found.sum().backward()
    torch.testing.assert_close(found, x * x.grad)


def test_dropout_at_its_ends():
    x = torch.randn(10, 3)
    assert torch.equal(drop(x, 0.0), x)
    assert torch.equal(drop(x, 1.0), torch.zeros(10, 3))
    assert drop(x[:0], 0.5).shape == (0, 3)
    assert torch.equal(Dropout(0.5).eval()(x), x)
    torch.manual_seed(2)
    first = Dropout(0.5)(x)
    torch.manual_seed(2)
    assert torch.equal(Dropout(0.5)(x), first)
