"""Numbers as people write them: $1,025, € 12, 12 %, 1 234,5, (12.50)."""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote

import polars as pl

from .id_like import are_padded
from .sources import Source, TableName, refuse_cells

_CODES = "USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|ZAR|TRY|KRW"
_PARTS = (
    rf"^(?<open>\()?\s*(?<sign>[+-])?\s*(?<before>\p{{Sc}}|{_CODES})?\s*(?<later>[+-])?"
    rf"(?<inner>\()?\s*(?<body>[0-9., '’]*[0-9](?:[eE][+-]?[0-9]+)?)\s*"
    rf"(?:(?<percent>%)|(?<after>\p{{Sc}}|{_CODES}))?\s*(?<close>\))?$"
)
_SPACES = r"[\x{00A0}\x{2007}\x{2009}\x{202F}]"
_EITHER = r"^[1-9][0-9]{0,2}[.,][0-9]{3}$"  # 1,025 and 1.025
_WHOLE = r"^(?:0|[1-9][0-9]*)$"
_E = r"(?:[eE][+-]?[0-9]+)?"
_LIKE_NUMBERS = 0.9  # if that share of the values are numbers, the others are mistakes
_LOOKED_AT = 1000
_WITH_POINTS = ("$", "£", "¥", "USD", "GBP", "JPY", "CNY", "AUD", "NZD")  # €1,025 may be a price
_SEPARATED = "thousands are separated"
_TWO_WAYS = "may have a decimal sign or separated thousands"
_FEW = 20  # different values of a category


def _spaced(decimals: str) -> str:
    """Bodies whose thousands are separated by spaces or apostrophes."""
    return "|".join(rf"^[1-9][0-9]{{0,2}}(?:{s}[0-9]{{3}})+{decimals}$" for s in " '’")


def _patterns(point: str, comma: str) -> list[str]:
    """Bodies that are numbers only if ``point`` is the decimal sign."""
    p, c = (sign.replace(".", r"\.") for sign in (point, comma))
    return [
        rf"^[0-9]*{p}[0-9]+{_E}$",  # except `_EITHER`
        rf"^[1-9][0-9]{{0,2}}(?:{c}[0-9]{{2,3}})*{c}[0-9]{{3}}{p}[0-9]+$",
        rf"^[1-9][0-9]{{0,2}}(?:{c}[0-9]{{2,3}})+{c}[0-9]{{3}}$",
        _spaced(rf"{p}[0-9]+"),
    ]


@dataclass(frozen=True)
class Written:
    """A column of written numbers.

    Attributes
    ----------
    values : polars.Series
        The numbers; null where the text is not one.
    decimal : str or None
        The decimal sign; None if it does not matter.
    how : tuple of str
        What is unusual about the numbers.
    undecided : bool
        Whether the values depend on a decimal sign that nothing decides.
    """

    values: pl.Series
    decimal: str | None
    how: tuple[str, ...]
    undecided: bool = False


def numbers_as_written(
    table: TableName, series: pl.Series, *, required: bool = False
) -> tuple[pl.Series, str]:
    """A column with its written numbers as numbers, and a note that says how they were read.

    Columns that hold something else, or plain numbers, are returned unchanged, with an empty note.
    If almost all values are numbers, the others are errors. If the column must be numbers, it is
    an error if nothing decides what its decimal sign is.
    """
    decimal = table.decimal if isinstance(table, Source) else None
    if series.dtype != pl.String or (are_padded(series) and not required):
        return series, ""
    plain = series.str.strip_chars().cast(pl.Float64, strict=False)
    if decimal != "," and plain.null_count() == series.null_count():
        return series, ""
    found = read_written(series, decimal)
    if found is None or (plain.equals(found.values) and not found.undecided):
        return series, ""
    values = found.values
    example, value = _example(series, plain, found)
    if found.undecided:
        either = series.filter(series.str.contains(r"[0-9][.,][0-9]{3}"))[0]
        if required:
            raise ValueError(
                f"`{table}`, column {series.name!r} must hold numbers; {either!r} {_TWO_WAYS}. "
                "Pass --decimal . or --decimal ,"
            )
        return series, (
            f"column {series.name!r} stays text: {either!r} {_TWO_WAYS}; pass --decimal . or "
            "--decimal ,"
        )
    texts = values.is_null() & series.is_not_null()
    if texts.any():
        if values.n_unique() <= _FEW:
            return series, ""
        advice = f"leave it blank, or leave the column out with --ignore {quote(series.name)}."
        must = "be a number like the other values of the column"
        refuse_cells(table, series, texts, must, f". Correct it, {advice}")
    how = found.how
    if found.decimal == "," and decimal != ",":
        how = ("decimal comma", *how)
    return values, "" if not how else (
        f"column {series.name!r}: {example!r} is read as {value:.15g} ({', '.join(how)})"
    )


