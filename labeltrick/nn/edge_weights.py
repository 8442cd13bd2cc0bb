"""Propagation that is differentiable in the edge weights too.

P = Σ_k c_k S^k, where S is the adjacency normalized by its own row and column sums. A change of a
weight changes its entry of S and, through the sums, the other entries of its row and column. The
gradient takes one propagation with Pᵀ and one scalar product per entry and power; for the limit
(1−λ)(I−λS)⁻¹ implicit differentiation replaces the sum over powers by a single product.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ..graph.compute import Compute
from ..graph.edges import EdgeList
from ..propagation.base import Propagation
from ..propagation.polynomials import HopSum, Iteration, Power, Series
from ..propagation.resolvent import Resolvent
from .edge_kernels import add_products, through_norm

_POLYNOMIALS = (Iteration, Series, Power, HopSum)


class _ApplyWeighted(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, F: torch.Tensor, weights: torch.Tensor, P: Propagation, edges: EdgeList
    ) -> torch.Tensor:
        values = F.detach().cpu().numpy().astype(np.float64)
        given = weights.detach().cpu().numpy().astype(np.float64)
        kind, parameters, _ = P.recipe()
        # In memory: a copy on disk or on workers would serve a single product.
        weighted = edges.reweighted(P.given_graph, given).with_compute(Compute("memory"))
        ctx.P = kind(weighted, **parameters)
        ctx.edges, ctx.F = edges, values
        if isinstance(P, Resolvent):
            ctx.iterates = [ctx.P.apply(values, progress=False)]
        else:
            ctx.iterates = _horner(ctx.P, values)
        return torch.from_numpy(ctx.iterates[-1]).to(F)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        P, graph = ctx.P, ctx.P.graph
        upstream = gradients[0].detach().cpu().numpy().astype(np.float64)
        of_entries, of_loops = np.zeros(graph.nnz), np.zeros(graph.n_nodes)

        def add(adjoint: np.ndarray, values: np.ndarray, factor: float) -> None:
            add_products(graph.indptr, graph.indices, adjoint, values, factor, of_entries)
            np.add(of_loops, factor * np.einsum("nc,nc->n", adjoint, values), out=of_loops)

        if isinstance(P, Resolvent):
            of_values = P.T.apply(upstream, progress=False)
            add(of_values, ctx.iterates[0], P.damping / (1 - P.damping))
        else:
            of_values = _adjoint_horner(P, upstream, ctx.iterates, add)
        result = _weights_gradient(P, of_entries, of_loops)
        of_edges = np.bincount(ctx.edges.of_entry, result, len(ctx.edges))
        like = gradients[0]
        return torch.from_numpy(of_values).to(like), torch.from_numpy(of_edges).to(like), None, None


def _horner(P: Propagation, F: np.ndarray) -> list[np.ndarray]:
    """[c_K F, c_{K−1} F + S·(the one before), …, P·F]."""
    coefficients = P.coefficients()
    iterates = [coefficients[-1] * F]
    for c in coefficients[-2::-1]:
        iterates.append(P.S @ iterates[-1] + c * F)
    return iterates


def _adjoint_horner(
    P: Propagation, adjoint: np.ndarray, iterates: list[np.ndarray], add: Any
) -> np.ndarray:
    """Pᵀ·adjoint; ``add(adjoint, iterate, factor)`` receives the parts of the gradient of S."""
    coefficients, back = P.coefficients(), P.S.T
    result = coefficients[0] * adjoint
    for c, iterate in zip(coefficients[1:], iterates[-2::-1], strict=True):
        add(adjoint, iterate, 1.0)
        adjoint = back @ adjoint
        result += c * adjoint
    return result


def _weights_gradient(P: Propagation, of_entries: np.ndarray, of_loops: np.ndarray) -> np.ndarray:
    """Gradient of the weight of each entry from the gradients of S."""
    graph, loops = P.graph, P.S.loop
    powers = {"sym": (0.5, 0.5), "row": (1.0, 0.0), "col": (0.0, 1.0)}[P.norm]
    sums = np.stack([graph.out_strengths + loops, graph.in_strengths + loops])
    scales = np.stack([P.S.left, P.S.right])
    result = np.empty(graph.nnz)
    arrays = (graph.indptr, graph.indices, graph.weights, sums, scales, powers, loops)
    through_norm(*arrays, of_entries, of_loops, result)
    return result


def propagate_weighted(
    P: Propagation,
    F: torch.Tensor,
    edge_weights: torch.Tensor,
    edges: EdgeList | None = None,
) -> torch.Tensor:
    """Compute P·F with other edge weights; gradients flow back to the values and the weights.

    Parameters
    ----------
    P : Resolvent, Iteration, Series, Power or HopSum
        The kind of propagation, its parameters and the edges. Weights of its graph are not used.
    F : torch.Tensor of shape (n, c)
        Values with one row per node, float32 or float64.
    edge_weights : torch.Tensor of shape (n_edges,)
        Weight ≥ 0 of each edge, in the order of ``edges``. Where all edges of a node have weight 0,
        their gradient is 0.
    edges : EdgeList or None, default=None
        The edges of the graph, to compute them once for many calls. None computes them.

    Returns
    -------
    result : torch.Tensor of shape (n, c)
        P·F, with the type and device of F. It is computed in memory, in float64 on the CPU, in
        O(steps × edges × columns) in each direction. Polynomials keep all iterates for the way
        back, a `Resolvent` only its result.

    See Also
    --------
    nn.propagate : Propagate a tensor, with gradients.
    TrainableLabelPropagation : Labels and edges alone, with trained weights.

    Examples
    --------
    >>> from labeltrick import Graph, Power
    >>> P = Power(Graph.from_edges([0, 0], [1, 2]), 1, norm="row")
    >>> weights = torch.tensor([1.0, 3.0], requires_grad=True)
    >>> result = propagate_weighted(P, torch.tensor([[0.0], [0.0], [8.0]]), weights)
    >>> result.ravel().tolist()
    [6.0, 0.0, 0.0]
    >>> result.sum().backward()
    >>> weights.grad.tolist()
    [-1.5, 0.5]
    """
    if not isinstance(P, (Resolvent, *_POLYNOMIALS)) or P._transposed:
        shown = f"{type(P).__name__}{' that is transposed' * getattr(P, '_transposed', False)}"
        raise TypeError(
            "`P` must be a Resolvent, Iteration, Series, Power or HopSum, not transposed; got a "
            f"{shown}. For fixed weights use propagate."
        )
    for name, tensor in (("F", F), ("edge_weights", edge_weights)):
        if not torch.is_tensor(tensor) or tensor.dtype not in (torch.float32, torch.float64):
            kind = tensor.dtype if torch.is_tensor(tensor) else type(tensor).__name__
            raise TypeError(f"`{name}` must be a tensor of float32 or float64; got {kind}.")
    if F.ndim != 2 or len(F) != P.n_nodes:
        raise ValueError(
            f"`F` must have two dimensions and one row per node ({P.n_nodes}); got shape "
            f"{tuple(F.shape)}."
        )
    edges = EdgeList.of(P.given_graph) if edges is None else edges
    if edge_weights.shape != (len(edges),):
        raise ValueError(
            f"`edge_weights` must have one weight per edge ({len(edges)}); got shape "
            f"{tuple(edge_weights.shape)}. An undirected edge has one weight."
        )
    if not bool((torch.isfinite(edge_weights) & (edge_weights >= 0)).all()):
        raise ValueError("`edge_weights` must be finite and ≥ 0. Take exp or softplus of them.")
    return _ApplyWeighted.apply(F, edge_weights, P, edges)
