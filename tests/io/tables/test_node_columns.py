"""The columns of a table of nodes."""

import polars as pl
import pytest

from labeltrick.io.tables import Roles, read_problem


def problem(folder, roles=None, **columns):
    n = len(next(iter(columns.values())))
    ids = [f"n{k}" for k in range(n)]
    pl.DataFrame({"src": ids[:-1], "dst": ids[1:]}).write_csv(folder / "e.csv")
    pl.DataFrame({"id": ids, **columns}).write_csv(folder / "n.csv")
    return read_problem(folder / "e.csv", folder / "n.csv", roles)


def test_the_type_of_nodes_is_reported(tmp_path):
    found = problem(tmp_path, node_type=["shop", "customer"] * 4, house_type=["flat", "villa"] * 4)
    assert [kind.note for kind in found.kinds] == ["", "node type", ""]
    note = "the type of a node, 'node_type', is used like any other category"
    assert note in found.notes


def test_a_column_in_use_is_not_ignored(tmp_path):
    with pytest.raises(ValueError, match=r"`--ignore` must .* 'y' is the target column"):
        problem(tmp_path, Roles(target="y", ignore=("y",)), y=["a", "b"] * 4)


def test_the_code_na_among_codes_of_two_letters_is_noted(tmp_path):
    found = problem(tmp_path, land=["DE", "FR", "NA", "AT"] * 4)
    (said,) = [note for note in found.notes if "'NA' (4)" in note]
    assert "codes of two letters" in said
