"""Values that the caller says are missing are missing in tables of every format, and counted."""

from datetime import date

import polars as pl
import pytest

from labeltrick.io.tables import Roles, TextFormat, build_graph_folder, read_frame, read_problem
from labeltrick.io.tables.frames import read_part, write_frame
from labeltrick.io.tables.missing_values import blanked, checked_missing, notes_on_unused

FRAME = pl.DataFrame(
    {
        "id": ["a", "b", "c", "d"],
        "*": ["red", "n/a", " unknown ", "Unknown"],
        "income": [1200, -999, 40, 7],
        "share": [0.5, 1.5, -999.0, None],
        "day": [date(2024, 1, day) for day in range(1, 5)],
    }
)
GIVEN = ("n/a", "unknown", "-999")


def test_values_are_separated_by_commas_or_given_one_by_one():
    assert checked_missing(" n/a, unknown,-999") == GIVEN
    assert checked_missing(["n/a,unknown", "-999", "n/a"]) == GIVEN
    assert TextFormat(missing="n/a,").missing == ("n/a",)
    assert TextFormat().missing == ()
    with pytest.raises(ValueError, match="`--missing` must be texts such as n/a,unknown,-999"):
        TextFormat(missing=[-999])


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".jsonl", ".xlsx"])
def test_every_format(tmp_path, ending):
    table = str(write_frame(FRAME, tmp_path / f"table{ending}"))
    part, frame = read_part(table, text_format=TextFormat(missing=GIVEN))
    assert frame["*"].to_list() == ["red", None, None, "Unknown"]
    assert frame["income"].cast(pl.Int64).to_list() == [1200, None, 40, 7]
    assert frame["share"].cast(pl.Float64).to_list() == [0.5, 1.5, None, None]
    assert dict(part.given_missing) == {"n/a": 1, "unknown": 1, "-999": 2}
    assert part.note_on_given == (
        f"table{ending}: read as missing: 'n/a' (1), 'unknown' (1), '-999' (2)"
    )
    typed = read_frame(table, text_format=TextFormat(missing=GIVEN))
    assert typed["income"].to_list() == [1200, None, 40, 7]
    assert read_part(table)[1]["income"].cast(pl.Int64).to_list()[1] == -999


def test_a_number_however_it_is_written():
    frame = pl.DataFrame({"x": ["-999", "-999.0", "-9990", "a"], "y": pl.Series([1, 2, 3, -999])})
    found = blanked(frame, ["-999.00"])
    assert found["x"].to_list() == [None, None, "-9990", "a"]
    assert found["y"].to_list() == [1, 2, 3, None]
    assert blanked(frame.lazy(), ["-999"]).collect().equals(found)
    assert blanked(frame, ["nan", "inf", "b"]).equals(frame)


def test_categories_and_other_types():
    kinds = pl.Series(["x", "n/a"], dtype=pl.Categorical)
    frame = pl.DataFrame({"kind": kinds, "flag": [True, False], "some": [[1], [2]]})
    found = blanked(frame, GIVEN)
    assert found["kind"].to_list() == ["x", None]
    assert found.drop("kind").equals(frame.drop("kind"))


def test_labels_and_columns_of_a_problem(tmp_path):
    n = 40
    write_frame(pl.DataFrame({"src": ["p0"] * 9, "dst": ["p1"] * 9}), tmp_path / "e.csv")
    frame = pl.DataFrame({
        "id": [f"p{k}" for k in range(n)], "x": [f"{k / 4}" for k in range(n - 1)] + ["lost"],
        "y": ["lost" if k % 4 == 0 else "ab"[k % 2] for k in range(n)],
    })  # fmt: skip
    write_frame(frame, tmp_path / "n.csv")
    given = TextFormat(missing="lost")
    problem = read_problem(
        tmp_path / "e.csv", tmp_path / "n.csv", Roles(target="y"), text_format=given
    )
    assert int(problem.labels.known.sum()) == 30
    assert problem.X["x"].dtype == pl.Float64
    assert "n.csv: read as missing: 'lost' (11)" in problem.notes


def test_tables_that_are_read_in_chunks(tmp_path):
    for kind in ("csv", "parquet"):
        frame = pl.DataFrame({"src": ["a", "b", "c"], "dst": ["b", "c", "?nobody"]})
        table = write_frame(frame, tmp_path / f"e.{kind}")
        folder, given = tmp_path / f"{kind}.lt", TextFormat(missing="nobody,-1")
        _, notes = build_graph_folder([table], folder, text_format=given, max_memory="100MB")
        assert notes[-1] == "not used, because no cell holds it: --missing 'nobody', '-1'"
        with pytest.raises(ValueError, match=rf"e.{kind}`, .*row.*column 'dst' must"):
            build_graph_folder(
                [table], tmp_path / "x.lt", text_format=TextFormat(missing="?nobody"),
                max_memory="100MB",
            )  # fmt: skip


def test_values_that_no_table_holds():
    assert notes_on_unused(GIVEN, [("n/a", 2), ("-999", 1)]) == [
        "not used, because no cell holds it: --missing 'unknown'"
    ]
    assert notes_on_unused(["n/a"], [("n/a", 2)]) == []
