"""Reading a file or folder of any table format as a polars frame, and writing one."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from ..._utils import memory
from ..._utils.archives import OPENERS, unpack
from ..._utils.memory import shown_bytes
from ..._utils.table_errors import refusing_table, require_distinct_keys
from ..._utils.whole_files import replacing
from .databases import read_database
from .delimited import read_delimited
from .kinds import count_of
from .missing_values import blanked, counted
from .parquet_pages import check_pages
from .places import Place, require_path
from .sources import COMPRESSED, JSON_ENDINGS, TEXT_ENDINGS, Part, endings
from .spreadsheets import MARK, MISSING, escape_formulas, undo_escapes
from .text_formats import FoundFormat, TextFormat, describe
from .workbooks import read_sheet, write_sheet

_PARQUET = (".parquet", ".pq")
_MAGIC = {
    b"PAR1": "a Parquet file",
    b"\x1f\x8b": "a gzip file",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ": "an xz file",
    b"\x28\xb5\x2f\xfd": "a zstd file",
    b"PK\x03\x04": "a zip archive (an .xlsx or .npz file is one)",
    b"\x89HDF": "an HDF5 file",
    b"%PDF": "a PDF",
}
_OF_NETWORKX = (".gml", ".gexf", ".net", ".json")
_BY_NETWORKX = "In Python, estimators take a graph that networkx has read."
_TEXTS = "; text also as .gz, .bz2, .xz, .zst"
_READS = f"CSV, TSV, Parquet or JSON lines (.csv, .tsv, .parquet, .jsonl{_TEXTS})"
_ALL = f"CSV, TSV, Parquet, JSON lines or Excel (.csv, .tsv, .parquet, .jsonl, .xlsx{_TEXTS})"


def parquet_parts(path: Path) -> list[Path]:
    """The Parquet files of a folder, or the path itself if it is a Parquet file; else []."""
    if path.is_dir():
        return sorted(p for p in path.rglob("*") if p.is_file() and p.suffix.lower() in _PARQUET)
    return [path] if endings(path)[0] in _PARQUET else []


def require_table(path: Path, *, in_chunks: bool = False) -> Path:
    """The path, if it has the ending of a table or is a folder of Parquet parts. Sheets are not
    read in chunks."""
    if require_path(path).is_dir() and not parquet_parts(path):
        raise ValueError(f"`{path}` must hold Parquet files; the folder has none.")
    if not path.is_dir() and endings(path)[0] not in (*TEXT_ENDINGS, *JSON_ENDINGS, *_PARQUET):
        reads = _READS if in_chunks else _ALL
        other = f" {_BY_NETWORKX}" if path.suffix.lower() in _OF_NETWORKX else ""
        raise ValueError(f"`{path}` must be {reads}; its ending is {path.suffix!r}.{other}")
    return path


def read_frame(
    path: str | os.PathLike[str],
    columns: list[str] | None = None,
    *,
    text: bool = False,
    text_format: TextFormat | None = None,
) -> pl.DataFrame:
    """Read a table from a file, a folder of Parquet files, or a database.

    Parameters
    ----------
    path : path
        A CSV, TSV, Parquet or JSON lines file (text files may be compressed: .gz, .bz2, .xz, .zst),
        a folder of Parquet files, a sheet ("book.xlsx#Sheet"; the first by default), or a table or
        query of a database ("duckdb:file.db?table", "sqlite:///file.db?select …").
    columns : list of str, default=None
        The columns to read. None reads all of them.
    text : bool, default=False
        Whether columns of text files stay text. Otherwise their types are inferred. Parquet and
        JSON files declare their types.
    text_format : TextFormat, default=None
        Delimiter and encoding of text files, and values that mean missing. None finds the former
        from the content.

    Returns
    -------
    polars.DataFrame

    Raises
    ------
    FileNotFoundError
        If the path does not exist.
    ValueError
        If the file is not a table, is damaged, or has no rows or columns.

    See Also
    --------
    io.tables.write_frame : Write one table.
    io.tables.read_problem : Read a graph with columns and labels from files.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from labeltrick.io.tables import read_frame
    >>> with tempfile.TemporaryDirectory() as place:
    ...     table = Path(place) / "people.csv"
    ...     size = table.write_text("id;age\\n007;31\\n012;45\\n")
    ...     frame = read_frame(table)
    ...     words = read_frame(table, text=True)
    >>> frame["age"].sum(), words["id"].to_list()
    (76, ['007', '012'])
    """
    return read_part(os.fspath(path), columns, text=text, text_format=text_format)[1]


def read_part(
    place: str,
    columns: list[str] | None = None,
    *,
    text: bool = True,
    text_format: TextFormat | None = None,
    leave_words: bool = False,
) -> tuple[Part, pl.DataFrame]:
    """A table, and how messages name its rows. With ``leave_words``, two columns of texts may keep
    their words for missing values; the part says so."""
    where = Place.of(place)
    if where.kind == "database":
        frame, note = read_database(where)
        part = Part(where.shown, frame.height, note)
    elif where.kind == "sheet":
        file = require_path(Path(where.where).expanduser())
        sheet = read_sheet(file, where.inside)
        name = f"{file}#{sheet.name}" if sheet.note or where.inside else str(file)
        frame, rows = sheet.frame, sheet.rows
        part = Part(name, len(rows), sheet.note, rows=rows, missing=sheet.failed)
    else:
        part, frame = _read_file(place, columns, text, text_format or TextFormat())
    given = () if text_format is None else text_format.missing
    if given:
        part = replace(part, given_missing=counted(frame, given))
        frame = blanked(frame, given)
    strange = [name for name in frame.columns if name.startswith("^") and name.endswith("$")]
    if strange:  # polars reads such names as regular expressions
        raise ValueError(
            f"`{part.name}` must have no column whose name begins with ^ and ends with $; got "
            f"{strange[0]!r}. Rename it."
        )
    if leave_words and not given and frame.dtypes == [pl.String] * 2 and MARK not in frame.columns:
        part = replace(part, words_left=True)
    elif text:
        words, frame = without_words_for_missing(frame)
        part = replace(part, missing=part.missing + words)
    frame = undo_escapes(frame)
    if not frame.width or not frame.height:
        what = "columns" if not frame.width else "rows"
        raise ValueError(
            f"`{part.name}` must have rows and columns; it has no {what}. Export it again."
        )
    return part, frame if columns is None else frame[columns]


def _read_file(
    place: str, columns: list[str] | None, text: bool, given: TextFormat
) -> tuple[Part, pl.DataFrame]:
    file = require_table(Path(place).expanduser())
    head = _head(file) if file.is_file() else b""
    advice = f"{_what_it_is(file, head)} Copy or export it again.".strip()
    with refusing_table(file, f"{_named(file)} that can be read", advice):
        frame, found = _read(file, columns, text, given)
    if found is None:
        return Part(str(file), frame.height), frame
    n_blank = blank_rows_below(frame)
    frame = frame.head(frame.height - n_blank)
    note = note_on_text(file, found, n_blank)
    return Part(str(file), frame.height, note, found.decimal, n_above=found.n_above), frame


def blank_rows_below(frame: pl.DataFrame) -> int:
    """How many rows at the end of a table are blank, as spreadsheets export them."""
    if not frame.height or any(cell is not None for cell in frame.row(-1)):
        return 0
    filled = frame.select(~pl.all_horizontal(pl.all().is_null())).to_series().arg_true()
    return frame.height - (int(filled[-1]) + 1 if len(filled) else 0)


def note_on_text(file: Path, found: FoundFormat, n_blank: int) -> str:
    """A sentence about how a text file was read, where it is not the plain case."""
    words = describe(endings(file)[0], found)
    are = "is" if n_blank == 1 else "are"
    below = f"{count_of(n_blank, 'blank row')} at the end {are} left out" if n_blank else ""
    said = "; ".join(part for part in (words, below) if part)
    return f"{file.name}: {said}" if said else ""


def without_words_for_missing(
    frame: pl.DataFrame,
) -> tuple[tuple[tuple[str, str, int], ...], pl.DataFrame]:
    """The words for a missing value mean the same in every format. Also returns column, word and
    number of the cells that held one."""
    given = frame
    # By position: polars reads "*" as a pattern of names.
    texts = [pl.nth(k) for k, dtype in enumerate(frame.dtypes) if dtype == pl.String]
    frame = frame.with_columns(
        pl.when(cell.is_in(MISSING)).then(None).otherwise(cell).name.keep() for cell in texts
    )
    words = [
        (old.name, word, n)
        for old, new in zip(given.get_columns(), frame.get_columns(), strict=True)
        if new.null_count() > old.null_count()
        for word, n in old.filter(new.is_null()).drop_nulls().value_counts(sort=True).rows()
    ]
    floats = [k for k, dtype in enumerate(frame.dtypes) if dtype.is_float()]
    return tuple(words), frame.with_columns(pl.nth(k).fill_nan(None) for k in floats)


def _read(
    file: Path, columns: list[str] | None, text: bool, given: TextFormat
) -> tuple[pl.DataFrame, FoundFormat | None]:
    if file.is_dir():
        return _parquet(parquet_parts(file), columns), None
    kind, packed = endings(file)
    size = file.stat().st_size
    source: Any = unpack(file) if size and packed in OPENERS and kind not in _PARQUET else file
    if not size or not source:
        raise ValueError(f"`{file}` must have rows; it is empty. Export it again.")
    if kind in _PARQUET:
        return _parquet([file], columns), None
    head = source[:4096] if isinstance(source, bytes) else _head(file)
    # Polars would read a binary file with a text ending as a single column.
    binary = head.startswith(tuple(_MAGIC)) or (kind in JSON_ENDINGS and b"\x00" in head)
    if packed != ".zst" and binary:
        raise ValueError(f"`{file}` must be {_named(file)}; it is not.{_what_it_is(file, head)}")
    if kind in JSON_ENDINGS:
        return _json(file, source, columns, packed), None
    return read_delimited(file, source, columns, given, text=text)


def _parquet(paths: list[Path], columns: list[str] | None) -> pl.DataFrame:
    room = memory.room()
    for path in paths:
        check_pages(path, room)
    if len(paths) > 1:
        _require_same_columns(paths)
    frame = pl.scan_parquet(paths, glob=False)
    frame = frame if columns is None else frame.select(columns)
    # A run of equal values takes a few bytes in the file, however long it is.
    n_values = frame.select(pl.len()).collect().item() * len(frame.collect_schema())
    if n_values > room:
        raise ValueError(f"{n_values:,} values, which do not fit into {shown_bytes(room)}")
    return frame.collect()


def _require_same_columns(paths: list[Path]) -> None:
    names = [set(pl.scan_parquet(path, glob=False).collect_schema()) for path in paths]
    odd = next((k for k, found in enumerate(names) if found != names[0]), None)
    if odd is not None:
        column = min(names[0] ^ names[odd])
        raise ValueError(
            f"`{paths[odd].parent}` must hold parts of one table; of '{paths[0].name}' and "
            f"'{paths[odd].name}', only one has the column {column!r}. Name the files instead."
        )


def literal_path(path: Path) -> str:
    """A path for the functions of polars that read every path as a pattern."""
    return glob.escape(str(path))


def _json(file: Path, source: Any, columns: list[str] | None, packed: str) -> pl.DataFrame:
    if packed != ".zst":
        require_distinct_keys(file, source)
    if isinstance(source, Path):
        source = literal_path(source)
    frame = pl.read_ndjson(source, infer_schema_length=None)
    return frame if columns is None else frame[columns]


def _head(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            return opened.read(4096)
    except OSError:
        return b""


def _named(file: Path) -> str:
    kind, _ = endings(file)
    if kind in TEXT_ENDINGS:
        return f"a text file of columns ({kind[1:].upper()})"
    return f"a {kind[1:]} file" if kind else "a folder of Parquet files"


def _what_it_is(file: Path, head: bytes) -> str:
    for mark, name in _MAGIC.items():
        if head.startswith(mark) and not (mark == b"PAR1" and endings(file)[0] in _PARQUET):
            if file.suffix.lower() in COMPRESSED and mark != b"PAR1":
                return ""
            return f" It looks like {name}; give it the right ending."
    if head and endings(file)[0] in _PARQUET and not head.startswith(b"PAR1"):
        return " It does not begin like a Parquet file; give it the right ending."
    return ""


def write_frame(frame: pl.DataFrame, path: str | os.PathLike[str]) -> Path:
    """Write a table as CSV, TSV, Parquet, JSON lines or Excel, completely or not at all.

    CSV and TSV files are safe to open in a spreadsheet: texts that it would run as formulas are
    escaped. `read_frame` restores the original texts.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    path : path
        The file to write; its ending (.csv, .tsv, .parquet, .jsonl or .xlsx) sets the format.

    Returns
    -------
    Path
        The file that was written.

    See Also
    --------
    io.tables.read_frame : Read one table.

    Examples
    --------
    >>> import tempfile
    >>> import polars as pl
    >>> from labeltrick.io.tables import read_frame, write_frame
    >>> frame = pl.DataFrame({"id": ["=a1", "b2"], "p": [0.25, 0.75]})
    >>> with tempfile.TemporaryDirectory() as place:
    ...     path = write_frame(frame, f"{place}/predictions.csv")
    ...     print(path.read_text())
    ...     print(read_frame(path)["id"].to_list())
    id,p,labeltrick_escaped
    '=a1,0.25,yes
    b2,0.75,yes
    <BLANKLINE>
    ['=a1', 'b2']
    """
    target = Path(path).expanduser()
    kind = target.suffix.lower()
    writers: dict[str, Callable[[Path], Any]] = {
        ".parquet": frame.write_parquet,
        ".csv": lambda file: escape_formulas(frame).write_csv(file),
        ".tsv": lambda file: escape_formulas(frame).write_csv(file, separator="\t"),
        ".jsonl": frame.write_ndjson,
        ".xlsx": lambda file: write_sheet(frame, file, target),
    }
    if kind not in writers:
        raise ValueError(f"`{target}` must end in {', '.join(writers)}; got {kind!r}.")
    if MARK in frame.columns:
        raise ValueError(
            f"`{target}` must have no column named {MARK!r}, which marks tables with escaped "
            "texts. Rename the column."
        )
    with replacing(target) as file:
        writers[kind](file)
    return target
