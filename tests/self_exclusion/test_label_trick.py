import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeltrick import (
    Graph,
    Hops,
    HopSum,
    Iteration,
    Power,
    Resolvent,
    Series,
    Unfolded,
    fold_view,
    penalty_matrix,
    penalty_weights,
    self_excluded,
    self_excluded_form,
    split_labels,
    stochastic_view,
)
from tests import reference
from tests.support.graphs import graphs, random_graph

KINDS = {
    "resolvent": lambda g, **o: Resolvent(g, 0.7, tol=1e-9, **o),
    "iteration": lambda g, **o: Iteration(g, 0.7, 12, **o),
    "series": lambda g, **o: Series(g, 0.7, 4, **o),
    "power": lambda g, **o: Power(g, 2, **o),
    "hop sum": lambda g, **o: HopSum(g, 3, **o),
}


def labels(kind, n, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "one-hot": np.eye(3)[rng.integers(0, 3, n)],
        "multi-label": rng.integers(0, 2, (n, 4)).astype(float),
        "real": rng.normal(size=(n, 2)),
    }[kind]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", ["one-hot", "multi-label", "real"])
@pytest.mark.parametrize("directed", [False, True])
def test_self_excluded_matches_the_reference(kind, what, directed):
    _, graph = random_graph(1, directed=directed)
    train = np.arange(0, 22, 2)
    Y = labels(what, graph.n_nodes)
    for norm in ("sym", "row"):
        P = KINDS[kind](graph, norm=norm)
        dense = P @ np.eye(graph.n_nodes)
        expected = reference.self_excluded(dense, Y, train)
        for options in ({"tol": 1e-10}, {"method": "rows"}):
            np.testing.assert_allclose(self_excluded(P, Y, train, **options), expected, atol=1e-8)


def test_hops_exclude_the_own_label_of_each_hop():
    _, graph = random_graph(1)
    train = np.arange(0, 22, 2)
    Y = labels("one-hot", graph.n_nodes)
    S = graph.normalized("row").to_scipy().toarray()
    expected = np.concatenate(
        [reference.self_excluded(reference.power(S, k), Y, train) for k in range(4)], axis=1
    )
    P = Hops(graph, 3, norm="row")
    for method in ("subtract", "rows"):
        np.testing.assert_allclose(self_excluded(P, Y, train, method=method), expected, atol=1e-12)


@settings(max_examples=60)
@given(
    pair=graphs(),
    kind=st.sampled_from(sorted([*KINDS, "hops"])),
    norm=st.sampled_from(["sym", "row", "col"]),
    data=st.data(),
)
def test_own_label_never_counts_and_others_see_plain_propagation(pair, kind, norm, data):
    _, graph = pair
    n = graph.n_nodes
    make = {**KINDS, "hops": lambda g, **o: Hops(g, 2, **o)}[kind]
    P = make(graph, norm=norm)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    Y = labels("real", n)
    i = data.draw(st.integers(0, n - 1))
    other = Y.copy()
    other[i] = data.draw(st.floats(-100, 100))
    tol = 1e-6
    weight = P.self_weight(mask, tol=tol)
    plain = P @ np.where(mask[:, None], Y, 0)
    for options in ({"self_weight": weight}, {"method": "rows"}):
        before = self_excluded(P, Y, mask, **options)
        after = self_excluded(P, other, mask, **options)
        if "method" in options:
            np.testing.assert_array_equal(before[i], after[i])  # bit for bit
        elif mask[i]:
            bound = weight.error_bound[np.flatnonzero(mask).tolist().index(i)].max() + 1e-7
            moved = np.abs(before[i] - after[i]).max()
            assert moved <= bound * (1 + np.abs(other[i] - Y[i]).max())
        np.testing.assert_array_equal(before[~mask], plain[~mask])
    folds = fold_view(P, Y, mask, 2, random_state=0) if mask.sum() >= 2 else None
    if folds is not None:
        again = fold_view(P, other, mask, 2, random_state=0)
        np.testing.assert_array_equal(folds[i], again[i])


