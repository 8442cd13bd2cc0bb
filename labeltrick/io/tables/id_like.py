"""Columns of numbers that look like ids, which are not features.

A column of whole numbers looks like ids if at least 20 values are known, all of them are different,
and one of these holds:

- some have leading zeros: "00123" is a code;
- they lie in a range of at most twice their number, as row numbers do; measured numbers in so
  narrow a range would repeat;
- the name says so: "customer_id", "phone", "iban";
- all have the same number of digits, 10 or more, as phone numbers and article numbers do, and they
  are not seconds or milliseconds since 1970.

Other numbers are measured: prices, populations, numbers with decimals. They stay features, even if
all are different. Texts that look like ids are recognized in `labeltrick._utils.texts`. Digits of
one length, some with leading zeros, are texts even if they repeat: postcodes like 01204 and 80331.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from .column_names import words_of

_FEWEST = 20
_LONG = 10  # digits
_WORDS = {
    "id", "ids", "uid", "uuid", "guid", "pk", "identifier", "phone", "tel", "telephone", "mobile",
    "fax", "iban", "isbn", "ean", "ssn", "sku",
}  # fmt: skip
_TIMES = ((900_000_000, 2_500_000_000), (900_000_000_000, 2_500_000_000_000))


def are_padded(series: pl.Series) -> bool:
    """Whether a column holds texts of digits, all of one length, and some with leading zeros.

    >>> are_padded(pl.Series(["01204", None, "80331"])), are_padded(pl.Series(["007", "12"]))
    (True, False)
    """
    if series.dtype != pl.String:
        return False
    known = series.drop_nulls().str.strip_chars()
    if not known.str.contains(r"^0\d+$").any() or known.str.len_chars().n_unique() > 1:
        return False
    return bool(known.str.contains(r"^\d+$").all())


def why_ids(name: str, raw: pl.Series, values: pl.Series) -> str:
    """Why a column of numbers looks like ids; "" if it does not. ``raw`` is the column as it was
    written.

    >>> why_ids("x", pl.Series(range(30)), pl.Series(range(30)))
    'all different, like row numbers'
    >>> why_ids("population", pl.Series(range(0, 9000, 300)), pl.Series(range(0, 9000, 300)))
    ''
    """
    known = values.drop_nulls()
    if not values.dtype.is_integer() or len(known) < _FEWEST or known.n_unique() < len(known):
        return ""
    if raw.dtype == pl.String and raw.str.contains(r"^\s*0\d").any():
        return "all different, with leading zeros, like codes"
    bounds: Any = known.min(), known.max()
    if bounds[1] - bounds[0] < 2 * len(known):
        return "all different, like row numbers"
    if _WORDS & set(words_of(name)):
        return "all different, and named like an id"
    digits = {len(str(abs(bound))) for bound in bounds}
    is_time = any(low <= bounds[0] and bounds[1] <= high for low, high in _TIMES)
    if bounds[0] > 0 and len(digits) == 1 and max(digits) >= _LONG and not is_time:
        return f"all different, each of {max(digits)} digits, like codes"
    return ""
