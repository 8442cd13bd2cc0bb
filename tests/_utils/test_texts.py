"""Strings hold dates, categories, text or codes: their content decides."""

import re

import polars as pl
import pytest

from labeltrick._utils.texts import TOKEN, parse_dates, what_strings_hold

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


@pytest.mark.parametrize("text", ["2024-02-29", "2024-02-29T12:30:00", "29.02.2024", "02/29/2024"])
def test_dates(text):
    found = parse_dates(pl.Series([text, None]))
    assert str(found[0]).startswith("2024-02-29")
    assert found[1] is None
    assert parse_dates(pl.Series([text, "soon"])) is None
    assert parse_dates(pl.Series([None], dtype=pl.String)) is None
