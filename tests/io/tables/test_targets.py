"""Several columns that are predicted together."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from labeltrick.io.tables import Roles, read_label_file, read_problem, with_labels
from labeltrick.io.tables.targets import read_targets, stored_labels, target_columns

FILE = Path("nodes.csv")
FRAME = pl.DataFrame(
    {
        "a": ["0", "1", "1", None],
        "b": ["yes", "no", "Yes", None],
        "c": [True, False, None, None],
        "x": ["1.5", "2", "3", None],
        "n": [7, 8, 9, None],
        "w": ["red", "blue", "red", None],
        "a,b": ["p", "q", "p", None],
        "tags": ["r|s", "s", "[]", None],
        "lists": [["r"], ["s"], [], None],
    }
)


@pytest.mark.parametrize(
    ("target", "names"),
    [
        ("a", ("a",)),
        ("a,b", ("a,b",)),  # the exact name wins
        ("a, x ,n", ("a", "x", "n")),
        (("a", "b"), ("a", "b")),
        (("x,n", "a,b"), ("x", "n", "a,b")),
    ],
)
def test_names_of_targets(target, names):
    assert target_columns(FILE, FRAME, target) == names


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("a,bb", "`--target` must name a column of 'nodes.csv'; got 'bb'. Did you mean 'b'"),
        (("a", "a"), "must name each column once; got 'a' twice"),
        (",", "`--target` must name a column"),
    ],
)
def test_wrong_names_of_targets(target, message):
    with pytest.raises(ValueError, match=message):
        target_columns(FILE, FRAME, target)


def test_several_columns_of_bits_are_multilabel():
    found = read_targets(FILE, FRAME, ("a", "b", "c"), "auto")
    assert (found.task, found.name, found.target) == ("multilabel", "a, b, c", ("a", "b", "c"))
    assert found.values[:2].tolist() == [[0, 1, 1], [1, 0, 0]]
    assert np.isnan(found.values[2:]).all()  # a row without one of them is unlabeled
    assert found.notes == [
        "1 row counts as unlabeled, because only some of the columns 'a', 'b', 'c' are filled in"
    ]
    y = found.as_y(found.values)
    assert y.columns == ["a", "b", "c"]


def test_several_columns_of_numbers_are_regression():
    found = read_targets(FILE, FRAME, ("x", "n"), "auto")
    assert (found.task, found.columns) == ("regression", ("x", "n"))
    assert found.values[:3].tolist() == [[1.5, 7], [2, 8], [3, 9]]
    assert read_targets(FILE, FRAME, ("a", "n"), "regression").values[1].tolist() == [1, 8]


@pytest.mark.parametrize(
    ("names", "task", "message"),
    [
        (("a", "x", "w"), "auto", r"must be all 0/1 or all numbers; got 'a' \(0/1\), 'x' \(num"),
        (("a", "x"), "auto", "Pass --task regression if all of them are numbers"),
        (("b", "x"), "regression", r"must hold numbers; got 'b' \(0/1\), 'x' \(numbers\)"),
        (("a", "x"), "multilabel", "must hold 0/1; got"),
        (("a", "lists"), "auto", r"'lists' \(lists\)"),
        (("a", "b"), "classification", "`--task classification` must have one target; got 2"),
        (("a",), "multilabel", "must have several 0/1 columns, or one column of lists"),
        (("lists",), "classification", "'lists' of 'nodes.csv' holds lists. Use --task multilabel"),
        (("a",), "ranking", "`--task` must be one of 'auto', 'classification', 'multilabel', "),
    ],
)
def test_targets_that_do_not_go_together(names, task, message):
    with pytest.raises(ValueError, match=message) as caught:
        read_targets(FILE, FRAME, names, task)
    assert "\n" not in str(caught.value)


def test_texts_are_split_only_when_asked():
    assert read_targets(FILE, FRAME, ("tags",), "multilabel").columns == ("r", "s")
    assert read_targets(FILE, FRAME, ("tags",), "auto").task == "classification"
    assert read_targets(FILE, FRAME, ("lists",), "auto").columns == ("r", "s")


def test_columns_without_a_common_row():
    halves = pl.DataFrame({"a": [1, 0, None, None], "b": [None, None, 1, 0]})
    with pytest.raises(ValueError, match="rows with a value in each of the columns 'a', 'b'"):
        read_targets(FILE, halves, ("a", "b"), "auto")
    empty = pl.DataFrame({"a": [1, 0], "b": pl.Series([None, None], dtype=pl.String)})
    with pytest.raises(ValueError, match="column 'b' must hold labels; it is empty"):
        read_targets(FILE, empty, ("a", "b"), "auto")


def test_matrices_of_graph_files():
    found = stored_labels(FILE, np.array([[0, 1], [1, 1], [-1, -1]]), "auto")
    assert (found.task, found.columns) == ("multilabel", ("0", "1"))
    assert found.known.tolist() == [True, True, False]
    one = stored_labels(FILE, np.array([[0], [2], [-1]]), "auto")
    assert (one.task, one.values.tolist()) == ("classification", ["0", "2", None])
    assert stored_labels(FILE, np.array([[0.5, 1], [2, 3.0]]), "auto").task == "regression"


def write(tmp_path, nodes, labels):
    (tmp_path / "e.csv").write_text("src,dst\n0,1\n1,2\n")
    (tmp_path / "n.csv").write_text(nodes)
    (tmp_path / "l.csv").write_text(labels)
    return tmp_path / "e.csv", tmp_path / "n.csv", tmp_path / "l.csv"


def test_labels_of_another_file_are_added(tmp_path):
    edges, nodes, more = write(tmp_path, "id,a,b\n0,1,0\n1,0,1\n2,,\n", "id,a,b\n2,1,1\n1,0,\n")
    problem = read_problem(edges, nodes, Roles(target="a,b"))
    assert problem.X is None
    found = with_labels(problem, more, None, "a,b")
    assert found.labels.values.tolist() == [[1, 0], [0, 1], [1, 1]]
    assert any(note.startswith("1 row counts as unlabeled") for note in found.notes)


def test_lists_of_another_file_may_bring_labels(tmp_path):
    edges, nodes, more = write(tmp_path, "id,y\n0,r|s\n1,s\n2,\n", "id,y\n2,q|s\n")
    problem = read_problem(edges, nodes, Roles(target="y"), task="multilabel")
    found = with_labels(problem, more, None, "y")
    assert found.labels.columns == ("q", "r", "s")
    assert found.labels.values.tolist() == [[0, 1, 1], [0, 0, 1], [1, 0, 1]]
    bare = read_problem(edges, nodes, Roles(ignore=("y",)))
    found = with_labels(bare, more, None, "y", "multilabel")
    assert found.labels.columns == ("q", "s")
    assert found.labels.known.tolist() == [False, False, True]


def test_labels_in_the_order_of_a_fit(tmp_path):
    *_, more = write(tmp_path, "id,y\n0,r\n", "id,y\n2,q|s\n1,\n")
    _, labels = read_label_file(more, None, "y", "multilabel")
    wide = labels.in_columns(("s", "r", "q"))
    assert wide.values[0].tolist() == [1, 0, 1]
    assert np.isnan(wide.values[1]).all()
    with pytest.raises(ValueError, match="column 'y' must hold labels of the fit; got 'q'"):
        labels.in_columns(("r", "s"))
