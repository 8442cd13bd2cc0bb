"""Names of nodes: how they are kept, checked and found."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeltrick.graph.names import NodeNames, as_names

HASHABLE = st.one_of(
    st.lists(st.integers(-(2**70), 2**70), unique=True),
    st.lists(st.text(), unique=True),
    st.lists(st.tuples(st.integers(0, 5), st.text(max_size=2)), unique=True),
    st.lists(st.one_of(st.integers(2, 9), st.text(max_size=2)), unique=True),
)


@given(HASHABLE, st.randoms())
def test_every_name_is_found_where_it_is(names, shuffled):
    kept = NodeNames.of(names)
    assert kept.values.tolist() == names
    order = list(range(len(names)))
    shuffled.shuffle(order)
    wanted = as_names("wanted", [names[k] for k in order])
    assert kept.find(wanted).tolist() == order
    assert kept.take(np.array(order, int)).values.tolist() == [names[k] for k in order]


@pytest.mark.parametrize(
    "values",
    [
        pl.Series(["a", "b"]), pl.Series(["a", "b"], dtype=pl.Categorical), pd.Index(["a", "b"]),
        pd.Series(["a", "b"]), pd.Series(["a", "b"], dtype="category"), np.array(["a", "b"]),
        pd.Series(["a", "b"], dtype="string"), ("a", "b"),
    ],
)  # fmt: skip
def test_strings_of_any_library_are_the_same_names(values):
    assert NodeNames.of(["b", "a"]).find(as_names("x", values)).tolist() == [1, 0]


@pytest.mark.parametrize(
    "values",
    [
        pl.Series([7, 9], dtype=pl.UInt8), pd.Index([7, 9]), pd.Series([7.0, 9.0]),
        np.array([7, 9], np.int16), [np.int64(7), 9], pd.Series([7, 9], dtype="Int64"),
    ],
)  # fmt: skip
def test_integers_of_any_library_are_the_same_names(values):
    assert NodeNames.of([9, 7]).find(as_names("x", values)).tolist() == [1, 0]


def test_a_number_is_not_its_text():
    assert NodeNames.of([7, 8]).find(as_names("x", ["7", "8"])).tolist() == [-1, -1]
    assert NodeNames.of(["7"]).find(as_names("x", [7])).tolist() == [-1]


def test_dates_and_rows_of_an_index_with_levels():
    days = [datetime.date(2024, 1, k) for k in (3, 1)]
    assert NodeNames.of(days).find(as_names("x", days[::-1])).tolist() == [1, 0]
    levels = pd.MultiIndex.from_tuples([("a", 1), ("b", 2)])
    assert NodeNames.of(levels).values.tolist() == [("a", 1), ("b", 2)]


def test_numbers_in_order_are_no_names():
    assert NodeNames.of(range(4)).are_numbers
    assert not NodeNames.of([1, 0]).are_numbers
    assert not NodeNames.of(["0", "1"]).are_numbers


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["a", "b", "a"], "each name once; got 'a' again at row 2"),
        ([3, 3], "each name once; got 3 again at row 1"),
        (["a", None], "no missing names; row 1"),
        ([1.5, float("nan")], "no missing names; row 1"),
        (pl.Series([1, None]), "no missing names; row 1"),
        ([("a",), ("a",)], "each name once"),
    ],
)
def test_names_must_tell_nodes_apart(values, message):
    with pytest.raises(ValueError, match=message):
        NodeNames.of(values)


@pytest.mark.parametrize("values", ["abc", 7, [["a"], ["b"]]])
def test_what_cannot_be_names(values):
    with pytest.raises(TypeError, match="must be"):
        NodeNames.of(values)