def test_one_versus_all_folds_are_the_self_excluded_view():
    _, graph = random_graph(2)
    train = np.arange(0, 20, 3)
    Y = labels("one-hot", graph.n_nodes)
    P = Power(graph, 3)
    np.testing.assert_allclose(
        fold_view(P, Y, train, len(train)), self_excluded(P, Y, train), atol=1e-12
    )


def test_folds_serve_any_predictor_and_keep_scale():
    rng = np.random.default_rng(0)
    Y = np.ones((600, 1))
    mean = fold_view(lambda Z: np.full((600, 1), Z.mean()), Y, np.arange(600), 10, random_state=0)
    np.testing.assert_allclose(mean, 1.0, atol=1e-12)
    plain = fold_view(lambda Z: np.full((600, 1), Z.mean()), Y, np.arange(600), 10, rescale=False)
    np.testing.assert_allclose(plain, 0.9, atol=1e-12)
    noisy = rng.normal(size=(600, 1))
    blind = fold_view(lambda Z: np.tanh(Z) ** 2, noisy, np.arange(600), 5)
    np.testing.assert_array_equal(blind, 0.0)


def test_stochastic_view_sees_the_in_part_only_and_has_the_right_mean():
    _, graph = random_graph(3)
    train = np.arange(0, 22, 2)
    Y = labels("one-hot", graph.n_nodes)
    P = Power(graph, 2)
    view, split = stochastic_view(P, Y, train, 0.4, random_state=1)
    expected = P @ (np.where(split.in_mask[:, None], Y, 0) / 0.4)
    np.testing.assert_allclose(view, expected, rtol=1e-14)
    other = Y.copy()
    other[split.out_mask] += 5
    np.testing.assert_array_equal(stochastic_view(P, other, train, 0.4, random_state=1)[0], view)
    rng = np.random.default_rng(0)
    mean = np.mean([stochastic_view(P, Y, train, 0.4, rng)[0] for _ in range(3000)], axis=0)
    mask = np.zeros(graph.n_nodes, bool)
    mask[train] = True
    np.testing.assert_allclose(mean, P @ np.where(mask[:, None], Y, 0), atol=0.12)
    unscaled, _ = stochastic_view(P, Y, train, 0.4, random_state=1, rescale=False)
    np.testing.assert_allclose(unscaled, view * 0.4, rtol=1e-12)


