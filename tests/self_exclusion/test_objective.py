"""The paper's theorems, checked by enumerating every split of small training sets."""

import numpy as np
import pytest

from labeltrick import Graph, Iteration, Power, Resolvent
from labeltrick.self_exclusion.objective import (
    label_trick_problem,
    minimize,
    objective,
    probed_penalty,
)
from tests import reference
from tests.support.graphs import random_graph


def small_problem(seed, *, directed=False, weighted=False, features=True):
    _, graph = random_graph(seed, n=12, n_edges=25, directed=directed, weighted=weighted)
    rng = np.random.default_rng(seed)
    train = np.sort(rng.choice(9, 6, replace=False))
    Y = np.eye(3)[rng.integers(0, 3, 12)] if seed % 2 else rng.normal(size=(12, 3))
    X = rng.normal(size=(12, 2)) if features else None
    return graph, train, Y, X, rng.normal(size=(3, 3)), rng.normal(size=(2, 3))


KINDS = [
    lambda g: Resolvent(g, 0.6, tol=1e-13),
    lambda g: Iteration(g, 0.8, 7, norm="row"),
    lambda g: Power(g, 2, norm="col", self_loops=True),
]


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9])
def test_theorem_one_and_corollary_one(make, directed, alpha):
    for seed in range(4):
        graph, train, Y, X, W_y, W_x = small_problem(seed, directed=directed, weighted=seed > 1)
        P = make(graph)
        dense = P @ np.eye(12)
        weight = P.self_weight(train, rows=train, method="exact")
        for features in (None, X):
            PX_W = 0.0 if features is None else dense @ X @ W_x
            expected = reference.expected_loss(reference.squared, dense, Y, train, alpha, W_y, PX_W)
            literal = reference.theorem_one(dense, Y, train, alpha, W_y, PX_W)
            assert literal == pytest.approx(expected, rel=1e-10)
            problem = label_trick_problem(P, Y, train, features, self_weight=weight)
            ours = objective(problem, alpha, W_y, None if features is None else W_x)
            assert ours == pytest.approx(expected, rel=1e-10)


def test_the_printed_penalty_is_not_the_one_that_holds():
    """With diag(PᵀP) over all rows, as printed, the identity fails."""
    graph, train, Y, _, W_y, _ = small_problem(1)
    P = Resolvent(graph, 0.6, tol=1e-13) @ np.eye(12)
    expected = reference.expected_loss(reference.squared, P, Y, train, 0.5, W_y)
    printed = reference.theorem_one(P, Y, train, 0.5, W_y, energy_rows=np.arange(12))
    assert reference.theorem_one(P, Y, train, 0.5, W_y) == pytest.approx(expected, rel=1e-12)
    assert printed - expected > 1e-3 * expected


@pytest.mark.parametrize("features", [False, True])
def test_closed_form_is_the_minimiser_at_every_rate(features):
    graph, train, Y, X, _, _ = small_problem(3, features=features)
    P = Resolvent(graph, 0.6, tol=1e-13)
    problem = label_trick_problem(
        P, Y, train, X, self_weight=P.self_weight(train, rows=train, method="exact")
    )
    rng = np.random.default_rng(0)
    rates = [0.05, 0.3, 0.95]
    for found in minimize(problem, rates):
        best = objective(problem, found.split_rate, found.labels, found.features)
        for _ in range(50):
            d_y = 1e-3 * rng.normal(size=found.labels.shape)
            d_x = 1e-3 * rng.normal(size=found.features.shape)
            moved = objective(problem, found.split_rate, found.labels + d_y, found.features + d_x)
            assert moved >= best - 1e-12
    assert [w.split_rate for w in minimize(problem, rates)] == rates


def test_closed_form_matches_the_formula_and_shrinks_with_the_rate():
    graph, train, Y, _, _, _ = small_problem(1, features=False)
    P = Power(graph, 2)
    weight = P.self_weight(train, rows=train, method="exact")
    problem = label_trick_problem(P, Y, train, self_weight=weight)
    Z, penalty = problem.label_inputs, problem.penalty
    norms = []
    for found in minimize(problem, [0.1, 0.5, 0.9]):
        alpha = found.split_rate
        system = Z.T @ Z + (1 - alpha) / alpha * penalty
        np.testing.assert_allclose(
            system @ found.labels, Z.T @ Y[train], atol=1e-10
        )  # fact: W = (ZᵀZ + (1−α)/α YᵀU²Y)⁻¹ ZᵀY
        norms.append(np.linalg.norm(found.labels))
    assert norms[0] < norms[1] < norms[2]


