"""Tables of mixed columns: what is read, what is refused, and that the column is named."""

import datetime
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from labeltrick.models.base.tables import read_again, read_table

MIXED = {
    "size": [1.5, None, 3.0, 4.0],
    "kind": ["a", "b", None, "a"],
    "flag": [True, False, None, True],
    "count": [1, 2, 3, 4],
}
EXPECTED = np.array(
    [[1.5, 0, 1, 1], [np.nan, 1, 0, 2], [3, np.nan, np.nan, 3], [4, 0, 1, 4]], float
)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_numbers_categories_booleans_and_gaps(make):
    table = read_table(make(MIXED))
    np.testing.assert_array_equal(table.values, EXPECTED)
    assert table.names == list(MIXED)
    assert table.categorical == [1, 2]


def test_categorical_types_of_data_frames():
    frame = pd.DataFrame({"k": pd.Categorical(["x", "y", "x"]), "n": [1.0, 2.0, 3.0]})
    assert read_table(frame).categorical == [0]
    series = pl.Series("k", ["x", "y", "x"], dtype=pl.Categorical)
    assert read_table(pl.DataFrame([series, pl.Series("n", [1.0, 2.0, 3.0])])).categorical == [0]


def test_numbers_can_be_named_categories():
    array = np.array([[3.0, 1.0], [5.0, 2.0], [3.0, 3.0]])
    table = read_table(array, [0])
    np.testing.assert_array_equal(table.values[:, 0], [0, 1, 0])
    again = read_again(np.array([[5, 9]]), table)
    np.testing.assert_array_equal(again.values, [[1.0, 9.0]])


def test_nullable_pandas_types():
    frame = pd.DataFrame(
        {"n": pd.array([1, None, 3], dtype="Int64"), "b": pd.array([True, None, False])}
    )
    np.testing.assert_array_equal(read_table(frame).values, [[1, 1], [np.nan, np.nan], [3, 0]])


def test_columns_may_come_in_another_order():
    table = read_table(pd.DataFrame(MIXED))
    turned = pd.DataFrame(MIXED)[["count", "flag", "kind", "size"]]
    np.testing.assert_array_equal(read_again(turned, table).values, EXPECTED)


TITLES = [
    f"a {word} story about {thing}" for word in ("long", "short", "sad") for thing in "abcdefghij"
]
DAYS = [datetime.date(2024, 1 + k // 28, 1 + k % 28) for k in range(30)]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize("days", [DAYS, [str(day) for day in DAYS]], ids=["dates", "strings"])
def test_texts_and_dates_become_several_columns(make, days):
    frame = make({"title": TITLES, "when": days, "n": list(range(30))})
    table = read_table(frame)
    words = [name for name in table.names if name.startswith("title: ")]
    assert {"title: long", "title: short", "title: sad"} <= set(words)
    parts = ["when: age in days", "when: month", "when: day of week"]
    assert table.names == [*words, *parts, "n"]
    assert table.given_names == ["title", "when", "n"]
    ages = [(DAYS[-1] - day).days for day in DAYS]
    np.testing.assert_array_equal(table.values[:, len(words)], ages)
    np.testing.assert_array_equal(read_again(frame, table).values, table.values)


def test_later_dates_and_new_words_are_read_as_in_fit():
    frame = pd.DataFrame({"when": pd.to_datetime(DAYS), "n": range(30)})
    table = read_table(frame)
    later = pd.DataFrame({"when": ["2024-03-01", None], "n": [1, 2]})
    age = table.names.index("when: age in days")
    found = read_again(later, table).values[:, age]
    np.testing.assert_array_equal(found, [-(datetime.date(2024, 3, 1) - DAYS[-1]).days, np.nan])
    with pytest.raises(ValueError, match="'when' of `X` must hold dates as in fit; row 1 .*'soon'"):
        read_again(pd.DataFrame({"when": ["2024-03-01", "soon"], "n": [1, 2]}), table)
    with pytest.raises(ValueError, match="dates as in fit, all in one format; row 1 .*2024'"):
        read_again(pd.DataFrame({"when": ["2024-03-01", "31.12.2024"], "n": [1, 2]}), table)
    with pytest.raises(TypeError, match="categories, text or dates; got a sparse matrix"):
        read_again(sp.csr_array(np.eye(2)), table)


def test_codes_are_refused_by_name():
    codes = {"code": [f"x{k * 7919}" for k in range(30)], "n": list(range(30))}
    with pytest.raises(TypeError, match="'code' of `X`.*holds codes, 30 distinct"):
        read_table(pd.DataFrame(codes))
    assert read_table(pd.DataFrame(codes), ["code"]).categorical == [0]


def test_a_text_without_common_words_is_not_used():
    pairs = [f"{a}{b}" for a in "abcdef" for b in "vwxyz"]
    frame = pd.DataFrame({"t": [f"{pair}q {pair}r" for pair in pairs], "n": range(30)})
    with pytest.warns(UserWarning, match="'t' of `X` holds text in which no word.*not used"):
        table = read_table(frame)
    assert table.names == ["n"]
    assert read_again(frame, table).shape == (30, 1)


def test_many_texts_share_the_columns():
    rng = np.random.default_rng(0)
    words = np.array([f"{a}{b}" for a in "bcdfghjklm" for b in "aeiou" for _ in "ab"])
    frame = pd.DataFrame(
        {f"t{k}": [" ".join(row) for row in rng.choice(words, (200, 6))] for k in range(8)}
    )
    assert read_table(frame).shape == (200, 8 * 32)


def test_infinity_is_named():
    with pytest.raises(ValueError, match="infinity.*row 1, column 'size'"):
        read_table(pd.DataFrame({"size": [1.0, np.inf], "n": [1, 2]}))
    sparse = sp.csr_array(np.array([[1.0, 0.0], [0.0, np.nan]]))
    with pytest.raises(ValueError, match="row 1, column 1"):
        read_table(sparse)


def test_unseen_categories():
    table = read_table(pd.DataFrame(MIXED))
    other = pd.DataFrame(MIXED).assign(kind=["a", "new", "b", None])
    with pytest.raises(ValueError, match="column 'kind'.*row 1 holds 'new'.*unseen_categories"):
        read_again(other, table)
    found = read_again(other, table, unseen="missing").values[:, 1]
    np.testing.assert_array_equal(found, [0, np.nan, 1, np.nan])


def test_more_or_fewer_columns_are_named():
    table = read_table(pd.DataFrame(MIXED))
    with pytest.raises(ValueError, match="'kind' is missing"):
        read_again(pd.DataFrame(MIXED).drop(columns="kind"), table)
    with pytest.raises(ValueError, match="no others; got 'extra'"):
        read_again(pd.DataFrame(MIXED).assign(extra=1), table)
    with pytest.raises(ValueError, match="4 columns as in fit; got 2"):
        read_again(np.zeros((3, 2)), table)


def test_a_column_of_one_value_is_reported():
    with pytest.warns(UserWarning, match="constant columns.*'same'"):
        read_table(pd.DataFrame({"same": [1, 1, 1], "n": [1, 2, 3]}))


def test_names_that_are_no_columns():
    with pytest.raises(ValueError, match="got 'knd'. They are: size, kind"):
        read_table(pd.DataFrame(MIXED), ["knd"])
    twice = pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])
    with pytest.raises(ValueError, match="'a' occurs twice"):
        read_table(twice)


