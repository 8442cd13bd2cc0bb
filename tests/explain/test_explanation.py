"""The result: frames whose effects sum to the score, slices, and plain values."""

import json

import pandas as pd
import polars as pl
import pytest

from labeltrick import LabelPropagation
from tests.explain.conftest import make_problem


@pytest.fixture
def found():
    graph, _, y = make_problem()
    return LabelPropagation(0.8).fit(None, y, graph=graph).explain(graph.names[:4], top=3)


def test_effects_of_a_frame_sum_to_the_score(found):
    frame = found.to_frame()
    assert isinstance(frame, pl.DataFrame)
    sums = frame.filter("adds_up").group_by("name", maintain_order=True).agg(
        pl.col("effect").sum(), pl.col("score").first()
    )  # fmt: skip
    assert sums.height == 4
    assert sums["effect"].to_list() == pytest.approx(sums["score"].to_list(), abs=1e-12)
    assert frame["kind"].unique().sort().to_list() == ["baseline", "edge", "label", "rest"]


def test_frames_of_pandas(found):
    frame = found.to_frame("pandas")
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == found.to_frame("polars").columns
    with pytest.raises(ValueError, match="`output`"):
        found.to_frame("arrow")


def test_the_kind_of_frame_is_that_of_the_fit():
    graph, _, y = make_problem()
    series = pd.Series(y, index=graph.names)
    model = LabelPropagation().fit(None, series, graph=graph)
    assert isinstance(model.explain("node 1").to_frame(), pd.DataFrame)


def test_slices_and_sentences(found):
    assert len(found[1:3]) == 2
    assert found[1:3][0] == found[1]
    assert str(found) == "\n".join(map(str, found))
    assert repr(found) == str(found)


def test_plain_values_are_json(found):
    made = json.loads(json.dumps(found[0].to_dict()))
    assert made["node"] == "node 0"
    assert made["text"] == str(found[0])
    assert made["contributions"][0]["kind"] in ("label", "edge")