def test_singular_problems_have_an_answer():
    graph = Graph.from_edges([], [], n_nodes=4)  # no edges: no inputs at all
    Y = np.eye(2)[[0, 1, 0, 1]]
    problem = label_trick_problem(Resolvent(graph, 0.5), Y, [0, 1])
    (found,) = minimize(problem, 0.5)
    np.testing.assert_allclose(found.labels, 0, atol=1e-12)
    (ridged,) = minimize(problem, 1, ridge=0.1)
    np.testing.assert_allclose(ridged.labels, 0, atol=1e-12)
    with pytest.raises(ValueError, match="`ridge` must be at least 0"):
        minimize(problem, 0.5, ridge=-1)
    with pytest.raises(ValueError, match="`split_rate` must be strictly between 0 and 1; got 2"):
        minimize(problem, 2)


@pytest.mark.parametrize("alpha", [0.05, 0.3, 0.5, 0.8, 0.95])
def test_theorem_two_bound(alpha):
    """The random trick's cross-entropy is never below the self-excluded one."""
    for seed in range(8):
        graph, train, _, X, W_y, W_x = small_problem(seed)
        Y = np.eye(3)[np.random.default_rng(seed).integers(0, 3, 12)]
        P = KINDS[seed % 3](graph) @ np.eye(12)
        PX_W = P @ X @ W_x
        left = reference.expected_loss(reference.cross_entropy, P, Y, train, alpha, W_y, PX_W)
        view = reference.self_excluded(P, Y, train) @ W_y + PX_W
        right = sum(reference.cross_entropy(Y[i], view[i]) for i in train)
        assert left >= right - 1e-10


def test_theorem_three_limit():
    """As α → 1 a nonlinear network's objective tends to the one-versus-all sum."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    graph, train, _, X, _, _ = small_problem(5)
    Y = np.eye(3)[np.random.default_rng(5).integers(0, 3, 12)]
    P = torch.from_numpy(Power(graph, 1, self_loops=True) @ np.eye(12))
    first, second = torch.nn.Linear(5, 8).double(), torch.nn.Linear(8, 3).double()

    def network(labels):
        inputs = torch.from_numpy(np.concatenate([X, labels], axis=1))
        with torch.no_grad():
            return (P @ second(torch.relu(P @ first(inputs)))).numpy()

    def loss_without(blank, targets):
        labels = np.zeros_like(Y)
        kept = [i for i in train if i not in blank]
        labels[kept] = Y[kept]
        prediction = network(labels)
        return sum(reference.cross_entropy(Y[i], prediction[i]) for i in targets)

    limit = sum(loss_without([i], [i]) for i in train)
    gaps = []
    for alpha in (0.9, 0.99, 0.999):
        value = sum(
            probability * loss_without(outside, outside)
            for _, outside, probability in reference.all_splits(train, alpha)
        ) / (1 - alpha)
        gaps.append(abs(value - limit))
    assert gaps[2] < 0.02 * limit
    assert gaps[0] > 5 * gaps[1] > 25 * gaps[2]


@pytest.mark.parametrize("one_hot", [False, True])
def test_the_penalty_can_be_drawn(one_hot):
    graph, train, Y, _, _, _ = small_problem(int(one_hot))
    P = Iteration(graph, 0.8, 7, norm="row")
    weight = P.self_weight(train, rows=train)
    exact = label_trick_problem(P, Y, train, self_weight=weight).penalty
    options = {"rows": train, "self_weight": weight}
    drawn, error = probed_penalty(P, Y, train, n_probes=2000, **options)
    assert (np.abs(drawn - exact) <= 4 * error + 1e-12).all()
    assert error.max() < 0.1 * np.abs(exact).max()
    if one_hot:
        assert np.count_nonzero(drawn - np.diag(np.diag(drawn))) == 0
    few = probed_penalty(P, Y, train, n_probes=20, **options)[1]
    assert few.max() > 3 * error.max()


def test_rows_of_a_drawn_penalty_hold_the_training_nodes():
    graph, train, Y, _, _, _ = small_problem(1)
    P = Iteration(graph, 0.8, 7)
    with pytest.raises(ValueError, match="rows"):
        probed_penalty(P, Y, train, rows=train[1:], self_weight=P.self_weight(train))
