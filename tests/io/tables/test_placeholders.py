"""Placeholders among numbers or dates are missing values and counted; other words are errors."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeltrick.io.tables import Roles, read_problem
from labeltrick.io.tables.placeholders import without_placeholders

NUMBERS = [f"{k * 1.5:.1f}" for k in range(60)]
WORDS = ["-", "--", "–", ".", "n/a", "n.a.", "k.A.", "tbd", "unknown", " - "]


def problem_of(folder, task="auto", target="y", **columns):
    n = len(next(iter(columns.values())))
    (folder / "e.csv").write_text("src,dst\np0,p1\np1,p2\n")
    frame = pl.DataFrame({"id": [f"p{k}" for k in range(n)], **columns})
    frame.write_csv(folder / "n.csv")
    return read_problem(folder / "e.csv", folder / "n.csv", Roles(target=target), task=task)


@pytest.mark.parametrize("word", WORDS)
def test_a_placeholder_in_a_target_of_numbers_is_missing_and_counted(tmp_path, word):
    problem = problem_of(tmp_path, y=NUMBERS + [word] * 90)  # most nodes may have no label
    assert problem.labels.task == "regression"
    assert int(problem.labels.known.sum()) == 60
    (note,) = [note for note in problem.notes if "'y'" in note]
    assert note.startswith("cells of column 'y' are read as missing, because all other values are")
    assert f"{word.strip()!r} (90)" in note
    (kind,) = [kind for kind in problem.kinds if kind.name == "y"]
    assert kind.n_missing == 90


def test_features_with_placeholders_are_numbers(tmp_path):
    problem = problem_of(
        tmp_path,
        y=["a", "b"] * 50,
        size=NUMBERS + ["-", "n.a."] * 20,
        price=[f"{k}.000,{k}" for k in range(10, 70)] + ["k.A."] * 40,
    )
    assert problem.X["size"].null_count() == 40
    assert problem.X["price"].to_list()[:2] == [10_000.1, 11_000.11]
    assert any("'size'" in n and "'-' (20), 'n.a.' (20)" in n for n in problem.notes)
    assert any("'price'" in n and "'k.A.' (40)" in n for n in problem.notes)


def test_dates_with_placeholders_are_dates(tmp_path):
    days = [f"{k % 28 + 1:02}.03.{1990 + k}" for k in range(30)]
    problem = problem_of(tmp_path, y=["a", "b"] * 20, since=days + ["unbekannt", "-"] * 5)
    assert problem.X["since"].dtype == pl.Datetime
    assert problem.X["since"].null_count() == 10
    (note,) = [note for note in problem.notes if note.startswith("cells of column 'since'")]
    assert note.endswith("because all other values are dates: '-' (5), 'unbekannt' (5)")
    mixed = problem_of(tmp_path, y=["a", "b"] * 20, since=[*days, *["winter", "-"] * 5])
    assert "since" not in [kind.name for kind in mixed.kinds if kind.kind == "date"]


def test_codes_of_classes_stay_classes(tmp_path):
    for task in ("auto", "classification"):  # a fit and its predictions read labels alike
        labels = problem_of(tmp_path, task, y=["0", "1", "-"] * 20).labels
        assert labels.task == "classification"
        assert set(labels.values) == {"0", "1", None}


def test_several_targets(tmp_path):
    both = {"a": NUMBERS + ["-"] * 40, "b": NUMBERS + ["7.5"] * 40}
    labels = problem_of(tmp_path, target="a,b", **both).labels
    assert labels.task == "regression"
    assert int(labels.known.sum()) == 60


@pytest.mark.parametrize("numbers", [NUMBERS, [f"1.{k},5" for k in range(100, 160)]])
def test_another_word_among_numbers_is_an_error(tmp_path, numbers):
    y = [*numbers, *["closed"] * 40]
    with pytest.raises(ValueError, match="row 62, column 'y' must be a number") as error:
        problem_of(tmp_path, y=y)
    assert "60 values are numbers, 40 are 'closed'" in str(error.value)
    assert "--task classification" in str(error.value)
    assert problem_of(tmp_path, "classification", y=y).labels.task == "classification"
    with pytest.raises(ValueError, match="row 62, column 'x' must be a number .*--ignore x"):
        problem_of(tmp_path, y=["a", "b"] * 50, x=y)


@pytest.mark.parametrize(
    "values",
    [
        ["1", "2", "3", "L"] * 25,  # few numbers are names of categories
        [f"0{k}" for k in range(1000, 1060)] + ["abroad"] * 40,  # codes
        [*NUMBERS, *"abcd" * 10],
        ["-", "yes", "no", "no"] * 25,
    ],
)
def test_other_columns_are_left_alone(tmp_path, values):
    labels = problem_of(tmp_path, y=values).labels
    assert labels.task == "classification"
    assert set(labels.values) == set(values)


@given(st.lists(st.one_of(st.none(), st.sampled_from(["-", "x", "7", "1.5", "n.a."]))))
def test_only_placeholders_become_missing(values):
    series = pl.Series("y", values, pl.String)
    found, notes = without_placeholders(series)
    changed = found.is_null() & series.is_not_null()
    assert set(series.filter(changed)) <= {"-", "n.a."}
    assert found.drop_nulls().to_list() == series.filter(found.is_not_null()).to_list()
    assert bool(notes) == bool(changed.any())
    assert without_placeholders(found)[1] == []


@pytest.mark.parametrize("word", ["#N/A", "#NV", "#N/V", "#REF!", "#VALUE!", "#DIV/0!"])
def test_errors_of_spreadsheets_are_missing_and_counted_in_any_column(tmp_path, word):
    mixed = {"y": ["yes", "no", word] * 20, "x": [*NUMBERS[1:], word]}
    problem = problem_of(tmp_path, **mixed)
    assert set(problem.labels.values) == {"yes", "no", None}
    assert f"cells of column 'y' are read as missing: {word!r} (20)" in problem.notes
    assert f"cells of column 'x' are read as missing: {word!r} (1)" in problem.notes
