"""Reading text tables: delimiter, decimal sign and encoding as their content says."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from ..._utils import memory
from ..._utils.memory import shown_bytes
from ..._utils.table_errors import require_distinct_columns
from .sources import endings
from .spreadsheets import MISSING
from .text_formats import SAMPLE, FoundFormat, TextFormat, find_encoding, find_format, transcoded

_BLOCK = 1 << 20
UTF8 = ("utf-8", "utf-8-sig", "ascii")
_GROWTH = 4  # bytes that text takes while it is converted, for each of its own


def read_delimited(
    file: Path,
    source: Path | bytes,
    columns: list[str] | None,
    given: TextFormat,
    *,
    text: bool = True,
) -> tuple[pl.DataFrame, FoundFormat]:
    """The table of a text file, or of its unpacked content, and how it is written."""
    sample = sample_of(source)
    try:
        return _read(file, source, sample, columns, given, text)
    except pl.exceptions.ComputeError as error:
        later = None if given.encoding else _not_utf8(source)
        if later is None or "utf" not in str(error).lower():
            raise
        found = find_encoding(file, later)  # beyond the sample
        return _read(file, source, sample, columns, replace(given, encoding=found), text)


def _read(
    file: Path,
    source: Path | bytes,
    sample: bytes,
    columns: list[str] | None,
    given: TextFormat,
    text: bool,
) -> tuple[pl.DataFrame, FoundFormat]:
    found, _ = detect(file, sample, given)
    assert found.encoding is not None
    assert found.delimiter is not None
    if found.encoding not in UTF8:
        _require_room(file, source)
        source = b"".join(transcoded(file, blocks_of(source), found.encoding))
    if found.n_above:
        source = b"".join(without_lines(file, blocks_of(source), found))
    words = None if text else [*MISSING, *given.missing]  # `read_part` replaces and counts them
    return _parsed(file, source, columns, found.delimiter, words), found


def detect(file: Path, sample: bytes, given: TextFormat) -> tuple[FoundFormat, str]:
    """How a text file is written, and the first lines of its text."""
    if endings(file)[1] == ".zst":
        lines = _lines_of_zstd(file)
        encoding = given.encoding or "utf-8"
        if "\ufffd" in lines or encoding not in UTF8:
            raise ValueError(
                f"`{file}` must be UTF-8 text, because it is compressed with zstd; it is not. "
                "Unpack the file first."
            )
    else:
        encoding = given.encoding or find_encoding(file, sample)
        lines = next(transcoded(file, iter([sample]), encoding)).decode().removeprefix("\ufeff")
    if "\0" in lines:
        raise ValueError(
            f"`{file}` must be text; it holds NUL characters. If it is text, name its encoding "
            "with --encoding."
        )
    if len(sample) >= SAMPLE:  # the last line is cut
        lines = lines[: lines.rfind("\n") + 1] or lines
    kind = endings(file)[0]
    return find_format(file, kind, lines, replace(given, encoding=encoding)), lines


def _lines_of_zstd(file: Path) -> str:
    """The first lines, which polars unpacks. Broken characters become U+FFFD."""
    options: dict[str, Any] = {"has_header": False, "infer_schema": False, "n_rows": 200}
    frame = pl.read_csv(file, separator="\x01", quote_char=None, encoding="utf8-lossy",
                        truncate_ragged_lines=True, glob=False, **options)  # fmt: skip
    return "\n".join(line or "" for line in frame.to_series()) + "\n"


def sample_of(source: Path | bytes) -> bytes:
    """The first bytes of a file or of its unpacked content."""
    if isinstance(source, bytes):
        return source[:SAMPLE]
    with source.open("rb") as opened:
        return opened.read(SAMPLE)


def blocks_of(source: Path | bytes) -> Iterator[bytes]:
    if isinstance(source, bytes):
        yield source
        return
    with source.open("rb") as opened:
        while block := opened.read(_BLOCK):
            yield block


def without_lines(file: Path, blocks: Iterator[bytes], found: FoundFormat) -> Iterator[bytes]:
    """A text in UTF-8 without the lines above its header, in blocks."""
    if endings(file)[1] == ".zst":
        raise ValueError(
            f"`{file}` must begin with a row of column names; it begins with {found.title!r}. "
            "Delete the lines above the header."
        )
    first = next(blocks)
    n_bytes = len(found.above.encode()) + (
        len(codecs.BOM_UTF8) if first[:3] == codecs.BOM_UTF8 else 0
    )
    while len(first) < n_bytes:
        first += next(blocks)
    yield first[n_bytes:]
    yield from blocks


def _not_utf8(source: Path | bytes) -> bytes | None:
    """The first block that is not UTF-8; None if all are."""
    before = b""
    for block in blocks_of(source):
        text = before + block
        try:
            text.decode()
        except UnicodeDecodeError as error:
            if error.end < len(text) or len(text) - error.start > 3:
                return text[max(0, error.start - SAMPLE // 2) :][:SAMPLE].lstrip(
                    bytes(range(0x80, 0xC0))  # the rest of a character that was cut
                )
            before = text[error.start :]
        else:
            before = b""
    return before or None


def _require_room(file: Path, source: Path | bytes) -> None:
    size = len(source) if isinstance(source, bytes) else source.stat().st_size
    room = memory.room()
    if size * _GROWTH > room:
        raise ValueError(
            f"`{file}` must be UTF-8 to be read in pieces; converting its {shown_bytes(size)} "
            f"takes more than the {shown_bytes(room)} allowed. Export it again as UTF-8."
        )


def _parsed(
    file: Path,
    source: Path | bytes,
    columns: list[str] | None,
    separator: str,
    words: list[str] | None,
) -> pl.DataFrame:
    """The table, with all columns as texts unless there are ``words`` for missing values."""
    require_distinct_columns(file, source, separator)
    options: dict[str, Any] = {"separator": separator, "columns": columns, "null_values": words}
    if isinstance(source, Path):
        options["glob"] = False  # "[" in a file name is a plain character
    try:
        frame = pl.read_csv(
            source, infer_schema=words is not None, infer_schema_length=10_000, **options
        )
    except pl.exceptions.ComputeError:  # a later row has another type
        frame = pl.read_csv(source, infer_schema=False, **options)
    # Polars does not undouble quotes in column names.
    names = [name.replace('""', '"') for name in frame.columns]
    if len(set(names)) == len(names):
        frame.columns = names
    return frame
