"""The say of label propagation where fewer labels arrive than when its share was chosen."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..._utils.targets import Targets
from ...graph.graph import Graph
from .choosing import LABELS_ALONE, views_at


def mass_nearby(
    damping: float, graph: Graph, known: Targets, nodes: np.ndarray | None = None
) -> np.ndarray:
    """Weight of the labels that label propagation brings to some nodes, by default to all, without
    a node's own."""
    labels = known.labeled[:, None].astype(np.float64)
    found = views_at(damping, graph).inputs(labels, nodes, blank=np.zeros(0), progress=False)
    return np.where(found.reached[:, 0], found.mass[:, 0], 0.0)


def trust_in_labels(mass: np.ndarray, mass_of_choice: np.ndarray) -> np.ndarray:
    """The part of its share that label propagation keeps at nodes with such a mass of labels.

    It is as sure of itself with one distant label as with many nearby, so a share that was chosen
    with many is too large for few: 1 from half the usual mass on, 0 without any label.
    """
    seen = mass_of_choice[mass_of_choice > 0]
    least = 0.5 * float(np.median(seen)) if len(seen) else np.finfo(np.float64).tiny
    return np.minimum(mass, least) / least


def without_labels_alone(shares: dict[str, float], learners: Iterable[str]) -> dict[str, float]:
    """Shares without label propagation; equal ones of all learners if it has the whole share."""
    found = {name: share for name, share in shares.items() if name != LABELS_ALONE}
    found = found or dict.fromkeys(learners, 1.0)
    return {name: share / sum(found.values()) for name, share in found.items()}
