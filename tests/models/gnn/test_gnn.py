"""`GNN` and its backbones; epochs of training; propagation by torch's own products."""

import math
import pickle

import numpy as np
import pytest
from sklearn.base import clone

from labeltrick import (
    GNN,
    Graph,
    Hops,
    HopSum,
    Iteration,
    Power,
    Resolvent,
    Unfolded,
    audit_leakage,
)
from labeltrick._utils.progress import ProgressBar
from tests.support.graphs import blocks, random_graph

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")
from torch import nn  # noqa: E402

from labeltrick.nn.backbones import adjacency_for, build_backbone  # noqa: E402
from labeltrick.nn.device import applied_on_device  # noqa: E402
from labeltrick.nn.epochs import EpochScore, Stopping, run_epochs  # noqa: E402

BACKBONES = pytest.mark.parametrize("backbone", ["gcn", "sage", "gat", "gin", "appnp"])
SMALL = {"hidden": 16, "max_epochs": 40, "calibrate": False}


@BACKBONES
@pytest.mark.parametrize("trick", [None, "stochastic"])
def test_learns_and_is_repeatable(backbone, trick):
    graph, X, truth, y = blocks(0, signal=1.0)
    model = GNN(backbone, label_trick=trick, **SMALL).fit(X, y, graph=graph)
    assert model.score(None, np.where(y < 0, truth, -1)) > 0.55
    again = clone(model).fit(X, y, graph=graph)
    np.testing.assert_array_equal(model.predict_proba(), again.predict_proba())


@BACKBONES
@pytest.mark.parametrize("options", [{}, {"combine": "add"}, {"n_reuse": 1}], ids=str)
def test_no_prediction_moves_with_its_own_label(backbone, options):
    graph, X, _, y = blocks(1, n=60)
    model = GNN(backbone, **{**SMALL, "max_epochs": 5}, **options).fit(X, y, graph=graph)
    report = audit_leakage(lambda y: model.predict_proba(y=y), y, y >= 0, n_samples=10)
    assert not report.leaks


def test_a_plain_pass_over_labeled_nodes_would_leak():
    graph, X, _, y = blocks(1, n=60)
    model = GNN(**SMALL).fit(X, y, graph=graph)
    x, adjacency = model._tensors_of(model.fitted_inputs)

    def plain(labels):
        given = torch.from_numpy(labels)
        return model._forward(model.network_, x, adjacency, given, torch.from_numpy(y >= 0))

    assert audit_leakage(plain, y, y >= 0, n_samples=10).leaks


def test_labels_at_random_score_at_chance():
    scores = []
    for seed in range(3):
        _, graph = random_graph(seed, n=200, n_edges=600)
        rng = np.random.default_rng(seed)
        y, X = rng.integers(0, 3, 200), rng.normal(size=(200, 5))
        scores.append(GNN(**{**SMALL, "max_epochs": 15}).fit(X, y, graph=graph).oof_score_)
    assert np.mean(scores) < 0.42


def test_numbers_and_several_labels_and_sparse_features():
    import scipy.sparse as sp

    graph, X, truth, y = blocks(2, signal=1.0)
    values = np.where(y < 0, np.nan, truth * 10.0 + 0.5)
    assert GNN(**SMALL).fit(X, values, graph=graph).score(None, truth * 10 + 0.5) > 0.2
    several = np.eye(3)[truth]
    several[y < 0] = np.nan
    assert GNN(**SMALL).fit(X, several, graph=graph).predict_proba().shape == (150, 3)
    dense = GNN(scale=False, **SMALL).fit(X, y, graph=graph).predict_proba()
    sparse = GNN(scale=False, **SMALL).fit(sp.csr_array(X), y, graph=graph).predict_proba()
    np.testing.assert_allclose(sparse, dense, atol=1e-6)


def test_held_labels_are_neither_inputs_nor_targets():
    graph, X, _, y = blocks(3)
    held = np.flatnonzero(y >= 0)[:20]
    flipped = y.copy()
    flipped[held] = (flipped[held] + 1) % 3
    model = GNN(**{**SMALL, "max_epochs": 1})
    rows = [model.fit(X, v, graph=graph, validation=held).predict_proba() for v in (y, flipped)]
    np.testing.assert_array_equal(*rows)


def test_bad_input():
    graph, X, _, y = blocks(4, n=40)
    with pytest.raises(ValueError, match="must be None or 'stochastic' here; got 'deterministic'"):
        GNN(label_trick="deterministic").fit(X, y, graph=graph)
    with pytest.raises(ValueError, match="`backbone` must be one of 'gcn', 'sage'"):
        GNN("transformer").fit(X, y, graph=graph)
    with pytest.raises(ValueError, match="learns from features; got None"):
        GNN().fit(None, y, graph=graph)
    with pytest.raises(FloatingPointError, match="`learning_rate` must be lower"):
        GNN(learning_rate=1e30, **SMALL).fit(X, y, graph=graph)


def test_can_be_pickled():
    graph, X, _, y = blocks(5, n=40)
    model = GNN(hidden=8, max_epochs=2, calibrate=False).fit(X, y, graph=graph)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(), model.predict_proba())


