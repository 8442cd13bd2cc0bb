"""What a graph network sees in each step of its training: nodes, edges and a part of the labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...._utils.targets import Targets, TargetScale
from ....propagation.base import Propagation
from ...base.weights import link_of
from ..label_dropout import LabelDropout
from .graph_parts import OrderedGraph
from .rows import MemberLabels


def with_labels(features: np.ndarray, known: Targets, scale: TargetScale) -> np.ndarray:
    """[features, labels, whether a label is known], with zeros for unknown labels."""
    there = known.labeled[:, None]
    labels = np.where(there, scale.to(known.Y), 0.0)
    return np.concatenate([features, labels, there], axis=1, dtype=np.float32)


class GraphSteps:
    """What a network sees in each step: a part of the graph, and a part of its labels.

    ``Y`` and ``weight`` are the labels of the member and their weights.
    """

    def __init__(
        self,
        features: np.ndarray,
        divided: OrderedGraph,
        mine: MemberLabels,
        label_dropout: LabelDropout,
        shares: tuple[float, float],
    ) -> None:
        known, place = mine.given, divided.place
        self.link = link_of(known.task)
        self._mine, self._divided, self._shares = mine, divided, shares
        self._rng = np.random.default_rng(mine.seed)
        labeled = np.flatnonzero(known.labeled[divided.order])
        nodes = divided.order[labeled]
        self.Y, self.weight = mine.scale.to(known.Y[nodes]), known.weight[nodes]
        self._width = features.shape[1]
        self._table = with_labels(features, known, mine.scale)[divided.order]
        given = label_dropout.shown(known, mine.seed)
        self._left = self._table
        if given is not known:
            self._left = with_labels(features, given, mine.scale)[divided.order]
        self._parts = divided.parts()
        firsts = np.array(divided.bounds[:-1])
        self._labeled = np.split(labeled, np.searchsorted(labeled, firsts[1:]))
        self._first_label = np.concatenate([[0], np.cumsum([len(each) for each in self._labeled])])
        self._with_labels = [k for k, each in enumerate(self._labeled) if len(each)]
        self._next: list[int] = []
        self._mean: Propagation | None = None
        self._at = place[mine.validation_nodes]

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of inputs and of outputs."""
        return self._table.shape[1], self.Y.shape[1]

    def _mean_of(self, part: slice) -> Propagation:
        if self._divided.n_parts > 1:
            return self._divided.mean(part)
        if self._mean is None:
            self._mean = self._divided.mean(part)
        return self._mean

    def draw(self, network: Any) -> tuple[Any, np.ndarray]:
        """The scores of the labels that are hidden in this step, and which labels they are."""
        import torch

        if not self._next:
            self._next = self._rng.permutation(self._with_labels).tolist()
        k = self._next.pop()
        part, labeled = self._parts[k], self._labeled[k] - self._parts[k].start
        hidden = np.flatnonzero(self._rng.random(len(labeled)) >= self._rng.uniform(*self._shares))
        inputs = torch.from_numpy(self._table[part].copy())
        at = torch.from_numpy(labeled[hidden])
        inputs[at, self._width :] = 0.0
        return network(inputs, self._mean_of(part))[at], self._first_label[k] + hidden

    def validate(self, network: Any) -> Any:
        """The score of the validation nodes, with the labels that are left."""
        import torch

        from ....nn.training import linked, validation_score

        rows = np.zeros((len(self._at), self.Y.shape[1]))
        for part in self._parts:
            inside = (self._at >= part.start) & (self._at < part.stop)
            if not inside.any():
                continue
            with torch.no_grad():
                scores = network(torch.from_numpy(self._left[part]), self._mean_of(part))
                rows[inside] = linked(scores, self.link).numpy()[self._at[inside] - part.start]
        return validation_score(rows, *self._mine.truth, self.link)
