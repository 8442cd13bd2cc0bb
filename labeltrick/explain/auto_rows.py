"""Rows of `AutoModel` at a few nodes, with any label hidden or column replaced.

The learners of a blend that predict a node from its own row need that row alone: its means of
columns are known, and its label columns follow from a few rows of P. Thousands of changed rows are
then predicted in the time of one prediction of a large graph.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..graph.graph import Graph
from ..models.auto.blend import residual_views
from ..models.auto.choosing import LABELS_ALONE, views_at
from ..models.auto.columns import AutoColumns
from ..models.auto.crossfit import FittedLearner, RowMaker
from ..models.auto.learners.protocol import Learner
from ..models.base.node_inputs import NodeInputs, labels_at
from ..models.base.weights import tidy
from ..self_exclusion.label_views import label_columns
from ..self_exclusion.rounding import is_small
from .found import Question
from .label_rows import EVERYTHING, LabelRows


def used_learners(model: Any) -> dict[str, FittedLearner]:
    """The learners that have a share of the blend, by name."""
    return {each.name: each for each in model._learners if each.name in model.shares_}


def suits(model: Any, inputs: NodeInputs) -> bool:
    """Whether all learners of the blend predict a node from its own row, on the fitted graph."""
    if type(model).__name__ != "AutoModel" or inputs.graph is not model.graph_:
        return False
    by_row = all(each.learner.by_row for each in used_learners(model).values())
    return by_row and not model._dropout.share


@dataclass(frozen=True)
class _GivenLabels(RowMaker):
    """A maker of rows whose label columns are known."""

    found: np.ndarray | None = None

    def labels(self, learner: Learner, known: Any, graph: Graph) -> np.ndarray:
        hops = learner.recipe.label_hops
        if not hops or self.found is None:
            return np.zeros((graph.n_nodes, 0))
        return self.found[:, self._columns.places(hops, known.Y.shape[1])]


@dataclass(frozen=True)
class Wanted:
    """Rows to predict: the places of their nodes, and the node whose label is hidden in each."""

    places: np.ndarray
    hidden: np.ndarray


@dataclass
class AutoRows:
    """All that rows at ``nodes`` are made of. ``spread`` are their columns and means of columns."""

    question: Question
    nodes: np.ndarray
    used: dict[str, FittedLearner] = field(init=False)
    spread: np.ndarray | None = field(init=False)
    label_rows: LabelRows | None = field(init=False)
    _alone: LabelRows | None = field(init=False)
    _residuals: LabelRows | None = field(init=False)

    def __post_init__(self) -> None:
        model, inputs = self.question.model, self.question.inputs
        known, graph, nodes = inputs.targets, inputs.graph, self.nodes
        self.used = used_learners(model)
        maker, at = model._maker, np.flatnonzero(known.labeled)
        self.spread = self._spread()
        self.label_rows = self._alone = self._residuals = None
        hops = max((each.learner.recipe.label_hops for each in self.used.values()), default=0)
        if hops:
            labels = label_columns(maker.label_scale.to(known.Y[at]), np.ones(len(at)))
            kinds = maker._columns._views(graph).kinds
            self.label_rows = LabelRows.of(kinds, nodes, at, labels)
        if LABELS_ALONE in model.shares_:
            labels = label_columns(known.Y[at], known.weight[at])
            kinds = views_at(model._damping, graph).kinds
            self._alone = LabelRows.of(kinds, nodes, at, labels)
        if model._correction is not None:
            self._residuals = self._residual_rows()

    @property
    def _hops(self) -> set[int]:
        """How far the columns of each learner reach."""
        found = (each.learner.recipe.n_hops for each in self.used.values())
        return {hops for hops in found if hops is not None}

    def _spread(self) -> np.ndarray | None:
        model, inputs = self.question.model, self.question.inputs
        columns: AutoColumns = model._maker.columns
        wanted = self._hops
        if columns.signal is None or not wanted:
            return None
        return np.asarray(columns._spread(inputs.X, inputs.graph, max(wanted))[self.nodes])

    def _residual_rows(self) -> LabelRows:
        """Residuals of the nodes whose label is that of the fit."""
        known, correction = self.question.inputs.targets, self.question.model._correction
        nodes = correction.nodes
        same = known.labeled[nodes] & (known.Y[nodes] == correction.Y).all(axis=1)
        order = np.argsort(nodes[same])
        residual = (correction.Y - correction.oof)[same][order]
        columns = np.column_stack([residual, np.ones(len(residual))])
        kinds = residual_views(self.question.inputs.graph, correction.damping).kinds
        return LabelRows.of(kinds, self.nodes, nodes[same][order], columns)

    # -- rows ------------------------------------------------------------------------------
    def maker_of(
        self, wanted: Wanted, spread: np.ndarray | None, blank: bool = False
    ) -> tuple[RowMaker, NodeInputs]:
        """A maker of these rows and its inputs; ``blank`` leaves all label columns missing."""
        model, inputs = self.question.model, self.question.inputs
        fitted, n = model._maker, len(wanted.places)
        graph = Graph.from_edges([], [], n_nodes=n)
        targets = labels_at(replace(inputs.targets, columns=None), np.full(n, -1))
        X = inputs.X
        if X is not None:
            X = replace(X, values=X.values[self.nodes[wanted.places]])
        made = NodeInputs(targets, graph, X)
        of_fit: AutoColumns = fitted.columns
        columns = AutoColumns(of_fit.signal, of_fit.scales, of_fit.few_scale, of_fit.word_scale)
        if spread is not None and columns.signal is not None:
            for n_hops in self._hops:
                width = (n_hops + 1) * len(columns.signal.names)
                columns._kept[n_hops] = ((X, graph), spread[:, :width])
        labels = self._label_columns(wanted)
        if labels is not None and blank:
            labels = np.full_like(labels, np.nan)
        args = (columns, fitted.label_scale, fitted.seed, fitted.label_hops, labels)
        return _GivenLabels(*args), made

    def _label_columns(self, wanted: Wanted) -> np.ndarray | None:
        if self.label_rows is None:
            return None
        model, inputs = self.question.model, self.question.inputs
        graph, known = inputs.graph, inputs.targets
        small = is_small(graph.n_nodes, int(known.labeled.sum()))
        degrees = graph.degrees[self.nodes[wanted.places]]
        views, maker = self.label_rows.views(wanted.places, wanted.hidden), model._maker
        return maker._columns.of_views(views, maker.label_scale, small, degrees, scaled=False)

    def of_learner(
        self, name: str, wanted: Wanted, spread: np.ndarray | None = None, blank: bool = False
    ) -> np.ndarray:
        """Calibrated predictions of a learner."""
        if spread is None and self.spread is not None:
            spread = self.spread[wanted.places]
        maker, inputs = self.maker_of(wanted, spread, blank)
        rows = maker.rows(self.used[name], inputs)
        return self.question.model._calibrations[name].apply(rows, self.question.task)

    def rows(self, wanted: Wanted) -> np.ndarray:
        """Predictions of the blend, shown as `predict_proba` does."""
        return self.question.shown(self.raw(wanted))

    def raw(self, wanted: Wanted) -> np.ndarray:
        """Predictions of the blend before its calibration."""
        model, task = self.question.model, self.question.task
        total = np.zeros((len(wanted.places), len(model.prior_)))
        for name, share in model.shares_.items():
            if name == LABELS_ALONE:
                part = model._calibrations[name].apply(self._propagated(wanted), task)
            else:
                part = self.of_learner(name, wanted)
            total += share * part
        return tidy(tidy(total, task) + self._correction(wanted), task)

    def _propagated(self, wanted: Wanted) -> np.ndarray:
        assert self._alone is not None
        seen = self._alone.views(wanted.places, wanted.hidden)
        rows = np.where(seen.reached[:, :1], seen.values[:, 0], self._priors[wanted.places])
        return tidy(rows, self.question.task)

    @cached_property
    def _priors(self) -> np.ndarray:
        """What is predicted at each node if no label reaches it: the prior of the other labels."""
        model = self.question.model
        known, found = model.targets_, np.repeat(model.prior_[None], len(self.nodes), axis=0)
        labeled = np.flatnonzero(known.labeled)
        for place, node in enumerate(self.nodes):
            if known.labeled[node] and len(labeled) > 1:
                found[place] = known.only(labeled[labeled != node]).prior
        return found

    def _correction(self, wanted: Wanted) -> np.ndarray | float:
        if self._residuals is None:
            return 0.0
        known = np.isin(wanted.hidden, self._residuals.at) | (wanted.hidden == EVERYTHING)
        hidden = np.where(known, wanted.hidden, -1)
        seen = self._residuals.views(wanted.places, hidden)
        nearby = np.where(seen.reached[:, :1], seen.values[:, 0], 0.0)
        return self.question.model._correction.size * nearby

    def nearest(self, place: int, count: int) -> np.ndarray:
        """The labeled nodes that count most at a node."""
        found: list[int] = []
        for rows in (self.label_rows, self._alone, self._residuals):
            if rows is not None:
                found += [int(j) for j in rows.nearest(place, count) if int(j) not in found]
        return np.array(found, np.int64)
