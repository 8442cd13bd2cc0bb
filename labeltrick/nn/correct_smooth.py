"""Trainable Correct & Smooth as one network: gradients pass through both propagations."""

from __future__ import annotations

import torch
from torch import nn

from ..propagation.base import Propagation
from .propagation import propagate
from .sparse_rows import SparseRows
from .training import linked

_SHARPNESS = 4.0  # of the initial weights: label shares become clear but not certain classes


class CorrectSmoothNet(nn.Module):
    """(P_s(Y_in + M_free Ỹ))·W_s + (P_s M_free γ(P_c(Y_in − M_in Ỹ)))·Ŵ_c with Ỹ = base(X).

    This is eq. 14 of the paper, where M_free = M_te + M_out. Weights start at a multiple of the
    identity.

    Parameters
    ----------
    base : nn.Module
        Maps features to scores.
    n_outputs : int
        Number of classes or targets.
    link : {"softmax", "sigmoid", "identity"}
        Maps scores to predictions.
    scale : {"auto", "mean"} or float
        γ, the scaling of the correction; see `CorrectAndSmooth`.
    """

    def __init__(self, base: nn.Module, n_outputs: int, link: str, scale: str | float) -> None:
        super().__init__()
        self.base, self.link, self.scale = base, link, scale
        arguments = {"base": base, "n_outputs": n_outputs, "link": link, "scale": scale}
        self.recipe = ("correct and smooth", arguments)
        start = torch.eye(n_outputs) * (1.0 if link == "identity" else _SHARPNESS)
        self.smooth_weight = nn.Parameter(start.clone())
        self.correct_weight = nn.Parameter(start.clone())

    def forward(
        self,
        X: torch.Tensor | SparseRows,
        Y: torch.Tensor,
        in_mask: torch.Tensor,
        P_c: Propagation,
        P_s: Propagation,
        mass: torch.Tensor,
    ) -> torch.Tensor:
        """Scores of all nodes, divided by ``mass``, with the labels of ``in_mask`` as inputs."""
        predicted = linked(self.base(X), self.link)
        inside = in_mask[:, None]
        residual = torch.where(inside, Y - predicted, 0.0)
        spread = self._spread(residual, in_mask, P_c)
        parts = [torch.where(inside, Y, predicted), torch.where(inside, 0.0, spread)]
        smooth, correct = propagate(P_s, torch.cat(parts, dim=1)).chunk(2, dim=1)
        rows = smooth @ self.smooth_weight + correct @ self.correct_weight
        return rows / mass[:, None]

    def _spread(
        self, residual: torch.Tensor, in_mask: torch.Tensor, P_c: Propagation
    ) -> torch.Tensor:
        """γ(P_c E)."""
        if self.scale == "mean":
            columns = torch.cat([residual, in_mask[:, None].to(residual.dtype)], dim=1)
            found = propagate(P_c, columns)
            mass = found[:, -1:]
            return torch.where(mass > 1e-6, found[:, :-1] / mass.clamp(min=1e-6), 0.0)
        spread = propagate(P_c, residual)
        if not isinstance(self.scale, str):
            return self.scale * spread
        mean = residual.abs().sum() / in_mask.sum().clamp(min=1)
        size = spread.abs().sum(dim=1, keepdim=True)
        factor = mean / size.clamp(min=1e-12)
        return torch.where(factor > 1000, 1.0, factor) * spread
