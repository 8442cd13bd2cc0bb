"""Default settings give Theorem 1's penalty to 1 %, on any graph and number of labels."""

import numpy as np
import pytest

from labeltrick import Graph, Iteration, Resolvent, datasets, label_matrix, penalty_weights
from labeltrick.propagation.diagonal import has_self_weight
from labeltrick.self_exclusion.objective import label_trick_problem, minimize, probed_penalty
from tests import reference
from tests.support.graphs import dense_operator, random_graph

DAMPINGS = (0.3, 0.6, 0.9)


def check_penalty(P, Y, train, exact_u2):
    """Sums over all nodes and over each pair of columns are right to 1 %, and certified."""
    u2 = penalty_weights(P, train)
    np.testing.assert_allclose(u2.sum(), exact_u2.sum(), rtol=1e-2)
    exact = Y[train].T @ (exact_u2[:, None] * Y[train])
    problem = label_trick_problem(P, Y, train)
    scale = np.sqrt(np.outer(np.diag(exact), np.diag(exact)))
    assert (np.abs(problem.penalty - exact) <= 1e-2 * scale).all()
    energy = P.column_energy(train, train)
    assert (np.abs(energy.column_energy - exact_u2) <= energy.energy_bound).all()
    assert (energy.energy_bound <= 0.0101 * energy.column_energy + 1e-20).all()


@pytest.mark.parametrize("damping", DAMPINGS)
@pytest.mark.parametrize("n_labeled", [4, 30, 300])
@pytest.mark.parametrize("norm", ["sym", "row"])
def test_few_and_many_labels_of_a_sparse_graph(damping, n_labeled, norm):
    _, graph = random_graph(3, n=600, n_edges=900)
    rng = np.random.default_rng(n_labeled)
    train = np.sort(rng.choice(600, n_labeled, replace=False))
    dense = reference.resolvent(dense_operator(graph, norm, True), damping)
    exact = reference.column_energy(dense, train)[train]
    Y = label_matrix(rng.integers(0, 3, 600))
    check_penalty(Resolvent(graph, damping, norm=norm, self_loops=True), Y, train, exact)


@pytest.mark.parametrize("damping", DAMPINGS)
def test_sums_are_certified_where_single_energies_are_not(damping, monkeypatch):
    monkeypatch.setattr(has_self_weight, "_EACH_NODE", 0)  # as on a large graph
    monkeypatch.setattr(has_self_weight, "_SAMPLE", 5)
    _, graph = random_graph(9, n=600, n_edges=800)
    train = np.flatnonzero(np.random.default_rng(0).random(600) < 0.2)
    P = Resolvent(graph, damping, self_loops=True)
    energy = P.column_energy(train, train)
    dense = reference.resolvent(dense_operator(graph, "sym", True), damping)
    exact = reference.column_energy(dense, train)[train]
    assert (np.abs(energy.column_energy - exact) <= energy.energy_bound).all()
    assert energy.energy_bound.sum() <= 0.01 * energy.column_energy.sum()
    # Each class by itself, too, however little it sees.
    y = np.where(np.argsort(np.argsort(exact)) < 20, 1, 0)
    Y = np.zeros((600, 2))
    Y[train] = np.eye(2)[y]
    penalty = label_trick_problem(P, Y, train).penalty
    np.testing.assert_allclose(
        np.diag(penalty), [exact[y == 0].sum(), exact[y == 1].sum()], rtol=1e-2, atol=1e-20
    )


def test_energies_of_nodes_that_see_nobody_are_zero():
    graph = Graph.from_edges([0, 2, 3], [1, 3, 4], n_nodes=6)
    P = Resolvent(graph, 0.6)
    train = np.array([0, 2, 4, 5])  # 0 and 5 are the only labels of their components
    u2 = penalty_weights(P, train)
    assert u2[0] == u2[3] == 0
    assert u2[1] > 0


def test_far_labels_keep_their_digits():
    """Two labels at the ends of a path: u² is about 1e-15."""
    n = 14
    graph = Graph.from_edges(np.arange(n - 1), np.arange(1, n))
    P = Resolvent(graph, 0.5)
    dense = reference.resolvent(dense_operator(graph, "sym", False), 0.5)
    exact = reference.column_energy(dense, [0, n - 1])[[0, n - 1]]
    np.testing.assert_allclose(penalty_weights(P, [0, n - 1]), exact, rtol=1e-2)


def test_weights_at_small_rates_follow_the_exact_penalty():
    _, graph = random_graph(5, n=800, n_edges=1500)
    rng = np.random.default_rng(0)
    train = np.sort(rng.choice(800, 60, replace=False))
    Y = label_matrix(rng.integers(0, 2, 800))
    P = Resolvent(graph, 0.6, self_loops=True)
    exact = label_trick_problem(
        P, Y, train, self_weight=P.self_weight(train, rows=train, method="exact")
    )
    ours = label_trick_problem(P, Y, train)
    for a, b in zip(minimize(ours, [0.05, 0.5]), minimize(exact, [0.05, 0.5]), strict=True):
        np.testing.assert_allclose(a.labels, b.labels, atol=0.02 * np.abs(b.labels).max())


def test_random_signs_reach_their_tolerance():
    """Small classes by their columns, large ones by signs; the standard error is at most 1 %."""
    _, graph = random_graph(4, n=1500, n_edges=4000)
    rng = np.random.default_rng(1)
    y = np.where(rng.random(1500) < 0.01, 2, rng.integers(0, 2, 1500))
    train = np.sort(rng.choice(1500, 900, replace=False))
    P = Iteration(graph, 0.9, 9)
    Y = label_matrix(y)
    weight = P.self_weight(train)
    exact = label_trick_problem(P, Y, train).penalty
    drawn, error = probed_penalty(P, Y, train, rows=train, self_weight=weight)
    assert (np.diag(error) <= 0.01 * np.diag(drawn)).all()
    assert (np.abs(drawn - exact) <= 4 * error + 1e-12).all()
    assert error[2, 2] == 0  # a dozen nodes, by their columns


@pytest.mark.parametrize("damping", DAMPINGS)
@pytest.mark.parametrize(
    ("name", "n_labeled"),
    [
        ("cora", 140),
        ("county-2016", 1000),
        ("pubmed", 60),
        ("pubmed", 600),
        pytest.param("pubmed", 11_830, marks=pytest.mark.slow),  # a minute of exact columns
    ],
)
def test_public_graphs(data_dir, name, n_labeled, damping):
    data = datasets.load(name, data_dir=data_dir)
    n = data.graph.n_nodes
    train = np.sort(np.random.default_rng(0).choice(n, n_labeled, replace=False))
    P = Resolvent(data.graph, damping, self_loops=True)
    exact = P.column_energy(train, train, method="exact", progress=False).column_energy
    Y = np.nan_to_num(data.y)[:, None] if data.task == "regression" else label_matrix(data.y)
    check_penalty(P, Y, train, exact)
