"""Kinds of columns."""

import polars as pl
import pytest

from labeltrick.io.tables import Roles, read_problem
from tests.support.people import other_notes


def test_a_number_that_cannot_be_read_is_named(tmp_path):
    rows = [f"{k},{k * 0.5}" for k in range(50)]
    rows[30] = "30,12a"
    (tmp_path / "n.csv").write_text("id,x\n" + "\n".join(rows))
    (tmp_path / "e.csv").write_text("src,dst\n1,2\n")
    with pytest.raises(ValueError, match=r"row 32, column 'x' .* got '12a'"):
        read_problem(tmp_path / "e.csv", tmp_path / "n.csv")
    ignored = read_problem(tmp_path / "e.csv", tmp_path / "n.csv", Roles(ignore=("x",)))
    assert ignored.X is None


def test_columns_of_lists_are_reported_as_not_used(tmp_path):
    (tmp_path / "e.csv").write_text("src,dst\n0,1\n")
    lines = ['{"id": 0, "x": 1, "tags": [1], "at": {"a": 1}}', '{"id": 1, "x": 2, "tags": []}']
    (tmp_path / "n.jsonl").write_text("\n".join(lines))
    problem = read_problem(tmp_path / "e.csv", tmp_path / "n.jsonl")
    assert problem.X.columns == ["x"]
    oof = {kind.name: kind.note for kind in problem.kinds if kind.role == "left out"}
    assert oof["tags"].startswith("holds List")
    assert oof["at"].startswith("holds Struct")
    with pytest.raises(ValueError, match="must hold one text or number per row; it holds Struct"):
        read_problem(tmp_path / "e.csv", tmp_path / "n.jsonl", Roles(target="at"))
    with pytest.raises(ValueError, match="must hold one text or number per row; it holds List"):
        read_problem(tmp_path / "e.csv", tmp_path / "n.jsonl", Roles(time="tags"))


def test_dates_are_features_and_time_is_one_of_days(tmp_path):
    (tmp_path / "e.csv").write_text("src,dst\n0,1\n")
    (tmp_path / "n.csv").write_text("id,when,x\n0,2024-01-01,1\n1,2024-01-03,2\n2,,3\n")
    plain = read_problem(tmp_path / "e.csv", tmp_path / "n.csv")
    assert plain.X.columns == ["when", "x"]
    assert plain.X["when"].dtype == pl.Datetime("us")
    assert any(note.startswith("dates are used as age and parts: 'when'") for note in plain.notes)
    timed = read_problem(tmp_path / "e.csv", tmp_path / "n.csv", Roles(time="when"))
    assert timed.X["when"].to_list() == [19723.0, 19725.0, None]  # since 1970, in any file
    assert not other_notes(timed)
    with pytest.raises(ValueError, match="--time"):
        (tmp_path / "t.csv").write_text("id,when\n0,soon\n1,later\n")
        read_problem(tmp_path / "e.csv", tmp_path / "t.csv", Roles(time="when"))


def test_texts_are_features_and_codes_are_not(tmp_path):
    (tmp_path / "e.csv").write_text("src,dst\n0,1\n")
    rows = [f"{k},a tale of number {'abcde'[k % 5]}{k},ref-{k * 37}" for k in range(40)]
    (tmp_path / "n.csv").write_text("id,title,code\n" + "\n".join(rows))
    problem = read_problem(tmp_path / "e.csv", tmp_path / "n.csv")
    assert problem.X.schema == {"title": pl.String}
    kinds = {kind.name: (kind.kind, kind.role, kind.note) for kind in problem.kinds}
    assert kinds["title"] == ("text", "feature", "")
    assert kinds["code"] == ("code", "left out", "codes, 40 different values")
    assert problem.left_out["code"].dtype == pl.String


def test_dates_whose_day_and_month_could_be_swapped_are_noted(tmp_path):
    n = 30
    edges = pl.DataFrame({"src": range(n), "dst": [0] * n})
    edges.write_csv(tmp_path / "e.csv")
    for last, expected in (("05/06/2024", 1), ("05/31/2024", 0), ("", 1)):
        when = [f"{1 + k % 12:02}/{1 + k % 11:02}/2024" for k in range(n - 1)] + [last]
        pl.DataFrame({"id": range(n), "when": when}).write_csv(tmp_path / "n.csv")
        notes = read_problem(tmp_path / "e.csv", tmp_path / "n.csv").notes
        assert (
            sum("'01/01/2024', are read as month/day/year, but all" in s for s in notes) == expected
        )


def test_days_before_months_are_told_by_the_whole_column(tmp_path):
    pl.DataFrame({"src": range(30), "dst": [0] * 30}).write_csv(tmp_path / "e.csv")
    when = ["03/04/2024"] * 29 + ["23/10/2024"]
    pl.DataFrame({"id": range(30), "when": when}).write_csv(tmp_path / "n.csv")
    problem = read_problem(tmp_path / "e.csv", tmp_path / "n.csv")
    assert str(problem.X["when"][0])[:10] == "2024-04-03"
    assert (
        "dates of column 'when' are read as day/month/year, as '23/10/2024' shows" in problem.notes
    )
    pl.DataFrame({"id": range(30), "when": [*when[1:], "10/23/2024"]}).write_csv(tmp_path / "n.csv")
    problem = read_problem(tmp_path / "e.csv", tmp_path / "n.csv")
    assert problem.kinds[1].kind == "categorical"  # both orders in one column
    said = "column 'when' is not read as dates, because they are in several forms: '23/10/2024' and"
    assert any(note.startswith(f"{said} '10/23/2024'") for note in problem.notes)


