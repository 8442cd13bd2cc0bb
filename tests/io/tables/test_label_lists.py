"""A column that lists several labels per row."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeltrick.io.tables import Roles, read_problem
from labeltrick.io.tables.label_lists import holds_lists, read_lists

FILE = Path("movies.csv")
WANTED = [["comedy", "drama"], ["drama"], [], None]


def listed(labels):
    """The names of the labels of each row; None where it is unlabeled."""
    return [
        None if np.isnan(row).any() else [labels.columns[k] for k in np.flatnonzero(row)]
        for row in labels.values
    ]


@pytest.mark.parametrize(
    ("cells", "how"),
    [
        (["drama|comedy", "drama", "[]", ""], "split at '|'"),
        (["drama; comedy", " drama ", "[]", None], "split at ';'"),
        (["comedy, drama,", "drama", "[]", None], "split at ','"),
        (['["drama", "comedy"]', '["drama"]', "[]", None], "from arrays"),
        (["['drama', 'comedy']", "['drama', 'drama']", "[]", None], "from arrays"),
        ([["drama", "comedy"], ["drama"], [], None], "from lists"),
    ],
)
def test_lists_in_every_form(cells, how):
    found = read_lists(FILE, pl.Series("genres", cells))
    assert (found.task, found.columns, found.target) == (
        "multilabel", ("comedy", "drama"), "genres",
    )  # fmt: skip
    assert listed(found) == WANTED
    assert found.known.tolist() == [True, True, True, False]
    note = f"'genres' holds 2 labels ({how}): 'comedy', 'drama'; 1 row has none of them"
    assert found.notes == [note]


def test_other_types_of_lists():
    assert read_lists(FILE, pl.Series("y", [[3, 10], [3]])).columns == ("10", "3")
    fixed = pl.Series("y", [["a", "b"], ["b", "c"]], dtype=pl.Array(pl.String, 2))
    assert listed(read_lists(FILE, fixed)) == [["a", "b"], ["b", "c"]]
    assert (
        read_lists(FILE, pl.Series("y", ["b", "a", None]))
        .notes[0]
        .startswith("'y' holds 2 labels (one per cell: no separator was found): 'a', 'b'")
    )


def test_other_separators_inside_labels_are_reported():
    found = read_lists(FILE, pl.Series("y", ["rock, pop|jazz", "jazz"]))
    assert found.columns == ("jazz", "rock, pop")
    assert found.notes[1] == "labels of 'y' were not split at ',', for example 'rock, pop'"


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["['a' 'b']", "['a']"], r"row 2, column 'y' must be an array such as .*; got \"\['a' 'b'"),
        (['["a"]', "a|b"], r"row 3, column 'y' must be an array .* got 'a\|b'"),
        (['["a", null]', "[]"], "row 2, column 'y' must be an array"),
        (['[["a"]]', "[]"], "row 2, column 'y' must be an array"),
        ([[0.5, 0.1], [1.0, 2.0]], "must hold lists of texts or whole numbers"),
        ([["a", None], ["b"]], "row 2, column 'y' must list labels without gaps"),
        ([[1, 0, 1], [0, 0, 1]], "it lists zeros and ones. Write one 0/1 column per label"),
        (["[0, 1]", "[1, 1]"], "it lists zeros and ones"),
        ([[], None], "must list labels; all lists are empty"),
        ([None, None], "must list labels; all cells are blank"),
    ],
)
def test_lists_that_cannot_be_read(cells, message):
    with pytest.raises(ValueError, match=message) as caught:
        read_lists(FILE, pl.Series("y", cells, dtype=pl.String if cells == [None, None] else None))
    assert "movies.csv" in str(caught.value)


def test_only_whole_arrays_count_as_lists():
    assert holds_lists(pl.Series(["[]", '["a"]', None]))
    assert holds_lists(pl.Series([["a"], None]))
    for cells in (["a|b", "c"], ["[redacted]", "[1]"], ["[" * 5000 + "]" * 5000], [None], [1, 2]):
        assert not holds_lists(pl.Series(cells, dtype=pl.String if cells == [None] else None))


NAMES = st.text(st.sampled_from("abcxyzé,;'\"\\"), min_size=1)


@given(st.lists(st.none() | st.sets(NAMES, max_size=4), min_size=1, max_size=6))
def test_texts_and_lists_agree(rows):
    if not any(row and len(row) > 1 for row in rows):
        return
    texts = [None if row is None else "|".join(sorted(row)) or "[]" for row in rows]
    lists = [None if row is None else sorted(row) for row in rows]
    as_text = read_lists(FILE, pl.Series("y", texts))
    as_list = read_lists(FILE, pl.Series("y", lists, dtype=pl.List(pl.String)))
    assert as_text.columns == as_list.columns
    np.testing.assert_array_equal(as_text.values, as_list.values)


def test_lists_are_multilabel_in_files(tmp_path):
    (tmp_path / "e.csv").write_text("src,dst\n0,1\n")
    frame = pl.DataFrame({"id": [0, 1, 2, 3], "y": [["a", "b"], ["b"], [], None]})
    frame.write_parquet(tmp_path / "n.parquet")
    frame.write_ndjson(tmp_path / "n.jsonl")
    for name in ("n.parquet", "n.jsonl"):
        problem = read_problem(tmp_path / "e.csv", tmp_path / name, Roles(target="y"))
        assert listed(problem.labels) == [["a", "b"], ["b"], [], None]
        assert problem.labels.notes[0] in problem.notes
