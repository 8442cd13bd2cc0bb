"""Random draws among labeled nodes that do not depend on how the nodes are numbered.

Nodes are dealt with in the order of their keys (see `_node_keys`), mixed with the seed. Where nodes
share a key, no rule that treats all numberings alike can tell them apart; folds and held-out
parts keep such nodes together, unless they are so many that the parts would come out uneven.
"""

from __future__ import annotations

import heapq

import numpy as np

from ..._utils.targets import Targets
from ...graph.node_keys import mixed_with
from ...self_exclusion.label_trick import LabelSplit


def _keys_of(known: Targets, nodes: np.ndarray, seed: int) -> np.ndarray:
    keys = nodes.astype(np.uint64) if known.keys is None else known.keys[nodes]
    return mixed_with(keys, np.uint64(seed))


def _whole_seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**63))


def in_order(known: Targets, nodes: np.ndarray) -> np.ndarray:
    """The nodes in the order of their keys."""
    return nodes[np.argsort(_keys_of(known, nodes, 0), kind="stable")]


def draw_folds(known: Targets, nodes: np.ndarray, n_folds: int, seed: int) -> np.ndarray:
    """The fold of each node; each of at most ``len(nodes)`` folds holds some."""
    n = len(nodes)
    n_folds = max(1, min(n_folds, n))
    keys = _keys_of(known, nodes, seed)
    _, group, size = np.unique(keys, return_inverse=True, return_counts=True)
    size = np.where(size > n // n_folds, 1, size)  # too many to stay together
    fold = np.full(n, -1)
    filled = [(0, k) for k in range(n_folds)]
    together = np.flatnonzero(size > 1)
    members = np.split(np.argsort(group, kind="stable"), np.cumsum(np.bincount(group))[:-1])
    for g in together[np.argsort(-size[together], kind="stable")]:  # largest first
        count, k = heapq.heappop(filled)
        fold[members[g]] = k
        heapq.heappush(filled, (count + len(members[g]), k))
    counts = np.zeros(n_folds, np.int64)
    for count, k in filled:
        counts[k] = count
    wanted = n // n_folds + (np.arange(n_folds) < n % n_folds)
    room = np.repeat(np.arange(n_folds), np.maximum(wanted - counts, 0))
    single = np.flatnonzero(fold < 0)
    fold[single[np.argsort(keys[single], kind="stable")]] = room[: len(single)]
    return fold


def draw_part(
    known: Targets, nodes: np.ndarray, n_drawn: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """(the other nodes, about ``n_drawn`` of them), both in ascending order."""
    keys = _keys_of(known, nodes, _whole_seed(rng))
    order = np.argsort(keys, kind="stable")
    ends = np.flatnonzero(np.diff(keys[order])) + 1  # of nodes that share a key
    if len(ends):
        nearest = int(ends[np.abs(ends - n_drawn).argmin()])
        if abs(nearest - n_drawn) <= max(1, n_drawn // 4) and nearest <= len(nodes) - 2:
            n_drawn = nearest
    return np.sort(nodes[order[n_drawn:]]), np.sort(nodes[order[:n_drawn]])


def draw_uniform(known: Targets, nodes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A number in [0, 1) for each of the nodes, dealt out in the order of the keys."""
    found = np.empty(len(nodes))
    found[np.argsort(_keys_of(known, nodes, 0), kind="stable")] = rng.random(len(nodes))
    return found


def draw_split(known: Targets, split_rate: float, rng: np.random.Generator) -> LabelSplit:
    """`split_labels` of the labeled nodes."""
    nodes = np.flatnonzero(known.labeled)
    inside = nodes[draw_uniform(known, nodes, rng) < split_rate]
    in_mask = np.zeros(len(known.labeled), bool)
    in_mask[inside] = True
    return LabelSplit(in_mask, known.labeled & ~in_mask)
