"""Dropout that draws four decisions from each random number.

torch draws one decision per number on one core, which takes half of a small network's training.
"""

from __future__ import annotations

import torch
from torch import nn

_LEVELS = 2**16  # each decision has 16 bits


def drop(x: torch.Tensor, share: float) -> torch.Tensor:
    """``x`` with a random share of entries set to zero and the others scaled to keep the mean.

    The share is rounded to 16 bits. Tensors on other devices use torch's own dropout.

    Examples
    --------
    >>> _ = torch.manual_seed(0)
    >>> sorted(set(drop(torch.ones(100), 0.5).tolist()))
    [0.0, 2.0]
    """
    dropped = round(share * _LEVELS)
    if not 0 < dropped < _LEVELS or x.device.type != "cpu":
        return nn.functional.dropout(x, share)
    numbers = torch.randint(-(2**63), 2**63 - 1, (-(-x.numel() // 4),))
    decisions = numbers.view(torch.int16)[: x.numel()].view(x.shape)
    kept = (decisions >= dropped - _LEVELS // 2).to(x.dtype)
    return x * kept.mul_(_LEVELS / (_LEVELS - dropped))


class Dropout(nn.Dropout):
    """A replacement of torch's dropout that uses `drop`."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return drop(input, self.p) if self.training else input
