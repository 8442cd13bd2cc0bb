"""Lines above the header of a table: a title, the date of an export, blank lines.

A row is above the header if only its first cells are filled, at most half of the table's width, and
the first row that is not has a name for every column. Anything else is left as it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

_MOST_LINES = 20
_NUMBER = re.compile(r"[\s\d.,:/%€$£+()-]*\d[\s\d.,:/%€$£+()-]*")


def n_above_header(rows: Sequence[Sequence[str]]) -> int:
    """How many rows are above the header; 0 if the first one is it, or if that cannot be told.

    >>> n_above_header([["Sales of 2020"], [], ["id", "price"], ["a", "1"], ["b", "2"]])
    2
    """
    widths = Counter(len(row) for row in rows if any(map(_is_filled, row)) and len(row) > 1)
    if not widths:
        return 0
    width = widths.most_common(1)[0][0]
    first = next((k for k, row in enumerate(rows) if not _is_above(row, width)), len(rows))
    titles = [row for row in rows[:first] if any(map(_is_filled, row))]
    if not titles or first > _MOST_LINES or not _is_header(rows, first, width):
        return 0
    if width == 2 and len(titles) == first and not any(" " in row[0].strip() for row in titles):
        return 0  # a single word above two columns may name one column
    return first


def title_of(rows: Sequence[Sequence[str]]) -> str:
    """The first text above the header."""
    return next(cell.strip() for row in rows for cell in row if _is_filled(cell))


def note_on_titles(n_lines: int, title: str) -> str:
    """A sentence about lines that are left out."""
    what = "1 line above the header is" if n_lines == 1 else f"{n_lines} lines above the header are"
    return f"{what} left out: {title[:60]!r}{' …' if n_lines > 1 or len(title) > 60 else ''}"


def _is_filled(cell: str) -> bool:
    return bool(cell.strip())


def _is_above(row: Sequence[str], width: int) -> bool:
    filled = [_is_filled(cell) for cell in row]
    n = sum(filled)
    if n == 0:
        return True
    if not all(filled[:n]):
        return False
    return len(row) == 1 or (width > 2 and 2 * n <= width)


def _is_header(rows: Sequence[Sequence[str]], place: int, width: int) -> bool:
    """Whether a row names each column of the rows below it."""
    if place + 1 >= len(rows):
        return False
    names = [cell.strip() for cell in rows[place]]
    plain = all(names) and not any(_NUMBER.fullmatch(name) for name in names)
    return len(names) == width and plain and len(set(names)) == width
