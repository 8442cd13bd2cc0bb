"""New rows that write dates and numbers in other ways than the tables of a run."""

import numpy as np
import polars as pl
import pytest

from labeltrick.app.runs.applying import Given, apply_run
from labeltrick.app.runs.written_alike import in_order_of_dates, read_dates, written_alike
from labeltrick.io.tables.several_files import ReadTable
from labeltrick.io.tables.sources import Part, Source
from tests.support.runs import bare_run

RUN, NEW = Source((Part("run.parquet", 4),)), Source((Part("new.csv", 3),))
US = ["12/31/2020", "01/15/2021", None, "06/01/2022"]


def joined(old, new, used=True):
    """The two columns after they were brought into one form."""
    return written_alike(RUN, pl.Series("x", old), NEW, pl.Series("x", new), used=used)


@pytest.mark.parametrize("new", [["2020-12-31", None, "2021-01-15"],
                                 ["31.12.2020", None, "15.01.2021"],
                                 ["12/31/2020", None, "01/15/2021"]])  # fmt: skip
def test_dates_are_read_by_the_format_of_their_own_table(new):
    old, found = joined(US, new)
    assert found.to_list() == [old[0], None, old[1]]
    assert [str(day)[:10] for day in old[:2]] == ["2020-12-31", "2021-01-15"]


@pytest.mark.parametrize(("new", "row"), [(["31/12/2020", "01/02/2021", None], 2),
                                          (["2020-12-31", None, "31.12.2020"], 4),
                                          ([None, "soon", "2020-12-31"], 3),
                                          ([44_000, 44_001, None], 2)])  # fmt: skip
def test_dates_that_cannot_be_read_are_blamed_on_the_new_file(new, row):
    with pytest.raises(ValueError, match=rf"`new.csv`, row {row}, column 'x' must be a date"):
        joined(US, new)
    joined(US, new, used=False)


@pytest.mark.parametrize(
    ("old", "new", "row"),
    [
        (["18 %", "0 %", None, "7 %"], ["3 %", "0.18", "4 %"], 3),
        (["18 %", "0 %", None, "7 %"], ["0.18", "0.07", "0.01"], 2),
        (["18 %", "5 %", None, "7 %"], [0.5, 0.7, 0.1], 2),
        (["$1,025.50", "$3", None, "$7"], [None, "€12.50", "€1"], 3),
        (["$1,025.50", "$3", None, "$7"], ["1", "2", "three"], 4),
        (["1.5", "2.5", None, "7"], ["1.5", "2,5", "1"], 3),
    ],
)
def test_numbers_written_in_another_way_are_blamed_on_the_new_file(old, new, row):
    with pytest.raises(ValueError, match=rf"`new.csv`, row {row}, column 'x' must be a number"):
        joined(old, new)
    joined(old, new, used=False)


@pytest.mark.parametrize(
    ("new", "found"),
    [
        (["0,1", None, "12,5"], [0.1, None, 12.5]),
        (["1.250,5", "3", "7"], [1250.5, 3, 7]),
        (["0,1", "k.A.", None], ["0.1", "k.A.", None]),
        (["01234", "00012", None], ["01234", "00012", None]),  # codes
        (["1,250", "1.250", "7"], ["1,250", "1.250", "7"]),  # nothing decides
        (["10 %", "20 %", None], ["10 %", "20 %", None]),  # 0.1 or 10
        (["$5", "6", None], ["$5", "6", None]),
        (["0,1", "many", None], ["0,1", "many", None]),
    ],
)
def test_numbers_of_a_workbook_and_written_ones(new, found):
    assert joined([0.5, 0.25, None, 3.0], new)[1].to_list() == found
    assert joined([0.5, 0.25, None, 3.0], new, used=False)[1].to_list() == new


@pytest.mark.parametrize("new", [["01/15/2021", "unknown", "-"], ["unknown", None, "n.a."]])
def test_placeholders_among_dates_are_missing_in_the_run_and_in_new_rows(new):
    old, found = joined(["12/31/2020", "unknown", None, "06/01/2022"], new)
    assert [day is None for day in old] == [False, True, True, False]
    assert [day is None for day in found] == [new[0] == "unknown", True, True]
    assert found.dtype == old.dtype == pl.Datetime("us")


