"""Random draws among labeled nodes that do not depend on the numbering of the nodes.

Nodes are drawn in the order of their keys (see `graph.node_keys`), mixed with the seed. Nodes that
share a key are indistinguishable to any rule that treats all numberings alike. Folds and validation
sets keep them together unless the parts would be too uneven.
"""

from __future__ import annotations

import numpy as np

from ..._utils.targets import Targets
from ...graph.node_keys import mixed_with
from ...self_exclusion.labels import LabelSplit


def keys_of(known: Targets, nodes: np.ndarray, seed: int) -> np.ndarray:
    keys = nodes.astype(np.uint64) if known.keys is None else known.keys[nodes]
    return mixed_with(keys, np.uint64(seed))


def in_order(known: Targets, nodes: np.ndarray) -> np.ndarray:
    """The nodes in the order of their keys."""
    return nodes[np.argsort(keys_of(known, nodes, 0), kind="stable")]


def draw_part(
    known: Targets, nodes: np.ndarray, n_drawn: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """(the other nodes, about ``n_drawn`` drawn nodes), both in ascending order."""
    keys = keys_of(known, nodes, int(rng.integers(2**63)))
    order = np.argsort(keys, kind="stable")
    ends = np.flatnonzero(np.diff(keys[order])) + 1  # ends of groups that share a key
    if len(ends):
        nearest = int(ends[np.abs(ends - n_drawn).argmin()])
        if abs(nearest - n_drawn) <= max(1, n_drawn // 4) and nearest <= len(nodes) - 2:
            n_drawn = nearest
    return np.sort(nodes[order[n_drawn:]]), np.sort(nodes[order[:n_drawn]])


def draw_uniform(known: Targets, nodes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A number in [0, 1) for each node, assigned in the order of the keys."""
    found = np.empty(len(nodes))
    found[np.argsort(keys_of(known, nodes, 0), kind="stable")] = rng.random(len(nodes))
    return found


def draw_split(known: Targets, split_rate: float, rng: np.random.Generator) -> LabelSplit:
    """A random split of the labeled nodes, like `split_labels`."""
    nodes = np.flatnonzero(known.labeled)
    inside = nodes[draw_uniform(known, nodes, rng) < split_rate]
    in_mask = np.zeros(len(known.labeled), bool)
    in_mask[inside] = True
    return LabelSplit(in_mask, known.labeled & ~in_mask)
