"""Dropout that draws four decisions from each random number: torch draws one, on one core, and
then half of a small network's training is spent on it."""

from __future__ import annotations

import torch
from torch import nn

_LEVELS = 2**16  # of a decision: 16 bits each


def drop(x: torch.Tensor, share: float) -> torch.Tensor:
    """``x`` with a random share set to zero and the rest scaled up so that the mean stays.

    The share is rounded to 16 bits. Tensors on other devices take torch's own way.

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
    """`drop` in training, nothing in evaluation; takes the place of torch's own."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return drop(input, self.p) if self.training else input