def test_a_column_without_values_holds_missing_dates():
    assert read_dates(NEW, pl.Series("x", [None, None], dtype=pl.String)).null_count() == 2


def test_numbers_that_mean_the_same_are_accepted():
    assert joined(["$1,025.50", "$3", None, "$7"], ["12.5", "$4", None])
    assert joined(["1", "2", None, "7"], [1.5, 2.0, None])
    assert joined(["01204", "80331", None, "80333"], ["D-80331", None, "1204"])
    assert joined(["Ulm", "Bonn", None, "Ulm"], ["1", "2", "$3"])


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("members")
    rng, n = np.random.default_rng(0), 60
    days = rng.integers(1, 28, n)
    pl.DataFrame(
        {
            "id": [f"m{k}" for k in range(n)],
            "joined": [f"{1 + k % 12:02d}/{day:02d}/2021" for k, day in enumerate(days)],
            "label": [("yes", "no")[k % 2] if k < 40 else None for k in range(n)],
        }
    ).write_csv(folder / "nodes.csv")
    ends = {"src": [f"m{k}" for k in range(n - 2)], "dst": [f"m{k}" for k in range(2, n)]}
    pl.DataFrame(ends).write_csv(folder / "edges.csv")
    paths = {name: str(folder / f"{name}.csv") for name in ("edges", "nodes")}
    return bare_run(folder / "run", **paths, target="label", model="boosting")


def test_predictions_do_not_depend_on_the_format_of_new_dates(run, tmp_path):
    found = []
    for k, day in enumerate(("03/07/2021", "2021-03-07", "07.03.2021")):
        path = tmp_path / f"{k}.csv"
        path.write_text(f"id,joined\nnew,{day}\n")
        found.append(apply_run(run, Given(nodes=str(path)))[0])
    assert found[0].equals(found[1])
    assert found[0].equals(found[2])
    for k, rows in enumerate(("a,2021-03-07\nb,soon", "a,2021-03-07\nb,31.03.2021")):
        path = tmp_path / f"bad {k}.csv"
        path.write_text(f"id,joined\n{rows}\n")
        with pytest.raises(ValueError, match=rf"`.*bad {k}.csv`, row 3, column 'joined'"):
            apply_run(run, Given(nodes=str(path)))


def test_placeholders_among_new_dates_are_counted(run, tmp_path):
    (tmp_path / "new.csv").write_text("id,joined\na,2021-03-07\nb,unknown\n")
    notes = apply_run(run, Given(nodes=str(tmp_path / "new.csv")))[1]
    words = "cells of column 'joined' are read as missing, because all other values are dates"
    assert f"{words}: 'unknown' (1)" in notes


def test_days_and_months_are_in_the_order_of_the_run():
    """A single new row does not show the order."""
    old = ["23/10/2020", "01/02/2021", None]
    _, found = joined(old, ["03/04/2021"])
    assert str(found[0])[:10] == "2021-04-03"
    _, found = joined(US, ["03/04/2021"])
    assert str(found[0])[:10] == "2021-03-04"
    _, found = joined(["23/10/2020", "unknown", None], ["03/04/2021", "-"])
    assert str(found[0])[:10] == "2021-04-03"
    with pytest.raises(ValueError, match=r"`new.csv`, row 2, column 'x' must be a date"):
        joined(old, ["10/23/2020"])
    new = ReadTable(NEW, pl.DataFrame({"x": ["03/04/2021"], "y": ["03/04/2021"]}))
    run = ReadTable(RUN, pl.DataFrame({"x": [*old[:2], "unknown"], "y": US[:3]}))
    found = in_order_of_dates(run, new).frame
    assert str(found["x"][0])[:10] == "2021-04-03"
    assert found["y"].to_list() == ["03/04/2021"]  # read as month/day/year later
