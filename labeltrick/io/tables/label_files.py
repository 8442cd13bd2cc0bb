"""Labels in a file of their own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from ...graph.node_ids import NodeIds
from .id_column import choose_id_of_labels
from .kinds import count_of, listed, require_unique, shown_name
from .labels import Labels, missing_labels
from .problem import Problem
from .several_files import AnyTable, ReadTable, read_tables, table_of
from .sources import Files, Source, refuse_cells
from .targets import Target, read_targets, target_columns
from .text_formats import TextFormat

_SHOWN = 5  # labels that a warning names


def read_label_file(
    path: Files | ReadTable,
    id_name: str | None,
    target: Target | None,
    task: str,
    text_format: TextFormat | None = None,
    graph_ids: pl.Series | None = None,
) -> tuple[pl.Series, Labels]:
    """Read the ids (as text) and labels of a table.

    Parameters
    ----------
    path : path or sequence of paths
        The table, or several with the same columns.
    id_name : str or None
        Column of the ids. None takes the column that holds ids of the graph.
    target : str, tuple of str or None
        Column of the labels, or several; an error if None.
    task : {"auto", "classification", "multilabel", "regression"}
        Whether the labels are classes, several labels per node, or numbers. "auto"
        decides by their values.
    text_format : TextFormat, default=None
        Delimiter, encoding and decimal sign of text files. None finds them from the content.
    graph_ids : polars.Series, default=None
        The ids of the graph. None finds the column of the ids by its name.

    Returns
    -------
    ids : polars.Series
    labels : Labels

    See Also
    --------
    io.tables.with_labels : Add labels from a table to a problem.
    io.tables.read_frame : Read one table.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from labeltrick.io.tables import read_label_file
    >>> with tempfile.TemporaryDirectory() as place:
    ...     table = Path(place) / "labels.csv"
    ...     size = table.write_text("id,left\\na,yes\\nc,no\\n")
    ...     ids, labels = read_label_file(table, "id", "left", "auto")
    >>> ids.to_list(), labels.values.tolist()
    (['a', 'c'], ['yes', 'no'])
    """
    return _read_labels(table_of(path, "--nodes", text_format), id_name, target, task, graph_ids)[
        1:
    ]


def _read_labels(
    table: AnyTable,
    id_name: str | None,
    target: Target | None,
    task: str,
    graph_ids: pl.Series | None,
) -> tuple[Source, pl.Series, Labels]:
    """The file, the ids (as text) and the labels."""
    notes: list[str] = []
    file, frame = read_tables(table, notes)
    if target is None:
        raise ValueError(f"`--target` must name the column of labels in '{file}'; got none.")
    names = target_columns(file, frame, target)
    name = choose_id_of_labels(file, frame, id_name, names, graph_ids)
    require_unique(file, frame[name])
    labels = read_targets(file, frame, names, task)
    notes += labels.notes
    for column in (name, *names):
        notes += file.note_on_missing(column, None)
    unused = [shown_name(column) for column in frame.columns if column not in (name, *names)]
    if unused:
        notes.append(f"{file}: columns that are not used: {listed(unused)}")
    return file, frame[name].cast(pl.String), replace(labels, notes=notes)


def with_labels(
    problem: Problem,
    path: Files | ReadTable,
    id_name: str | None,
    target: Target,
    task: str = "auto",
    text_format: TextFormat | None = None,
) -> Problem:
    """Add training labels from a table to a problem.

    Parameters
    ----------
    problem : Problem
        The problem, with or without labels.
    path : path or sequence of paths
        Table of ids and labels, or several with the same columns. Blank labels are skipped.
    id_name : str or None
        Column of the ids. None takes the column that holds ids of the graph.
    target : str or tuple of str
        Column of the labels, or several.
    task : {"auto", "classification", "multilabel", "regression"}, default="auto"
        Whether the labels are classes, several labels per node, or numbers, if the
        problem has no labels yet.
    text_format : TextFormat, default=None
        Delimiter, encoding and decimal sign of text files. None finds them from the content.

    Returns
    -------
    Problem
        A copy with the labels added. Their nodes are training nodes.

    See Also
    --------
    io.tables.read_label_file : Read ids and labels from a table.
    io.tables.Problem : A graph with columns and labels.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from labeltrick.io.tables import Roles, read_problem, with_labels
    >>> place = tempfile.TemporaryDirectory()
    >>> edges, nodes = Path(place.name) / "edges.csv", Path(place.name) / "nodes.csv"
    >>> size = edges.write_text("source,target\\na,b\\nb,c\\n")
    >>> size = nodes.write_text("id,age,left\\na,31,yes\\nb,45,\\nc,52,no\\n")
    >>> problem = read_problem(edges, nodes, Roles(target="left"))
    >>> more = Path(place.name) / "more.csv"
    >>> size = more.write_text("id,left\\nb,yes\\n")
    >>> with_labels(problem, more, "id", "left").labels.values.tolist()
    ['yes', 'yes', 'no']
    >>> place.cleanup()
    """
    task = task if problem.labels is None else problem.labels.task
    given = table_of(path, "--labels", text_format)
    table, ids, more = _read_labels(given, id_name, target, task, problem.ids)
    labels = problem.labels
    if labels is None:
        labels = replace(more, values=missing_labels(more, problem.n_nodes))
    if more.listed:
        both = tuple(sorted({*labels.columns, *more.columns}))
        labels, more = labels.in_columns(both), more.in_columns(both)
    at = NodeIds(problem.ids.cast(pl.String)).find(ids)
    known = more.known
    must = "be a node of the node table"
    rest = ", which it does not list. Drop the row, or add the node there."
    if not problem.kinds:
        must = "be a node of the graph"
        rest = ", which it does not have. Drop the row, or pass a table of all nodes with --nodes."
    refuse_cells(table, ids, known & (at < 0), must, rest)
    name = listed([Path(part.name).name for part in table.parts], "and")
    warnings = [*problem.warnings, *_contradictions(labels, more, ids, at, name)]
    values = labels.values.copy()
    values[at[known]] = more.values[known]
    split = {part: np.setdiff1d(nodes, at[known]) for part, nodes in problem.split.items()}
    if split:
        split["train"] = np.union1d(split["train"], at[known])
    n_known = int(known.sum())
    note = f"{count_of(n_known, 'label')} came from {name}"
    labels, notes = replace(labels, values=values), [*problem.notes, *more.notes, note]
    return replace(problem, labels=labels, split=split, notes=notes, warnings=warnings)


def _contradictions(
    labels: Labels, more: Labels, ids: pl.Series, at: np.ndarray, file: str
) -> list[str]:
    """A sentence if labels of the file differ from those of the node table."""
    both = np.flatnonzero(more.known)
    both = both[labels.known[at[both]]]
    before, after = labels.values[at[both]], more.values[both]
    differs = before != after
    if labels.columns:  # several per node, of which some may be missing
        differs = (differs & ~np.isnan(before) & ~np.isnan(after)).any(axis=1)
    other = both[differs]
    if not len(other):
        return []
    first = other[:_SHOWN].tolist()
    named = [f"{ids[k]!r} ({labels.values[at[k]]} → {more.values[k]})" for k in first]
    what = (
        f"1 label in {file} contradicts the node table; that"
        if len(other) == 1
        else f"{len(other):,} labels in {file} contradict the node table; those"
    )
    is_used = "is used" if len(other) == 1 else "are used"
    return [f"{what} in {file} {is_used}: {', '.join(named)}{' …' if len(other) > _SHOWN else ''}"]
