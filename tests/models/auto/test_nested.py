"""Scores of few labels: what is chosen for a fold has not seen its labels, residuals included."""

import numpy as np
import pytest

from labeltrick.models.auto import choosing, nested
from labeltrick.models.auto.blend import Correction, residual_views
from labeltrick.models.auto.plan import FitPlan
from tests.support.auto import numbers, quick
from tests.support.graphs import blocks

LINEAR = {"learners": ["linear"], "exclude": ["features alone"]}


def always_corrected(rows, at, oof, inputs, selection, views_at, errors):
    known = inputs.targets
    nodes = np.flatnonzero(known.labeled)
    views_at.setdefault(0.8, residual_views(inputs.graph, 0.8))
    correction = Correction(0.8, 0.5, nodes, oof, known.Y[nodes])
    return correction, correction.apply(rows, inputs, views_at[0.8], at)


def test_residuals_of_others_have_not_seen_the_own_label(monkeypatch):
    monkeypatch.setattr(choosing, "choose_correction", always_corrected)
    graph, X, _, y = numbers(3, 90)
    node = np.flatnonzero(~np.isnan(y))[7]
    rows = []
    for shift in (0.0, 4.0):
        moved = y.copy()
        moved[node] += shift
        model = quick(**LINEAR).fit(X, moved, graph=graph)
        assert model.plan_.nested
        rows.append(model.oof_rows_)
    assert model._correction is not None
    np.testing.assert_allclose(rows[0][7], rows[1][7], atol=1e-6)
    assert np.abs(rows[0] - rows[1]).max() > 1e-3


def test_the_plan_repeats_how_the_score_was_made(monkeypatch):
    graph, X, _, y = blocks(4, n=60)
    strict = quick(**LINEAR).fit(X, y, graph=graph)
    again = quick(plan=strict.plan_.to_dict(), **LINEAR).fit(X, y, graph=graph)
    np.testing.assert_array_equal(strict.oof_rows_, again.oof_rows_)
    plan = FitPlan(strict.plan_.learners)
    plain = quick(plan=plan, **LINEAR).fit(X, y, graph=graph)
    assert not plain.plan_.nested
    np.testing.assert_array_equal(plain.predict(), strict.predict())
    monkeypatch.setattr(nested, "MOST_LABELS", 10)
    many = quick(**LINEAR).fit(X, y, graph=graph)
    assert not many.plan_.nested
    np.testing.assert_array_equal(many.oof_rows_, plain.oof_rows_)


def test_two_folds_leave_nothing_for_pairs():
    graph, X, _, y = blocks(4, n=60)
    model = quick(n_folds=2, **LINEAR).fit(X, y, graph=graph)
    assert not model.plan_.nested
    assert np.isfinite(model.oof_rows_).all()


def test_small_budgets_have_no_time_for_it():
    graph, X, _, y = blocks(4, n=60)
    model = quick(budget=1e-9, **LINEAR).fit(X, y, graph=graph)
    assert not model.plan_.nested


def test_a_plan_must_say_true_or_false():
    with pytest.raises(TypeError, match="true or false as nested; got 1"):
        FitPlan.of({"learners": ["linear"], "nested": 1})
