"""What a column of strings holds: dates, categories, text (words) or codes.

The rule, in this order:

- *dates* if all values are dates in one of the formats of `DATES`;
- *categories* if there are at most 20 different values, or at most 1,000 and a quarter of the rows;
- *text* if a value has two words or more on average. Words are runs of two or more letters in
  values that contain a space; in Chinese and Japanese, two characters count as a word;
- *codes* otherwise: almost every row has a value of its own, as in ids, hashes and addresses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

CATEGORIES, TEXT, CODES = "categories", "text", "codes"
MONTH_FIRST, DAY_FIRST = "%m/%d/", "%d/%m/"  # what formats begin with
_CLOCKS = ("", " %H:%M:%S", " %H:%M")
DATES = (
    *(f"%Y-%m-%d{clock}" for clock in (*_CLOCKS, "T%H:%M:%S", "T%H:%M")),
    "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.fZ",
    *(f"{order}{year}{clock}" for order in ("%d.%m.", MONTH_FIRST) for year in ("%Y", "%y")
      for clock in _CLOCKS),
)  # fmt: skip
DAYS_FIRST = tuple(f"{DAY_FIRST}{year}{clock}" for year in ("%Y", "%y") for clock in _CLOCKS)
DATES_IN_FILES = (*DATES, *DAYS_FIRST)
"""Formats in tables from files. Notes say which day is meant there; arrays have no place for it."""
_MOST_LEVELS = 1000
_FEWEST_WORDS = 2.0
# Versions such as 1.2.10 are no dates.
_TWO_DIGITS = r"^\s*(\d\d\.\d\d\.|\d{1,2}/\d{1,2}/)\d\d(\D|$)"
_MOST_FORMS = 1000  # dates whose formats are compared
# Characters of scripts without spaces, each of which is a token.
_CHARACTERS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
TOKEN = rf"[{_CHARACTERS}]|[^\W_{_CHARACTERS}]{{2,}}"
"""Pattern of the words that become columns: two or more letters or digits, or a character of a
script without spaces."""


def what_strings_hold(strings: Any) -> str:
    """`CATEGORIES`, `TEXT` or `CODES`, for a polars series of strings that are not dates."""
    known = strings.drop_nulls()
    if known.n_unique() <= min(_MOST_LEVELS, max(20, len(strings) // 4)):
        return CATEGORIES
    return TEXT if _mean_words(known) >= _FEWEST_WORDS else CODES


def _mean_words(strings: Any) -> float:
    words = strings.str.count_matches(rf"[^\W\d_{_CHARACTERS}]{{2,}}")
    characters = strings.str.count_matches(f"[{_CHARACTERS}]")
    spaced = strings.str.contains(r"\S\s+\S")
    return float((words * spaced + characters / 2).mean())


def parse_dates(strings: Any, formats: Sequence[str] = DATES) -> Any:
    """A polars series of strings as dates; None if some of them are not dates."""
    found = date_format(strings, formats)
    return None if found is None else _read_dates(strings, found)


def _read_dates(strings: Any, pattern: str) -> Any:
    """The dates that are written like a pattern; null where they are not. Polars would read 98 as
    the year 98 where a pattern has four digits."""
    import polars as pl

    found = strings.str.strptime(pl.Datetime("us"), pattern, strict=False)
    right = strings.str.contains(_TWO_DIGITS) if "%y" in pattern else found.dt.year() >= 1000
    return found.set(~right.fill_null(value=True), None)


def date_format(strings: Any, formats: Sequence[str] = DATES) -> str | None:
    """The first format in which all strings of a polars series are dates; None if there is none."""
    known = len(strings) - strings.null_count()
    some = strings.drop_nulls().head(1)  # most formats do not even fit the first one
    for pattern in formats:
        if not known or _read_dates(some, pattern).null_count():
            continue
        found = _read_dates(strings, pattern)
        if len(found) - found.null_count() == known:
            return pattern
    return None


def dates_in_two_forms(strings: Any) -> tuple[str, str] | None:
    """Two strings of a polars series that are dates in different formats, if all of the first ones
    are dates, but not in one format."""
    known = strings.drop_nulls().unique(maintain_order=True).head(_MOST_FORMS)
    fits = [
        {pattern for pattern in DATES_IN_FILES if date_format(known[k : k + 1], [pattern])}
        for k in range(len(known))
    ]
    common = set(DATES_IN_FILES)
    for k, formats in enumerate(fits):
        common &= formats
        if all(fits) and not common:
            first = next((m for m in range(k) if not fits[m] & formats), 0)
            return known[first], known[k]
    return None


def formats_like(strings: Any) -> tuple[str, ...]:
    """The formats for further rows of a column in a file: days and months in the order that the
    column has, which a single row often does not show."""
    order = (date_format(strings, DATES_IN_FILES) or "")[: len(MONTH_FIRST)]
    other = {MONTH_FIRST: DAY_FIRST, DAY_FIRST: MONTH_FIRST}.get(order, "none")
    return tuple(pattern for pattern in DATES_IN_FILES if not pattern.startswith(other))
