"""What `AutoModel` tried, as a table."""

from __future__ import annotations

from typing import Any

import polars as pl

from ..._utils.checks import check_choice
from ..._utils.extras import require
from ..base.prediction_frame import OUTPUTS, kind_of_frame


class Leaderboard:
    """Base of `AutoModel`, with its trials as a data frame."""

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
