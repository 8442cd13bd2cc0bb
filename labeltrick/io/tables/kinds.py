"""The roles of columns, and their kinds: numbers, categories, booleans, dates or text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from shlex import quote

import polars as pl

from ..._utils.texts import (
    CODES,
    DATES_IN_FILES,
    DAY_FIRST,
    DAYS_FIRST,
    date_format,
    dates_in_two_forms,
    parse_dates,
    what_strings_hold,
)
from ..._utils.texts import TEXT as WORDS
from .content import are_dates, begin_like_dates
from .id_like import are_padded, why_ids
from .sources import Source, TableName, refuse_cells, row_name
from .written_numbers import are_numbers

_PADDED = "codes with leading zeros"
_COUNTED = ("feature", "left out")
_MOST_NAMES = 20  # that a sentence lists
_LIKE_NUMBERS = 0.9  # if that share of the values are numbers, the others are mistakes
TRUE, FALSE = {"true", "yes", "t", "y"}, {"false", "no", "f", "n"}
NUMERIC, CATEGORICAL, BOOLEAN, TEXT, CODE, DATE, EMPTY, CONSTANT = (
    "numeric", "categorical", "boolean", "text", "code", "date", "empty", "constant",
)  # fmt: skip


@dataclass(frozen=True)
class Roles:
    """The columns of the tables by their roles.

    Parameters
    ----------
    target : str or tuple of str, default=None
        Column of the labels, or several: a text may name several columns, separated by commas. None
        if there are no labels.
    id : str, default=None
        Column of the node ids. None takes the column to which edges refer.
    src, dst : str, default=None
        Columns of the start and the end of an edge. None takes columns that hold ids of nodes and
        have usual names such as "src" and "dst"; an error if several could be meant.
    weight : str, default=None
        Column of the edge weights. None takes a column named "weight" if there is one.
    time : str, default=None
        Column of dates or numbers to use as one feature, in days. Other dates become several.
    split : str, default=None
        Column that holds train, val or test.
    ignore : tuple of str, default=()
        Columns of the node table to leave out.

    See Also
    --------
    io.tables.ColumnKind : What a column holds.
    io.tables.read_problem : Read a graph with columns and labels from files.

    Examples
    --------
    >>> from labeltrick.io.tables import Roles
    >>> roles = Roles(target="left", src="payer", dst="payee", ignore=("phone",))
    >>> roles.target, roles.id
    ('left', None)
    """

    target: str | tuple[str, ...] | None = None
    id: str | None = None
    src: str | None = None
    dst: str | None = None
    weight: str | None = None
    time: str | None = None
    split: str | None = None
    ignore: tuple[str, ...] = ()


@dataclass(frozen=True)
class ColumnKind:
    """What a column of the node table holds and how it is used.

    Attributes
    ----------
    name : str
    kind : str
        "numeric", "categorical", "boolean", "text", "code", "date", "empty" or "constant"; for
        columns that are not features, "id", "target", "split" or "ignored".
    n_missing, n_distinct : int
        Numbers of missing and of different values.
    role : str
        "feature", "id", "target", "split", "time" or "left out".
    note : str
        Why the column is left out, or how it is used.

    See Also
    --------
    io.tables.Roles : The columns of the tables by their roles.
    io.tables.Problem : A graph with columns and labels.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from labeltrick.io.tables import Roles, read_problem
    >>> place = tempfile.TemporaryDirectory()
    >>> edges, nodes = Path(place.name) / "edges.csv", Path(place.name) / "nodes.csv"
    >>> size = edges.write_text("source,target\\na,b\\nb,c\\n")
    >>> size = nodes.write_text("id,age,left\\na,31,yes\\nb,45,\\nc,52,no\\n")
    >>> for column in read_problem(edges, nodes, Roles(target="left")).kinds:
    ...     print(column.name, column.kind, column.n_missing, column.role)
    id id 0 id
    age numeric 0 feature
    left target 1 target
    >>> place.cleanup()
    """

    name: str
    kind: str
    n_missing: int
    n_distinct: int
    role: str = "feature"
    note: str = ""


def find_column(file: TableName, frame: pl.DataFrame, name: str, option: str) -> str:
    """Return the name, or raise `ValueError` with the closest column name. Only an ignored column
    may hold bytes, and only that and a target may hold lists."""
    if name in frame.columns:
        kind = frame.schema[name]
        not_plain = kind.is_nested() or kind in (pl.Binary, pl.Object, pl.Duration)
        may_list = option == "--target" and isinstance(kind, pl.List | pl.Array)
        if not_plain and option != "--ignore" and not may_list:
            raise ValueError(
                f"`{file}`, column {name!r} must hold one text or number per row; it holds "
                f"{kind}. Export single values."
            )
        return name
    same = [column for column in frame.columns if column.lower() == name.lower()]
    near = same or get_close_matches(name, frame.columns, 1, 0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(
        f"`{option}` must name a column of '{file}'; got {name!r}.{hint} Its columns are: "
        f"{listed(frame.columns)}.{how_it_was_read(file)}"
    )


def how_it_was_read(file: TableName) -> str:
    """The end of a message about columns: another sheet or delimiter may be meant."""
    return "".join(f" ({note}.)" for note in file.notes) if isinstance(file, Source) else ""


def listed(names: Iterable[str], last: str = "") -> str:
    """Names as a list of at most 20, with ``last`` ("and", "or") before the last one.

    >>> listed(["a", "b", "c"], "and")
    'a, b and c'
    """
    found = list(names)
    if len(found) > _MOST_NAMES:
        return f"{', '.join(found[:_MOST_NAMES])} and {len(found) - _MOST_NAMES:,} more"
    if last and len(found) > 1:
        return f"{', '.join(found[:-1])} {last} {found[-1]}"
    return ", ".join(found)


def count_of(n: int, noun: str) -> str:
    """A number of things.

    >>> count_of(1, "node"), count_of(2000, "node")
    ('1 node', '2,000 nodes')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def shown_name(name: str) -> str:
    """A name as it is, or in quotes if it could be mistaken for other words of a sentence.

    >>> shown_name("amount"), shown_name("not used"), shown_name("")
    ('amount', "'not used'", '(no name)')
    """
    if not name.strip():
        return "(no name)"
    return name if name.replace("_", "").replace("-", "").isalnum() else repr(name)


