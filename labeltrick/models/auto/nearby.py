"""What is said nearby: labels where they are known, and elsewhere what a network makes of a node's
own words. Correct & Smooth as columns, with weights that are learnt.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._utils.targets import Targets
from ...graph.graph import Graph
from ...propagation.polynomials import Power
from ..base.folds import draw_folds
from .learners import Linear, Network, Rows, fit_linear

_N_STEPS = 2
_LEAST = 1e-4  # a probability whose logarithm is taken
_SIZE = 3.0  # of means beside logarithms: a penalty weighs on both alike
_PENALTIES = (0.5, 2.0)


@dataclass(frozen=True)
class NearbyWords:
    """A network of a node's own words, and weights of what it says there and nearby.

    ``weights`` are None where labels are too few for any: the network speaks alone.
    """

    network: Network
    weights: Linear | None

    def weigh(self, said: np.ndarray, known: Targets, graph: Graph) -> np.ndarray:
        """Predictions of all nodes, of what the network ``said``. One that is labeled in
        ``known`` gets its own label back from two steps away: leave those out that are to be
        predicted."""
        if self.weights is None:
            return said
        return self.weights.predict(nearby_columns(said, known, graph))


def nearby_columns(said: np.ndarray, known: Targets, graph: Graph) -> np.ndarray:
    """[log of what is said of a node, the mean of what is known or said one and two steps away];
    log odds where a node may have several labels."""
    there = np.where(known.labeled[:, None], known.Y, said)
    step = Power(graph, 1, norm="row")
    own = np.log(np.maximum(said, _LEAST))
    if known.task == "multilabel":
        own -= np.log(np.maximum(1 - said, _LEAST))
    columns = [own]
    for _ in range(_N_STEPS):
        there = step.apply(there, progress=False)
        columns.append(_SIZE * there)
    return np.concatenate(columns, axis=1)


def fit_nearby(
    networks: Callable[[np.ndarray], list[Network]],
    words: Any,
    known: Targets,
    nodes: np.ndarray,
    validation_nodes: np.ndarray,
    truth: tuple[np.ndarray, np.ndarray],
    graph: Graph,
    seed: int,
) -> NearbyWords:
    """``networks(learns)`` fits some on the words of ``nodes``, each on those that its row of
    ``learns`` tells. ``nodes`` are those labeled in ``known``, ``validation_nodes`` others, with
    their labels and weights in ``truth``.

    Each half of the labeled nodes gets its rows as unlabeled nodes do: from a network of the
    other half, among the labels of the other half. Weights of networks that had seen what they
    speak of would trust them too much.
    """
    everyone = np.ones(len(nodes), bool)
    if len(nodes) < 4:
        return NearbyWords(networks(everyone[None])[0], None)
    first = draw_folds(known, nodes, 2, seed) == 0
    final, *of_halves = networks(np.stack([everyone, first, ~first]))
    rows = np.zeros((len(nodes), (_N_STEPS + 1) * known.Y.shape[1]))
    for network, seen in zip(of_halves, (first, ~first), strict=True):
        columns = nearby_columns(network.predict(words), known.only(nodes[seen]), graph)
        rows[~seen] = columns[nodes[~seen]]
    validation = None
    if len(validation_nodes):
        validation = (nearby_columns(final.predict(words), known, graph)[validation_nodes], *truth)
    weighed = Rows(rows, known.Y[nodes], known.weight[nodes], validation, known.task, seed)
    return NearbyWords(final, fit_linear(weighed, penalties=_PENALTIES))
