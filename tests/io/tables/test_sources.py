"""Cells that are read as missing are counted where they could be names."""

import polars as pl
import pytest

from labeltrick.io.tables import Roles, read_problem

ROWS = {
    "id": [f"p{k}" for k in range(60)],
    "country": ["NA", "DE", "FR"] * 20,
    "size": [*["1.5", "NA", "2.5"] * 19, "1", "2", "3"],
    "y": ["yes", "no", "None"] * 20,
}


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl"])
def test_words_for_missing_values_are_counted(tmp_path, ending):
    nodes, edges = tmp_path / f"n.{ending}", tmp_path / "e.csv"
    frame = pl.DataFrame(ROWS)
    write = {
        "csv": frame.write_csv, "parquet": frame.write_parquet, "jsonl": frame.write_ndjson,
        "tsv": lambda file: frame.write_csv(file, separator="\t"),
    }  # fmt: skip
    write[ending](nodes)
    edges.write_text("src,dst\np0,p1\np1,p2\n")
    problem = read_problem(edges, nodes, Roles(target="y"))
    assert "cells of column 'country' are read as missing: 'NA' (20)" in problem.notes
    assert "cells of column 'y' are read as missing: 'None' (20)" in problem.notes
    assert not [note for note in problem.notes if "'size'" in note]  # numbers are often missing
    assert problem.X["country"].null_count() == 20
    assert int(problem.labels.known.sum()) == 40
