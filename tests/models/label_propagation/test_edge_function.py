import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from labeltrick import Graph
from labeltrick.graph.edges import EdgeList
from labeltrick.models.label_propagation.edge_function import BOUND, EdgeFunction, node_degrees
from tests.support.graphs import blocks, graphs, word_graph


def some_function(graph, X, seed=0, size=1.0):
    start = EdgeFunction.untrained(graph, X, EdgeList.of(graph))
    rng = np.random.default_rng(seed)
    M = size * rng.normal(size=start.interaction.shape)
    return start.trained(size * rng.normal(size=3), (M + M.T) / 2)


def literal(function, graph, X):
    """The factor of each pair of nodes, from the definition."""
    X = X.toarray().astype(float) if sp.issparse(X) else (X - X.mean(axis=0)) / X.std(axis=0)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    p = unit @ function.basis - (unit @ function.basis).mean(axis=0)
    p = 2 * p / np.linalg.norm(p, axis=1, keepdims=True)
    size = np.log1p(node_degrees(graph))
    found = np.zeros((graph.n_nodes, graph.n_nodes))
    for u in range(graph.n_nodes):
        for v in range(graph.n_nodes):
            c = np.array([unit[u] @ unit[v], size[u] + size[v], abs(size[u] - size[v])])
            c = (c - function.column_mean) / function.column_spread
            f = c @ function.theta + p[u] @ function.interaction @ p[v]
            found[u, v] = np.exp(BOUND * np.tanh(f / BOUND))
    return found


@pytest.mark.parametrize("make", [blocks, word_graph])
def test_the_definition(make):
    graph, X, *_ = make(0, n=40)
    function = some_function(graph, X, size=0.3)
    made = function.reweighted(graph, X).to_scipy().toarray()
    wanted = graph.to_scipy().toarray() * literal(function, graph, X)
    np.testing.assert_allclose(made, wanted, rtol=1e-9)


def test_the_untrained_function_changes_nothing():
    graph, X, *_ = blocks(0)
    function = EdgeFunction.untrained(graph, X, EdgeList.of(graph))
    assert np.all(function.reweighted(graph, X).weights == 1.0)


@given(graphs(), st.integers(0, 99))
def test_weights_are_symmetric_bounded_and_independent_of_the_order(pair, seed):
    _, graph = pair
    n, rng = graph.n_nodes, np.random.default_rng(seed)
    X = rng.normal(size=(n, 40))  # reduced by singular vectors
    function = some_function(graph, X, seed, size=30.0)
    made = function.reweighted(graph, X)
    assert graph.directed or np.array_equal(made.to_scipy().toarray(), made.to_scipy().toarray().T)
    given_weights = np.ones(graph.nnz) if graph.weights is None else graph.weights
    assert np.all(np.abs(np.log(made.weights / given_weights)) <= BOUND + 1e-9)
    order = rng.permutation(n)
    moved = Graph.from_scipy(
        sp.csr_array(graph.to_scipy()[order][:, order]), directed=graph.directed
    )
    np.testing.assert_allclose(
        function.reweighted(moved, X[order]).to_scipy().toarray(),
        made.to_scipy().toarray()[np.ix_(order, order)],
        rtol=1e-6,
    )


def test_odd_features():
    graph, X, *_ = blocks(0, n=30)
    X = np.column_stack([X, np.full(30, 7.0)])  # a constant column
    X[3] = X.mean(axis=0)  # a node without a direction
    for table in (X, np.zeros((30, 2)), np.zeros((30, 0)), sp.csr_array((30, 50))):
        made = some_function(graph, table).reweighted(graph, table)
        assert np.isfinite(made.weights).all()


def test_relations_get_the_same_weights():
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], edge_type=["a", "b", "a"])
    X = np.random.default_rng(0).normal(size=(4, 3))
    made = some_function(graph, X).reweighted(graph, X)
    whole = made.to_scipy().toarray()
    for name, part in made.relations.items():
        kept = graph.relations[name].to_scipy().toarray() > 0
        np.testing.assert_allclose(part.to_scipy().toarray()[kept], whole[kept])
