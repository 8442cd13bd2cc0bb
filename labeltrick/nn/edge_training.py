"""Trains a function of edges: its weights propagate some of the labels, others are the targets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from .._utils.progress import Progress, ProgressBar
from ..graph.edges import EdgeList
from ..propagation.base import Propagation
from .edge_kernels import add_pairs, pair_products
from .edge_weights import propagate_weighted
from .epochs import EpochScore, Stopping, run_epochs
from .threads import threads_for
from .training import losses

# Penalties on θ and M, beside the sum of the losses. Fixed on splits 0 to 2 of Cora, Pubmed and
# Coauthor CS; with 1 in place of 10, Cora's weights overfit.
_THETA_RIDGE, _INTERACTION_RIDGE = 1.0, 10.0
_READOUT_RATE = 0.05
_LEAST_MASS = 1e-5  # below, what a node sees is within the error of the propagation
_VALIDATE_EVERY = 5

Draw = Callable[[], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class EdgeProblem:
    """What the function of edges is trained on.

    Attributes
    ----------
    P, edges : the propagation, and the edges of its graph.
    given, columns, nodes, bound : given weights (edges,), columns of edges (edges, k), vectors of
        nodes (n, q), and the largest |log| of a factor.
    Y, weight : (n, c) targets and (n,) weights of the labels.
    labels : (n, c+1) labels and mass of all training nodes, the inputs of validation.
    validation : numbers, targets and weights of the validation nodes, or None.
    link : "softmax", "sigmoid" or "identity".
    """

    P: Propagation
    edges: EdgeList
    given: np.ndarray
    columns: np.ndarray
    nodes: np.ndarray
    bound: float
    Y: np.ndarray
    weight: np.ndarray
    labels: np.ndarray
    validation: tuple[np.ndarray, np.ndarray, np.ndarray] | None
    link: str


class _BetweenEnds(torch.autograd.Function):
    """⟨mapped_u, nodes_v⟩ of each edge, without a row per edge in memory."""

    @staticmethod
    def forward(
        ctx: Any, mapped: torch.Tensor, nodes: torch.Tensor, edges: EdgeList
    ) -> torch.Tensor:
        ctx.nodes, ctx.edges = nodes.numpy(), edges
        given = mapped.detach().numpy()
        return torch.from_numpy(pair_products(edges.first, edges.second, given, ctx.nodes))

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        factor, nodes = gradients[0].contiguous().numpy(), ctx.nodes
        ends = (ctx.edges.first, ctx.edges.second)
        return torch.from_numpy(add_pairs(*ends, factor, nodes, len(nodes))), None, None


class _EdgeModel(nn.Module):
    """θ, M, and weights that turn the labels which a node sees into its prediction."""

    def __init__(self, problem: EdgeProblem) -> None:
        super().__init__()
        c, width = problem.Y.shape[1], problem.nodes.shape[1]
        self.theta = nn.Parameter(torch.zeros(problem.columns.shape[1], dtype=torch.float64))
        self.interaction = nn.Parameter(torch.zeros(width, width, dtype=torch.float64))
        slope, offset = {"softmax": (4.0, 0.0), "sigmoid": (8.0, -4.0), "identity": (1.0, 0.0)}[
            problem.link
        ]
        self.slope = nn.Parameter(slope * torch.eye(c, dtype=torch.float64))
        self.offset = nn.Parameter(torch.full((c,), offset, dtype=torch.float64))
        self.problem, self.tensors = (
            problem,
            [
                torch.from_numpy(np.ascontiguousarray(array))
                for array in (problem.given, problem.columns, problem.nodes)
            ],
        )

    def edge_weights(self) -> torch.Tensor:
        given, columns, nodes = self.tensors
        symmetric = (self.interaction + self.interaction.T) / 2
        between = _BetweenEnds.apply(nodes @ symmetric, nodes, self.problem.edges)
        f = columns @ self.theta + between
        return given * torch.exp(self.problem.bound * torch.tanh(f / self.problem.bound))

    def loss(
        self, inputs: np.ndarray, rows: np.ndarray, Y: np.ndarray, weight: np.ndarray
    ) -> torch.Tensor | None:
        """Mean loss of some nodes whose labels are not among ``inputs``; None if no label reaches
        them."""
        problem = self.problem
        seen = propagate_weighted(
            problem.P, torch.from_numpy(inputs), self.edge_weights(), problem.edges
        )[torch.from_numpy(rows)]
        reached = seen[:, -1] > _LEAST_MASS
        if not bool(reached.any()):
            return None
        shares = seen[reached, :-1] / seen[reached, -1:]
        scores = shares @ self.slope + self.offset
        truth, mass = torch.from_numpy(Y)[reached], torch.from_numpy(weight)[reached]
        each = losses(scores, truth, problem.link)
        return (mass * each).sum() / mass.sum()

    def penalty(self) -> torch.Tensor:
        return (
            _THETA_RIDGE * self.theta.square().sum()
            + _INTERACTION_RIDGE * self.interaction.square().sum()
        )


def train_edge_function(
    problem: EdgeProblem,
    draw: Draw,
    schedule: tuple[float, int, int],
    progress: Progress = None,
) -> tuple[np.ndarray, np.ndarray]:
    """(θ, M) by Adam on random splits of the labels.

    ``draw()`` returns (labels that are inputs, numbers of the target nodes); no target's label is
    among the inputs. ``schedule`` is (learning rate, epochs, patience). The epoch of the lowest
    loss on the validation nodes is kept, or the last one without them.
    """
    rate, max_epochs, patience = schedule
    model = _EdgeModel(problem)
    groups = [
        {"params": [model.theta, model.interaction], "lr": rate},
        {"params": [model.slope, model.offset], "lr": _READOUT_RATE},
    ]
    optimizer = torch.optim.Adam(groups)
    n_labels = max(float(np.count_nonzero(problem.weight)), 1.0)

    def run_epoch() -> float:
        inputs, rows = draw()
        loss = None
        if len(rows):
            loss = model.loss(inputs, rows, problem.Y[rows], problem.weight[rows])
        if loss is None:
            return 0.0
        optimizer.zero_grad()
        (loss + model.penalty() / n_labels).backward()
        optimizer.step()
        return float(loss.detach())

    def validate() -> EpochScore:
        assert problem.validation is not None
        with torch.no_grad():
            loss = model.loss(problem.labels, *problem.validation)
        score = 0.0 if loss is None else -float(loss)
        return EpochScore(score, (score,))

    stopping = Stopping(max_epochs, patience, np.inf, _VALIDATE_EVERY)
    scored = None if problem.validation is None else validate
    with (
        threads_for(model, len(problem.edges)),
        ProgressBar(max_epochs, "edge weights", progress) as bar,
    ):
        run_epochs(model, run_epoch, scored, stopping, bar)
    M = model.interaction.detach().numpy()
    return model.theta.detach().numpy().copy(), (M + M.T) / 2
