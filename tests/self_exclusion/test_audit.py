import numpy as np
import pytest

from labeltrick import (
    Hops,
    Iteration,
    Power,
    Resolvent,
    audit_leakage,
    fold_view,
    label_matrix,
    self_excluded,
    stochastic_view,
)
from tests.support.graphs import random_graph


@pytest.fixture(scope="module")
def problem():
    _, graph = random_graph(0, n=80, n_edges=200)
    rng = np.random.default_rng(0)
    return graph, rng.integers(0, 4, 80), np.sort(rng.choice(80, 50, replace=False))


def matrix(y, train):
    return label_matrix(y, train, n_classes=4)


def test_plain_propagation_leaks(problem):
    graph, y, train = problem
    P = Resolvent(graph, 0.6)
    report = audit_leakage(lambda y: P @ matrix(y, train), y, train)
    assert report.leaks
    assert report.n_leaking == report.n_tested == 30
    assert report.largest_change == pytest.approx(
        P.self_weight(report.worst_nodes[:1]).value[0], abs=1e-3
    )
    assert "LEAK: 30 of 30" in str(report)


def test_a_shifted_diagonal_leaks(problem):
    graph, y, train = problem
    P = Resolvent(graph, 0.6)
    shifted = np.roll(P.self_weight().value, 1)

    def predict(y):
        Y = matrix(y, train)
        return P @ Y - shifted[:, None] * Y

    report = audit_leakage(predict, y, train)
    assert report.leaks
    gaps = np.abs(shifted - P.self_weight().value)[report.worst_nodes]
    np.testing.assert_allclose(report.worst_changes, gaps, atol=1e-3)


def test_a_gnn_fed_all_its_labels_leaks_and_one_fed_the_in_part_does_not(problem):
    torch = pytest.importorskip("torch")
    pyg_nn = pytest.importorskip("torch_geometric.nn")
    graph, y, train = problem
    torch.manual_seed(0)
    model = pyg_nn.GCN(4, 16, num_layers=2, out_channels=4)
    model.eval()
    edge_index = graph.to_edge_index("torch")

    def run(labels):
        with torch.no_grad():
            return model(torch.from_numpy(labels).float(), edge_index).numpy()

    assert audit_leakage(lambda y: run(matrix(y, train)), y, train).leaks

    identity = Power(graph, 0)
    out = stochastic_view(identity, matrix(y, train), train, 0.5, 3)[1].out_mask

    def in_part_only(y):
        return run(stochastic_view(identity, matrix(y, train), train, 0.5, 3)[0])

    report = audit_leakage(in_part_only, y, out)
    assert not report.leaks
    assert report.largest_change == 0.0


@pytest.mark.parametrize(
    "make",
    [
        lambda g: Resolvent(g, 0.6),
        lambda g: Resolvent(g, 0.95, norm="row", self_loops=True),
        lambda g: Iteration(g, 0.9, 30),
        lambda g: Hops(g, 3, norm="row"),
        lambda g: Power(g, 3, norm="col"),
    ],
)
def test_leak_free_views_pass(problem, make):
    graph, y, train = problem
    P = make(graph)
    weight = P.self_weight(train)
    by_c = audit_leakage(
        lambda y: self_excluded(P, matrix(y, train), train, self_weight=weight), y, train
    )
    by_rows = audit_leakage(
        lambda y: self_excluded(P, matrix(y, train), train, method="rows"),
        y,
        train,
        n_samples=4,
        tolerance=0.0,
    )
    by_folds = audit_leakage(
        lambda y: fold_view(P, matrix(y, train), train, 5, 0), y, train, tolerance=0.0
    )
    assert not by_c.leaks
    assert not by_rows.leaks
    assert not by_folds.leaks
    assert by_folds.largest_change == 0.0


def test_the_confidence_statement():
    n = 1000
    train = np.arange(n)
    leaky = np.zeros(n, bool)
    leaky[:100] = True

    def predict(y):
        return np.where(leaky, y, 0.0)

    y = np.arange(n) % 2
    clean = audit_leakage(lambda y: np.zeros(n), y, train, n_samples=29)
    assert clean.share_bound == pytest.approx(1 - 0.05 ** (1 / 29))
    everything = audit_leakage(predict, y, train, n_samples=n)
    assert everything.share_bound == everything.n_leaking / n == 0.1
    bounds = [
        audit_leakage(predict, y, train, n_samples=60, random_state=s).share_bound
        for s in range(60)
    ]
    assert np.mean(np.array(bounds) >= 0.1) > 0.9


def test_noise_is_measured_and_allowed_for():
    rng = np.random.default_rng(0)
    y = np.arange(50) % 2
    report = audit_leakage(lambda y: rng.normal(size=50) * 0.1, y, np.arange(50))
    assert report.noise > 0
    assert not report.leaks
    assert audit_leakage(lambda y: y + rng.normal(size=50) * 0.01, y, np.arange(50)).leaks


@pytest.mark.parametrize(
    "y",
    [
        np.random.default_rng(0).normal(size=20),
        np.random.default_rng(0).normal(size=(20, 3)),
        (np.arange(60) % 2).reshape(20, 3),
        np.zeros(20, int),
    ],
    ids=["real", "several targets", "multi-label", "one class"],
)
def test_all_kinds_of_labels(y):
    train = np.arange(15)
    assert audit_leakage(lambda y: np.asarray(y, float), y, train).leaks
    assert not audit_leakage(lambda y: np.zeros(20), y, train).leaks


def test_predictions_of_any_scale_are_audited_by_how_much_labels_move_them():
    y, train = np.arange(60) % 3, np.arange(60)
    assert audit_leakage(lambda y: 1e-4 * label_matrix(y), y, train).leaks
    outlier = np.zeros(60)
    outlier[7] = 1e9
    assert audit_leakage(lambda y: y + outlier, y, train).leaks
    constant = audit_leakage(lambda y: np.full(60, 1e6), y, train)
    assert not constant.leaks
    nudge = np.roll(np.arange(60), 1)
    barely = audit_leakage(lambda y: y[nudge] + 1e-5 * y, y, train)
    assert not barely.leaks
    assert audit_leakage(lambda y: y[nudge] + 0.1 * y, y, train).leaks


def test_what_cannot_be_audited_is_an_error():
    y, train = np.arange(20) % 2, np.arange(20)
    broken = np.zeros((20, 1))
    broken[3] = np.nan
    with pytest.raises(ValueError, match="must return finite numbers; row 3 holds NaN"):
        audit_leakage(lambda y: np.column_stack([y, broken]), y, train)
    with pytest.raises(ValueError, match="same columns for all labels"):
        audit_leakage(label_matrix, np.array([0, 1, 2]), [0, 1, 2])
    with pytest.raises(ValueError, match="`tolerance` must be at least 0 and below 1"):
        audit_leakage(lambda y: y, y, train, tolerance=np.nan)
    with pytest.raises(ValueError, match="`y` must be finite at the training nodes"):
        audit_leakage(lambda y: np.zeros(20), np.full(20, np.nan), train)


def test_string_labels():
    y = np.array(["a", "b"] * 10)
    assert audit_leakage(lambda y: (y == "a").astype(float), y, np.arange(20)).leaks


def test_bad_input():
    with pytest.raises(ValueError, match="`train` must hold at least one node"):
        audit_leakage(lambda y: y, np.arange(3), [])
    with pytest.raises(ValueError, match=r"`predict` must return one row per node \(3\)"):
        audit_leakage(lambda y: y[:2], np.arange(3), [0, 1])