@pytest.mark.parametrize("kind", ["power", "unfolded", "hops"])
def test_linear_form_is_one_versus_all(kind):
    """Without h₁, the form must equal, row by row, 𝒫h₀ with that row's label blanked."""
    _, graph = random_graph(4)
    n = graph.n_nodes
    P = {"power": Power(graph, 2), "unfolded": Unfolded(graph, 3), "hops": Hops(graph, 2)}[kind]
    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(n, 3)), rng.normal(size=(5, 4))
    Y = np.zeros((n, 2))
    Y[: n // 2] = rng.normal(size=(n // 2, 2))

    def h0(labels):
        return np.tanh(np.concatenate([X, labels], axis=1) @ W)

    found = self_excluded_form(P, h0(Y), h0(np.zeros_like(Y)), P.self_weight())
    for i in range(n):
        blanked = Y.copy()
        blanked[i] = 0
        np.testing.assert_allclose(found[i], (P @ h0(blanked))[i], atol=1e-12)


def test_penalty_of_theorem_one():
    _, graph = random_graph(4)
    train = np.arange(0, 22, 2)
    Y = labels("one-hot", graph.n_nodes)
    for P in (Power(graph, 2), Resolvent(graph, 0.6, tol=1e-10)):
        dense = P @ np.eye(graph.n_nodes)
        expected = (dense[train] ** 2).sum(axis=0)[train] - np.diag(dense)[train] ** 2
        weight = P.self_weight(train, method="exact", rows=train)
        u2 = penalty_weights(P, train, self_weight=weight)
        np.testing.assert_allclose(u2, expected, atol=1e-9)
        np.testing.assert_allclose(penalty_weights(P, train), expected, rtol=1e-2)
        matrix = penalty_matrix(Y, train, u2)
        np.testing.assert_allclose(matrix, (Y[train].T * u2) @ Y[train], atol=1e-12)
        assert np.count_nonzero(matrix - np.diag(np.diag(matrix))) == 0


def test_self_weights_are_found_by_node_whatever_the_order():
    _, graph = random_graph(5)
    P = Resolvent(graph, 0.8)
    Y = labels("real", graph.n_nodes)
    shuffled = np.random.default_rng(0).permutation(graph.n_nodes)[:15]
    expected = self_excluded(P, Y, np.sort(shuffled))
    mask = np.zeros(graph.n_nodes, bool)
    mask[shuffled] = True
    for weight in (P.self_weight(), P.self_weight(mask), P.self_weight(shuffled[::-1])):
        found = self_excluded(P, Y, shuffled, self_weight=weight)
        np.testing.assert_allclose(found, expected, atol=3e-4)
    energies = P.self_weight(rows=mask)
    np.testing.assert_allclose(
        penalty_weights(P, shuffled, self_weight=energies),
        penalty_weights(P, np.sort(shuffled))[np.argsort(np.argsort(shuffled))],
        atol=2e-2,
    )


def test_small_integers_do_not_wrap():
    _, graph = random_graph(5)
    P = Power(graph, 1)
    blank, known = np.ones((25, 1), np.uint8), np.zeros((25, 1), np.uint8)
    found = self_excluded_form(P, known, blank, np.full(25, 0.5))
    np.testing.assert_allclose(found, 0.5)


def test_float32_labels_stay_float32():
    _, graph = random_graph(1)
    Y = labels("one-hot", graph.n_nodes).astype(np.float32)
    assert self_excluded(Resolvent(graph, 0.6), Y, np.arange(5)).dtype == np.float32


def test_bad_input():
    graph = Graph.from_edges([0, 1], [1, 2])
    P = Power(graph, 1)
    Y = np.eye(3)
    with pytest.raises(ValueError, match=r"`Y` must have one row per node \(3\); got 2"):
        self_excluded(P, Y[:2], [0])
    with pytest.raises(ValueError, match="`method` must be one of 'subtract', 'rows'"):
        self_excluded(P, Y, [0], method="guess")
    with pytest.raises(
        ValueError, match="`self_weight` must hold the training nodes; it lacks node 2"
    ):
        self_excluded(P, Y, [0, 2], self_weight=P.self_weight([0, 1]))
    with pytest.raises(ValueError, match="must hold column energies over the training rows"):
        penalty_weights(P, [0, 1], self_weight=P.self_weight([0, 1], rows=[0, 1, 2]))
    with pytest.raises(TypeError, match="`P` must be a Propagation; got Graph"):
        self_excluded(graph, Y, [0])
    with pytest.raises(TypeError, match="`Y` must be a matrix of real numbers; got complex128"):
        self_excluded(P, Y * 1j, [0])
    with pytest.raises(ValueError, match="`train` must hold each node once; got node 1 twice"):
        self_excluded(P, Y, np.array([0, 1, 1]))
    with pytest.raises(ValueError, match=r"`P` must return one row per node \(3\)"):
        fold_view(lambda Z: Z[:2], Y, [0, 1], 2)
    with pytest.raises(ValueError, match="`split_rate` must be strictly between 0 and 1; got 1"):
        split_labels([True, False], 1)
    with pytest.raises(ValueError, match="`n_nodes` must be given"):
        split_labels([0, 1], 0.5)
    with pytest.raises(ValueError, match="`n_folds` must be at most"):
        fold_view(P, Y, [0, 1], 3)
    with pytest.raises(ValueError, match="`with_labels` and `without_labels` must have the same"):
        self_excluded_form(P, Y, Y[:, :2], P.self_weight())
    with pytest.raises(ValueError, match="Compute it for all nodes"):
        self_excluded_form(P, Y, Y, P.self_weight([0]))
    # a label outside of train is not even looked at
    broken = Y.copy()
    broken[2] = np.nan
    assert np.isfinite(self_excluded(P, broken, [0, 1])).all()
