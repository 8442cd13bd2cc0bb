"""Gradients of edge weights, against finite differences and against dense matrices."""

import numpy as np
import pytest

from labeltrick import Graph, Hops, HopSum, Iteration, Power, Resolvent, Series
from labeltrick.graph.edges import EdgeList
from tests import reference
from tests.support.graphs import random_graph

torch = pytest.importorskip("torch")
from labeltrick.nn import propagate, propagate_weighted  # noqa: E402

KINDS = {
    "resolvent": lambda g, **o: Resolvent(g, 0.6, tol=1e-14, **o),
    "iteration": lambda g, **o: Iteration(g, 0.7, 4, **o),
    "series": lambda g, **o: Series(g, 0.7, 3, **o),
    "power": lambda g, **o: Power(g, 2, **o),
    "hop sum": lambda g, **o: HopSum(g, 3, **o),
}
NORMS = [(norm, loops) for norm in ("sym", "row", "col") for loops in (False, True)]


def problem(seed, *, directed):
    """(graph, edges, values, weights): duplicates, loops and nodes without edges are in it."""
    _, graph = random_graph(seed, n=10, n_edges=18, directed=directed)
    edges, rng = EdgeList.of(graph), np.random.default_rng(seed)
    weights = torch.from_numpy(rng.uniform(0.2, 3.0, len(edges))).requires_grad_()
    return graph, edges, torch.from_numpy(rng.normal(size=(10, 2))).requires_grad_(), weights


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(("norm", "self_loops"), NORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_finite_differences(kind, norm, self_loops, directed):
    graph, edges, F, weights = problem(0, directed=directed)
    P = KINDS[kind](graph, norm=norm, self_loops=self_loops)
    assert torch.autograd.gradcheck(
        lambda *given: propagate_weighted(P, *given, edges), (F, weights)
    )


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(("norm", "self_loops"), NORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_dense_matrices(kind, norm, self_loops, directed):
    graph, edges, F, weights = problem(1, directed=directed)
    P = KINDS[kind](graph, norm=norm, self_loops=self_loops)
    coefficients = 0.6 if kind == "resolvent" else P.coefficients()
    dense = reference.weighted_propagation(
        edges.first, edges.second, weights, 10, directed, norm, self_loops, coefficients, F
    )
    found = propagate_weighted(P, F, weights)
    torch.testing.assert_close(found, dense, atol=1e-11, rtol=1e-11)
    upstream = torch.from_numpy(np.random.default_rng(2).normal(size=(10, 2)))
    wanted = torch.autograd.grad((dense * upstream).sum(), (F, weights))
    gradients = torch.autograd.grad((found * upstream).sum(), (F, weights))
    torch.testing.assert_close(gradients, wanted, atol=1e-10, rtol=1e-10)


def test_the_weights_of_the_graph_give_its_own_propagation():
    _, graph = random_graph(3, weighted=True)
    edges, P = EdgeList.of(graph), Resolvent(graph, 0.8)
    F = torch.ones(graph.n_nodes, 2, dtype=torch.float64)
    weights = torch.from_numpy(edges.given_weights(graph))
    torch.testing.assert_close(propagate_weighted(P, F, weights), propagate(P, F))
    assert propagate_weighted(P, F.float(), weights).dtype == torch.float32


def test_nodes_whose_edges_all_weigh_nothing():
    graph = Graph.from_edges([0, 1, 3], [1, 2, 4])
    weights = torch.tensor([1.0, 2.0, 0.0], dtype=torch.float64, requires_grad=True)
    P = Iteration(graph, 0.5, 3)
    propagate_weighted(P, torch.eye(5, dtype=torch.float64), weights).square().sum().backward()
    assert torch.isfinite(weights.grad).all()
    assert weights.grad[2] == 0


def test_work_is_done_in_memory(tmp_path):
    graph, _, F, weights = problem(0, directed=False)
    there = graph.on("memory", checkpoint_dir=tmp_path / "kept")
    torch.testing.assert_close(
        propagate_weighted(Power(there, 2), F, weights),
        propagate_weighted(Power(graph, 2), F, weights),
    )
    assert not (tmp_path / "kept").exists()


def test_bad_input():
    graph, edges, F, weights = problem(0, directed=False)
    P = Power(graph, 1)
    for wrong in (Hops(graph, 2), P.T, np.eye(10)):
        with pytest.raises(TypeError, match="`P` must be a Resolvent, Iteration"):
            propagate_weighted(wrong, F, weights)
    with pytest.raises(TypeError, match="`F` must be a tensor of float32 or float64; got ndarray"):
        propagate_weighted(P, F.detach().numpy(), weights)
    with pytest.raises(TypeError, match="`edge_weights` must be a tensor .* got torch.int64"):
        propagate_weighted(P, F, torch.ones(len(edges), dtype=torch.int64))
    with pytest.raises(ValueError, match="`F` must have two dimensions and one row per node"):
        propagate_weighted(P, F[:5], weights)
    with pytest.raises(ValueError, match="`edge_weights` must have one weight per edge"):
        propagate_weighted(P, F, weights[1:])
    with pytest.raises(ValueError, match="`edge_weights` must be finite and ≥ 0"):
        propagate_weighted(P, F, -weights)
