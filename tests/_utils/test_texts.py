"""Strings hold dates, categories, text or codes: their content decides."""

import re

import polars as pl
import pytest

from labeltrick._utils.texts import (
    TOKEN,
    dates_in_two_forms,
    formats_like,
    parse_dates,
    what_strings_hold,
)

N = 60


@pytest.mark.parametrize(
    ("values", "held"),
    [
        ([f"level {k % 20}" for k in range(N)], "categories"),
        ([f"the story of number {k}" for k in range(N)], "text"),
        ([f"Anna Maier{'abcdefghij'[k % 10]}{'xyzuvw'[k // 10]}" for k in range(N)], "text"),
        ([f"図書館の本{chr(0x4E00 + k)}を読む" for k in range(N)], "text"),
        ([f"A-{k}-XY" for k in range(N)], "codes"),
        ([f"{k:032x}" for k in range(N)], "codes"),
        ([f"person{k}@mail.example.org" for k in range(N)], "codes"),
        ([f"https://example.org/some/page-{k}" for k in range(N)], "codes"),
        ([f"+49 {k} 555" for k in range(N)], "codes"),
    ],
)
def test_what_strings_hold(values, held):
    assert what_strings_hold(pl.Series(values)) == held
    assert what_strings_hold(pl.Series([None, *values[::-1]])) == held  # order and gaps


def test_large_tables_have_at_most_a_thousand_categories():
    values = [f"the place {k % 1001}" for k in range(8000)]
    assert what_strings_hold(pl.Series(values)) == "text"
    assert what_strings_hold(pl.Series([f"the place {k % 1000}" for k in range(8000)])) == (
        "categories"
    )


def test_words_of_all_scripts():
    found = re.findall(TOKEN, "The 3 Straße_b2 日本 x", flags=re.UNICODE)
    assert found == ["The", "Straße", "b2", "日", "本"]


@pytest.mark.parametrize(
    "text",
    ["2024-02-29", "2024-02-29T12:30:00", "29.02.2024", "02/29/2024", "2024-02-29 12:30",
     "2024-02-29T12:30", "2024-02-29 12:30:00.250", "2024-02-29T12:30:00.250Z",
     "29.02.2024 12:30", "29.02.2024 12:30:15", "02/29/2024 12:30", "2/29/2024 8:05",
     "29.02.24", "2/29/24", "02/29/24 12:30"],
)  # fmt: skip
def test_dates(text):
    found = parse_dates(pl.Series([text, None]))
    assert str(found[0]).startswith("2024-02-29")
    assert found[0].hour == (8 if " 8:" in text else 12 if ":" in text else 0)
    assert found[1] is None
    assert parse_dates(pl.Series([text, "soon"])) is None
    assert parse_dates(pl.Series([None], dtype=pl.String)) is None


@pytest.mark.parametrize(
    ("values", "pair"),
    [
        (["03/04/2024", "23/10/2024", None, "10/23/2024"], ("23/10/2024", "10/23/2024")),
        (["2024-02-29", "2024-03-01", "01.03.2024"], ("2024-02-29", "01.03.2024")),
        (["03/04/2024", "23/10/2024"], None),
        (["2024-02-29", "soon", "01.03.2024"], None),
        ([None], None),
    ],
)
def test_dates_in_two_forms(values, pair):
    assert dates_in_two_forms(pl.Series(values, dtype=pl.String)) == pair


@pytest.mark.parametrize("text", ["1.2.10", "24-02-29", "2.2.1", "29.2.024", "12.11.5"])
def test_versions_and_short_years_are_no_dates(text):
    assert parse_dates(pl.Series([text])) is None


def test_years_of_two_digits():
    found = parse_dates(pl.Series(["01.02.98", "01.02.05"]))
    assert [day.year for day in found] == [1998, 2005]
    assert parse_dates(pl.Series(["01.02.98", "01.02.2005"])) is None


def test_days_before_months_with_a_time_of_day():
    formats = formats_like(pl.Series(["23/10/2024 12:30", "01/02/2024 08:00"]))
    found = parse_dates(pl.Series(["03/04/2024"]), formats)
    assert str(found[0])[:10] == "2024-04-03"
