"""Escaping of texts that a spreadsheet would run as formulas.

A cell that looks like a formula gets a leading apostrophe. A table with escaped cells gets a column
that marks it, and only in tables with this column does reading remove the apostrophes again. So the
ids that are read are the ids that were written.
"""

from __future__ import annotations

import re
from typing import TypeVar

import polars as pl

MARK = "labeltrick_escaped"
"""Name of the column that marks tables with escaped texts."""

SHEET_ERRORS = [
    "#N/A", "#NV", "#N/V", "#REF!", "#BEZUG!", "#VALUE!", "#WERT!", "#DIV/0!", "#NAME?", "#NUM!",
    "#ZAHL!", "#NULL!",
]  # fmt: skip
"""What a spreadsheet shows where a formula failed."""

MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", *SHEET_ERRORS]
"""Words for a missing value in text files."""

_TEXT = (pl.String, pl.Categorical, pl.Enum)
# Full-width and mathematical variants count too, and so do signs after blanks.
_SIGNS = r"=+\-@＝＋－＠﹦﹢﹣﹫⁼⁺⁻₌₊₋−"
_FORMULA = rf"^'*(?:[\t\r\n\x{{FEFF}}]|[\s\p{{Cc}}\p{{Cf}}]*[{_SIGNS}])"
_NUMBER = r"^-(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
# Unescaped, these texts would be read as missing values.
_BLANK = rf"^'*(?:{'|'.join(re.escape(word) for word in MISSING)})$"

Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)


def _needs_escape(text: pl.Expr) -> pl.Expr:
    """Whether a text gets a leading apostrophe.

    If a text does, the same text with an apostrophe before it does as well. Removing one apostrophe
    therefore always restores the original text.
    """
    formula = text.str.contains(_FORMULA) & ~text.str.contains(_NUMBER)
    return formula | text.str.contains(_BLANK)


def escape_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """The table with escaped texts; the table itself if there is nothing to escape."""
    _refuse_nul(frame)
    texts = [k for k, dtype in enumerate(frame.dtypes) if dtype in _TEXT]
    names = _needs_escape_of(pl.Series(frame.columns))
    risky = names.any() or any(_needs_escape_of(frame.to_series(k)).any() for k in texts)
    if not risky:
        return frame
    # By position: polars reads "*" as a pattern of names.
    cells = [pl.nth(k).cast(pl.String) for k in texts]
    frame = frame.with_columns(
        pl.when(_needs_escape(cell)).then("'" + cell).otherwise(cell).name.keep() for cell in cells
    )
    frame.columns = [f"'{name}" if needed else name
                     for name, needed in zip(frame.columns, names, strict=True)]  # fmt: skip
    return frame.with_columns(pl.lit("yes").alias(MARK))


def undo_escapes(frame: Frame) -> Frame:
    """Undo `escape_formulas`. Tables without its mark are returned unchanged."""
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
    """Raise an error for NUL characters: text files that hold one are read as binary files."""
    for series in [pl.Series(frame.columns), *frame.get_columns()]:
        if series.dtype not in _TEXT:
            continue
        if series.alias("text").cast(pl.String).str.contains("\0", literal=True).any():
            where = f"column {series.name!r}" if series.name else "a column name"
            raise ValueError(
                f"{where} must hold no NUL character to be written as CSV or TSV; it holds one. "
                "Write a .parquet or .jsonl file."
            )