def test_numbers_that_became_text():
    table = read_table(pd.DataFrame({"n": [1.0, 2.0, 3.0], "m": [1.0, 2.0, 4.0]}))
    with pytest.raises(TypeError, match="column 'n' of `X` must hold numbers as in fit"):
        read_again(pd.DataFrame({"n": ["one", "two"], "m": [1.0, 2.0]}), table)


def test_columns_without_names_go_by_place():
    table = read_table(np.array([[1.0, 2.0], [3.0, 4.0]]))
    found = read_again(pd.DataFrame([[5.0, 6.0]], columns=["a", "b"]), table)
    np.testing.assert_array_equal(found.values, [[5.0, 6.0]])
    named = read_table(pd.DataFrame({"column a": [1.0, 2.0], "b": [1.0, 3.0]}))
    with pytest.raises(ValueError, match="'column a' is missing"):
        read_again(pd.DataFrame({"b": [1.0]}), named)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_booleans_know_both_values(make):
    with pytest.warns(UserWarning, match="'flag'"):
        table = read_table(make({"flag": [True, True], "n": [1.0, 2.0]}))
    found = read_again(make({"flag": [False, True], "n": [1.0, 2.0]}), table)
    np.testing.assert_array_equal(found.values[:, 0], [0, 1])
    as_read = read_again(make({"flag": [0, 1], "n": [1.0, 2.0]}), table)
    np.testing.assert_array_equal(as_read.values[:, 0], [0, 1])


def test_what_is_neither_number_nor_text():
    column = np.empty(2, dtype=object)
    column[:] = [[1], [2]]
    with pytest.raises(TypeError, match="column 'odd' of `X`.*list objects"):
        read_table(pd.DataFrame({"odd": column, "n": [1, 2]}))
    table = read_table(pd.DataFrame({"kind": ["a", "b"], "n": [1, 2]}))
    with pytest.raises(TypeError, match="had categories.*; got a sparse matrix"):
        read_again(sp.csr_array(np.eye(2)), table)


def test_the_type_decides_that_numbers_are_categories():
    table = read_table(pd.DataFrame({"size": pd.Categorical([1, 2, 1, 2])}))
    assert table.columns[0].levels == ("1", "2")
    with pytest.raises(ValueError, match="7"):
        read_again(pd.DataFrame({"size": pd.Categorical([7] * 4)}), table)


def test_dates_whose_day_and_month_could_be_swapped_are_a_warning():
    days = [f"{1 + k % 12:02}/{1 + k % 11:02}/2024" for k in range(30)]
    with pytest.warns(UserWarning, match="'when' of `X`, such as '01/01/2024', are read as month"):
        read_table(pd.DataFrame({"when": days}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_table(pd.DataFrame({"when": [*days, "12/31/2024"]}))
        read_table(pd.DataFrame({"when": pd.to_datetime(pd.Series(days), dayfirst=True)}))
        read_table(pd.DataFrame({"when": ["2024-01-02", "2024-03-04"] * 9}))
