"""A workbook that Excel has exported: a cover sheet first, dates as dates, ids as numbers."""

from datetime import date, timedelta

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


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    folder = tmp_path_factory.mktemp("book")
    world = make_world(N, seed=6)
    ids = 1000 + world.rng.permutation(N)
    truth, known = world.classes("North", "South")
    joined = [date(2020, 1, 1) + timedelta(days=int(k)) for k in world.rng.integers(0, 900, N)]
    people = {"Member": ids, "Joined": joined, "Points": np.round(world.hint, 3), "Region": known}
    links = {"From": ids[world.source], "To": ids[world.target]}
    with xlsxwriter.Workbook(folder / "club.xlsx") as workbook:
        cover = workbook.add_worksheet("Cover")
        cover.write_row(0, 0, ["Members of the club", "Export"])
        cover.write_row(1, 0, ["as of 2024", "confidential"])
        pl.DataFrame(people).write_excel(workbook, "Members")
        pl.DataFrame(links).write_excel(workbook, "Friends")
    files = ("--nodes", "club.xlsx#Members", "--edges", "club.xlsx#Friends", "--target", "Region")
    done = fit_files(folder, *files, *BOOSTING)
    plain = fit_plain(
        folder,
        {"id": ids, **{k: people[k] for k in ("Joined", "Points")}, "answer": known},
        {"source": links["From"], "target": links["To"]},
        *BOOSTING,
    )
    return folder, done, plain, ids[world.hidden], truth[world.hidden]


def test_predictions_are_those_of_plain_files(book):
    _, done, plain, ids, truth = book
    assert_same(done.predictions, plain)
    assert accuracy(done.predictions, ids, truth) > 0.8
    assert "edges: From → To" in done.said
    assert "nodes: id Member; target Region; 2 features" in done.said


def test_the_cover_is_not_taken_as_the_table(book):
    folder = book[0]
    files = ("--nodes", "club.xlsx", "--edges", "club.xlsx#Friends", "--target", "Region")
    done = labeltrick(folder, "inspect", *files)
    assert done.code == 2
    assert "Members" in done.said  # the other sheets are named
