"""The paper's theorems, checked by enumerating every split of small training sets; and Theorem 1's
penalty, which default settings give to 1 %, on any graph and number of labels."""

import numpy as np
import pytest

from labeltrick import (
    Graph,
    Iteration,
    Power,
    Resolvent,
    datasets,
    label_matrix,
    penalty_weights,
)
from labeltrick.propagation.diagonal import has_self_weight
from labeltrick.self_exclusion import objective as module
from labeltrick.self_exclusion.objective import (
    label_trick_problem,
    minimize,
    objective,
    probed_penalty,
)
from tests import reference
from tests.support.graphs import dense_operator, random_graph


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
def test_the_penalty_can_be_drawn(one_hot, monkeypatch):
    monkeypatch.setattr(module, "_RARE", 0)  # no exact energies for small columns
    graph, train, Y, _, _, _ = small_problem(int(one_hot))
    P = Iteration(graph, 0.8, 7, norm="row")
    weight = P.self_weight(train, rows=train)
    exact = label_trick_problem(P, Y, train, self_weight=weight).penalty
    options = {"rows": train, "self_weight": weight}
    few = probed_penalty(P, Y, train, rtol=0.5, **options)[1]
    monkeypatch.setattr(module, "_MOST_DRAWS", 2000)
    drawn, error = probed_penalty(P, Y, train, rtol=1e-6, **options)
    assert (np.abs(drawn - exact) <= 4 * error + 1e-12).all()
    assert error.max() < 0.1 * np.abs(exact).max()
    if one_hot:
        assert np.count_nonzero(drawn - np.diag(np.diag(drawn))) == 0
    assert few.max() > 3 * error.max()


def test_rows_of_a_drawn_penalty_hold_the_training_nodes():
    graph, train, Y, _, _, _ = small_problem(1)
    P = Iteration(graph, 0.8, 7)
    with pytest.raises(ValueError, match="rows"):
        probed_penalty(P, Y, train, rows=train[1:], self_weight=P.self_weight(train))


# -- how accurate the penalty is -----------------------------------------------------------------
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
