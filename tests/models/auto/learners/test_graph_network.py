"""The graph network of AutoModel."""

import numpy as np
import pytest

from labeltrick import Graph, audit_leakage, load_model, save_model
from labeltrick.models.auto.learners import graph_network
from tests.support.auto import numbers, quick
from tests.support.estimator_checks import check_out_of_fold_rows
from tests.support.graphs import blocks


def mines(seed, side):
    """A board: any field may hold a mine, and half of the fields tell how many neighbors do."""
    rng = np.random.default_rng(seed)
    at = np.arange(side * side).reshape(side, side)
    steps = [(at[:, :-1], at[:, 1:]), (at[:-1], at[1:]), (at[:-1, :-1], at[1:, 1:]),
             (at[:-1, 1:], at[1:, :-1])]  # fmt: skip
    ends = [np.concatenate([step[k].ravel() for step in steps]) for k in (0, 1)]
    graph = Graph.from_edges(*ends)
    truth = (rng.random(side * side) < 0.25).astype(int)
    count = (graph.to_scipy() @ truth).astype(int)
    X = np.eye(9)[count][:, :7] * (rng.random(side * side) < 0.5)[:, None]
    return graph, X, np.where(rng.random(side * side) < 0.6, truth, -1)


DEEP = {"learners": ["deep graph network"], "exclude": ["features alone"]}


def test_members_of_a_deep_network_know_nothing_of_the_fold_they_leave_out():
    pytest.importorskip("torch")
    check_out_of_fold_rows(*blocks(20, n=90), **DEEP)


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_a_deep_network_does_not_leak_and_is_saved(task, tmp_path):
    pytest.importorskip("torch")
    graph, X, _, y = blocks(5, n=90) if task == "classes" else numbers(1, 90)
    model = quick(**DEEP).fit(X, y, graph=graph)
    labels = model.targets_.codes if task == "classes" else y
    report = audit_leakage(model.rows_for, labels, model.labeled_, n_samples=10, progress=False)
    assert not report.leaks, str(report)
    loaded = load_model(save_model(model, tmp_path / "model"))
    np.testing.assert_array_equal(loaded.oof_rows_, model.oof_rows_)
    np.testing.assert_array_equal(
        loaded.predict(X, y, graph=graph), model.predict(X, y, graph=graph)
    )


def test_a_deep_network_with_all_labels_predicts_unlabeled_nodes():
    pytest.importorskip("torch")
    graph, X, _, y = blocks(6, n=90)
    model = quick(**DEEP).fit(X, y, graph=graph)
    (fitted,) = model._learners
    assert [member.whole for member in fitted.members] == [False] * 3 + [True]
    inputs, (*_, whole) = model.fitted_inputs, fitted.members
    features = model._maker.features(inputs, fitted.learner)
    by_all = fitted.learner.predictor(whole, features, inputs)(inputs.targets)
    found, hidden = model._maker.rows(fitted, inputs), ~inputs.targets.labeled
    np.testing.assert_allclose(found[hidden], by_all[hidden], atol=1e-12)
    assert np.abs(found[~hidden] - by_all[~hidden]).max() > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_the_graph_network_earns_its_place_where_counts_matter(seed, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setitem(graph_network.ON_NUMBERS, "max_epochs", 200)  # other tests take fewer
    graph, X, y = mines(seed, side=100)
    others = ["trees", "linear"]
    model = quick(n_folds=2, learners=[*others, "graph network"]).fit(X, y, graph=graph)
    loss = {trial.name: trial.loss for trial in model.trials_}
    assert loss["graph network"] < 0.95 * min(loss[name] for name in others)
    assert model.shares_["graph network"] > 0.5
    # Each fold is scored with the shares that the other folds chose, so that the blend's loss may
    # exceed that of its best learner by chance, but not that of the others.
    # It is missing where the others are of no use beside the graph network.
    assert loss.get("blend", 0.0) < min(loss[name] for name in others)


def test_biases_before_batch_norm_are_not_trained():
    """Their gradients are rounding errors, which would make results depend on the node order."""
    pytest.importorskip("torch")
    from labeltrick.nn.sage import MeanNetwork

    for batch_norm in (False, True):
        network = MeanNetwork(3, 2, 4, 2, 0.0, batch_norm)
        assert all(layer.bias.requires_grad != batch_norm for layer in network.own)


@pytest.mark.parametrize("batch_norm", [False, True])
def test_a_graph_network_predicts_as_arrays_what_torch_does(batch_norm):
    torch = pytest.importorskip("torch")
    from labeltrick import Power
    from labeltrick.models.auto.learners.graph_network import GraphNetwork
    from labeltrick.nn.sage import MeanNetwork

    graph, X, _, _ = blocks(2, n=60)
    torch.manual_seed(0)
    network = MeanNetwork(X.shape[1], 3, hidden=8, n_layers=3, dropout=0.5, batch_norm=batch_norm)
    mean = Power(graph, 1, norm="row")
    with torch.no_grad():
        for _ in range(20):  # statistics of the batch norms
            network.train()(torch.from_numpy(X.astype(np.float32)), mean)
    network.eval()
    rows = GraphNetwork(*network.arrays(), "softmax").predict(X.astype(np.float32), graph)
    with torch.no_grad():
        expected = network(torch.from_numpy(X.astype(np.float32)), mean).softmax(dim=1)
    np.testing.assert_allclose(rows, expected.numpy(), atol=1e-6)
    dense = graph.to_scipy().toarray()
    dense /= np.maximum(dense.sum(axis=1, keepdims=True), 1)
    h = X
    for own, near, norm in zip(network.own, network.near, network.norms, strict=True):
        W, V = own.weight.detach().numpy().T, near.weight.detach().numpy().T
        h = h @ W + dense @ h @ V + own.bias.detach().numpy()
        if batch_norm:
            h = (h - norm.running_mean.numpy()) / np.sqrt(norm.running_var.numpy() + norm.eps)
        h = np.maximum(h, 0)
    scores = h @ network.last.weight.detach().numpy().T + network.last.bias.detach().numpy()
    by_hand = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(rows, by_hand, atol=1e-5)
