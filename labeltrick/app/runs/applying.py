"""Applying a finished run to other files: predictions of new rows or other tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from ...io.tables import NodeIds, Problem, with_labels
from ...io.tables.missing_values import notes_on_unused
from ...io.tables.several_files import ReadTable, TableFiles, given_missing, read_tables
from ...io.tables.sources import Files, as_texts, refuse_cells
from .careful import unused_columns
from .extending import (
    Extended,
    extend_edges,
    extend_nodes,
    has_labels,
    some_of,
    target_names,
    with_columns_named,
)  # fmt: skip
from .fitting import open_run
from .folder import PREDICTIONS
from .inputs import (
    as_fitted,
    inputs_of,
    notes_as_fitted,
    notes_on_categories,
    require_fitted_columns,
)
from .kept_tables import KeptTables, open_tables
from .only_new import predict_only_new
from .predictions import prediction_frame, read_predictions, stored_rows
from .scores import NodeScores
from .settings import FitSettings
from .written_alike import in_order_of_dates


@dataclass(frozen=True)
class Given:
    """What `apply_run` gets beside the run: files, and settings that replace those of the run."""

    edges: Files | None = None
    nodes: Files | None = None
    labels: Files | None = None
    unknown_nodes: str | None = None
    id: str | None = None
    src: str | None = None
    dst: str | None = None
    weight: str | None = None
    written: dict[str, Any] = field(default_factory=dict)  # as in `as_written`
    tables: dict[str, ReadTable] = field(default_factory=dict)  # that were read

    def read(self, name: str, settings: FitSettings) -> ReadTable:
        """The table "nodes", "edges" or "labels", which is read once."""
        if name not in self.tables:
            files = TableFiles.of(getattr(self, name) or (), f"--{name}", settings.text_format)
            self.tables[name] = ReadTable(*read_tables(files, []))
        return self.tables[name]

    @property
    def has_files(self) -> bool:
        return not (self.edges is None and self.nodes is None and self.labels is None)


@dataclass(frozen=True)
class _Inputs:
    """A problem to predict, its table of nodes, and the nodes whose rows are new or replaced."""

    problem: Problem
    table: ReadTable | None
    notes: list[str]
    fresh: np.ndarray | None = None  # a mask; None for files that stand alone


def apply_run(
    run: Any,
    given: Given,
    *,
    alone: bool = False,
    everything: bool = False,
    show: Callable[[str], None] = lambda line: None,
) -> tuple[pl.DataFrame, list[str]]:
    """Predictions and notes of a run for its own tables and the given rows together or, if the
    given files stand ``alone``, for these. Unless ``everything`` is wanted, only new nodes and
    those with replaced rows are returned, if there are any."""
    folder, settings, model = open_run(run)
    kept = open_tables(folder.path)
    settings = as_written(replace(settings, task=model.targets_.task), given.written)
    if kept is not None and not alone and not everything:
        quick = _only_new(kept, settings, given, model)
        if quick is not None:
            return quick
    stored = read_predictions(folder / PREDICTIONS, model)
    if not given.has_files and not alone:
        return stored.drop("test", strict=False), []
    if alone:
        found = _alone(settings, given, kept)
    else:
        if kept is None:
            raise ValueError(
                f"`{folder.path}` must hold the tables of its fit to add rows to them; it was "
                "written by an earlier version. Pass all rows with --replace, or fit again."
            )
        found = _together(kept, settings, given, model, stored, show)
    problem = found.problem
    if found.table is not None:
        problem = as_fitted(problem, found.table, model)
    inputs = inputs_of(problem, settings, model)
    notes = [*found.notes, *notes_as_fitted(problem, inputs["X"], model), *problem.warnings]
    notes += unused_columns(problem, settings)
    if given.written.get("missing"):
        notes += notes_on_unused(settings.missing, given_missing(given.tables.values()))
    notes += notes_on_categories(inputs["X"], model)
    with model._suspecting_its_file():
        predicted = NodeScores.of(model, model.inputs_of(**inputs))
        frame = prediction_frame(model, problem.ids, predicted)
    if found.fresh is None:
        return frame, notes
    notes += _notes_on_fresh(frame, problem, found.fresh)
    if everything or not found.fresh.any():
        return frame, notes
    notes += notes_on_changes(stored, frame[: stored.height], found.fresh[: stored.height], model)
    return frame.filter(pl.Series(found.fresh)), notes


def _only_new(
    kept: KeptTables, settings: FitSettings, given: Given, model: Any
) -> tuple[pl.DataFrame, list[str]] | None:
    """Predictions of new nodes from the model alone, where that is the same."""
    if given.nodes is None or given.edges is None or given.labels is not None:
        return None
    if kept.graph is not None or "nodes" not in kept.tables:
        return None
    nodes = given.read("nodes", settings)
    nodes = with_columns_named(nodes, {"id": (given.id, kept.columns["id"])})
    edges = given.read("edges", settings)
    ends = {end: (getattr(given, end), kept.columns.get(end)) for end in ("src", "dst", "weight")}
    return predict_only_new(settings, model, nodes, with_columns_named(edges, ends), kept)


def as_written(settings: FitSettings, written: dict[str, Any] | None) -> FitSettings:
    """Settings with the delimiter, encoding, decimal sign and missing values that are given."""
    return replace(settings, **{name: value for name, value in (written or {}).items() if value})


# -- files that stand alone --------------------------------------------------------------------
def _alone(settings: FitSettings, given: Given, kept: KeptTables | None) -> _Inputs:
    """Read other files with the roles of the run. If the target column is missing or blank, there
    are no labels."""
    if given.edges is None:
        raise ValueError(
            "`--replace` must come with --edges: the given files stand alone. Leave it out to add "
            "rows to those of the run."
        )
    if given.nodes is None and settings.nodes is not None:
        raise ValueError(
            "`--replace` must come with --nodes, because the run was fitted with a node table. "
            "Leave it out to add edges to those of the run."
        )
    names = {name: getattr(given, name) for name in ("id", "src", "dst", "weight")}
    names = {name: value for name, value in names.items() if value is not None}
    other = replace(
        settings,
        edges=as_texts(given.edges),
        nodes=None if given.nodes is None else as_texts(given.nodes),
        unknown_nodes=given.unknown_nodes or settings.unknown_nodes,
        labels=None,
        **names,
    )
    tables = other.tables()
    given.tables.update(tables)
    other = replace(other, missing=())  # what is not used is reported if it was given for these
    if "nodes" in tables:
        if kept is not None and "nodes" in kept.tables:
            tables["nodes"] = in_order_of_dates(kept.read("nodes"), tables["nodes"])
        other = _with_columns_of(tables["nodes"].frame, other)
    problem = other.read(tables=tables)
    return _Inputs(_with_given_labels(problem, settings, given), tables.get("nodes"), [])


def _with_columns_of(frame: pl.DataFrame, settings: FitSettings) -> FitSettings:
    """The settings without columns that a table does not have. A blank target holds no labels."""

    def there(name: str | None) -> str | None:
        return name if name in frame.columns else None

    target, ignored = settings.target, list(settings.ignore)
    if not has_labels(frame, settings):
        ignored += target_names(settings)
        target = None
    ignored = [name for name in ignored if there(name)]
    split = there(settings.split_column)
    return replace(settings, target=target, split_column=split, ignore=tuple(ignored))


def _with_given_labels(
    problem: Problem, settings: FitSettings, given: Given, id_name: str | None = None
) -> Problem:
    if given.labels is None or settings.target is None:
        return problem
    table = given.read("labels", settings)
    usual = id_name if id_name in table.frame.columns else settings.id
    args = (given.id or usual, settings.target, settings.task, settings.text_format)
    found = with_labels(problem, table, *args)
    scored = [name for name in ("val", "test") if name in problem.split]
    n_moved = sum(len(problem.split[name]) - len(found.split[name]) for name in scored)
    if n_moved:
        what = "1 of these labels is of a validation or test node, and is an input now"
        if n_moved > 1:
            what = (
                f"{n_moved:,} of these labels are of validation or test nodes, and are inputs now"
            )
        found.notes.append(what)
    return found


# -- rows that are added to those of the run ---------------------------------------------------
def _together(
    kept: KeptTables,
    settings: FitSettings,
    given: Given,
    model: Any,
    stored: pl.DataFrame,
    show: Callable[[str], None],
) -> _Inputs:
    """The tables of the run and the given rows together."""
    ids = stored.to_series(0)
    found = Extended({name: kept.read(name) for name in kept.tables})
    if kept.graph is not None:
        show(f"the graph is read from '{kept.graph_path()}', as in the run")
        _require_possible(kept, given)
    if given.nodes is not None:
        found = _with_nodes(found, kept, settings, given, model, ids)
    if given.edges is not None:
        found = _with_edges(found, kept, settings, given)
    unknown_nodes = given.unknown_nodes or settings.unknown_nodes
    now = replace(settings, labels=None, missing=(), unknown_nodes=unknown_nodes)
    roles = ("src", "dst", "weight") if kept.graph is None else ()
    roles = ("id", *roles) if "nodes" in found.tables else roles
    columns: dict[str, Any] = {name: kept.columns.get(name) for name in roles}
    now = replace(now, **columns)
    if "nodes" in found.tables:
        now = _with_columns_of(found.tables["nodes"].frame, now)
    elif kept.graph is None:  # all labels are in tables of their own
        now = replace(now, target=None)
    problem = now.read(tables=found.tables)
    if "labels" in found.tables and settings.target is not None:
        table = found.tables["labels"]
        if table.frame.height:
            args = (settings.id, settings.target, settings.task)
            known = with_labels(problem, table, *args)
            # The fit has said what is to be said about its labels.
            problem = replace(known, notes=problem.notes, warnings=problem.warnings)
    problem = _with_given_labels(problem, settings, given, kept.columns["id"])
    texts = problem.ids.cast(pl.String)
    fresh = (~texts.is_in(ids.cast(pl.String).implode())).to_numpy().copy()
    if len(found.replaced):
        fresh[NodeIds(texts).find(found.replaced)] = True
    return _Inputs(problem, found.tables.get("nodes"), found.notes, fresh)


def _with_nodes(
    found: Extended,
    kept: KeptTables,
    settings: FitSettings,
    given: Given,
    model: Any,
    ids: pl.Series,
) -> Extended:
    name = kept.columns["id"]
    new = given.read("nodes", settings)
    new = with_columns_named(new, {"id": (given.id, name)})
    require_fitted_columns(new, model)
    if kept.graph is not None:
        _require_nodes_of(new, name, ids, kept.graph[0])
        ids = found.tables["nodes"].frame[name]
    return extend_nodes(found, new, name, ids, settings)


def _with_edges(found: Extended, kept: KeptTables, settings: FitSettings, given: Given) -> Extended:
    ends = ("src", "dst", "weight")
    new = given.read("edges", settings)
    new = with_columns_named(
        new, {end: (getattr(given, end), kept.columns.get(end)) for end in ends}
    )
    columns = [kept.columns["src"], kept.columns["dst"]]
    return extend_edges(found, new, columns, kept.columns.get("weight"), settings.directed)


def _require_possible(kept: KeptTables, given: Given) -> None:
    """Raise an error for rows that cannot be added to a graph which is not a table."""
    option = "edges" if given.edges is not None else "nodes"
    if given.edges is None and (given.nodes is None or "nodes" in kept.tables):
        return
    assert kept.graph is not None
    raise ValueError(
        f"`--{option}` must be left out, or come with --replace: the run refers to the graph "
        f"'{kept.graph[0]}', to which no rows can be added. Build the graph again with the new "
        "rows, and pass it with --replace --edges. Labels can be added with --labels."
    )


def _require_nodes_of(nodes: ReadTable, id_name: str, ids: pl.Series, graph: str) -> None:
    """Raise an error for nodes that a graph which is not a table does not have."""
    names = nodes.frame[id_name]
    unknown = NodeIds(ids.cast(pl.String)).find(names.cast(pl.String)) < 0
    rest = (
        f", and no nodes can be added to '{graph}'. Build the graph again with the new rows, and "
        "pass it with --replace --edges."
    )
    refuse_cells(nodes.source, names, unknown, "be a node of the graph of the run", rest)


# -- notes -------------------------------------------------------------------------------------
def _notes_on_fresh(frame: pl.DataFrame, problem: Problem, fresh: np.ndarray) -> list[str]:
    notes = []
    if problem.split and problem.labels is not None:
        used = np.concatenate([*problem.split.values()])
        unused = np.setdiff1d(np.flatnonzero(problem.labels.known & fresh), used)
        if len(unused):
            what = (
                "1 label is not used: its"
                if len(unused) == 1
                else (f"{len(unused):,} labels are not used: their")
            )
            notes.append(f"{what} part of the split is blank")
    lonely = np.flatnonzero(fresh & (problem.graph.degrees == 0))
    if len(lonely):
        names = some_of(problem.ids[lonely.tolist()].cast(pl.String).to_list())
        one = len(lonely) == 1
        what = "1 node has no edges" if one else f"{len(lonely):,} nodes have no edges"
        notes.append(f"{what}, so no label reaches {'it' if one else 'them'}: {names}")
    return notes


def notes_on_changes(
    before: pl.DataFrame, after: pl.DataFrame, fresh: np.ndarray, model: Any
) -> list[str]:
    """A sentence about the predictions of old nodes, which are not written."""
    old, now = before.filter(pl.Series(~fresh)), after.filter(pl.Series(~fresh))
    if model.targets_.task == "regression":
        rows = stored_rows(before, model)
        scale = np.ptp(rows, axis=0)
        change = np.abs(stored_rows(now, model) - stored_rows(old, model))
        moved = (change > 1e-6 * np.where(scale > 0, scale, 1.0)).any(axis=1)
    else:
        moved = (now["prediction"] != old["prediction"]).to_numpy()
    if not moved.any():
        if old.height == 1:
            return ["the prediction of the other node stays the same"]
        return [f"the predictions of the other {old.height:,} nodes stay the same"]
    n = int(moved.sum())
    what = "the prediction of 1" if n == 1 else f"the predictions of {n:,}"
    return [f"{what} of the other {old.height:,} nodes changed too; --all writes them"]
