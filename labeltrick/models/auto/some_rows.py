"""Rows that are made when they are asked for: all rows of a large graph would not fit into memory.

Learners are trained on the rows of labeled nodes, which may be few, and predict a block of rows at
a time. Each class is used like an array: ``rows[nodes]`` is an array, ``len(rows)`` their number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._utils.feature_tables import FeatureScale
from ..boosting.node_columns import LABEL, NodeColumns

FARTHEST = 6.0  # standard deviations at which features are clipped


@dataclass(frozen=True)
class RowsOfSome:
    """The rows of some nodes, of which ``place`` gives the positions (−1: another node).
    ``chosen`` are the columns that count; None means all."""

    values: np.ndarray
    place: np.ndarray
    chosen: Any = None

    @classmethod
    def of(cls, values: np.ndarray, nodes: np.ndarray, n_nodes: int) -> RowsOfSome:
        place = np.full(n_nodes, -1)
        place[nodes] = np.arange(len(nodes))
        return cls(values, place)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.place), self.values[:0][:, self._chosen].shape[1]

    @property
    def _chosen(self) -> Any:
        return slice(None) if self.chosen is None else self.chosen

    def __len__(self) -> int:
        return len(self.place)

    def __getitem__(self, nodes: Any) -> np.ndarray:
        at = self.place[nodes]
        if len(at) and at.min() < 0:
            raise IndexError("a row was asked for that is not computed while a model is fitted")
        return self.values[at][:, self._chosen]

    def columns(self, some: Any) -> RowsOfSome:
        """Some of all columns."""
        return replace(self, chosen=some)

    @property
    def all(self) -> np.ndarray:
        """The rows that there are."""
        return self.values[:, self._chosen]


def all_values(rows: np.ndarray | RowsOfSome) -> np.ndarray:
    """The rows that there are, as an array."""
    return rows.all if isinstance(rows, RowsOfSome) else rows


@dataclass(frozen=True)
class ScaledRows:
    """Features in the scale of networks."""

    values: np.ndarray | RowsOfSome
    scale: FeatureScale

    @property
    def shape(self) -> tuple[int, int]:
        return self.values.shape

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, nodes: Any) -> np.ndarray:
        return np.clip(self.scale.apply(self.values[nodes]), -FARTHEST, FARTHEST)


@dataclass(frozen=True)
class JoinedRows:
    """Features, and beside them label columns in ``scale``, with the mean where no label is seen.

    ``scale=None`` leaves the labels out.
    """

    features: Any
    labels: np.ndarray | RowsOfSome
    scale: FeatureScale | None

    def __len__(self) -> int:
        return len(self.features)

    def __getitem__(self, nodes: Any) -> np.ndarray:
        features = self.features[nodes]
        if self.scale is None:
            return features
        labels = self.labels[nodes]
        seen = np.where(np.isnan(labels), 0.0, self.scale.apply(labels))
        return np.concatenate([features, seen.astype(np.float32)], axis=1)


@dataclass(frozen=True)
class SomeNodeColumns:
    """Columns of trees; ``make(nodes)`` returns those of some nodes."""

    make: Callable[[Any], NodeColumns]

    def rows(self, nodes: Any) -> NodeColumns:
        return self.make(nodes)

    @property
    def names(self) -> list[str]:
        return self.make(slice(0)).names

    @property
    def groups(self) -> list[str]:
        return self.make(slice(0)).groups

    def beside(
        self, values: np.ndarray | RowsOfSome, names: list[str], group: str = LABEL
    ) -> SomeNodeColumns:
        return SomeNodeColumns(lambda nodes: self.make(nodes).beside(values[nodes], names, group))


@dataclass(frozen=True)
class TreeRows:
    """The values of these columns."""

    columns: SomeNodeColumns

    def __getitem__(self, nodes: Any) -> Any:
        return self.columns.rows(nodes).values
