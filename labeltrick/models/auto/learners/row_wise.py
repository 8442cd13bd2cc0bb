"""Learners on rows: a row holds a node's columns beside labels of nearby nodes, never its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...._utils.feature_tables import FeatureScale
from ...base.node_inputs import NodeInputs
from ...base.weights import tidy
from ..columns import AutoColumns, ColumnRecipe, known_means
from ..label_dropout import LabelDropout
from ..some_rows import JoinedRows, all_values
from .protocol import Learner, Member, Sizes
from .rows import MemberLabels, Rows

if TYPE_CHECKING:
    from ..crossfit import RowMaker

_AT_ONCE = 12 * 16_384  # rows that are predicted together


@dataclass(frozen=True)
class RowLearner(Learner):
    """Base of learners on rows. `fit_rows` returns an object with ``predict(rows)``, which gives
    probabilities or numbers of shape (n, c)."""

    by_row: ClassVar[bool] = True

    def fit_rows(self, rows: Rows) -> Any:
        raise NotImplementedError

    def features(self, columns: AutoColumns, inputs: NodeInputs) -> Any:
        return columns.network_features(inputs, self.recipe)

    def columns_of(self, maker: RowMaker, inputs: NodeInputs) -> Any:
        """The columns of all nodes, features and labels."""
        return maker.features(inputs, self), maker.labels(self, inputs.targets, inputs.graph)

    def label_scale_of(self, columns: Any) -> FeatureScale | None:
        return scale_of_labels(all_values(columns[1]))

    def rows_of(self, columns: Any, scale: FeatureScale | None) -> Any:
        """The rows that a fit predicts, with label columns in its scale: ``rows[nodes]`` is an
        array."""
        features, labels = columns
        return JoinedRows(features, labels, scale)

    def training_rows(self, columns: Any, rows: Any, nodes: np.ndarray) -> Any:
        return rows[nodes]

    def fit(
        self, maker: RowMaker, inputs: NodeInputs, mine: MemberLabels, dropout: LabelDropout
    ) -> Member:
        scale, rows = None, []
        # Without labels as inputs, one copy of the rows is all there is.
        views = dropout.views(mine.given, mine.seed) if self.recipe.label_hops else []
        for given in views or [mine.given]:
            columns = self.columns_of(maker, replace(inputs, targets=given))
            if scale is None:
                scale = self.label_scale_of(columns)
                if scale is not None and dropout.share:
                    scale = RangeScale.within(scale, all_values(columns[1]))
            every = self.rows_of(columns, scale)
            rows.append(mine.rows(self.training_rows(columns, every, mine.inside), every))
        return Member(self.fit_rows(Rows.joined(rows)), mine.scale, scale)

    def predict(
        self,
        maker: RowMaker,
        members: list[Member],
        inputs: NodeInputs,
        folds: list[np.ndarray] | None,
    ) -> list[np.ndarray]:
        """See `Learner.predict`. Label columns are self-excluded, so that folds do not matter."""
        return self.predict_at(maker, members, inputs, folds, np.arange(inputs.graph.n_nodes))

    def predict_at(
        self,
        maker: RowMaker,
        members: list[Member],
        inputs: NodeInputs,
        folds: list[np.ndarray] | None,
        nodes: np.ndarray,
    ) -> list[np.ndarray]:
        """See `Learner.predict_at`."""
        columns, known = self.columns_of(maker, inputs), inputs.targets
        found = []
        for member in members:
            rows, parts = self.rows_of(columns, member.label_scale), []
            for first in range(0, max(len(nodes), 1), _AT_ONCE):
                some = nodes[first : first + _AT_ONCE]
                part = member.learned.predict(rows[some])
                parts.append(_checked(part, (len(some), known.Y.shape[1])))
            found.append(tidy(member.scale.back(np.concatenate(parts)), known.task))
        return found

    def size_of_rows(self, sizes: Sizes) -> tuple[int, int]:
        """Number of training rows, and of columns for networks."""
        labels = self.recipe.n_label_columns(sizes.n_outputs)
        rows = sizes.n_labeled * (sizes.n_views if labels else 1)
        return rows, self.recipe.n_feature_blocks * sizes.n_signal + labels


def _checked(rows: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Predictions of a fit, which may be anyone's."""
    if rows.shape != shape:
        raise ValueError(f"predictions must have shape {shape}; got {rows.shape}")
    if not np.isfinite(rows).all():
        raise ValueError("predictions must be finite numbers; got NaN or infinity")
    return rows


def spread_seconds(recipe: ColumnRecipe, sizes: Sizes) -> float:
    """Estimated time of making the columns."""
    labels = recipe.n_label_columns(sizes.n_outputs)
    return sizes.n_edges * (recipe.n_feature_blocks * sizes.n_signal + 4 * labels) * 2e-9


def scale_of_labels(labels: np.ndarray) -> FeatureScale | None:
    """Scale to mean 0 and standard deviation 1 of the labels that are seen."""
    if not labels.shape[1]:
        return None
    center = known_means(labels)
    spread = np.sqrt(known_means((labels - center) ** 2))
    flat = spread <= 1e-6 * np.maximum(np.abs(center), 1e-6)
    return FeatureScale(center, np.where(flat, np.inf, spread))


@dataclass(frozen=True)
class RangeScale(FeatureScale):
    """A scale that keeps numbers within the range of the fit.

    Learners that saw part of the labels extrapolate to more of them: a network with a tenth had an
    accuracy of 0.77 with eight tenths, and has 0.92 within the range.
    """

    least: np.ndarray
    most: np.ndarray

    @classmethod
    def within(cls, scale: FeatureScale, Z: np.ndarray) -> RangeScale:
        known = ~np.isnan(Z)
        least = np.min(Z, axis=0, where=known, initial=np.inf)
        most = np.max(Z, axis=0, where=known, initial=-np.inf)
        none = ~known.any(axis=0)
        bounds = np.where(none, 0.0, least), np.where(none, 0.0, most)
        return cls(scale.center, scale.spread, *bounds)

    def apply(self, Z: np.ndarray) -> np.ndarray:
        return super().apply(np.clip(Z, self.least, self.most))