def note_on_columns(kinds: Iterable[ColumnKind]) -> str:
    """A sentence that says how the columns of a node table are used."""
    kinds = list(kinds)
    said = [f"{k.role} {shown_name(k.name)}" for k in kinds if k.role not in _COUNTED]
    n_features = sum(k.role in ("feature", "time") for k in kinds)
    said.append(count_of(n_features, "feature"))
    unused = [f"{shown_name(k.name)} ({k.note})" for k in kinds if k.role == "left out"]
    if unused:
        said.append(f"not used: {listed(unused)}")
    return f"nodes: {'; '.join(said)}"


def infer_column(file: TableName, series: pl.Series) -> tuple[pl.Series, ColumnKind]:
    """The column with its inferred type, and its kind. Text may hold numbers, booleans or dates."""
    name, n_missing = series.name, series.null_count()
    n_distinct = series.drop_nulls().n_unique()

    def found(kind: str, role: str = "feature", note: str = "") -> ColumnKind:
        return ColumnKind(name, kind, n_missing, n_distinct, role, note)

    if n_missing == len(series):
        return series, found(EMPTY, "left out", "no values")
    if series.dtype.is_nested() or series.dtype in (pl.Binary, pl.Time, pl.Duration):
        return series, found(TEXT, "left out", f"holds {series.dtype}")
    raw, padded = series, are_padded(series)
    if series.dtype == pl.String and not padded:
        series = _from_text(file, series)
    if series.dtype.is_float():
        series = series.fill_nan(None)
        n_missing = series.null_count()
        advice = f"Correct it, or leave the column out with --ignore {quote(name)}."
        infinite = series.is_infinite()
        refuse_cells(file, series, infinite, "be a finite number or missing", f". {advice}")
    if n_distinct == 1 and n_missing == 0:
        return series, found(CONSTANT, "left out", "the same value in all rows")
    if series.dtype.is_temporal():
        return series, found(DATE)
    if series.dtype == pl.Boolean:
        return series, found(BOOLEAN)
    if series.dtype.is_numeric():
        why = why_ids(name, raw, series)
        return series, found(CODE, "left out", why) if why else found(NUMERIC)
    if series.dtype == pl.Null:
        return series, found(EMPTY, "left out", "no values")
    series = series.cast(pl.String)
    held = what_strings_hold(series)
    if held == CODES:
        codes = _PADDED if padded else "codes"
        note = f"{codes}, {n_distinct:,} different values{_odd_one(series)}"
        return series, found(CODE, "left out", note)
    note = _PADDED if padded else ""
    return series, found(TEXT if held == WORDS else CATEGORICAL, note=note)


def _odd_one(texts: pl.Series) -> str:
    """A text that may be why the others are not read as numbers or dates, if most of them are."""
    known = texts.drop_nulls()
    plain, written = known.cast(pl.Float64, strict=False).is_not_null(), are_numbers(known)
    if written.all() and plain.any() and not plain.all():
        return f"; numbers in several forms: {known.filter(plain)[0]}, {known.filter(~plain)[0]}"
    for what, fits in (("numbers", written), ("dates", begin_like_dates(known))):
        n_fitting = int(fits.sum())
        if len(known) / 2 <= n_fitting < len(known):
            return f"; {n_fitting:,} are {what}, but {known.filter(~fits)[0]!r} is not"
    return ""


def as_end(values: pl.Series, kind: ColumnKind, ids: pl.Series) -> ColumnKind:
    """The kind of a column of the node table that is called like an end of the edges. Numbers that
    are ids of nodes, such as that of a manager, are not amounts."""
    known = values.drop_nulls().cast(pl.String)
    if kind.kind != NUMERIC or not known.is_in(ids.cast(pl.String).implode()).all():
        return kind
    return replace(kind, kind=CODE, role="left out", note="ids of nodes, as in the edges")


