"""The network of TWIRLS: a perceptron, unfolded energy steps, and another perceptron."""

from __future__ import annotations

import torch
from torch import nn

from ..propagation.base import Propagation
from .dropout import Dropout
from .propagation import propagate
from .sparse_rows import SparseRows


class TwirlsNet(nn.Module):
    """h₁(P h₀([X, Y])), without the node's own label if its self-weight is given (paper, eq. 13).

    There is no batch norm before the propagation: the mean of a batch would carry a node's label
    past its exclusion.

    Parameters
    ----------
    n_features, n_labels, n_outputs : numbers of columns; ``n_labels`` is 0 without the label trick.
    hidden : width of the layers.
    n_before, n_after : linear layers of h₀ and h₁.
    dropout : dropout rate of both.
    """

    def __init__(
        self,
        n_features: int,
        n_labels: int,
        n_outputs: int,
        *,
        hidden: int = 128,
        n_before: int = 1,
        n_after: int = 1,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        sizes = {"n_features": n_features, "n_labels": n_labels, "n_outputs": n_outputs}
        layers = {"hidden": hidden, "n_before": n_before, "n_after": n_after, "dropout": dropout}
        self.recipe = ("twirls", sizes | layers)
        self.from_features = nn.Linear(n_features, hidden)
        self.from_labels = nn.Linear(n_labels, hidden, bias=False) if n_labels else None
        self.before = _layers(hidden, [hidden] * (n_before - 1), dropout)
        self.after = _layers(hidden, [hidden] * (n_after - 1) + [n_outputs], dropout)

    def forward(
        self,
        P: Propagation | None,
        X: torch.Tensor | SparseRows,
        Y: torch.Tensor | None = None,
        labeled: torch.Tensor | None = None,
        self_weight: torch.Tensor | None = None,
        ones: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Scores of all nodes, or of those whose propagated inputs are given.

        ``Y`` holds the input labels. With ``self_weight``, C at the nodes ``labeled``, the own
        label of each of these nodes is excluded from its row. With ``ones``, P·1, the inputs are
        already propagated (P·X, and P·Y or (P−C)·Y), which is equivalent for a linear h₀.
        """
        if ones is not None:
            assert not len(self.before), "h₀ must be linear for inputs that have been propagated"
            spread = X @ self.from_features.weight.T + ones[:, None] * self.from_features.bias
            if Y is not None and self.from_labels is not None:
                spread = spread + self.from_labels(Y)
            return self.after(spread)
        assert P is not None
        # The part that h₀([X, Y]) and h₀([X, 0]) share.
        plain = X @ self.from_features.weight.T + self.from_features.bias
        if Y is None or self.from_labels is None:
            return self.after(propagate(P, self.before(plain)))
        known = self.before(plain + self.from_labels(Y))
        spread = propagate(P, known)
        if self_weight is not None:
            assert labeled is not None
            own = known[labeled] - self.before(plain[labeled])
            spread = spread.index_add(0, labeled, -self_weight[:, None] * own)
        return self.after(spread)


def _layers(width: int, widths: list[int], dropout: float) -> nn.Sequential:
    layers: list[nn.Module] = []
    for next_width in widths:
        layers += [nn.ReLU(), Dropout(dropout), nn.Linear(width, next_width)]
        width = next_width
    return nn.Sequential(*layers)
