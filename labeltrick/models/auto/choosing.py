"""What `AutoModel` chooses by labels: a damping, calibrations, shares of the blend, a correction.

The model chooses by all labels. The score that it reports would then flatter, the more the fewer
labels there are, so each fold is predicted by choices made without its labels. Choices keep to a
default unless the gain exceeds twice its standard error: few labels cannot bend them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..._utils.allowance import steps
from ..._utils.targets import Targets
from ...evaluation.calibration import Calibration, fit_calibration, some_rows
from ...graph.graph import Graph
from ...self_exclusion.label_views import LabelViews, label_columns
from ..base.node_inputs import NodeInputs
from ..base.weights import tidy
from ..label_propagation.plain import LabelPropagation, oof_by_views
from .blend import (
    Correction,
    choose_correction,
    choose_shares,
    is_gain,
    mixed,
    possible_shares,
)
from .by_metric import shares_by_metric
from .kept_spread import KeptSpread
from .label_dropout import NO_DROPOUT, LabelDropout
from .trials import MANY_LABELS

LABELS_ALONE = "label propagation"
DAMPINGS = (0.3, 0.6, 0.8, 0.9, 0.97)  # tried for it
_DEFAULT_DAMPING = 0.8
_MANY_NODES = 100_000
_ENOUGH = 2000  # validation nodes that choose shares alone if there are many labels


@dataclass(frozen=True)
class Candidate:
    """A learner's predictions of the nodes that choose, and these with labeled nodes out of
    fold."""

    name: str
    rows: np.ndarray
    oof: np.ndarray


@dataclass(frozen=True)
class Choice:
    """All that was chosen.

    ``rows`` are the predictions of the nodes that choose, out of fold; ``damping_curve`` holds
    (damping, mean score) of label propagation.
    """

    damping: float
    calibrations: dict[str, Calibration]
    shares: dict[str, float]
    correction: Correction | None
    rows: np.ndarray
    damping_curve: list[tuple[float, float]]


def views_at(damping: float, graph: Graph) -> LabelViews:
    """The views of label propagation at a damping."""
    return LabelPropagation(damping, norm="row").views_of(graph)


def label_rows(
    views: LabelViews, known: Targets, blank: np.ndarray, nodes: np.ndarray | None = None
) -> np.ndarray:
    """Label propagation at some nodes, by default at all; none of them sees its own label."""
    labels = label_columns(known.Y, known.weight)
    seen = views.inputs(labels, nodes, blank=blank, progress=False)
    return tidy(seen.values[:, 0], known.task)


def _precision(inputs: NodeInputs) -> Any:
    """On large graphs, shares of classes are spread in half of the time as single precision, whose
    rounding is the tolerance of label propagation."""
    large = inputs.graph.n_nodes > _MANY_NODES and inputs.targets.task != "regression"
    return np.float32 if large else np.float64


def choosing_nodes(known: Targets, validation: Targets) -> np.ndarray:
    """The nodes whose predictions decide: labeled ones and validation nodes, in ascending order."""
    return np.flatnonzero(known.labeled | validation.labeled)


@dataclass(frozen=True)
class Chooser:
    """Makes choices by given labels. Candidates predict the `choosing_nodes`.

    ``validation`` are the labels of the validation nodes: if there are any, they choose, and the
    others take part in the shares only. Shares are chosen by the loss, and by ``metric`` if one is
    given. Label propagation gets the labels that ``dropout`` leaves.
    Nothing is corrected by residuals then: they are known where labels are.
    """

    inputs: NodeInputs
    validation: Targets
    candidates: Sequence[Candidate]
    dropout: LabelDropout = NO_DROPOUT
    metric: str | None = None
    _views: dict[float, LabelViews] = field(default_factory=dict)
    _residual_views: dict[float, LabelViews] = field(default_factory=dict)
    nodes: np.ndarray = field(init=False)
    _last: list[Any] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        nodes = choosing_nodes(self.inputs.targets, self.validation)
        object.__setattr__(self, "nodes", nodes)

    def places(self, nodes: np.ndarray) -> np.ndarray:
        """The rows of candidates that predict these nodes."""
        return np.searchsorted(self.nodes, nodes)

    def choose(self, known: Targets) -> Choice:
        """The choice by the labels ``known``, which may lack those of a fold."""
        damping, curve = self._choose_damping(known)
        candidates = self._with_propagated(damping, known)
        at = self._selection(known)
        calibrations, chosen, every = {}, [], []
        for each in candidates:
            honest = self.honest(each)
            calibration = self.calibration(honest, known)
            calibrations[each.name] = calibration
            chosen.append(calibration.apply(honest, known.task))
            every.append(calibration.apply(each.oof, known.task))
        shares = self._choose_shares(chosen, every, known)
        rows = tidy(mixed(chosen, shares), known.task)
        nodes = np.flatnonzero(known.labeled)
        oof = tidy(mixed(every, shares)[self.places(nodes)], known.task)
        correction = None
        if self.inputs.graph.nnz and not self.dropout.share:
            inputs = replace(self.inputs, targets=known)
            selection = (self.places(at), *self._truth(known, at))
            # Validation nodes have no part in out-of-fold scores: a gain that is likely suffices.
            errors = 1.0 if self.validation.labeled.any() else 2.0
            found, plain = (rows, self.nodes, oof, inputs, selection), rows
            correction, rows = choose_correction(*found, self._residual_views, errors)
            if correction is not None:
                val = np.flatnonzero(self.validation.labeled)
                more = val, plain[self.places(val)], self.validation.Y[val]
                correction = correction.with_more(*more)
        names = [each.name for each in candidates]
        used = {name: share for name, share in zip(names, shares, strict=True) if share}
        return Choice(damping, calibrations, used, correction, rows, curve)

    def oof(self, fold: np.ndarray, choice: Choice) -> np.ndarray:
        """Rows of the labeled nodes, those of each fold by choices made without its labels, or by
        the choice of all labels if they are many."""
        known = self.inputs.targets
        nodes = np.flatnonzero(known.labeled)
        if len(nodes) > MANY_LABELS:
            return self.oof_by(choice)
        rows = np.empty((len(nodes), known.Y.shape[1]))
        for k in range(int(fold.max(initial=0)) + 1):
            others = nodes[fold != k]
            mine = self.choose(known.only(others) if len(others) else known)
            rows[fold == k] = self.oof_by(mine)[fold == k]
        return rows

    def oof_by(self, choice: Choice) -> np.ndarray:
        """Out-of-fold rows of the labeled nodes by a choice."""
        known = self.inputs.targets
        nodes, parts = np.flatnonzero(known.labeled), []
        for each in self.candidates_at(choice.damping):
            if each.name in choice.shares:
                calibration = choice.calibrations[each.name]
                parts.append(calibration.apply(each.oof[self.places(nodes)], known.task))
        oof = tidy(mixed(parts, list(choice.shares.values())), known.task)
        if choice.correction is None:
            return oof
        correction = replace(choice.correction, nodes=nodes, oof=oof, Y=known.Y[nodes])
        views = self.residual_views(correction.damping)
        return correction.apply(oof, self.inputs, views, nodes)

    def candidates_at(self, damping: float) -> list[Candidate]:
        """All candidates, with label propagation of all labels at a damping."""
        return self._with_propagated(damping, self.inputs.targets)

    def _with_propagated(self, damping: float, known: Targets) -> list[Candidate]:
        """All candidates; label propagation is one of them if there are labels to propagate."""
        if not self.has_labels:
            return list(self.candidates)
        return [self.propagated(damping, known), *self.candidates]

    @property
    def has_labels(self) -> bool:
        """Whether dropout leaves any labels to propagate."""
        return bool(self._shown(self.inputs.targets).labeled.any())

    def propagated(self, damping: float, known: Targets) -> Candidate:
        """Label propagation of ``known`` as a candidate; the last one is kept."""
        if self._last and self._last[0] == damping and self._last[1] is known:
            return self._last[2]
        self._last[:] = [damping, known, self._make_propagated(damping, known)]
        return self._last[2]

    def _make_propagated(self, damping: float, known: Targets) -> Candidate:
        rows = self._propagated_at(damping, known, self.nodes)
        oof, nodes = rows.copy(), np.flatnonzero(known.labeled)
        oof[self.places(nodes)] = self._propagated_at(damping, known, nodes)
        return Candidate(LABELS_ALONE, rows, oof)

    def residual_views(self, damping: float) -> LabelViews:
        """The views of a correction, with their self-weights."""
        return self._residual_views[damping]

    def _choose_damping(self, known: Targets) -> tuple[float, list[tuple[float, float]]]:
        """The damping of label propagation, and the score at each."""
        if not self.has_labels:
            return _DEFAULT_DAMPING, []
        at = self._selection(known)
        Y, weight = self._truth(known, at)
        right, another = {}, steps()
        for damping in sorted(DAMPINGS, key=lambda each: each != _DEFAULT_DAMPING):
            rows = self._propagated_at(damping, known, at)
            right[damping] = _rightness(known.task, Y, rows) * weight / weight.mean()
            if not another():
                break
        best = max(right, key=lambda damping: right[damping].mean())
        if not is_gain(right[best] - right[_DEFAULT_DAMPING]):
            best = _DEFAULT_DAMPING
        return best, [(damping, float(right[damping].mean())) for damping in sorted(right)]

    def _propagated_at(self, damping: float, known: Targets, at: np.ndarray) -> np.ndarray:
        """Rows of nodes, each without its own label if it has one."""
        views, shown = self._views_at(damping), self._shown(known)
        inside = shown.labeled[at]
        if inside.all():
            return oof_by_views(views, shown, at)
        if not (known.labeled[at] & ~inside).any():
            return label_rows(views, shown, known.prior, at)
        # A hidden label must not count for its node, not even in the prior.
        blank = shown.prior if shown.labeled.any() else _even(known)
        rows = label_rows(views, shown, blank, at)
        if inside.any():
            rows[inside] = oof_by_views(views, shown, at[inside])
        return rows

    def _shown(self, known: Targets) -> Targets:
        """Those of the labels ``known`` that dropout leaves."""
        return known.only(np.flatnonzero(self.dropout.shown(self.inputs.targets).labeled))

    def _views_at(self, damping: float) -> LabelViews:
        if damping not in self._views:
            kinds = views_at(damping, self.inputs.graph).kinds
            self._views[damping] = KeptSpread(kinds, self.nodes, _precision(self.inputs))
        return self._views[damping]

    def _selection(self, known: Targets) -> np.ndarray:
        """The nodes on which choices are based."""
        some = self.validation if self.validation.labeled.any() else known
        return np.flatnonzero(some.labeled)

    def _truth(self, known: Targets, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        some = self.validation if self.validation.labeled.any() else known
        return some.Y[at], some.weight[at]

    def honest(self, found: Candidate) -> np.ndarray:
        """Rows that have not seen the labels which choose."""
        return found.rows if self.validation.labeled.any() else found.oof

    def calibration(self, rows: np.ndarray, known: Targets) -> Calibration:
        """An overconfident learner would get too small a share of the blend."""
        if known.task == "regression":
            return Calibration()
        at = self._selection(known)
        Y, weight = self._truth(known, at)
        keys = None if known.keys is None else known.keys[at]
        return fit_calibration(rows[self.places(at)], Y, known.task, weight, keys)

    def _choose_shares(
        self, chosen: list[np.ndarray], every: list[np.ndarray], known: Targets
    ) -> tuple[float, ...]:
        """By validation nodes and by labeled nodes out of fold: more nodes make the choice less
        random."""
        at, val = np.flatnonzero(known.labeled), np.flatnonzero(self.validation.labeled)
        if len(at) > MANY_LABELS and len(val) >= _ENOUGH:
            # Learners of few folds lack many labels there, and label propagation lacks none.
            at = at[:0]
        Y = np.concatenate([known.Y[at], self.validation.Y[val]])
        weight = np.concatenate([known.weight[at], self.validation.weight[val]])
        pairs = zip(every, chosen, strict=True)
        places = self.places(at), self.places(val)
        rows = [np.concatenate([oof[places[0]], plain[places[1]]]) for oof, plain in pairs]
        keys = None if known.keys is None else known.keys[np.concatenate([at, val])]
        by_loss = choose_shares(rows, Y, weight, known.task, keys)
        if self.metric is None:
            return by_loss
        some = some_rows(len(Y), keys)
        choices, drawn = possible_shares(len(rows)), None if keys is None else keys[some]
        parts = [part[some] for part in rows]
        return shares_by_metric(self.metric, by_loss, choices, parts, Y[some], drawn)


def _even(known: Targets) -> np.ndarray:
    """The row of a node of which nothing is known."""
    c = known.Y.shape[1]
    value = {"classification": 1 / c, "multilabel": 0.5, "regression": 0.0}[known.task]
    return np.full(c, value)


def _rightness(task: str, Y: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """1 for the right class, the share of right labels, or minus the squared error."""
    if task == "classification":
        return (rows.argmax(axis=1) == Y.argmax(axis=1)).astype(np.float64)
    if task == "multilabel":
        return ((rows > 0.5) == (Y > 0.5)).mean(axis=1)
    return -((Y - rows) ** 2).mean(axis=1)
