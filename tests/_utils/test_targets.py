import numpy as np
import pandas as pd
import polars as pl
import pytest

from labeltrick._utils.targets import encode_targets


@pytest.mark.parametrize(
    ("y", "task", "classes"),
    [
        ([0, 2, -1], "classification", [0, 2]),
        ([1.0, 0.0, np.nan], "classification", [0.0, 1.0]),
        ([1.5, 0.0, np.nan], "regression", None),
        (["b", None, "a"], "classification", ["a", "b"]),
        (np.array(["b", np.nan, "a"], dtype=object), "classification", ["a", "b"]),
        ([True, False, True], "classification", [False, True]),
        ([[1, 0], [0, 1], [1, 1]], "multilabel", [0, 1]),
        ([[1.0, 0.0], [np.nan, 1.0], [1.0, 1.0]], "multilabel", [0, 1]),
        ([[1.0, 2.0], [np.nan, 1.0], [1.0, 1.0]], "regression", None),
        (pd.Series(["x", None, "y"]), "classification", ["x", "y"]),
        (pl.Series(["x", None, "y"]), "classification", ["x", "y"]),
    ],
)
def test_task_and_classes(y, task, classes):
    found = encode_targets(y, 3)
    assert found.task == task
    assert (None if found.classes is None else found.classes.tolist()) == classes
    assert (found.Y[~found.labeled] == 0).all()


def test_values_and_missing_rows():
    found = encode_targets(["b", None, "a"], 3)
    assert found.Y.tolist() == [[0, 1], [0, 0], [1, 0]]
    assert found.labeled.tolist() == [True, False, True]
    assert found.codes.tolist() == [1, -1, 0]
    assert found.prior.tolist() == [0.5, 0.5]
    numbers = encode_targets([1.0, np.nan, 2.5], 3, "regression")
    assert numbers.Y.tolist() == [[1.0], [0.0], [2.5]]
    assert encode_targets([1, 0, 2], 3, "regression").task == "regression"


def test_classes_of_an_earlier_fit():
    found = encode_targets(["c", None], 2, classes=np.array(["a", "c"]))
    assert found.Y.tolist() == [[0, 1], [0, 0]]
    with pytest.raises(ValueError, match="`y` must hold classes seen in fit; got .*'z'"):
        encode_targets(["z", None], 2, classes=np.array(["a", "c"]))


@pytest.mark.parametrize(
    ("y", "options", "error", "message"),
    [
        ([0, 1], {}, ValueError, r"`y` must have one label per node \(3\); got 2"),
        ([-1, -1, -1], {}, ValueError, "at least one label"),
        ([None, None, None], {}, ValueError, "at least one label"),
        ([1.5, np.inf, 2.0], {}, ValueError, "must be finite; row 1 holds infinity"),
        ([1.0, np.inf, 2.0], {"task": "classification"}, ValueError, "must be finite"),
        (["a", "b", "c"], {"task": "regression"}, TypeError, "must hold numbers for regression"),
        ([[1, 0], [0, 1], [1, 1]], {"task": "classification"}, ValueError, "one column"),
        ([[1, 0], [0, 2], [1, 1]], {"task": "multilabel"}, ValueError, "zeros and ones"),
        (np.array(["a", 1, None], object), {}, TypeError, "labels of one type"),
        ([0, 1, 2], {"task": "ranking"}, ValueError, "`task` must be one of"),
        (np.zeros((3, 1, 1)), {}, ValueError, "one or two dimensions"),
    ],
)
def test_bad_labels(y, options, error, message):
    with pytest.raises(error, match=message):
        encode_targets(y, 3, **options)


# -- odd labels ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("y", "task", "n_labeled"),
    [
        ([0.5, None, 1.2], "regression", 2),
        ([[0, 1], [None, None], [1, 1]], "multilabel", 2),
        (["a", float("nan"), "b"], "classification", 2),
        ([0, None, 1], "classification", 2),
        (np.array([0.0, -1.0, 1.0]), "classification", 2),
        (pd.Series(["a", pd.NA, "b"], dtype="string"), "classification", 2),
        (pd.Series([True, pd.NA, False], dtype="boolean"), "classification", 2),
        (pd.Series([1, pd.NA, 0], dtype="Int64"), "classification", 2),
    ],
)
def test_missing_labels_of_every_kind(y, task, n_labeled):
    targets = encode_targets(y, 3)
    assert (targets.task, int(targets.labeled.sum())) == (task, n_labeled)
    assert not targets.labeled[-2]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, "a", 1], "labels of one type; got a mix"),
        (["ape", -1, "bee"], "labels of one type; got a mix"),
        ([["a", "b"], None, ["c"]], "one label per node; got lists"),
    ],
)
def test_labels_that_are_no_labels(y, message):
    with pytest.raises(TypeError, match=message):
        encode_targets(y, 3)


# -- names of columns ------------------------------------------------------------------------
FRAMES = pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])


@FRAMES
def test_the_columns_of_a_frame_keep_their_names(frame):
    both = frame({"drama": [1.0, 0.0, None], "comedy": [1.0, 1.0, None]})
    found = encode_targets(both, 3)
    assert (found.task, found.columns) == ("multilabel", ("drama", "comedy"))
    assert found.classes.tolist() == [0, 1]  # columns of predict_proba, like scikit-learn
    assert found.only(np.array([0])).columns == ("drama", "comedy")
    numbers = encode_targets(frame({"height": [1.5, 2.5, 3.0], "width": [0.5, 1.0, 2.0]}), 3)
    assert (numbers.task, numbers.columns) == ("regression", ("height", "width"))
    assert encode_targets(frame({"kind": ["a", "b", None]}), 3).columns == ("kind",)


def test_other_targets_have_no_column_names():
    for y in ([0, 1, 1], np.eye(3), pd.Series([0, 1, 1], name="kind"), pd.DataFrame(np.eye(3))):
        assert encode_targets(y, 3).columns is None


def test_columns_of_booleans_and_numbers_can_be_mixed():
    found = encode_targets(pd.DataFrame({"a": [True, False], "b": [0, 1]}), 2)
    assert (found.task, found.Y.tolist()) == ("multilabel", [[1, 0], [0, 1]])


def test_equal_column_names_are_refused():
    with pytest.raises(ValueError, match="different column names; got 'a' twice"):
        encode_targets(pd.DataFrame([[0, 1], [1, 0]], columns=["a", "a"]), 2)


@FRAMES
def test_columns_are_matched_by_name(frame):
    known = encode_targets(frame({"a": [1, 0], "b": [0, 0]}), 2)
    swapped = frame({"b": [0, 0], "a": [1, 0]})
    again = encode_targets(swapped, 2, "multilabel", columns=known.columns)
    assert again.Y.tolist() == known.Y.tolist()
    assert again.columns == known.columns
    with pytest.raises(ValueError, match="must have the columns of the fit .*; it lacks 'b'"):
        encode_targets(frame({"a": [1, 0]}), 2, "multilabel", columns=known.columns)
    with pytest.raises(ValueError, match="it also has 'c'"):
        encode_targets(frame({"a": [1], "b": [0], "c": [0]}), 1, columns=known.columns)


def test_a_class_called_minus_one_is_pointed_out():
    with pytest.warns(UserWarning, match="one class only, 1, because −1 marks a missing label"):
        encode_targets([-1, 1, -1], 3)