def _example(series: pl.Series, plain: pl.Series, found: Written) -> tuple[str, float]:
    """A text that is not read as it stands, and its value; one with separated thousands if the
    note is about them."""
    values = found.values
    differs = values.is_not_null() & (plain.is_null() | (plain != values))
    if _SEPARATED in found.how:
        other = "." if found.decimal == "," else ","
        separator = rf"[0-9](?:[{other} '’]|{_SPACES})[0-9]"
        grouped = differs & series.str.contains(separator).fill_null(False)
        differs = grouped if grouped.any() else differs
    at = int(differs.arg_max() or 0)
    return series[at], values[at]


def decimal_sign(texts: pl.Series) -> str | None:
    """The decimal sign of a column of texts, if one of its values is a number only with that sign
    and no value contradicts it."""
    known = texts.str.strip_chars().replace("", None).drop_nulls()
    body = _parts(known)["body"].drop_nulls()
    signs = _evidence(body) if body.len() > _LIKE_NUMBERS * known.len() else []
    return signs[0] if len(signs) == 1 else None


def are_numbers(texts: pl.Series) -> pl.Series:
    """Which texts are numbers, plain or as people write them."""
    plain = texts.str.strip_chars().cast(pl.Float64, strict=False)
    return plain.is_not_null() | _parts(texts)["body"].is_not_null()


def _parts(texts: pl.Series) -> pl.DataFrame:
    """The parts of each text; all are null if it is not a number."""
    plain = texts.str.replace_all(_SPACES, " ").str.replace_all("−", "-").str.strip_chars()
    found = plain.str.extract_groups(_PARTS).struct.unnest()
    given = {name: found[name].is_not_null() for name in found.columns}
    bad = (
        ((given["open"] | given["inner"]) != given["close"])
        | (given["open"] & given["inner"])
        | (given["sign"] & given["later"])
        | ((given["sign"] | given["later"]) & given["close"])
        | (given["before"] & given["after"])
        | (given["before"] & given["percent"])
        | ((found["sign"] == "+") & found["body"].str.contains(" ")).fill_null(False)  # phones
        | ~_is_number(found["body"]).fill_null(False)
    )
    blank = pl.lit(None, pl.String)
    return found.select(
        pl.when(bad).then(blank).otherwise(pl.col(name)).alias(name) for name in found.columns
    )


def _any_of(body: pl.Series, patterns: list[str]) -> pl.Series:
    found = pl.repeat(False, body.len(), dtype=pl.Boolean, eager=True)
    for pattern in patterns:
        found = found | body.str.contains(pattern)
    return found


def _is_number(body: pl.Series) -> pl.Series:
    both = [*_patterns(".", ","), *_patterns(",", "."), _EITHER, _WHOLE, _spaced("")]
    return _any_of(body, both)


def _evidence(body: pl.Series) -> list[str]:
    """The decimal signs without which some of the numbers would not be numbers."""
    clear = body.filter(~body.str.contains(_EITHER))
    return [s for s, c in ((".", ","), (",", ".")) if _any_of(clear, _patterns(s, c)).any()]


