"""The table of predictions: one row per node, identified by its id."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ..._utils.table_errors import refusing_table
from ..._utils.targets import Targets
from ...io.tables.kinds import require_unique
from ...io.tables.label_lists import SEPARATORS
from ...io.tables.several_files import TableFiles, read_tables
from ...io.tables.sources import refuse_cells
from ...models.base.prediction_frame import number_columns as interval_columns
from ...models.base.prediction_frame import reached
from .by_target import column_names
from .scores import NodeScores

COVERAGE = 0.9


def prediction_frame(model: Any, ids: pl.Series, predicted: NodeScores) -> pl.DataFrame:
    """The ids under the name of their column ("id" if another column has that name), prediction,
    p_<class> or p_<label> (or low and high), labeled and reached. For several numbers, the columns
    are prediction_<name>, low_<name> and high_<name>."""
    known = predicted.inputs.targets
    names = column_names(known)
    columns: dict[str, Any]
    if known.task == "regression":
        endings = [f"_{name}" for name in names] or [""]
        columns = interval_columns(model, predicted.rows, endings, COVERAGE)
    else:
        shown = joined(names, predicted.predictions) if names else predicted.predictions.tolist()
        columns = {"prediction": [str(value) for value in shown]}
        columns |= dict(zip(number_columns(known), predicted.probabilities.T, strict=True))
    columns["labeled"] = known.labeled
    columns["reached"] = reached(predicted.inputs.graph, np.flatnonzero(known.labeled))
    id_name = "id" if ids.name in {*columns, "low", "high", "test"} else ids.name
    return pl.DataFrame({id_name: ids, **columns})


def joined(names: tuple[str, ...], indicators: np.ndarray) -> list[str]:
    """The labels of each row as one text, separated by a sign that no label contains."""
    sign = next((s for s in SEPARATORS if not any(s in name for name in names)), SEPARATORS[0])
    return [sign.join(names[k] for k in np.flatnonzero(row)) for row in indicators]


def number_columns(targets: Targets) -> list[str]:
    """The columns of a table of predictions that hold probabilities or numbers."""
    names = column_names(targets)
    if targets.task == "regression":
        return [f"prediction_{name}" for name in names] or ["prediction"]
    return [f"p_{name}" for name in names or targets.class_names]


def read_predictions(path: Path, model: Any) -> pl.DataFrame:
    """Read the table of a run, and check that `prediction_frame` can have made it."""
    with refusing_table(path, "the predictions of the run", "Copy the run again, or fit again."):
        frame = pl.read_parquet(path, glob=False)
        known = model.targets_
        numbers = number_columns(known)
        said = [] if known.task == "regression" else ["prediction"]
        for name in (*said, "labeled", "reached", *numbers):
            if name not in frame.columns[1:]:  # the first column holds the ids
                raise ValueError(f"no column {name!r}")
        if frame.height != model.graph_.n_nodes:
            raise ValueError(f"{frame.height} rows for {model.graph_.n_nodes} nodes")
        for name in numbers:
            if frame[name].dtype != pl.Float64 or not frame[name].is_finite().all():
                raise ValueError(f"column {name!r} without numbers")
        if frame["labeled"].dtype != pl.Boolean or frame.select(pl.nth(0)).null_count().item():
            raise ValueError("rows without an id or without a mark")
    return frame


def read_written_predictions(file: Any, model: Any) -> pl.DataFrame:
    """Read a table of predictions that was written for people, in any format."""
    source, frame = read_tables(TableFiles.of(file, "--predictions"), [])
    numbers = number_columns(model.targets_)
    for name in ("labeled", *numbers):
        if name not in frame.columns[1:]:  # the first column holds the ids
            raise ValueError(
                f"`{source}` must hold predictions of this run, as predict writes them; it has no "
                f"column {name!r}."
            )
    require_unique(source, frame.to_series(0))
    made = []
    for name in numbers:
        values = frame[name].cast(pl.Float64, strict=False)
        bad = ~values.is_finite().fill_null(False)
        refuse_cells(source, frame[name], bad, "be a number", ". Write the file again.")
        made.append(values)
    marks = frame["labeled"].cast(pl.String).str.to_lowercase()
    bad = ~marks.is_in(["true", "false"]).fill_null(False)
    refuse_cells(source, frame["labeled"], bad, "be true or false", ". Write the file again.")
    return frame.with_columns(*made, marks == "true")


def stored_rows(frame: pl.DataFrame, model: Any) -> np.ndarray:
    """The probabilities or numbers in a table of predictions, one row per node."""
    return np.column_stack([frame[name].to_numpy() for name in number_columns(model.targets_)])
