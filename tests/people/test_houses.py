"""Prices of houses are whole numbers, not classes; 00123 and 123 are different ids."""

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

N = 240


@pytest.fixture(scope="module")
def houses(tmp_path_factory):
    folder = tmp_path_factory.mktemp("houses")
    world = make_world(N, n_groups=4, seed=8)
    # Half of the ids are those of the other half, with zeros in front.
    half = N // 2
    ids = np.array([f"{k + 101}" for k in range(half)] + [f"00{k + 101}" for k in range(half)])
    price = 1000 * np.round(180 + 90 * world.group + 8 * world.rng.normal(size=N)).astype(int)
    area = np.round(60 + 10 * world.hint, 1)
    pl.DataFrame({"house": ids, "area": area, "price": world.known(price)}).write_csv(
        folder / "houses.csv"
    )
    pl.DataFrame({"house_a": ids[world.source], "house_b": ids[world.target]}).write_csv(
        folder / "near.csv"
    )
    # In steps of 5,000 there are so few different prices that they could be classes.
    rounded = world.known(price // 5000 * 5000)
    pl.DataFrame({"house": ids, "area": area, "price": rounded}).write_csv(folder / "rounded.csv")
    files = ("--nodes", "houses.csv", "--edges", "near.csv", "--target", "price")
    numbers = fit_files(folder, *files, "--task", "regression", *BOOSTING)
    classes = inspect_here(folder, "rounded.csv", "near.csv", "--target", "price")
    plain = fit_plain(
        folder,
        {"id": np.array([f"h{k}" for k in range(N)]), "area": area, "answer": world.known(price)},
        {"source": [f"h{k}" for k in world.source], "target": [f"h{k}" for k in world.target]},
        *("--task", "regression", *BOOSTING),
    )
    return numbers, classes, plain, ids, price, world


def test_leading_zeros_make_different_ids(houses):
    numbers, _, plain, ids, _, _ = houses
    assert numbers.metrics["nodes"] == N
    assert set(numbers.predictions["house"]) == set(ids)
    renamed = dict(zip((f"h{k}" for k in range(N)), ids, strict=True))
    assert_same(numbers.predictions, plain.with_columns(pl.col("id").replace_strict(renamed)))


def test_prices_are_predicted_as_amounts(houses):
    numbers, _, _, ids, price, world = houses
    assert numbers.metrics["task"] == "regression"
    found = answers(numbers.predictions, ids[world.hidden]).astype(float)
    error = np.sqrt(np.mean((found - price[world.hidden]) ** 2))
    assert error < 0.6 * price.std()


def test_whole_numbers_are_not_taken_as_classes_without_a_warning(houses):
    classes = houses[1]
    assert "different whole numbers from" in classes
    assert "Pass --task regression if they are amounts" in classes
