"""Effects that add up, through functions that are not linear."""

import numpy as np
import pytest
from scipy.special import softmax

from labeltrick import Calibration
from labeltrick.explain.effects import Effects, Source, mean_jacobian, mean_of
from labeltrick.models.base.weights import tidy


def some_effects(rng, k=5, c=3):
    values = rng.normal(size=(k, c))
    start = rng.normal(size=c)
    sources = [Source("label", j) for j in range(k)]
    return Effects(start, start + values.sum(axis=0), sources, values)


@pytest.mark.parametrize(
    "link",
    [
        lambda rows: softmax(rows, axis=1),
        lambda rows: tidy(rows, "classification"),
        lambda rows: Calibration(0.3, 0.01).apply(softmax(rows, axis=1), "classification"),
        lambda rows: rows**3,
    ],
)
def test_effects_add_up_after_any_function(link):
    for seed in range(5):
        before = some_effects(np.random.default_rng(seed))
        after = before.through(link)
        np.testing.assert_allclose(after.row, link(before.row[None])[0], atol=1e-12)
        np.testing.assert_allclose(after.rest, 0.0, atol=1e-9)


def test_linear_functions_keep_effects_exactly():
    before = some_effects(np.random.default_rng(0))
    after = before.through(lambda rows: 2 * rows + 1)
    np.testing.assert_allclose(after.values, 2 * before.values, atol=1e-8)
    np.testing.assert_allclose(after.start, 2 * before.start + 1)


def test_the_jacobian_is_that_of_the_path():
    J = mean_jacobian(lambda rows: rows[:, :1] * rows[:, 1:], np.zeros(2), np.array([2.0, 4.0]))
    np.testing.assert_allclose(J, [[2.0, 1.0]], atol=1e-8)  # ∫ (4t, 2t) dt


def test_nothing_changes_where_the_row_is_the_start():
    same = Effects(np.ones(2), np.ones(2), [Source("label", 0)], np.zeros((1, 2)))
    after = same.through(lambda rows: softmax(rows, axis=1))
    np.testing.assert_allclose(after.row, [0.5, 0.5])
    np.testing.assert_allclose(after.values, 0.0)


def test_the_mean_of_effects():
    a, b = (some_effects(np.random.default_rng(seed)) for seed in (0, 1))
    found = mean_of([a, b])
    np.testing.assert_allclose(found.values, (a.values + b.values) / 2)
    np.testing.assert_allclose(found.rest, 0.0, atol=1e-12)
