import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeltrick import Hops, Iteration, Resolvent
from labeltrick.self_exclusion.label_views import LabelViews, label_columns
from tests import reference
from tests.support.graphs import graphs, random_graph, wide_graph


def labels(seed, n, share=0.5):
    rng = np.random.default_rng(seed)
    labeled = rng.random(n) < share
    labeled[:2] = True
    return np.where(labeled[:, None], np.eye(3)[rng.integers(0, 3, n)], 0.0), labeled


@pytest.mark.parametrize("kind", [{}, {"weighted": True}, {"directed": True}])
@pytest.mark.parametrize("norm", ["sym", "row", "col"])
def test_shares_match_the_formula(kind, norm):
    A, graph = random_graph(0, n=40, n_edges=90, **kind)
    Y, labeled = labels(0, 40)
    S = reference.normalized(A, norm)
    views = LabelViews([Resolvent(graph, 0.7, norm=norm, tol=1e-12), Hops(graph, 3, norm=norm)])
    got = views.inputs(label_columns(Y, labeled.astype(float)))
    assert got.values.shape[1] == 4
    dense = [reference.resolvent(S, 0.7)] + [reference.power(S, k) for k in (1, 2, 3)]
    for k, P in enumerate(dense):
        expected = reference.self_excluded_shares(P, Y, labeled)
        np.testing.assert_allclose(got.values[:, k], expected, atol=1e-5)
    some = np.array([5, 1, 30])
    part = views.inputs(label_columns(Y, labeled.astype(float)), some)
    np.testing.assert_allclose(part.values, got.values[some], atol=1e-12)


def test_without_normalising_it_is_the_self_excluded_view():
    A, graph = random_graph(1, n=30)
    Y, labeled = labels(1, 30)
    P = reference.iteration(reference.normalized(A, "sym"), 0.6, 5, np.eye(30))
    views = LabelViews([Iteration(graph, 0.6, 5)], normalize=False)
    got = views.inputs(label_columns(Y, labeled.astype(float))).values[:, 0]
    np.testing.assert_allclose(got, (P - np.diag(np.diag(P))) @ Y, atol=1e-8)
    plain = views.inputs(label_columns(Y, labeled.astype(float)), exclude=False).values[:, 0]
    np.testing.assert_allclose(plain, P @ Y, atol=1e-12)


@settings(max_examples=40)
@given(graphs(directed=False), st.integers(0, 2**16))
def test_no_row_depends_on_its_own_label(pair, seed):
    _, graph = pair
    n = graph.n_nodes
    rng = np.random.default_rng(seed)
    views = LabelViews([Resolvent(graph, 0.8), Hops(graph, 3, norm="row")])
    Y = np.eye(3)[rng.integers(0, 3, n)]
    before = views.inputs(label_columns(Y, np.ones(n))).values
    i = int(rng.integers(n))
    Y[i] = np.roll(Y[i], 1)
    after = views.inputs(label_columns(Y, np.ones(n))).values
    np.testing.assert_allclose(after[i], before[i], atol=1e-4)
    if n > 1:
        np.testing.assert_allclose(before.sum(axis=2), 1.0, atol=1e-4)


def test_self_weights_are_found_once(monkeypatch):
    _, graph = random_graph(2, n=30)
    Y, labeled = labels(2, 30)
    views = LabelViews([Resolvent(graph, 0.6), Resolvent(graph, 0.6, norm="row")])
    asked = []
    original = Resolvent.self_weight

    def counting(self, nodes=None, **options):
        asked.append(len(nodes))
        return original(self, nodes, **options)

    monkeypatch.setattr(Resolvent, "self_weight", counting)
    columns = label_columns(Y, labeled.astype(float))
    alone = ~views.inputs(columns).reached[labeled, 0]
    # Both norms of an undirected graph share the diagonal; nodes that see no label but their own
    # are asked for twice, the second time as finely as rounding allows.
    assert asked == [labeled.sum(), alone.sum()]
    views.inputs(columns)
    assert len(asked) == 2


@pytest.mark.parametrize("norm", ["sym", "row", "col"])
@pytest.mark.parametrize("directed", [False, True])
def test_weights_of_any_size_leave_nothing_of_an_own_label(norm, directed):
    for seed in range(8):
        graph = wide_graph(seed, decades=12, directed=directed)
        n = graph.n_nodes
        views = LabelViews([Resolvent(graph, 0.6, norm=norm), Hops(graph, 3, norm=norm)])
        Y, labeled = labels(seed, n)
        before = views.inputs(label_columns(Y, labeled.astype(float))).values
        for i in np.flatnonzero(labeled):
            other = Y.copy()
            other[i] = np.roll(Y[i], 1)
            after = views.inputs(label_columns(other, labeled.astype(float))).values
            np.testing.assert_allclose(after[i], before[i], atol=1e-5)


def test_a_node_without_others_sees_the_prior():
    _, graph = random_graph(3, n=10, n_edges=0)
    Y = np.eye(2)[np.array([0, 1, 1, 0, 0, 0, 0, 0, 0, 0])]
    weight = np.zeros(10)
    weight[:3] = 1
    got = LabelViews([Resolvent(graph, 0.5)]).inputs(label_columns(Y * weight[:, None], weight))
    assert not got.reached[3:].any()
    np.testing.assert_allclose(got.values[0, 0], [0, 1])  # the mean of the other two
    np.testing.assert_allclose(got.values[5, 0], [1 / 3, 2 / 3])
    nothing = LabelViews([Resolvent(graph, 0.5)]).inputs(
        np.zeros((10, 3)), blank=np.array([0.2, 0.8])
    )
    np.testing.assert_allclose(nothing.values[:, 0], [[0.2, 0.8]] * 10)