# -- backbones against PyG ------------------------------------------------------------------------
@pytest.mark.parametrize("hidden", [3, 16])
def test_gcn_is_pygs_in_value_and_gradient(hidden):
    from torch_geometric.nn import GCN

    _, graph = random_graph(0, n=30, n_edges=80)
    theirs = GCN(5, hidden, 3, 4).double()
    ours = build_backbone("gcn", 5, 4, hidden=hidden, n_layers=3, dropout=0.0).double()
    ours.load_state_dict(theirs.state_dict())
    x = torch.randn(30, 5, dtype=torch.float64)
    P = adjacency_for("gcn", graph, damping=0.9, n_steps=10)
    found, expected = ours(x, P), theirs(x, graph.to_edge_index("torch"))
    torch.testing.assert_close(found, expected)
    for scores, model in ((found, ours), (expected, theirs)):
        (scores**2).sum().backward()
        assert all(p.grad is not None for p in model.parameters())
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad)


def test_appnp_is_pygs():
    from torch_geometric.nn import APPNP

    _, graph = random_graph(1, n=30, n_edges=80)
    ours = build_backbone("appnp", 5, 3, hidden=8, n_layers=2, dropout=0.0).double()
    x = torch.randn(30, 5, dtype=torch.float64)
    P = adjacency_for("appnp", graph, damping=0.9, n_steps=10)
    edges = graph.to_edge_index("torch")
    torch.testing.assert_close(ours(x, P), APPNP(10, 0.1)(ours.perceptron(x), edges))


# -- propagation by torch's products --------------------------------------------------------------
@pytest.mark.parametrize(
    "kind",
    [
        lambda g: Power(g, 3, norm="row"),
        lambda g: HopSum(g, 3, self_loops=True),
        lambda g: Iteration(g, 0.7, 5),
        lambda g: Resolvent(g, 0.6, tol=1e-12),
        lambda g: Hops(g, 3),
        lambda g: Unfolded(g, 3),
        lambda g: Unfolded(g, 3, precondition=False),
    ],
    ids=["power", "sum", "iteration", "resolvent", "hops", "unfolded", "plain unfolded"],
)
def test_the_path_of_a_gpu_gives_the_same(kind):
    """The path is taken by CUDA tensors; its arithmetic can be checked anywhere."""
    _, graph = random_graph(2, n=20, n_edges=50, weighted=True)
    P = kind(graph)
    F = torch.randn(20, 3, dtype=torch.float64)
    result = applied_on_device(P, F)
    np.testing.assert_allclose(result.numpy(), P @ F.numpy(), atol=1e-10)
    back = torch.randn_like(result)
    found = applied_on_device(P.T, back)
    np.testing.assert_allclose(found.numpy(), P.T @ back.numpy(), atol=1e-10)


# -- epochs ---------------------------------------------------------------------------------------
def epochs(losses, scores, **options):
    model = nn.Linear(1, 1, bias=False)
    states = iter(range(1, 100))

    def run_epoch():
        epoch = next(states)
        with torch.no_grad():
            model.weight.fill_(epoch)
        return losses[epoch - 1]

    ranks = iter(scores or [])

    def validate():
        score = next(ranks)
        return EpochScore(score, (score,))

    with ProgressBar(10, "test", False) as bar:
        stopping = Stopping(**{"max_epochs": 10, "patience": 3, "ceiling": 100.0, **options})
        training = run_epochs(model, run_epoch, validate if scores else None, stopping, bar)
    return training, float(model.weight)


def test_the_best_epoch_is_kept_and_patience_ends():
    training, weight = epochs([1.0] * 10, [1, 5, 2, 3, 4, 9, 9, 9, 9, 9])
    assert (training.best_epoch, weight, len(training.history)) == (2, 2.0, 5)
    training, weight = epochs([1.0] * 10, None)
    assert (training.best_epoch, weight, len(training.history)) == (10, 10.0, 10)


def test_some_epochs_need_not_be_judged():
    training, weight = epochs([1.0] * 10, [1, 5, 2, 3], validate_every=2, patience=4)
    assert (training.best_epoch, weight, len(training.history)) == (4, 4.0, 8)
    assert [epoch for epoch, _, score in training.history if math.isnan(score)] == [1, 3, 5, 7]
    training, weight = epochs([1.0] * 3, [1, 5], validate_every=2, max_epochs=3)
    assert (training.best_epoch, weight) == (3, 3.0)  # the last one always is


@pytest.mark.parametrize("bad", [math.nan, math.inf, 101.0])
def test_a_loss_that_runs_away_stops(bad):
    training, weight = epochs([1.0, 1.0, bad] + [1.0] * 7, [3, 2, 9, 9, 9, 9, 9, 9, 9, 9])
    assert (training.diverged_at, training.best_epoch, weight) == (3, 1, 1.0)
    assert (
        epochs([101.0] + [1.0] * 9, None)[0].diverged_at is None
    )  # a bad start is no running away


def test_edge_weights_that_a_backbone_ignores_are_told():
    graph, X, _, y = blocks(20, n=40)
    src, dst = graph.to_edge_index()
    weighted = Graph.from_edges(src, dst, weight=np.linspace(1, 2, len(src)), directed=True)
    with pytest.warns(UserWarning, match="backbone='sage' ignores edge weights"):
        GNN("sage", max_epochs=2).fit(X, y, graph=weighted)
