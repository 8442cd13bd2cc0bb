"""Text in tables that spreadsheets open: shown as it is, never run as a formula.

A cell that a spreadsheet would take for a formula gets an apostrophe in front. So that the ids in
the file remain the ids of the nodes, a table with such cells says so by a column of its own, and
only where that column is does reading take the apostrophe away again.
"""

from __future__ import annotations

import re
from typing import TypeVar

import polars as pl

MARK = "labeltrick_escaped"
"""Name of the column that says that some texts have an apostrophe in front."""

MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"]
"""What stands for a missing value in text files."""

_TEXT = (pl.String, pl.Categorical, pl.Enum)
# With blanks before them too, and in the shapes that East Asian keyboards and typesetters use.
_SIGNS = r"=+\-@＝＋－＠﹦﹢﹣﹫⁼⁺⁻₌₊₋−"
_FORMULA = rf"^'*(?:[\t\r\n\x{{FEFF}}]|[\s\p{{Cc}}\p{{Cf}}]*[{_SIGNS}])"
_NUMBER = r"^-(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
# A text that spells a missing value would come back as one.
_BLANK = rf"^'*(?:{'|'.join(re.escape(word) for word in MISSING)})$"

Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)


def _needs_escape(text: pl.Expr) -> pl.Expr:
    """Whether an apostrophe is put before a text.

    If it is before a text, it is before that text with an apostrophe in front as well. That is
    what makes it possible to take the first one away and have the text that was there.
    """
    formula = text.str.contains(_FORMULA) & ~text.str.contains(_NUMBER)
    return formula | text.str.contains(_BLANK)


def escape_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """The table as it is to be written in a text file; the same one if nothing in it is risky."""
    _refuse_nul(frame)
    texts = [k for k, dtype in enumerate(frame.dtypes) if dtype in _TEXT]
    names = _needs_escape_of(pl.Series(frame.columns))
    risky = names.any() or any(_needs_escape_of(frame.to_series(k)).any() for k in texts)
    if not risky:
        return frame
    # By place: for polars, "*" is a pattern of names.
    cells = [pl.nth(k).cast(pl.String) for k in texts]
    frame = frame.with_columns(
        pl.when(_needs_escape(cell)).then("'" + cell).otherwise(cell).name.keep() for cell in cells
    )
    frame.columns = [f"'{name}" if needed else name
                     for name, needed in zip(frame.columns, names, strict=True)]  # fmt: skip
    return frame.with_columns(pl.lit("yes").alias(MARK))


def undo_escapes(frame: Frame) -> Frame:
    """A table that was read, with the texts that `escape_formulas` was given. Tables that do not
    have our mark stay as they are, apostrophes and all."""
    schema = frame.collect_schema()
    if MARK not in schema:
        return frame
    first = pl.Series(schema.names())
    ours = first.str.starts_with("'") & _needs_escape_of(first.str.slice(1))
    found = []
    for k, (name, dtype) in enumerate(schema.items()):
        cell = pl.nth(k)
        if dtype == pl.String:
            rest = cell.str.slice(1)
            added = cell.str.starts_with("'") & _needs_escape(rest)
            cell = pl.when(added).then(rest).otherwise(cell)
        if name != MARK:
            found.append(cell.alias(name[1:] if ours[k] else name))
    return frame.select(found)


def _needs_escape_of(series: pl.Series) -> pl.Series:
    text = series.cast(pl.String).alias("text")
    return text.to_frame().select(_needs_escape(pl.col("text"))).to_series().fill_null(False)


def _refuse_nul(frame: pl.DataFrame) -> None:
    """Text files that hold this character are taken for other files."""
    for series in [pl.Series(frame.columns), *frame.get_columns()]:
        if series.dtype not in _TEXT:
            continue
        if series.alias("text").cast(pl.String).str.contains("\0", literal=True).any():
            where = f"column {series.name!r}" if series.name else "names of columns"
            raise ValueError(
                f"{where} must hold no NUL character to be written as CSV or TSV; "
                "it holds one. Write a .parquet or .jsonl file."
            )
