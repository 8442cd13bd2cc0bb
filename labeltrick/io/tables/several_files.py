"""One table from several files that have the same columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import polars as pl

from .frames import read_part
from .places import Place, masked
from .sources import Files, Part, Source, as_texts
from .text_formats import TextFormat


@dataclass(frozen=True)
class TableFiles:
    """The files of one table, and the option that names them."""

    names: tuple[str, ...]
    option: str
    text_format: TextFormat | None = None

    def __post_init__(self) -> None:
        if not self.names:
            raise ValueError(f"`{self.option}` must name a file; got none.")
        for k, name in enumerate(self.names):
            if name in self.names[:k]:
                raise ValueError(
                    f"`{self.option}` must name each file once; got '{masked(name)}' twice."
                )

    @classmethod
    def of(cls, given: Files, option: str, text_format: TextFormat | None = None) -> TableFiles:
        return cls(as_texts(given), option, text_format)

    @property
    def paths(self) -> list[Path]:
        """The plain files: not sheets and databases."""
        return [Path(name).expanduser() for name in self.names if Place.of(name).kind == "file"]


@dataclass(frozen=True)
class ReadTable:
    """A table that has been read, and the files that messages name."""

    source: Source
    frame: pl.DataFrame


def given_missing(tables: Iterable[ReadTable]) -> list[tuple[str, int]]:
    """`Source.given_missing` of several tables."""
    return [held for table in tables for held in table.source.given_missing]


AnyTable = TableFiles | ReadTable


def table_of(
    given: Files | ReadTable, option: str, text_format: TextFormat | None = None
) -> AnyTable:
    """A table that has been read as it is, or the files of one."""
    return given if isinstance(given, ReadTable) else TableFiles.of(given, option, text_format)


def read_tables(
    files: AnyTable, notes: list[str], *, leave_words: bool = False
) -> tuple[Source, pl.DataFrame]:
    """Read files with the same columns, in any order, as one table. Columns of text files stay
    text. How files were read is noted where it is not the plain case. ``leave_words`` is for a
    single file; see `read_part`."""
    if isinstance(files, ReadTable):
        notes += files.source.notes
        return files.source, files.frame
    leave_words &= len(files.names) == 1
    how = partial(read_part, text_format=files.text_format, leave_words=leave_words)
    read = [how(name) for name in files.names]
    source, frames = Source(tuple(part for part, _ in read)), [frame for _, frame in read]
    notes += source.notes
    if len(frames) == 1:
        return source, frames[0]
    names = frames[0].columns
    for part, frame in read[1:]:
        require_same_columns(part.name, frame.columns, source.parts[0].name, names)
    require_same_decimals(source.parts)
    columns = {name: join_column(source, [frame[name] for frame in frames]) for name in names}
    return source, pl.DataFrame(columns)


def require_same_decimals(parts: tuple[Part, ...], first: str | None = None) -> None:
    """Raise an error if files have different decimal signs. ``first`` is what the message calls
    the first file; None for its name."""
    known = [part for part in parts if part.decimal is not None]
    for part in known:
        if part.decimal != known[0].decimal:
            signs = {".": "point", ",": "comma"}
            raise ValueError(
                f"`{part.name}` must have the decimal sign of {first or repr(known[0].name)}, a "
                f"{signs[known[0].decimal or '.']}; it has a {signs[part.decimal or '.']}. Convert "
                f"{'one of the files' if first is None else 'it'}."
            )


def require_same_columns(file: str, columns: list[str], first: str, wanted: list[str]) -> None:
    """Raise an error unless a file has the columns of the first one."""
    missing = [name for name in wanted if name not in columns]
    extra = [name for name in columns if name not in wanted]
    if missing or extra:
        what = f"it lacks {missing[0]!r}" if missing else f"it also has {extra[0]!r}"
        raise ValueError(
            f"`{file}` must have the columns of '{first}', in any order; {what}. Add or remove the "
            "column."
        )


def join_column(source: Source, pieces: list[pl.Series]) -> pl.Series:
    """The values of a column in all files. Where one file declares numbers and another has text,
    all are text, whose type is inferred later."""
    kinds = {piece.dtype for piece in pieces if piece.dtype != pl.Null}
    if pl.String in kinds and len(kinds) > 1:
        pieces = [_as_text(piece) for piece in pieces]
    try:
        frames = [piece.to_frame() for piece in pieces]
        return pl.concat(frames, how="vertical_relaxed").to_series()
    except pl.exceptions.PolarsError:
        other = next(k for k, p in enumerate(pieces) if p.dtype not in (pieces[0].dtype, pl.Null))
        raise ValueError(
            f"`{source.parts[other].name}`, column {pieces[0].name!r} must hold the type of the "
            f"column in '{source.parts[0].name}', {pieces[0].dtype}; it holds "
            f"{pieces[other].dtype}. Convert one of them."
        ) from None


def _as_text(piece: pl.Series) -> pl.Series:
    """Whole numbers without ".0", as text files have them: 7.0 and "7" may be the same id."""
    if piece.dtype.is_float():
        whole = piece.cast(pl.Int64, strict=False)
        if whole.null_count() == piece.null_count() and (whole == piece).all():
            piece = whole
    return piece if piece.dtype.is_nested() or piece.dtype == pl.Binary else piece.cast(pl.String)
