"""Loops that the clock or a record ends."""

import numpy as np
import pytest

from labeltrick import GraphBoosting
from labeltrick._utils.allowance import Allowance, allowing, steps
from tests.support.graphs import blocks


def count(another, most=100):
    done = 1
    while another() and done < most:
        done += 1
    return done


def test_without_an_allowance_loops_go_on():
    assert count(steps(), 50) == 50


def test_the_clock_ends_loops_and_the_record_ends_them_at_the_same_step():
    answers = iter([False, False, True, False, True])
    with allowing(Allowance(lambda: next(answers))) as first:
        assert [count(steps()), count(steps())] == [3, 2]
    assert first.cut
    assert first.steps == [3, 2]
    with allowing(Allowance(pytest.fail, first.steps)) as again:
        assert [count(steps()), count(steps())] == [3, 2]
    assert again.steps == first.steps
    assert count(steps(), 7) == 7  # outside


def test_loops_that_end_by_themselves_are_not_cut():
    with allowing(Allowance(lambda: False)) as allowance:
        assert count(steps(), 4) == 4
    assert not allowance.cut
    with allowing(Allowance(pytest.fail, [None])):
        assert count(steps(), 9) == 9


def test_trees_stop_at_the_recorded_round():
    graph, X, y, _ = blocks(2, n=90)
    asked = []

    def late():
        asked.append(1)
        return len(asked) >= 7

    def fit():
        return GraphBoosting(n_rounds=30, progress=False).fit(X, y, graph=graph).predict_proba()

    with allowing(Allowance(late)) as short:
        found = fit()
    with allowing(Allowance(pytest.fail, short.steps)) as again:
        np.testing.assert_array_equal(fit(), found)
    assert again.steps == short.steps
    assert short.steps[0] == 7
    assert np.abs(fit() - found).max() > 1e-3
