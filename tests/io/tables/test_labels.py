"""Columns of labels: which are classes, which are numbers, which are missing."""

import numpy as np
import polars as pl
import pytest

from labeltrick.io.tables import Roles, read_problem, write_frame
from tests.support.packed_tables import save

EDGES = pl.DataFrame({"src": [10, 20, 30, 10], "dst": [20, 30, 40, 40]})


def test_minus_one_is_a_label_like_others_and_blanks_are_missing_everywhere(tmp_path):
    (tmp_path / "e.csv").write_text("src,dst\n0,1\n")
    frame = pl.DataFrame({"id": [0, 1, 2, 3], "y": [-1, 1, -1, 1], "t": ["a", "NA", "", "b"]})
    for name in ("n.jsonl", "n.parquet", "n.csv"):
        save(frame, tmp_path / name)
        read = read_problem(tmp_path / "e.csv", tmp_path / name, Roles(target="y"))
        assert read.labels.values.tolist() == ["-1", "1", "-1", "1"], name
        read = read_problem(tmp_path / "e.csv", tmp_path / name, Roles(target="t"))
        assert read.labels.values.tolist() == ["a", None, None, "b"], name


def test_what_labels_are(tmp_path):
    (tmp_path / "e.csv").write_text("src,dst\n0,1\n")
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "id": range(200),
            "code": rng.integers(0, 3, 200),
            "count": rng.permutation(200),
            "price": rng.normal(size=200),
            "name": rng.choice(["a", "b"], 200),
        }
    )
    frame.write_csv(tmp_path / "n.csv")

    def labels(name, task="auto"):
        return read_problem(
            tmp_path / "e.csv", tmp_path / "n.csv", Roles(target=name), task=task
        ).labels

    assert [labels(n).task for n in ("code", "count", "price", "name")] == [
        "classification", "regression", "regression", "classification",
    ]  # fmt: skip
    assert "whole numbers" in labels("count").notes[0]
    assert labels("code", "regression").values.tolist() == frame["code"].to_list()
    with pytest.raises(ValueError, match="'name' of .* holds none, but texts such as"):
        labels("name", "regression")


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (["01", "1", "1", "01"], ["01", "1", "1", "01"]),
        (["007", "7", "8", ""], ["007", "7", "8", None]),
        (["1", "2", "", "1"], ["1", "2", None, "1"]),
        (["1.0", "2.0", "", "1.0"], ["1", "2", None, "1"]),  # as blanks make of whole numbers
        (["-1", "1", "0", "00"], ["-1", "1", "0", "00"]),
        (["1e1", "10", "10", "10"], ["1e1", "10", "10", "10"]),
        (["01", "1.0", "2", "2"], ["01", "1.0", "2", "2"]),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_labels_that_differ_stay_apart_as_ids_do(tmp_path, given, wanted, ending):
    write_frame(EDGES, tmp_path / "e.csv")
    frame = pl.DataFrame({"id": ["1", "01", "2", "3"], "y": [text or None for text in given]})
    write_frame(pl.DataFrame({"src": ["1", "01"], "dst": ["2", "3"]}), tmp_path / "e.csv")
    write_frame(frame, tmp_path / f"n.{ending}")
    found = read_problem(tmp_path / "e.csv", tmp_path / f"n.{ending}", Roles(target="y"))
    assert found.labels.task == "classification"
    assert found.labels.values.tolist() == wanted


def test_codes_with_leading_zeros_are_classes_however_many(tmp_path):
    codes = [f"{k:04}" for k in range(300)]
    nodes = pl.DataFrame({"id": range(300), "code": codes})
    write_frame(pl.DataFrame({"src": [0], "dst": [1]}), tmp_path / "e.csv")
    write_frame(nodes, tmp_path / "n.csv")

    def labels(task):
        return read_problem(
            tmp_path / "e.csv", tmp_path / "n.csv", Roles(target="code"), task=task
        ).labels

    assert labels("auto").values.tolist() == codes
    assert labels("regression").values.tolist() == list(range(300))
