"""Predictions as data frames."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from labeltrick import Graph, LabelPropagation

GRAPH = Graph.from_edges(["a", "b", "c"], ["b", "c", "d"], names=["a", "b", "c", "d", "alone"])


def test_classes():
    frame = LabelPropagation().fit(None, {"a": "x", "d": "y"}, graph=GRAPH).predict_frame()
    assert isinstance(frame, pl.DataFrame)
    assert frame.columns == ["name", "prediction", "p_x", "p_y", "labeled", "reached"]
    assert frame["name"].to_list() == ["a", "b", "c", "d", "alone"]
    assert frame["labeled"].to_list() == [True, False, False, True, False]
    assert frame["reached"].to_list() == [True, True, True, True, False]
    np.testing.assert_allclose(frame["p_x"] + frame["p_y"], 1)


def test_the_frame_is_of_the_kind_that_came_in():
    y = pd.Series({"a": "x", "d": "y"})
    model = LabelPropagation().fit(None, y, graph=GRAPH)
    frame = model.predict_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame.index.name == "name"
    assert frame.loc["b", "prediction"] == "x"
    assert isinstance(model.predict_frame(output="polars"), pl.DataFrame)
    with pytest.raises(ValueError, match="`output` must be one of None, 'pandas', 'polars'"):
        model.predict_frame(output="numpy")


@pytest.mark.parametrize(
    ("dtype", "names"),
    [("float", "01"), ("Float64", "01"), ("Int64", "01"), ("boolean", ["False", "True"])],
)
def test_gaps_do_not_add_a_fraction_to_the_names_of_classes(dtype, names):
    y = pd.Series({"a": 1, "b": None, "d": 0}, dtype="Float64").astype("Int64").astype(dtype)
    model = LabelPropagation().fit(None, y, graph=GRAPH)
    frame = model.predict_frame()
    assert frame.columns[1:3].tolist() == [f"p_{name}" for name in names]
    assert (frame["prediction"] == y.reindex(frame.index)).sum() == 2  # in the form of y
    polars = pl.DataFrame({"id": ["a", "b", "d"], "y": [1.0, None, 0.0]})
    model = LabelPropagation().fit(None, polars, graph=GRAPH, id="id")
    assert model.predict_frame().columns[2:4] == ["p_0", "p_1"]


def test_classes_with_fractions_keep_them():
    y = {"a": 0.5, "d": 1.0}
    frame = LabelPropagation(task="classification").fit(None, y, graph=GRAPH).predict_frame()
    assert frame.columns[2:4] == ["p_0.5", "p_1.0"]


def test_numbers_have_intervals_if_there_are_enough_labels():
    graph = Graph.from_edges(range(59), range(1, 60))
    y = np.where(np.arange(60) % 3, np.sin(np.arange(60) / 9), np.nan)
    model = LabelPropagation(0.8, task="regression").fit(None, y, graph=graph)
    frame = model.predict_frame(coverage=0.8)
    assert frame.columns == ["name", "prediction", "low", "high", "labeled", "reached"]
    np.testing.assert_array_equal(
        np.column_stack([frame["low"], frame["high"]]), model.predict_interval(coverage=0.8)
    )
    few = LabelPropagation(task="regression").fit(None, {"a": 1.5, "d": 2.0}, graph=GRAPH)
    assert few.predict_frame().columns == ["name", "prediction", "labeled", "reached"]


def test_several_targets_keep_their_names():
    y = pd.DataFrame({"hot": [1, 0, 1, 0], "wet": [0, 0, 1, 1]}, index=["a", "b", "c", "d"])
    frame = LabelPropagation().fit(None, y, graph=GRAPH).predict_frame()
    expected = ["prediction_hot", "prediction_wet", "p_hot", "p_wet", "labeled", "reached"]
    assert frame.columns.tolist() == expected
    assert not frame.loc["alone", "labeled"]
    numbers = LabelPropagation(task="regression").fit(None, y * 1.5, graph=GRAPH).predict_frame()
    assert numbers.columns.tolist()[:2] == ["prediction_hot", "prediction_wet"]


def test_names_of_any_kind():
    graph = Graph.from_edges([(0, 0), "x"], ["x", (1, 1)])
    frame = (
        LabelPropagation()
        .fit(None, {"x": 1, (0, 0): 0}, graph=graph)
        .predict_frame(output="pandas")
    )
    assert frame.index.tolist() == [(0, 0), "x", (1, 1)]
    grid = pd.Series({("a", 0): "x", ("b", 1): "y"})
    pairs = Graph.from_edges([("a", 0)], [("b", 1)])
    model = LabelPropagation().fit(None, grid, graph=pairs)
    assert model.predict_frame().index.tolist() == [("a", 0), ("b", 1)]
    assert model.predict_frame(output="polars")["name"].to_list() == [("a", 0), ("b", 1)]
    numbered = LabelPropagation().fit(None, [0, -1, 1], graph=graph.with_names(None))
    assert numbered.predict_frame()["name"].to_list() == [0, 1, 2]
