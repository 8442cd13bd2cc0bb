"""Classes keep their values, whatever the type of the column that they come in."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from labeltrick import Graph, LabelPropagation

NAMES = [f"p{k}" for k in range(6)]
GRAPH = Graph.from_edges(NAMES[:-1], NAMES[1:])
WHOLE, TRUTH, TEXT = [0, 1, None, None, 1, None], [False, True, None, None, True, None], [
    "x", "y", None, None, "y", None]  # fmt: skip
OBJECTS = {
    "None": WHOLE,
    "NA": [pd.NA if v is None else v for v in WHOLE],
    "NaN": [np.nan if v is None else v for v in WHOLE],
    "-1": [-1 if v is None else v for v in WHOLE],
    "-1 and None": [0, 1, -1, None, 1, -1],
}
PANDAS = {
    "Int64": (pd.array(WHOLE, dtype="Int64"), [0, 1]),
    "Int8": (pd.array(WHOLE, dtype="Int8"), [0, 1]),
    "Int64, -1": (pd.array(OBJECTS["-1 and None"], dtype="Int64"), [0, 1]),
    "boolean": (pd.array(TRUTH, dtype="boolean"), [False, True]),
    "category of texts": (pd.Categorical(TEXT), ["x", "y"]),
    "category of integers": (pd.Categorical(WHOLE), [0, 1]),
    "string": (pd.array(TEXT, dtype="string"), ["x", "y"]),
    "string[pyarrow]": (pd.array(TEXT, dtype="string[pyarrow]"), ["x", "y"]),
    "int64[pyarrow]": (pd.array(WHOLE, dtype="int64[pyarrow]"), [0, 1]),
    "bool[pyarrow]": (pd.array(TRUTH, dtype="bool[pyarrow]"), [False, True]),
    "texts": (np.array(TEXT, object), ["x", "y"]),
    "booleans": (np.array(TRUTH, object), [False, True]),
    **{f"objects, {key}": (np.array(v, object), [0, 1]) for key, v in OBJECTS.items()},
}
POLARS = {
    "Int64": (pl.Series(WHOLE), [0, 1]),
    "UInt8": (pl.Series(WHOLE, dtype=pl.UInt8), [0, 1]),
    "Boolean": (pl.Series(TRUTH), [False, True]),
    "String": (pl.Series(TEXT), ["x", "y"]),
    "Categorical": (pl.Series(TEXT, dtype=pl.Categorical), ["x", "y"]),
    "Enum": (pl.Series(TEXT, dtype=pl.Enum(["y", "x", "z"])), ["x", "y"]),
}


def check(model, classes):
    frame = model.predict_frame(output="polars")
    assert model.classes_.tolist() == classes
    assert [type(value) for value in model.classes_.tolist()] == [type(v) for v in classes]
    assert frame.columns[2:4] == [f"p_{value}" for value in classes]
    assert frame["labeled"].to_list() == [True, True, False, False, True, False]
    assert frame["prediction"].to_list() == [classes[0]] + [classes[1]] * 5
    assert type(frame["prediction"][0]) is type(classes[0])


@pytest.mark.parametrize("form", ["series", "shuffled", "known only", "frame", "frame, shuffled"])
@pytest.mark.parametrize("kind", PANDAS)
def test_pandas(kind, form):
    values, classes = PANDAS[kind]
    y = pd.Series(values, index=NAMES, name="label")
    if "shuffled" in form:
        y = y.sample(frac=1, random_state=1)
    if form == "known only":
        y = y.dropna()
    model = LabelPropagation().fit(None, y.to_frame() if "frame" in form else y, graph=GRAPH)
    check(model, classes)


@pytest.mark.parametrize("form", ["series", "frame", "frame, known only", "list"])
@pytest.mark.parametrize("kind", POLARS)
def test_polars(kind, form):
    values, classes = POLARS[kind]
    y, id = values, None
    if "frame" in form:
        y, id = pl.DataFrame({"who": NAMES, "label": values}).sample(6, shuffle=True, seed=1), "who"
    if "known" in form:
        y = y.drop_nulls()
    if form == "list":
        y = values.to_list()
    check(LabelPropagation().fit(None, y, graph=GRAPH, id=id), classes)


def test_several_columns_with_gaps():
    y = pd.DataFrame({"a": pd.array([1, 0, None, 1, 0, 1], dtype="Int64"),
                      "b": pd.array([True, False, True, True, False, None], dtype="boolean")},
                     index=NAMES)  # fmt: skip
    model = LabelPropagation().fit(None, y, graph=GRAPH)
    assert model.targets_.task == "multilabel"
    assert model.targets_.labeled.tolist() == [True, True, False, True, True, False]
    plain = LabelPropagation().fit(None, y.astype(float).to_numpy(na_value=np.nan), graph=GRAPH)
    np.testing.assert_allclose(model.predict_proba(), plain.predict_proba())


def test_numbers_to_predict_keep_minus_one():
    for y in (pd.Series([-1, 2, None, 4, 5, 6], dtype="Int64"), pl.Series([-1, 2, None, 4, 5, 6])):
        model = LabelPropagation(task="regression").fit(None, y.to_list(), graph=GRAPH)
        again = LabelPropagation(task="regression").fit(None, np.array(y.to_list(), object),
                                                        graph=GRAPH)  # fmt: skip
        assert model.targets_.labeled.tolist() == [True, True, False, True, True, True]
        np.testing.assert_allclose(model.predict(), again.predict())
