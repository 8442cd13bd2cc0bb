"""Employees whose managers are ids in a column, with labels that were typed by hand."""

import numpy as np
import polars as pl
import pytest

from tests.support.stories import BOOSTING, answers, fit_files, inspect_here, make_world

N = 140


@pytest.fixture(scope="module")
def firm(tmp_path_factory):
    folder = tmp_path_factory.mktemp("firm")
    world = make_world(N, seed=7)
    employee = np.arange(1, N + 1)
    # Everyone reports to someone of the same site, the first one of each site to nobody.
    first = [int(np.flatnonzero(world.group == g)[0]) for g in (0, 1)]
    manager = []
    for node in range(N):
        before = np.flatnonzero(world.group[:node] == world.group[node])
        manager.append(None if node in first else int(employee[world.rng.choice(before[:12])]))
    truth, known = world.classes("Yes", "No")
    known[20:28] = ["yes " if value == "Yes" else value for value in known[20:28]]
    known[3] = known[4] = "retired"
    country = ["NA" if k % 9 == 0 else ["DE", "FR"][k % 2] for k in range(N)]
    columns = {"employee_id": employee, "manager": manager, "country": country,
               "score": world.hint, "will_stay": known}  # fmt: skip
    table = pl.DataFrame(columns)
    table.write_csv(folder / "employees.csv")
    table.filter(pl.col("manager").is_not_null()).write_csv(folder / "reports.csv")
    nodes = ("--nodes", "employees.csv", "--target", "will_stay")
    done = fit_files(folder, *nodes, "--edges", "reports.csv", *BOOSTING)
    return folder, done, world, truth


def test_a_blank_manager_is_named(firm):
    with pytest.raises(ValueError, match="row 2, column 'manager' must be a node; it is missing"):
        inspect_here(firm[0], "employees.csv", "employees.csv", "--target", "will_stay")


def test_a_manager_as_pandas_writes_it_is_explained(firm):
    table = pl.read_csv(firm[0] / "reports.csv").with_columns(pl.col("manager").cast(pl.Float64))
    table.write_csv(firm[0] / "pandas.csv")
    with pytest.raises(ValueError, match=r"got '(\d+).0', .* The node table lists '\1': write"):
        inspect_here(firm[0], "employees.csv", "pandas.csv", "--target", "will_stay",
                     *("--src", "employee_id", "--dst", "manager"))  # fmt: skip


def test_edges_lead_to_managers(firm):
    _, done, world, truth = firm
    assert "edges: employee_id → manager; not used: country, score, will_stay" in done.said
    hidden = np.flatnonzero(world.hidden)
    right = answers(done.predictions, hidden + 1) == truth[hidden]
    assert np.mean(right) > 0.8


def test_the_number_of_a_manager_is_not_an_amount(firm):
    said = firm[1].said
    assert "2 features; not used: manager (ids of nodes, as in the edges)" in said


def test_labels_that_were_typed_by_hand_are_questioned(firm):
    said = firm[1].said
    assert "'yes ' (3) of 'will_stay' differ only in case or spaces" in said
    assert "fewer than 5 labels: 'retired' (2), 'yes ' (3)" in said
    assert "cells of column 'country' are read as missing: 'NA' (16)" in said
