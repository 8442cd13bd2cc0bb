"""Networks as learners of AutoModel."""

import numpy as np
import pytest

from labeltrick.models.auto.learners import network
from labeltrick.models.auto.learners.network import fit_network, fit_networks
from labeltrick.models.auto.learners.rows import Rows
from tests.support.stacks import N, one_hot, table


def test_frozen_networks_say_what_torch_says():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)).astype(np.float32)
    Y = np.eye(2)[(X[:, 0] > 0).astype(int)]
    rows = Rows(X, Y, np.ones(60), (X, Y, np.ones(60)), "classification", 3)
    state = torch.get_rng_state()
    trained = fit_network(rows, n_layers=3, dropout=0.2, hidden=16)
    assert torch.equal(state, torch.get_rng_state())
    layers = []
    for k, norm in enumerate(trained.norms):
        linear, scale = torch.nn.Linear(*trained.weights[k].shape), torch.nn.LayerNorm(16)
        linear.weight.data = torch.from_numpy(trained.weights[k].T.copy())
        linear.bias.data = torch.from_numpy(trained.biases[k])
        scale.weight.data, scale.bias.data = (torch.from_numpy(part.copy()) for part in norm)
        layers += [linear, scale, torch.nn.ReLU()]
    last = torch.nn.Linear(16, 2)
    last.weight.data = torch.from_numpy(trained.weights[-1].T.copy())
    last.bias.data = torch.from_numpy(trained.biases[-1])
    model = torch.nn.Sequential(*layers, last, torch.nn.Softmax(dim=1))
    with torch.no_grad():
        expected = model(torch.from_numpy(X)).numpy()
    np.testing.assert_allclose(trained.predict(X), expected, atol=1e-6)
    assert (trained.predict(X).argmax(axis=1) == Y.argmax(axis=1)).mean() > 0.8


def test_large_networks_are_trained_one_by_one(monkeypatch):
    pytest.importorskip("torch")
    from labeltrick.nn import stack

    rng = np.random.default_rng(0)
    Y = one_hot()
    rows = Rows(table(), Y, np.ones(N), (table(), Y, np.ones(N)), "classification", 3)
    learns = np.array([np.ones(N, bool), rng.random(N) < 0.5])
    options = {"n_layers": 3, "dropout": 0.5, "hidden": 8, "words_dropout": 0.3, "patience": 2}
    calls, train = [], stack.train_stack
    monkeypatch.setattr(
        stack,
        "train_stack",
        lambda members, *rest: calls.append(len(members)) or train(members, *rest),
    )
    for most, expected in ((1e9, [2]), (10, [1, 1])):
        monkeypatch.setattr(network, "_LARGE_LAYER", most)
        calls.clear()
        found = fit_networks(rows, learns, **options)
        assert calls == expected
        assert all(np.isfinite(each.predict(table())).all() for each in found)