def how_to_leave_out(name: str) -> str:
    """Advice about a cell that is not like the others of its column."""
    return f"Correct it, leave it blank, or leave the column out with --ignore {quote(name)}."


def _from_text(file: TableName, series: pl.Series) -> pl.Series:
    known = series.drop_nulls()
    numbers = series.str.strip_chars().cast(pl.Float64, strict=False)
    n_read = numbers.drop_nulls().len()
    if n_read == known.len():
        whole = series.str.strip_chars().cast(pl.Int64, strict=False)
        return whole if whole.drop_nulls().len() == known.len() else numbers
    if n_read >= _LIKE_NUMBERS * known.len() and numbers.n_unique() > 20:
        must = "be a number like the other values of the column"
        texts = numbers.is_null() & series.is_not_null()
        refuse_cells(file, series, texts, must, f". {how_to_leave_out(series.name)}")
    levels = {str(level).strip().lower() for level in known.unique().to_list()}
    if len(levels) == 2 and levels & TRUE and levels & FALSE:
        return series.str.strip_chars().str.to_lowercase().is_in(list(TRUE))
    dates = parse_dates(series, DATES_IN_FILES)
    return series if dates is None else dates


def as_days(file: TableName, series: pl.Series) -> pl.Series:
    """Dates as days since 1970, which is the same day for all files; numbers unchanged."""
    if series.dtype.is_numeric():
        return series.cast(pl.Float64)
    if not series.dtype.is_temporal():
        raise ValueError(
            f"`--time` must name a column of dates or numbers in '{file}'; {series.name!r} holds "
            "neither. Write dates as 2024-12-31."
        )
    return series.cast(pl.Datetime("us")).dt.timestamp("us") / 86_400_000_000


def as_feature(series: pl.Series, kind: ColumnKind) -> pl.Series:
    """The column with the type that estimators expect."""
    if series.dtype == pl.String:
        return series if kind.kind in (TEXT, CODE) else series.cast(pl.Categorical)
    if series.dtype.is_temporal():
        return series.cast(pl.Datetime("us"))
    return series if series.dtype == pl.Boolean else series.cast(pl.Float64)


def notes_on_dates(series: pl.Series, kind: ColumnKind) -> list[str]:
    """A sentence if days are before months, or if they could be in all dates; or if all values are
    dates, but not in one format."""
    if series.dtype != pl.String or kind.kind not in (DATE, CATEGORICAL, CODE):
        return []
    if kind.kind != DATE:
        return _note_on_forms(series) if are_dates(series) else []
    pattern = date_format(series, DATES_IN_FILES) or ""
    notes = _note_on_years(series) if "%y" in pattern else []
    if date_format(series, DAYS_FIRST) is None:
        return notes
    if pattern.startswith(DAY_FIRST):
        telling = series.filter(series.str.contains(r"^\s*(1[3-9]|2\d|3[01])/"))
        return [
            *notes,
            f"dates of column {kind.name!r} are read as day/month/year, as {telling[0]!r} shows",
        ]
    return [
        *notes,
        f"dates of column {kind.name!r}, such as {series.drop_nulls()[0]!r}, are read as month/day/"
        "year, but all could be day/month/year. Write them as 2024-12-31 if they are",
    ]


def _note_on_years(series: pl.Series) -> list[str]:
    return [
        f"years of column {series.name!r}, such as {series.drop_nulls()[0]!r}, have two digits and "
        "are read as 1970 to 2069"
    ]


def _note_on_forms(series: pl.Series) -> list[str]:
    found = dates_in_two_forms(series)
    if found is None:
        return []
    return [
        f"column {series.name!r} is not read as dates, because they are in several forms: "
        f"{found[0]!r} and {found[1]!r}. Write them as 2024-12-31"
    ]


def notes_on_kinds(kinds: list[ColumnKind]) -> list[str]:
    """Which texts and dates are features (several columns in a fit), and which codes are."""
    uses = {TEXT: "text is used as words", DATE: "dates are used as age and parts"}
    found = []
    for kind, use in uses.items():
        names = [repr(k.name) for k in kinds if k.kind == kind and k.role == "feature"]
        if names:
            found.append(f"{use}: {', '.join(names)}. To leave a column out, pass --ignore")
    padded = [repr(k.name) for k in kinds if k.role == "feature" and k.note == _PADDED]
    if padded:
        found.append(f"{_PADDED} are used as categories, not as numbers: {', '.join(padded)}")
    return found


def require_unique(file: TableName, ids: pl.Series) -> None:
    """Raise an error if an id is missing or occurs twice."""
    must = "hold an id; it is missing. Fill it in or drop the row."
    refuse_cells(file, ids, ids.is_null(), must, None)
    if ids.n_unique() < len(ids):
        twice = ids.is_duplicated()
        value = ids.filter(twice)[0]
        first, second = (row_name(file, row) for row in (ids == value).arg_true().to_list()[:2])
        raise ValueError(
            f"`{file}`, column {ids.name!r} must hold each id once; {value!r} is in {first} and "
            f"{second} ({int(twice.sum())} rows share an id). Drop or merge them."
        )
