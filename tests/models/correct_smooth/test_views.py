"""Leak-free views of the two steps, against dense formulas."""

import numpy as np
import pytest

from labeltrick import Spread
from labeltrick.models.correct_smooth.views import SideBySide, StepViews, round_trips, rows_by_fold
from tests import reference
from tests.support.correct_smooth import STEPS, dense, given, scale_of
from tests.support.graphs import blocks


# -- against formulas ----------------------------------------------------------------------------
@pytest.mark.parametrize("steps", STEPS, ids=["limits", "few steps", "the same"])
@pytest.mark.parametrize("scale", ["auto", 2.0])
def test_views_are_those_of_the_paper(steps, scale):
    graph, _, base, Y, train = given(0)
    rng = np.random.default_rng(0)
    W_s, W_c = rng.normal(size=(2, 3, 3))
    P_c, P_s = (dense(graph, step) for step in steps)
    in_mask = train & (rng.random(60) < 0.5)
    gamma = scale_of(scale, np.where(in_mask[:, None], Y - base, 0), in_mask)
    args = (P_c, P_s, base, Y, in_mask, gamma, W_s, W_c)
    expected = reference.trainable_correct_smooth(*args)
    views = StepViews(graph, *steps, scale, normalize=False)
    found = views.rows(base, Y, in_mask) @ np.concatenate([W_s, W_c])
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("steps", STEPS, ids=["limits", "few steps", "the same"])
def test_self_exclusion_is_leaving_one_out(steps):
    graph, _, base, Y, train = given(1)
    views = StepViews(graph, *steps, 1.5)
    found = views.excluded_rows(base, Y, train)
    for row, i in zip(found, np.flatnonzero(train), strict=True):
        others = train.copy()
        others[i] = False
        np.testing.assert_allclose(row, views.rows(base, Y, others)[i], atol=1e-5)


def test_folds_leave_the_own_label_out():
    graph, _, base, Y, train = given(2)
    views = StepViews(graph, *STEPS[0], "auto")
    nodes = np.flatnonzero(train)
    fold = np.arange(len(nodes)) % 10
    found = views.oof_rows(base, Y, train, fold)
    for place in (0, 3, len(nodes) - 1):
        other = Y.copy()
        other[nodes[place]] = np.roll(other[nodes[place]], 1)
        again = views.oof_rows(base, other, train, fold)
        np.testing.assert_array_equal(again[place], found[place])
        assert np.abs(again - found).max() > 1e-3


def test_round_trips():
    graph, _, _, _, train = given(3)
    for steps in STEPS:
        P_c, P_s = (dense(graph, step) for step in steps)
        expected = (P_s[:, ~train] @ P_c[~train])[train][:, train].diagonal()
        operators = (step.linear(graph) for step in steps)
        C, S = operators
        found = round_trips(S, C, np.flatnonzero(train), ~train)
        np.testing.assert_allclose(found, expected, atol=1e-5)
    assert not round_trips(S, C, np.flatnonzero(train), np.zeros(60, bool)).any()


def test_rows_by_fold_are_those_of_unlabeled_nodes():
    """Each fold's rows: a base that does not know its labels, and they are no inputs."""
    graph, _, _, y = blocks(20, n=60)
    labeled, Y = y >= 0, np.eye(3)[np.maximum(y, 0)]
    nodes = np.flatnonzero(labeled)
    folds = [nodes[::2], nodes[1::2]]
    rng = np.random.default_rng(0)
    bases = [rng.dirichlet(np.ones(3), 60) for _ in folds]
    steps = [Spread(lam, None, clamp=False) for lam in (0.8, 0.3)]
    views = SideBySide((StepViews(graph, *steps, "auto"), StepViews(graph, *steps[::-1], "mean")))
    found = rows_by_fold(views, zip(folds, bases, strict=True), Y, labeled)
    for fold, base in zip(folds, bases, strict=True):
        without = labeled.copy()
        without[fold] = False
        each = [view.rows(base, Y, without)[fold] for view in views.each]
        np.testing.assert_allclose(found[np.isin(nodes, fold)], np.concatenate(each, axis=1))
    moved = Y.copy()
    moved[nodes[0]] = np.roll(moved[nodes[0]], 1)
    again = rows_by_fold(views, zip(folds, bases, strict=True), moved, labeled)
    np.testing.assert_array_equal(found[0], again[0])
