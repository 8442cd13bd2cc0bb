"""A running average of a network's weights: it wanders less than the weights do."""

from __future__ import annotations

import torch
from torch import nn


def average_into(model: nn.Module, learner: nn.Module, n_taken: int, horizon: int) -> None:
    """Move ``model`` towards ``learner`` after its step number ``n_taken``.

    Weights and running statistics become averages over about the last ``horizon`` steps, over a
    tenth of the steps taken while those are fewer.
    """
    share = max(1 / max(horizon, 1), 9 / (10 + n_taken))
    pairs = zip(model.state_dict().values(), learner.state_dict().values(), strict=True)
    with torch.no_grad():
        for average, latest in pairs:
            if average.is_floating_point():
                average.lerp_(latest, share)
            else:  # counters
                average.copy_(latest)
