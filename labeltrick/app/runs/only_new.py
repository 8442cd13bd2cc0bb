"""Predictions of a few new nodes of a large run, without reading its tables again.

The model holds its graph and its columns. Reading, joining and interpreting all rows again takes
far longer than predicting a node. Where new rows might mean something else beside the old ones,
the tables are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from ...graph.names import NodeNames
from ...io.tables.several_files import ReadTable
from ...models.base.new_nodes import NewNodes
from ...models.base.node_inputs import NodeInputs, labels_at
from ...models.base.out_of_fold import decode
from ...models.base.tables import Column, Table
from .extending import has_labels, unused_columns
from .inputs import notes_on_categories
from .kept_tables import KeptTables
from .predictions import prediction_frame
from .scores import NodeScores
from .settings import FitSettings

_LARGE = 1_000_000  # stored edges; a smaller run is read within a second or two
_MOST = 64  # new nodes
NOTE = "only these nodes are computed; with --all, all nodes are predicted again"


def predict_only_new(
    settings: FitSettings,
    model: Any,
    nodes: ReadTable,
    edges: ReadTable,
    kept: KeptTables,
) -> tuple[pl.DataFrame, list[str]] | None:
    """Predictions and notes; None if the tables of the run must be read."""
    columns, graph = kept.columns, model.graph_
    ids, decimals = nodes.frame[columns["id"]], [sign for _, sign in kept.tables.values()]
    if graph.nnz < _LARGE or nodes.frame.height > _MOST or not _is_plain(settings, model):
        return None
    if "," in (*decimals, settings.decimal) or has_labels(nodes.frame, settings):
        return None
    if not _same_type(graph.name_table, ids):
        return None
    given = [edges.frame[columns[end]] for end in ("src", "dst")]
    X = _as_in_fit(nodes.frame, model.features_)
    if X is None or not _only_new_edges(graph.name_table, ids, given):
        return None
    ends = tuple(given)
    if graph.weighted:
        weight = edges.frame[columns["weight"]] if "weight" in columns else None
        if weight is None or not weight.dtype.is_numeric() or weight.null_count():
            return None
        ends = (*given, weight)
    features = X.with_columns(ids.alias("id of a node"))
    new = NewNodes.of(model, features, ends, "id of a node")
    rows = None if new is None else model._scores_of_new(new, keep=False)
    if new is None or rows is None:
        return None
    frame = prediction_frame(model, ids, _scores(model, rows))
    frame = frame.with_columns(pl.Series("reached", new.reached(model._reached)))
    notes = []
    for name, table in {"nodes": nodes, "edges": edges}.items():
        notes += unused_columns(table, pl.read_parquet_schema(kept.path(name)))
    return frame, [*notes, *notes_on_categories(X, model), NOTE]


def _scores(model: Any, rows: np.ndarray) -> NodeScores:
    known = labels_at(model.targets_, np.full(len(rows), -1))
    bare = type(model.graph_).from_edges([], [], n_nodes=len(rows))
    shares = rows if known.task == "regression" else model.calibration_.apply(rows, known.task)
    return NodeScores(NodeInputs(known, bare), rows, shares, decode(known, rows), 0.0)


def _is_plain(settings: FitSettings, model: Any) -> bool:
    graph, table = model.graph_, getattr(model, "features_", None)
    typed = bool(graph.relations) or graph.node_types is not None
    if not isinstance(table, Table) or not isinstance(table.values, np.ndarray):
        return False
    return settings.time is None and not typed and table.words is None


def _same_type(names: NodeNames, ids: pl.Series) -> bool:
    kept = names.kept
    return isinstance(kept, pl.Series) and kept.dtype == ids.dtype and not ids.null_count()


def _only_new_edges(names: NodeNames, ids: pl.Series, ends: Sequence[pl.Series]) -> bool:
    """Whether the ids are new and each edge joins one of them to a known node, once: other edges
    may be refused, added or dropped, or may be in the run already."""
    if ids.n_unique() < len(ids) or any(not _same_type(names, end) for end in ends):
        return False
    source, target = ends
    pairs = pl.DataFrame({"a": source, "b": target})
    both = pl.concat([pairs, pairs.select(a="b", b="a")])
    starts_new, stops_new = source.is_in(ids.implode()), target.is_in(ids.implode())
    if not (starts_new != stops_new).all() or both.n_unique() < both.height:
        return False
    known = pl.concat([source.filter(~starts_new), target.filter(~stops_new)])
    places = names.find_few(pl.concat([ids, known]))
    return bool((places[: len(ids)] < 0).all() and (places[len(ids) :] >= 0).all())


def _as_in_fit(frame: pl.DataFrame, fitted: Table) -> pl.DataFrame | None:
    """The columns of the fit, if what they hold does not depend on other rows: numbers, and
    categories that the fit has seen."""
    made = {}
    for column in fitted.given:
        if not isinstance(column, Column) or column.name not in frame.columns:
            return None
        cells = frame[column.name]
        if column.levels is None:
            numbers = cells.cast(pl.Float64, strict=False)
            if not (cells.dtype.is_numeric() or cells.dtype == pl.String):
                return None
            if numbers.null_count() > cells.null_count() or numbers.is_infinite().any():
                return None
            made[column.name] = numbers
        else:
            levels = pl.Series(column.levels)
            if cells.dtype != pl.String or levels.dtype != pl.String:
                return None
            if not cells.is_in(levels.implode()).all():
                return None
            made[column.name] = cells.cast(pl.Categorical)
    return pl.DataFrame(made)