def test_days_before_months_are_told_with_a_time_of_day_too(tmp_path):
    pl.DataFrame({"src": range(30), "dst": [0] * 30}).write_csv(tmp_path / "e.csv")
    for day, read in (("23/10/2024 8:00", "2024-04-03"), ("10/23/2024 8:00", "2024-03-04")):
        when = ["03/04/2024 12:30"] * 29 + [day]
        pl.DataFrame({"id": range(30), "when": when}).write_csv(tmp_path / "n.csv")
        problem = read_problem(tmp_path / "e.csv", tmp_path / "n.csv")
        assert str(problem.X["when"][0])[:10] == read
        said = f"dates of column 'when' are read as day/month/year, as {day!r} shows"
        assert (said in problem.notes) == day.startswith("23")


def test_years_of_two_digits_are_noted(tmp_path):
    pl.DataFrame({"src": range(30), "dst": [0] * 30}).write_csv(tmp_path / "e.csv")
    when = [f"{1 + k:02}.03.{(95 + k) % 100:02}" for k in range(30)]
    pl.DataFrame({"id": range(30), "when": when}).write_csv(tmp_path / "n.csv")
    problem = read_problem(tmp_path / "e.csv", tmp_path / "n.csv")
    assert [day.year for day in problem.X["when"][:6]] == [1995, 1996, 1997, 1998, 1999, 2000]
    said = (
        "years of column 'when', such as '01.03.95', have two digits and are read as 1970 to 2069"
    )
    assert said in problem.notes


def test_an_end_of_the_edges_in_the_node_table_is_not_an_amount(tmp_path):
    n = 40
    table = pl.DataFrame(
        {"id": range(n), "manager": [k // 7 for k in range(n)], "grade": [k % 3 for k in range(n)]}
    )
    table.write_csv(tmp_path / "n.csv")
    ends = Roles(src="id", dst="manager")
    problem = read_problem(tmp_path / "n.csv", tmp_path / "n.csv", ends)
    assert problem.X.columns == ["grade"]
    assert "not used: manager (ids of nodes, as in the edges)" in problem.notes[-1]
    edges = table.rename({"manager": "boss"}).select("id", "boss")
    edges.write_csv(tmp_path / "e.csv")  # no end is called so
    assert read_problem(tmp_path / "e.csv", tmp_path / "n.csv").X.columns == ["manager", "grade"]
    budget = table.with_columns(manager=pl.col("manager") + 0.5)
    budget.write_csv(tmp_path / "b.csv")  # not ids
    problem = read_problem(tmp_path / "n.csv", tmp_path / "b.csv", ends)
    assert problem.X.columns == ["manager", "grade"]


def test_digits_with_leading_zeros_are_codes_and_not_numbers(tmp_path):
    """Postcodes: in a file with decimal commas they were an error, elsewhere numbers."""
    (tmp_path / "e.csv").write_text("src,dst\n0,1\n1,2\n")
    for many, kind in ((False, "categorical"), (True, "code")):
        codes = [f"{1204 + 997 * (k if many else k % 7):05d}" for k in range(80)]
        rows = "".join(f"{k};{k},5;{code}\n" for k, code in enumerate(codes))
        (tmp_path / "n.csv").write_text(f"id;size;PLZ\n{rows}")
        problem = read_problem(tmp_path / "e.csv", tmp_path / "n.csv")
        found = next(k for k in problem.kinds if k.name == "PLZ")
        assert found.kind == kind
        assert "codes with leading zeros" in "\n".join(problem.notes)
    assert "PLZ (codes with leading zeros, 80 different values)" in "\n".join(problem.notes)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([f"{k}.25" for k in range(60)] + [f"{k}.250,00 €" for k in range(10, 20)],
         "codes, 70 different values; numbers in several forms: 0.25, 10.250,00 €"),
        ([f"{k}.25" for k in range(60)] + [f"about {k}" for k in range(10)],
         "codes, 70 different values; 60 are numbers, but 'about 0' is not"),
        ([f"2020-01-{k % 28 + 1:02} 0{k % 9}:00" for k in range(60)] + [f"Q{k}" for k in range(10)],
         "; 60 are dates, but 'Q0' is not"),
        ([f"{k} 55 {k % 7}1" for k in range(10, 80)], "codes, 70 different values"),
    ],
)  # fmt: skip
def test_why_numbers_and_dates_are_taken_as_codes_is_said(tmp_path, values, why):
    table = pl.DataFrame({"id": [f"p{k}" for k in range(len(values))], "x": values})
    table.write_csv(tmp_path / "n.csv")
    (tmp_path / "e.csv").write_text("src,dst\np0,p1\n")
    kinds = read_problem(tmp_path / "e.csv", tmp_path / "n.csv").kinds
    assert next(kind for kind in kinds if kind.name == "x").note.endswith(why)
