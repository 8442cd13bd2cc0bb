"""Backbones against PyG."""

import numpy as np
import pytest

from labeltrick import (
    GNN,
    Graph,
)
from tests.support.graphs import blocks, random_graph

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from labeltrick.nn.backbones import adjacency_for, build_backbone  # noqa: E402


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


def test_edge_weights_that_a_backbone_ignores_are_reported():
    graph, X, _, y = blocks(20, n=40)
    src, dst = graph.to_edge_index()
    weighted = Graph.from_edges(src, dst, weight=np.linspace(1, 2, len(src)), directed=True)
    with pytest.warns(UserWarning, match="backbone='sage' ignores edge weights"):
        GNN("sage", max_epochs=2).fit(X, y, graph=weighted)