def read_written(texts: pl.Series, decimal: str | None) -> Written | None:
    """The numbers of a column of texts; None if too few are numbers, if they are in different
    currencies, partly in percent, or contradict each other, or if they look like codes.
    ``decimal`` is the decimal sign of the file, which decides where the column does not."""
    known = texts.drop_nulls()
    some = _parts(known.head(_LOOKED_AT))["body"]
    if not known.len() or some.count() < _LIKE_NUMBERS * some.len():
        return None
    parts = _parts(texts)
    body = parts["body"].drop_nulls()
    if body.len() < _LIKE_NUMBERS * known.len():
        return None
    units = parts.select(pl.coalesce("before", "after")).to_series().drop_nulls()
    n_units, n_percent = units.len(), parts["percent"].count()
    n_zeros = parts.filter(pl.col("percent").is_null(), pl.col("body") == "0").height
    if units.n_unique() > 1 or (n_percent and n_percent + n_zeros < body.len()):
        return None
    signs = _evidence(body)
    if len(signs) > 1 or (not n_units and not n_percent and _like_codes(body)):
        return None
    sign, undecided = (signs[0] if signs else None), False
    if sign is None and body.str.contains(_EITHER).any():
        sign = _settled(body, decimal, units[0] if n_units else "")
        undecided = sign is None
    how = _how(parts, body, sign, n_units, n_percent)
    return Written(_values(texts.name, parts, sign or "."), sign, how, undecided)


def units_of(texts: pl.Series) -> set[str]:
    """The currencies of the numbers in a column, or "%"; "" stands for numbers without one."""
    return set(_units(_parts(texts)).drop_nulls().to_list())


def written_alike(texts: pl.Series, sign: str, units: set[str]) -> pl.Series:
    """The numbers of more rows of a column whose decimal sign and units are known; null where a
    text is not such a number.

    >>> written_alike(pl.Series(["1.250", "0,5", "0.5", "2 %"]), ",", {""}).to_list()
    [1250.0, 0.5, None, None]
    """
    parts, other = _parts(texts), "." if sign == "," else ","
    body = parts["body"]
    strange = _any_of(body, _patterns(other, sign)) & ~body.str.contains(_EITHER)
    strange |= ~_units(parts).is_in(list(units))
    return _values(texts.name, parts, sign).set(strange.fill_null(True), None)


def _units(parts: pl.DataFrame) -> pl.Series:
    unit = pl.coalesce("before", "after", "percent", pl.lit(""))
    return parts.select(pl.when(pl.col("body").is_not_null()).then(unit)).to_series()


def _settled(body: pl.Series, decimal: str | None, unit: str) -> str | None:
    """The decimal sign of a column in which it is nowhere clear: 1,025 or 1.025."""
    either = body.str.contains(_EITHER)
    signs = body.filter(either).str.extract("([.,])").unique().to_list()
    if len(signs) > 1:
        return None
    if decimal is not None:
        return decimal
    if signs == ["."]:
        return None if unit else "."
    # Numbers with three decimals would not also be written without any.
    short = body.filter(~either).str.len_chars() <= 3
    return "." if unit in _WITH_POINTS or (len(short) and short.all()) else None


def _like_codes(body: pl.Series) -> bool:
    """Whether groups of digits are codes or telephone numbers: all are of one length."""
    grouped = body.str.contains(
        r"^[0-9]+(?:[ '’][0-9]+)+$|^[0-9]+(?:(?:\.[0-9]+){2,}|(?:,[0-9]+){2,})$"
    ).all()
    return bool(grouped and body.len() > 1 and body.str.len_chars().n_unique() == 1)


def _values(name: str, parts: pl.DataFrame, sign: str) -> pl.Series:
    other = "," if sign == "." else "."
    digits = (
        parts["body"].str.replace_all(rf"[ '’{other}]", "").str.replace(sign, ".", literal=True)
    )
    numbers = digits.cast(pl.Float64, strict=False)
    minus = (
        (parts["sign"] == "-").fill_null(False)
        | (parts["later"] == "-").fill_null(False)
        | parts["close"].is_not_null()
    )
    factor = minus.cast(pl.Float64) * -2 + 1
    return (numbers * factor).alias(name)


def _how(
    parts: pl.DataFrame, body: pl.Series, sign: str | None, n_units: int, n_percent: int
) -> tuple[str, ...]:
    words = []
    if n_units:
        words.append("the currency is left out")
    if n_percent:
        words.append("percent stay percent: 12 % is 12")
    if parts["close"].count():
        words.append("parentheses mean negative numbers")
    other = {".": ",", ",": "."}.get(sign or "", " ")
    if body.str.contains(other, literal=True).any() or body.str.contains("[ '’]").any():
        words.append(_SEPARATED)
    return tuple(words)
