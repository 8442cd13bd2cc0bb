"""One table from several files that have the same columns."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from .frames import read_frame
from .sources import Files, Part, Source, as_texts


def files_of(given: Files, option: str) -> list[Path]:
    """The files that an option names, each of them once."""
    files = [Path(file).expanduser() for file in as_texts(given)]
    if not files:
        raise ValueError(f"`{option}` must name a file; got none.")
    for k, file in enumerate(files):
        if file in files[:k]:
            raise ValueError(f"`{option}` must name each file once; got '{file}' twice.")
    return files


def read_tables(given: Files, option: str) -> tuple[Source, pl.DataFrame]:
    """Read files with the same columns, in any order, as one table. Columns of text files stay
    text."""
    files = files_of(given, option)
    frames = [read_frame(file, text=True) for file in files]
    source = Source(tuple(Part(str(file), len(frame))
                          for file, frame in zip(files, frames, strict=True)))  # fmt: skip
    if len(files) == 1:
        return source, frames[0]
    names = frames[0].columns
    for part, frame in zip(source.parts[1:], frames[1:], strict=True):
        _require_same_columns(part.name, frame.columns, source.parts[0].name, names)
    columns = [_joined(source, [frame[name] for frame in frames]) for name in names]
    return source, pl.DataFrame(columns)


def _require_same_columns(file: str, columns: list[str], first: str, wanted: list[str]) -> None:
    missing = [name for name in wanted if name not in columns]
    extra = [name for name in columns if name not in wanted]
    if missing or extra:
        what = f"it lacks {missing[0]!r}" if missing else f"it also has {extra[0]!r}"
        raise ValueError(
            f"`{file}` must have the columns of '{first}', in any order; {what}. Add or remove the "
            "column."
        )


def _joined(source: Source, pieces: list[pl.Series]) -> pl.Series:
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
