"""Simpler models beside `AutoModel`, and how much each of its columns counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._utils.checks import check_choice
from .choosing import LABELS_ALONE


class Baselines:
    """Base of `AutoModel`, with predictions of its baselines."""

    @property
    def baselines_(self: Any) -> list[str]:
        """Names for `baseline`: the most frequent class or the mean, label propagation without
        features (if `label_dropout` leaves any labels), and features without labels if that was
        run."""
        run = self._oof_of_baselines
        return [self.trials_[0].name, *sorted(run, key=lambda name: name != LABELS_ALONE)]

    def baseline(self: Any, name: str, oof: bool = False) -> np.ndarray:
        """Predict all nodes of the fit by a baseline.

        Parameters
        ----------
        name : str
            One of ``baselines_``.
        oof : bool, default=False
            Whether predictions of labeled nodes are out of fold.

        Returns
        -------
        array of shape (n, c)
            Probabilities or numbers.
        """
        check_choice("name", name, self.baselines_)
        inputs = self.fitted_inputs
        if name == self.trials_[0].name:
            return np.repeat(self.prior_[None], inputs.graph.n_nodes, axis=0)
        rows = self._rows_of(name, inputs)
        if oof:
            rows = rows.copy()
            rows[self.labeled_] = self._oof_of_baselines[name]
        return rows

    @property
    def column_importances_(self: Any) -> list[tuple[str, str, float]]:
        """(name, group, share of the trees' gain) of each column, largest first."""
        for fitted in self._learners:
            members, inputs = fitted.members, self.fitted_inputs
            found = fitted.learner.importances(self._maker, members, inputs)
            if found:
                return found
        return []
