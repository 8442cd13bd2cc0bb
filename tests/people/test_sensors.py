"""Sensors with notes, dates of installation, and readings that are written with a comma or unit."""

import numpy as np
import polars as pl
import pytest

from tests.support.stories import (
    BOOSTING,
    answers,
    assert_same,
    fit_files,
    fit_plain,
    inspect_here,
    make_world,
)

N = 150


@pytest.fixture(scope="module")
def sensors(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sensors")
    world = make_world(N, n_groups=3, seed=5)
    sensor = np.array([f"S-{k:03}" for k in world.rng.permutation(N)])
    truth = np.round(12 + 4 * world.group + 0.5 * world.rng.normal(size=N), 1)
    place = np.array(["at the cold river bank", "on the old school roof", "in the hot boiler room"])
    note = place[np.where(world.rng.random(N) < 0.2, world.rng.integers(0, 3, N), world.group)]
    notes = [f"{text} number {k}" for k, text in enumerate(note)]
    days = world.rng.integers(0, 28, N)
    table = {"note": notes, "installed": [f"2023-05-{day + 1:02}" for day in days]}
    known = world.known(truth)
    edges = {"source": sensor[world.source], "target": sensor[world.target]}
    pl.DataFrame(edges).write_csv(folder / "links.csv")
    written = {
        "comma": [None if value is None else f"{value}".replace(".", ",") for value in known],
        "unit": [None if value is None else f"{value} °C" for value in known],
    }
    for name, values in written.items():
        columns = {"sensor": sensor, **table, "temperature": values}
        pl.DataFrame(columns).write_csv(folder / f"{name}.csv")
    options = ("--edges", "links.csv", "--target", "temperature", *BOOSTING)
    comma = fit_files(folder, "--nodes", "comma.csv", *options)
    unit = inspect_here(folder, "unit.csv", "links.csv", "--target", "temperature")
    plain = fit_plain(folder, {"id": sensor, **table, "answer": known}, edges, *BOOSTING)
    return comma, unit, plain, sensor[world.hidden], truth[world.hidden]


def test_a_decimal_comma_gives_numbers(sensors):
    comma, _, plain, ids, truth = sensors
    assert comma.metrics["task"] == "regression"
    assert_same(comma.predictions, plain)
    error = np.sqrt(np.mean((answers(comma.predictions, ids) - truth) ** 2))
    assert error < 0.6 * truth.std()
    assert "comma.csv: decimal comma" in comma.said


def test_texts_and_dates_are_used(sensors):
    said = sensors[0].said
    assert "text is used as words: 'note'" in said
    assert "dates are used as age and parts: 'installed'" in said
    assert "2 features" in said


def test_numbers_with_a_unit_are_not_taken_as_classes_without_a_warning(sensors):
    assert "different numbers with the unit '°C'" in sensors[1]
    assert "Write them without the unit if they are amounts" in sensors[1]
