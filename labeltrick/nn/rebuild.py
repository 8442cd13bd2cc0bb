"""Networks from a saved model: built from a recipe, then given their weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

from .correct_smooth import CorrectSmoothNet
from .label_trick import LabelTrick
from .mlp import MLP
from .twirls import TwirlsNet

_N_LAYERS = ("n_layers", "n_before", "n_after")


def recipe_of(network: nn.Module) -> tuple[str, dict[str, Any]] | None:
    """(kind, arguments) of a network of this library; None for any other."""
    return getattr(network, "recipe", None)


def weights_of(network: nn.Module) -> dict[str, np.ndarray]:
    return {name: part.detach().cpu().numpy() for name, part in network.state_dict().items()}


def rebuilt(kind: str, arguments: dict[str, Any], weights: dict[str, np.ndarray]) -> nn.Module:
    """The network of a recipe; a `ValueError` if recipe and weights do not fit."""
    if kind not in _BUILDERS:
        raise ValueError(f"there is no network of kind {kind!r}")
    for name, value in arguments.items():
        # Layers are made one by one, and every one of them has weights.
        if name in _N_LAYERS and isinstance(value, int) and value > len(weights):
            raise ValueError(f"{name}={value} does not fit {len(weights)} arrays of weights")
    try:
        # Sizes come from a file: no memory is taken until the weights confirm them.
        with torch.device("meta"):
            network = _BUILDERS[kind](**arguments)
        state = {name: torch.from_numpy(np.array(part)) for name, part in weights.items()}
        network.load_state_dict(state, assign=True)
    except (TypeError, RuntimeError) as error:
        raise ValueError(str(error).splitlines()[0]) from None
    for part in network.parameters():
        part.requires_grad_(True)
    return network.eval()


def _backbone(**arguments: Any) -> nn.Module:
    from .backbones import build_backbone

    return build_backbone(**arguments)


_BUILDERS: dict[str, Callable[..., nn.Module]] = {
    "mlp": MLP,
    "twirls": TwirlsNet,
    "backbone": _backbone,
    "label trick": LabelTrick,
    "correct and smooth": CorrectSmoothNet,
}
