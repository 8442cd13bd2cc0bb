"""An export for the office: a title above the header, a total below, day/month dates, NA in a
column of country codes, and a workbook as the result."""

import numpy as np
import polars as pl
import pytest

from tests.support.stories import (
    BOOSTING,
    accuracy,
    assert_same,
    fit_files,
    fit_plain,
    labeltrick,
    make_world,
)

xlsxwriter = pytest.importorskip("xlsxwriter")
pytest.importorskip("fastexcel")

N = 120
COUNTRIES = ("DE", "FR", "IT", "ES", "NA")


@pytest.fixture(scope="module")
def office(tmp_path_factory):
    folder = tmp_path_factory.mktemp("office")
    world = make_world(N, seed=8)
    name = np.array([f"K{k}" for k in world.rng.permutation(N)])
    truth, known = world.classes("stays", "leaves")
    days = world.rng.integers(0, 700, N)
    since = pl.Series(np.datetime64("2019-01-01") + days)
    sales = np.round(1500 + 900 * world.hint, 2)
    land = [COUNTRIES[k % 5] for k in range(N)]
    people = pl.DataFrame(
        {"Kunde": name, "Land": land, "Since": since.dt.strftime("%d/%m/%Y"), "Sales": sales,
         "Status": known}
    )  # fmt: skip
    total = f"Total,,,{sales.sum():.2f},\n"
    text = people.write_csv()
    (folder / "customers.csv").write_text(f"Customers by sales\nas of 1 Dec 2020\n\n{text}{total}")
    (folder / "padded.csv").write_text(f"Customers by sales,,,,\n,,,,\n{text}")
    with xlsxwriter.Workbook(folder / "customers.xlsx") as book:
        sheet = book.add_worksheet("Customers")
        sheet.write(0, 0, "Customers by sales")
        for k, row in enumerate([tuple(people.columns), *people.rows()]):
            sheet.write_row(k + 2, 0, row)
    links = pl.DataFrame({"Verkäufer": name[world.source], "Käufer": name[world.target]})
    links = links.rename({"Verkäufer": "from_kunde", "Käufer": "to_kunde"})
    kinds = pl.Series([("call", "mail")[k % 2] for k in range(links.height)])
    links = links.with_columns(type=kinds, date=pl.lit("2020-05-17"))
    links.write_csv(folder / "links.csv")
    files = ("--edges", "links.csv", "--target", "Status")
    done = fit_files(folder, "--nodes", "customers.csv", *files, *BOOSTING)
    plain = fit_plain(
        folder,
        {"id": name, "Land": [None if c == "NA" else c for c in land], "Since": since,
         "Sales": sales, "answer": known},
        {"source": name[world.source], "target": name[world.target]},
        *BOOSTING,
    )  # fmt: skip
    return folder, done, plain, name[world.hidden], truth[world.hidden]


def test_the_title_is_left_out_with_a_note(office):
    _, done, plain, ids, truth = office
    assert "customers.csv: 3 lines above the header are left out: 'Customers by sales'" in done.said
    own = done.predictions.filter(pl.col("Kunde") != "Total")
    # The total is a node of its own, so that the predictions are only nearly those of plain files.
    assert own.height == plain.height
    assert accuracy(done.predictions, ids, truth) > 0.85


def test_titles_in_all_forms_give_the_predictions_of_plain_files(office):
    folder, _, plain, _, _ = office
    for file in ("padded.csv", "customers.xlsx"):
        files = ("--nodes", file, "--edges", "links.csv", "--target", "Status")
        done = fit_files(folder, *files, *BOOSTING, out=file.replace(".", "-"))
        assert_same(done.predictions, plain)
        assert f"{file}: 2 lines above the header are left out: 'Customers by sales'" in done.said


def test_rows_below_a_title_have_the_numbers_of_the_spreadsheet(office):
    folder = office[0]
    text = (folder / "customers.csv").read_text().splitlines()
    text[6] = text[6].replace(text[6].split(",")[0], "", 1)  # the seventh line: no id
    (folder / "gap.csv").write_text("\n".join(text))
    done = labeltrick(folder, "inspect", "--nodes", "gap.csv", "--edges", "links.csv", "--id=Kunde")
    assert done.code == 2
    assert "`gap.csv`, row 7, column 'Kunde' must hold an id" in done.said


def test_a_total_is_warned_about(office):
    _, done, _, _, _ = office
    assert "'Total' in row 125 of customers.csv looks like a sum of the other rows" in done.said


def test_days_before_months_are_read_and_noted(office):
    _, done, _, _, _ = office
    assert "dates of column 'Since' are read as day/month/year" in done.said
    assert "3 features" in done.said


def test_a_country_code_na_is_noted(office):
    said = office[1].said
    assert "cells of column 'Land' are read as missing: 'NA' (24)" in said
    assert "All other values are codes of two letters" in said


def test_kinds_and_times_of_edges_are_recognized(office):
    said = office[1].said
    assert "edges: from_kunde → to_kunde; type type (not used); time date (not used)" in said


def test_predictions_as_a_workbook(office):
    folder, done, _, _, _ = office
    made = labeltrick(folder, "predict", "run", "--out", "predictions.xlsx")
    assert made.code == 0, made.said
    assert (folder / "predictions.xlsx").is_file()
    found = pl.read_excel(folder / "predictions.xlsx")
    assert found.columns == done.predictions.drop("test", strict=False).columns
    assert found["Kunde"].to_list() == done.predictions["Kunde"].to_list()
    assert found["prediction"].to_list() == done.predictions["prediction"].to_list()
