"""How a table is written: the encoding, delimiter and decimal sign of a text table, found from a
sample, and the values that mean missing."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from .missing_values import checked_missing
from .title_lines import n_above_header, note_on_titles, title_of
from .written_numbers import decimal_sign

SAMPLE = 1 << 18  # bytes that are looked at
_MOST_ROWS = 200
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "spaces"}
_WORDS = {"comma": ",", "semicolon": ";", "tab": "\t", r"\t": "\t", "bar": "|", "pipe": "|",
          "space": " ", "point": ".", "dot": ".", "period": "."}  # fmt: skip
_DEFAULTS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
_MARKS = {
    codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16",
}  # fmt: skip
_SHOWN = {"cp1252": "Windows-1252", "iso8859-1": "Latin-1"}
# Letters of Western European languages. Those that the Windows code pages for Turkish and Central
# European languages have in the same places, or have other letters in place of, are not listed.
_LETTERS = frozenset("ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜßàáâãäåæçèéêëìíîïñòóôõöøùúûüÿŒœ")
_BETWEEN_LETTERS = frozenset("’‘´·\xa0–-")  # other signs are beside letters on one side at most
_RARE = 0.02  # share of implausible characters that may be names from elsewhere


@dataclass(frozen=True)
class TextFormat:
    """How a table is written. What is None is found from the content of a text file.

    Parameters
    ----------
    delimiter : str, default=None
        The character between columns, or its name: comma, semicolon, tab, bar or space.
    encoding : str, default=None
        A name that Python knows, such as "utf-8", "utf-16" or "windows-1252".
    decimal : str, default=None
        The decimal sign of numbers: "." or ",".
    missing : str or sequence of str, default=()
        Values that mean missing, in tables of any format, beside blank cells and words such as NA:
        "n/a,unknown,-999".

    See Also
    --------
    io.tables.read_frame : Read one table.
    io.tables.read_problem : Read a graph with columns and labels from files.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from labeltrick.io.tables import TextFormat, read_frame
    >>> with tempfile.TemporaryDirectory() as place:
    ...     table = Path(place) / "towns.csv"
    ...     size = table.write_bytes("id;name\\n1;Köln\\n2;Málaga\\n".encode("windows-1252"))
    ...     german = TextFormat(delimiter="semicolon", encoding="windows-1252")
    ...     print(read_frame(table, text_format=german)["name"].to_list())
    ['Köln', 'Málaga']
    """

    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    missing: str | Sequence[str] = ()

    def __post_init__(self) -> None:
        for field in fields(TextFormat):
            given = getattr(self, field.name)
            if given:
                object.__setattr__(self, field.name, _CHECKS[field.name](given))


@dataclass(frozen=True)
class FoundFormat(TextFormat):
    """How a text table is written, and what is above its header: the number of lines, their text
    in the file, and their title."""

    n_above: int = 0
    above: str = ""
    title: str = ""


def _checked_delimiter(given: str) -> str:
    found = _WORDS.get(given.lower(), given)
    if len(found) != 1 or not found.isascii() or found.isalnum() or found in "\"'\r\n\0.-+_":
        raise ValueError(
            f"`--delimiter` must be one character, or comma, semicolon, tab, bar or space; got "
            f"{given!r}."
        )
    return found


def _checked_encoding(given: str) -> str:
    try:
        found = codecs.lookup(given)
        "".encode(found.name)  # "hex" and the like are not encodings of text
    except (LookupError, ValueError):
        raise ValueError(
            f"`--encoding` must be an encoding such as utf-8, utf-16 or windows-1252; got "
            f"{given!r}."
        ) from None
    return found.name


def _checked_decimal(given: str) -> str:
    found = _WORDS.get(given.lower(), given)
    if found not in (".", ","):
        raise ValueError(f"`--decimal` must be . (point) or , (comma); got {given!r}.")
    return found


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "delimiter": _checked_delimiter, "encoding": _checked_encoding, "decimal": _checked_decimal,
    "missing": checked_missing,
}  # fmt: skip


def describe(ending: str, found: FoundFormat) -> str:
    """What is not plain about a format, in words: "semicolons, decimal comma, Windows-1252"."""
    words = []
    if found.delimiter != _DEFAULTS.get(ending):
        delimiter = found.delimiter or ""
        words.append(DELIMITERS.get(delimiter, f"{delimiter!r} between columns"))
    if found.decimal == ",":
        words.append("decimal comma")
    if found.encoding not in (None, "utf-8", "utf-8-sig", "ascii"):
        words.append(_SHOWN.get(found.encoding, found.encoding.upper()))
    if found.n_above:
        words.append(note_on_titles(found.n_above, found.title))
    return ", ".join(words)


# -- encoding ----------------------------------------------------------------------------------
def find_encoding(file: Path, sample: bytes) -> str:
    """The encoding of a text file: UTF-8, UTF-16, UTF-32 with a mark, or Windows-1252, which
    includes the printable characters of Latin-1."""
    for mark, name in _MARKS.items():
        if sample.startswith(mark):
            return name
    if b"\0" in sample:
        found = _utf16_without_mark(sample)
    elif _is_utf8(sample):
        found = "utf-8"
    else:
        found = "cp1252" if _is_western(sample) else None
    if found is None:
        raise ValueError(
            f"`{file}` must be text in UTF-8, UTF-16 or Windows-1252; its encoding cannot be told "
            "from its bytes. Name it with --encoding, such as --encoding windows-1250."
        )
    return found


def _utf16_without_mark(sample: bytes) -> str | None:
    """Which bytes are zero says which half of each character comes first in mostly Latin text."""
    n = max(len(sample) // 2, 1)
    first, second = sample[0::2].count(0) / n, sample[1::2].count(0) / n
    if second > 0.3 and first < 0.05:
        return "utf-16-le"
    return "utf-16-be" if first > 0.3 and second < 0.05 else None


def _is_utf8(sample: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)  # the last character may be cut
    except UnicodeDecodeError:
        return False
    return True


def _is_western(sample: bytes) -> bool:
    """Whether the sample reads like a Western European language in Windows-1252. Other single-byte
    encodings, and damaged UTF-8, put signs inside words or whole words into high bytes."""
    if any(ord(sign) > 127 for sign in sample.decode("utf-8", "ignore")):
        return False
    try:
        text = sample.decode("cp1252")
    except UnicodeDecodeError:
        return False
    n_high = n_strange = run = 0
    for k, sign in enumerate(text):
        if sign.isascii():
            run = 0
            continue
        n_high, run = n_high + 1, run + 1
        before, after = text[k - 1 : k], text[k + 1 : k + 2]
        inside = before.isalpha() and after.isalpha() and sign not in _BETWEEN_LETTERS
        strange = sign.isalpha() and sign not in _LETTERS and sign not in "ªº"
        n_strange += strange or run > 2 or (inside and not sign.isalpha())
    return n_strange <= _RARE * n_high


# -- delimiter and decimal sign ----------------------------------------------------------------
def find_format(file: Path, ending: str, text: str, given: TextFormat) -> FoundFormat:
    """The delimiter and decimal sign of a table, from its first lines; ``given`` takes precedence
    and holds the encoding."""
    delimiter = given.delimiter or _find_delimiter(file, text, _DEFAULTS.get(ending, ","))
    decimal = given.decimal
    rows = _rows(text, delimiter)
    if decimal is None:
        width = len(rows[0]) if rows else 0
        columns = zip(*(row for row in rows[1:] if len(row) == width), strict=False)
        signs = {decimal_sign(pl.Series(column, dtype=pl.String)) for column in columns} - {None}
        decimal = signs.pop() if len(signs) == 1 else None
    n_lines, title = _above(text, delimiter)
    above = "".join(islice(io.StringIO(text, newline=""), n_lines))
    return FoundFormat(
        delimiter, given.encoding, decimal, n_above=n_lines, above=above, title=title
    )


def _rows(text: str, delimiter: str) -> list[list[str]]:
    """The first rows of a table, from its header on; [] if it cannot be parsed. Blank lines do not
    count."""
    rows, _ = _all_rows(text, delimiter)
    # Words that are separated by spaces may be a title, or a table of one column.
    first = 0 if delimiter == " " else n_above_header(rows)
    return [row for row in rows[first:] if row]


def _above(text: str, delimiter: str) -> tuple[int, str]:
    """How many lines are above the header, and the first of their texts."""
    rows, ends = _all_rows(text, delimiter)
    first = 0 if delimiter == " " else n_above_header(rows)
    return (ends[first - 1], title_of(rows)) if first else (0, "")


def _all_rows(text: str, delimiter: str) -> tuple[list[list[str]], list[int]]:
    """The first rows of a file, and the number of the line with which each ends."""
    found: list[list[str]] = []
    ends: list[int] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for row in islice(reader, _MOST_ROWS):
            found.append(row)
            ends.append(reader.line_num)
    except csv.Error:
        return [], []
    return found, ends


def _find_delimiter(file: Path, text: str, usual: str) -> str:
    """The delimiter that splits all rows into the same number of columns. A space counts if no
    other does, and the file's ending decides between several."""
    shares = {}
    for delimiter in DELIMITERS:
        rows = _rows(text, delimiter)
        width = len(rows[0]) if rows else 0
        if width > 1:
            same = sum(len(row) == width for row in rows[1:])
            share = same / max(len(rows) - 1, 1)
            if share == 1 or delimiter != " ":  # texts have spaces too
                shares[delimiter] = share
    likely = [d for d, share in shares.items() if share == 1 and d != " "]
    likely = likely or [d for d, share in shares.items() if share > 0.8]
    # A sign inside the cells of rows, such as a decimal comma, can split all rows but the header,
    # which then looks like another line of a title.
    n_above = {d: _above(text, d)[0] for d in likely}
    likely = [d for d in likely if n_above[d] == min(n_above.values())]
    if usual in likely or not shares:
        return usual
    if likely == [" "] and _are_words(_rows(text, " ")):
        raise ValueError(
            f"`{file}` must have columns separated by one character; its first rows could be "
            "separated by spaces or be one column of several words. Name it with --delimiter: "
            "space, or comma for one column."
        )
    if len(likely) == 1:
        return likely[0]
    if usual in shares:
        return usual  # a damaged row is reported where it is read
    if not likely and max(shares.values()) < 0.5:
        return usual
    raise ValueError(
        f"`{file}` must have columns separated by one character; its first rows could be separated "
        f"by {' or '.join(DELIMITERS[d] for d in likely or shares)}. Name it with --delimiter."
    )


def _are_words(rows: list[list[str]]) -> bool:
    """Whether no column holds numbers or codes."""
    columns = zip(*rows[1:], strict=False)
    return not any(all(any(sign.isdigit() for sign in cell) for cell in c) for c in columns)


# -- other encodings as UTF-8 ------------------------------------------------------------------
def transcoded(file: Path, blocks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    """The content in UTF-8, in blocks."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for block in blocks:
            yield decoder.decode(block).encode()
        yield decoder.decode(b"", True).encode()
    except UnicodeError as error:
        name = _SHOWN.get(encoding, encoding.upper())
        raise ValueError(
            f"`{file}` must be text in {name}; it is not: {error.args[-1] if error.args else ''}. "
            "Name its encoding with --encoding, or export it again as UTF-8."
        ) from None
