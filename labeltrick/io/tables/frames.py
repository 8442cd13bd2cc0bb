"""Reading a file or folder of any table format as a polars frame, and writing one."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import polars as pl

from ..._utils import memory
from ..._utils.archives import OPENERS, unpack
from ..._utils.memory import shown_bytes
from ..._utils.table_errors import refusing_table, require_distinct_columns, require_distinct_keys
from ..._utils.whole_files import replacing
from .parquet_pages import check_pages
from .sources import COMPRESSED, JSON_ENDINGS, endings
from .spreadsheets import MARK, MISSING, escape_formulas, undo_escapes

SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
_SHOWN = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "spaces"}
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
_READS = "CSV, TSV, Parquet or JSON lines (.csv, .tsv, .parquet, .jsonl, also .gz, .bz2, .xz, .zst)"


def parquet_parts(path: Path) -> list[Path]:
    """The Parquet files of a folder, or the path itself if it is a Parquet file; else []."""
    if path.is_dir():
        return sorted(p for p in path.rglob("*") if p.is_file() and p.suffix.lower() in _PARQUET)
    return [path] if endings(path)[0] in _PARQUET else []


def require_path(path: Path) -> Path:
    if not path.exists():
        near = [p.name for p in path.parent.glob("*")] if path.parent.is_dir() else []
        found = get_close_matches(path.name, near, 1)
        hint = f" Did you mean '{found[0]}'?" if found else " Correct the path."
        raise FileNotFoundError(f"`{path}` must exist; it does not.{hint}")
    return path


def require_table(path: Path) -> Path:
    """The path, if it has the ending of a table or is a folder of Parquet parts."""
    if require_path(path).is_dir() and not parquet_parts(path):
        raise ValueError(f"`{path}` must hold Parquet files; the folder has none.")
    if not path.is_dir() and endings(path)[0] not in (*SEPARATORS, *JSON_ENDINGS, *_PARQUET):
        raise ValueError(f"`{path}` must be {_READS}; its ending is {path.suffix!r}.")
    return path


def read_frame(
    path: str | os.PathLike[str], columns: list[str] | None = None, *, text: bool = False
) -> pl.DataFrame:
    """Read a table from a CSV, TSV, Parquet or JSON lines file, or a folder of Parquet files.

    Parameters
    ----------
    path : path
        The file or folder. Text files may be compressed (.gz, .bz2, .xz, .zst).
    columns : list of str, default=None
        The columns to read. None reads all of them.
    text : bool, default=False
        Whether columns of text files stay text. Otherwise their types are inferred. Parquet and
        JSON files declare their types.

    Returns
    -------
    polars.DataFrame

    Raises
    ------
    FileNotFoundError
        If the path does not exist.
    ValueError
        If the file is not a table, is damaged, or has no rows or columns.
    """
    file = require_table(Path(path).expanduser())
    head = _head(file) if file.is_file() else b""
    advice = f"{_what_it_is(file, head)} Copy or export it again.".strip()
    with refusing_table(file, f"{_named(file)} that can be read", advice):
        frame = _read(file, columns, text)
    strange = [name for name in frame.columns if name.startswith("^") and name.endswith("$")]
    if strange:  # polars reads such names as regular expressions
        raise ValueError(
            f"`{file}` must have no column whose name begins with ^ and ends with $; got "
            f"{strange[0]!r}. Rename it."
        )
    if text:  # the words for a missing value mean the same in every format
        # By position: polars reads "*" as a pattern of names.
        texts = [pl.nth(k) for k, dtype in enumerate(frame.dtypes) if dtype == pl.String]
        frame = frame.with_columns(
            pl.when(cell.is_in(MISSING)).then(None).otherwise(cell).name.keep() for cell in texts
        )
        floats = [k for k, dtype in enumerate(frame.dtypes) if dtype.is_float()]
        frame = frame.with_columns(pl.nth(k).fill_nan(None) for k in floats)
    frame = undo_escapes(frame)
    if not frame.width or not frame.height:
        what = "columns" if not frame.width else "rows"
        raise ValueError(f"`{file}` must have rows and columns; it has no {what}. Export it again.")
    return frame


def _read(file: Path, columns: list[str] | None, text: bool) -> pl.DataFrame:
    if file.is_dir():
        return _parquet(parquet_parts(file), columns)
    kind, packed = endings(file)
    size = file.stat().st_size
    source: Any = unpack(file) if size and packed in OPENERS and kind not in _PARQUET else file
    if not size or not source:
        raise ValueError(f"`{file}` must have rows; it is empty. Export it again.")
    if kind in _PARQUET:
        return _parquet([file], columns)
    head = source[:4096] if isinstance(source, bytes) else _head(file)
    # Polars would read a binary file with a text ending as a single column.
    if packed != ".zst" and (b"\x00" in head or head.startswith(tuple(_MAGIC))):
        raise ValueError(f"`{file}` must be {_named(file)}; it is not.{_what_it_is(file, head)}")
    if kind in JSON_ENDINGS:
        return _json(file, source, columns, packed)
    return _delimited(file, source, columns, SEPARATORS[kind], text)


def _parquet(paths: list[Path], columns: list[str] | None) -> pl.DataFrame:
    room = memory.room()
    for path in paths:
        check_pages(path, room)
    frame = pl.scan_parquet(paths, glob=False)
    frame = frame if columns is None else frame.select(columns)
    # A run of equal values takes a few bytes in the file, however long it is.
    n_values = frame.select(pl.len()).collect().item() * len(frame.collect_schema())
    if n_values > room:
        raise ValueError(f"{n_values:,} values, which do not fit into {shown_bytes(room)}")
    return frame.collect()


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


def _delimited(
    file: Path, source: Any, columns: list[str] | None, separator: str, text: bool
) -> pl.DataFrame:
    require_distinct_columns(file, source, separator)
    options: dict[str, Any] = {"separator": separator, "null_values": MISSING, "columns": columns}
    if isinstance(source, Path):
        options["glob"] = False  # "[" in a file name is a plain character
    try:
        frame = pl.read_csv(source, infer_schema=not text, infer_schema_length=10_000, **options)
    except pl.exceptions.ComputeError:  # a later row has another type
        frame = pl.read_csv(source, infer_schema=False, **options)
    # Polars does not undouble quotes in column names.
    names = [name.replace('""', '"') for name in frame.columns]
    if len(set(names)) == len(names):
        frame.columns = names
    if frame.width == 1 and columns is None:
        other = next((s for s in _SHOWN if s in frame.columns[0]), separator)
        if other != separator:
            raise ValueError(
                f"`{file}` must have columns separated by {_SHOWN[separator]}, as its ending says; "
                f"they seem to be separated by {_SHOWN[other]}. Rename the file or export it again."
            )
    return frame


def _head(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            return opened.read(4096)
    except OSError:
        return b""


def _named(file: Path) -> str:
    kind, _ = endings(file)
    if kind in SEPARATORS:
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
    """Write a table as CSV, TSV, Parquet or JSON lines, completely or not at all.

    CSV and TSV files are safe to open in a spreadsheet: texts that it would run as formulas are
    escaped. `read_frame` restores the original texts.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    path : path
        The file to write; its ending (.csv, .tsv, .parquet or .jsonl) sets the format.

    Returns
    -------
    Path
        The file that was written.
    """
    target = Path(path).expanduser()
    kind = target.suffix.lower()
    writers: dict[str, Callable[[Path], Any]] = {
        ".parquet": frame.write_parquet,
        ".csv": lambda file: escape_formulas(frame).write_csv(file),
        ".tsv": lambda file: escape_formulas(frame).write_csv(file, separator="\t"),
        ".jsonl": frame.write_ndjson,
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
