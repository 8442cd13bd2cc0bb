"""A running average of a network's weights, which varies less than the weights do."""

from __future__ import annotations

import torch
from torch import nn


class RunningAverage:
    """Keeps ``model`` at a running average of the weights of ``learner``.

    Weights and running statistics are averaged over about the last ``horizon`` steps, and over a
    tenth of the steps taken while those are fewer.
    """

    def __init__(self, model: nn.Module, learner: nn.Module, horizon: int) -> None:
        # Listed once: for a small network, listing all tensors takes longer than averaging them.
        pairs = list(zip(model.state_dict().values(), learner.state_dict().values(), strict=True))
        self._numbers = [pair for pair in pairs if pair[0].is_floating_point()]
        self._counters = [pair for pair in pairs if not pair[0].is_floating_point()]
        self._horizon = max(horizon, 1)
        self._n_taken = 0

    @torch.no_grad()
    def follow(self) -> None:
        """Update the average after a step of the learner."""
        self._n_taken += 1
        share = max(1 / self._horizon, 9 / (10 + self._n_taken))
        averages, latest = zip(*self._numbers, strict=True)
        torch._foreach_lerp_(averages, latest, share)
        for average, now in self._counters:
            average.copy_(now)
