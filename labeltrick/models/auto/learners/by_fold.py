"""Learners that pass labels along edges, where a label returns to its node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...._utils.targets import Targets
from ...base.folds import nodes_by_fold
from ...base.node_inputs import NodeInputs
from ...base.weights import tidy
from .protocol import Learner, Member

if TYPE_CHECKING:
    from ..crossfit import RowMaker


@dataclass(frozen=True)
class FoldLearner(Learner):
    """Base of these learners. A labeled node is predicted without the labels of its fold, by that
    fold's member. Other nodes are predicted by the member with all labels, if there is one."""

    def predictor(
        self, member: Member, features: Any, inputs: NodeInputs
    ) -> Callable[[Targets], np.ndarray]:
        """A function from the labels that are shown to the predictions of all nodes."""
        raise NotImplementedError

    def predict(
        self,
        maker: RowMaker,
        members: list[Member],
        inputs: NodeInputs,
        folds: list[np.ndarray] | None,
    ) -> list[np.ndarray]:
        """See `Learner.predict`."""
        features, known = maker.features(inputs, self), inputs.targets
        of_folds = [member for member in members if not member.whole]
        if folds is None:
            folds = nodes_by_fold(known, len(of_folds), maker.seed)
        predictors = [self.predictor(member, features, inputs) for member in of_folds]
        whole = [self.predictor(member, features, inputs) for member in members if member.whole]
        parts = [tidy(rows_of(known), known.task) for rows_of in whole or predictors]
        for mine, rows_of in zip(folds, predictors, strict=True):
            others = np.setdiff1d(np.flatnonzero(known.labeled), mine)
            without = tidy(rows_of(known.only(others)), known.task)[mine]
            for rows in parts:
                rows[mine] = without
        return parts * len(of_folds) if whole else parts
