"""Rows that are sums of the others."""

import polars as pl
import pytest

from labeltrick.io.tables import read_problem


@pytest.mark.parametrize("word", ["Total", "Grand total", "Summe:", "GESAMT"])
def test_a_row_that_looks_like_a_sum_is_warned_of(tmp_path, word):
    pl.DataFrame({"src": ["a", "b"], "dst": ["b", "c"]}).write_csv(tmp_path / "e.csv")
    pl.DataFrame({"id": ["a", "b", "c", word], "x": [1, 2, 3, 6]}).write_csv(tmp_path / "n.csv")
    (said,) = read_problem(tmp_path / "e.csv", tmp_path / "n.csv").warnings
    assert said.startswith(f"{word!r} in row 5 of ")
    assert "looks like a sum" in said


def test_a_node_with_edges_may_be_called_so(tmp_path):
    pl.DataFrame({"src": ["Shell", "Total"], "dst": ["BP", "BP"]}).write_csv(tmp_path / "e.csv")
    pl.DataFrame({"id": ["Shell", "BP", "Total", "Totality"]}).write_csv(tmp_path / "n.csv")
    assert read_problem(tmp_path / "e.csv", tmp_path / "n.csv").warnings == []
