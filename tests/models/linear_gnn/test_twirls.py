"""TWIRLS against its formula."""

import numpy as np
import pytest
from sklearn.base import clone

from labeltrick import TWIRLS
from tests.support.graphs import blocks, random_graph

torch = pytest.importorskip("torch")


def test_twirls_is_one_versus_all_in_value_and_gradient():
    """Row i of the network is h₁ of row i of P·h₀([X, Y − Y_i]) (paper, eq. 13)."""
    from labeltrick import Unfolded
    from labeltrick.nn.twirls import TwirlsNet

    _, graph = random_graph(1, n=12, n_edges=25)
    P = Unfolded(graph, 2)
    dense = torch.from_numpy(P @ np.eye(12))
    rng = np.random.default_rng(0)
    X, Y = torch.from_numpy(rng.normal(size=(12, 4))), torch.zeros(12, 3, dtype=torch.float64)
    train = torch.tensor([0, 2, 3, 7, 8])
    Y[train, torch.tensor([0, 1, 2, 1, 0])] = 1
    torch.manual_seed(0)
    net = TwirlsNet(4, 3, 3, hidden=8, n_before=2, n_after=2, dropout=0.0).double()

    def literal():
        def before(Y):
            return net.before(net.from_features(X) + net.from_labels(Y))

        rows = []
        for i in range(12):
            others = Y.clone()
            others[i] = 0
            rows.append(net.after((dense @ before(others))[i : i + 1]))
        return torch.cat(rows)

    C = torch.from_numpy(P.self_weight(train.numpy(), tol=1e-12).value)
    found = net(P, X, Y, train, C)
    torch.testing.assert_close(found, literal(), atol=1e-9, rtol=0)
    weights = torch.randn(12, 3, dtype=torch.float64)
    gradients = [
        torch.autograd.grad((scores * weights).sum(), list(net.parameters()))
        for scores in (found, literal())
    ]
    for ours, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-9, rtol=0)


@pytest.mark.parametrize("trick", [None, "deterministic", "stochastic"])
def test_twirls_with_a_linear_start_propagates_its_inputs_once(trick):
    from labeltrick.models.linear_gnn.twirls import GraphInputs, PropagatedInputs

    graph, X, _, y = blocks(0, n=60)
    # Without dropout: it is drawn for the rows that are computed, which are fewer.
    options = {"hidden": 16, "max_epochs": 30, "dropout": 0.0, "calibrate": False}
    model = TWIRLS(label_trick=trick, **options)
    once = clone(model).fit(X, y, graph=graph)
    assert isinstance(once._tensors_of(once.fitted_inputs), PropagatedInputs)
    each_time = AtEachStep(**model.get_params()).fit(X, y, graph=graph)
    assert isinstance(each_time._tensors_of(each_time.fitted_inputs), GraphInputs)
    np.testing.assert_allclose(once.predict_proba(), each_time.predict_proba(), atol=2e-3)
    np.testing.assert_allclose(once.history_[0], each_time.history_[0], rtol=1e-4)
    # What was fitted stays as it was fitted.
    rows = once.predict_proba()
    np.testing.assert_array_equal(rows, once.set_params(n_before=2).predict_proba())


class AtEachStep(TWIRLS):
    """Propagates in each epoch, whatever h₀ is."""

    _propagates_once = property(lambda self: False, lambda self, value: None)


def test_stochastic_twirls_reports_its_epochs_alone():
    graph, X, _, y = blocks(0, n=60)
    reported = []
    model = TWIRLS(hidden=8, max_epochs=4, label_trick="stochastic", calibrate=False)
    model.set_params(progress=lambda done, total: reported.append((done, total))).fit(
        X, y, graph=graph
    )
    epochs = [k for k, (_, total) in enumerate(reported) if total == 4]
    assert [reported[k] for k in epochs] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert epochs == list(range(epochs[0], epochs[0] + 4))
