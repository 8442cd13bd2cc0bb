"""What `AutoModel` tried, with scores, and as a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from ..._utils.checks import check_choice
from ..._utils.extras import require
from ...evaluation import metrics
from ..base.prediction_frame import OUTPUTS, kind_of_frame
from .attempts import Attempt
from .choosing import choosing_nodes
from .learners.rows import row_loss
from .looks import Look
from .trials import Trial


class Leaderboard:
    """Base of `AutoModel`, which keeps its trials and shows them as a data frame."""

    def leaderboard(self: Any, output: str | None = None) -> Any:
        """Everything that was tried, the best first.

        Parameters
        ----------
        output : {"pandas", "polars"} or None, default=None
            The kind of frame. None gives the kind that was passed to `fit`, or polars.

        Returns
        -------
        frame : pandas.DataFrame or polars.DataFrame
            The columns ``learner``, ``score`` (the value of ``metric``), ``loss`` (by which the
            blend is chosen), ``seconds``, ``share`` in the blend and ``note``. What was not run
            is last, and its note says why.

        See Also
        --------
        AutoModel : The model, whose ``trials_`` holds the same in the order of running.
        """
        check_choice("output", output, OUTPUTS)
        # NaN compares false with everything, so what was not run is put last explicitly.
        trials = sorted(self.trials_, key=lambda trial: (trial.loss != trial.loss, trial.loss))
        columns = {
            "learner": [trial.name for trial in trials],
            "score": [trial.score for trial in trials],
            "loss": [trial.loss for trial in trials],
            "seconds": [trial.seconds for trial in trials],
            "share": [self.shares_.get(trial.name, 0.0) for trial in trials],
            "note": [trial.note for trial in trials],
        }
        if (output or kind_of_frame(self)) == "pandas":
            return require("pandas", "leaderboard(output='pandas')").DataFrame(columns)
        return pl.DataFrame(columns)

    @property
    def _choosing_nodes(self: Any) -> np.ndarray:
        return choosing_nodes(self.targets_, self.validation_targets_)

    def _selection_rows(self: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The nodes on which the choice is based, with their labels and weights."""
        known, nodes = self.targets_, self.labeled_
        if len(self.validation_):
            known, nodes = self.validation_targets_, self.validation_
        return nodes, known.Y[nodes], known.weight[nodes]

    def _add_trial(self: Any, name: str, rows: np.ndarray, seconds: float, note: str = "") -> None:
        nodes, Y, weight = self._selection_rows()
        rows, task = rows[np.searchsorted(self._choosing_nodes, nodes)], self.targets_.task
        loss = row_loss(task, Y, rows, weight)
        score = metrics.measure(self.metric or metrics.default_metric(task), Y, rows)
        self.trials_.append(Trial(name, score, loss, seconds, note))

    def _dropped(self: Any, each: Attempt, look: Look) -> Trial:
        """A learner that is not part of the blend, scored by its first fold if that was fitted."""
        if each.look is None or not each.why.startswith("stopped"):
            return Trial(each.name, np.nan, np.nan, each.seconds, each.why)
        Y, task = look.known.Y[look.nodes], self.targets_.task
        loss = row_loss(task, Y, each.look, look.known.weight[look.nodes])
        score = metrics.measure(self.metric or metrics.default_metric(task), Y, each.look)
        return Trial(each.name, score, loss, each.seconds, each.why)
