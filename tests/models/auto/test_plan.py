"""Plans of fits, and fits that follow one."""

import numpy as np
import pytest

from labeltrick.models.auto.plan import FitPlan
from tests.support.auto import quick
from tests.support.graphs import blocks


def test_plans_survive_plain_values():
    options = {"graph network": {"max_epochs": 9}}
    plan = FitPlan(("trees", "linear"), {"trees 1": [4, None]}, options)
    assert FitPlan.of(plan.to_dict()) == plan
    assert plan.to_dict()["steps"] == {"trees 1": [4, 0]}


@pytest.mark.parametrize(
    "given",
    [7, {"strange": 1}, {"learners": []}, {"learners": [3]}, {"learners": ["trees"], "steps": 3},
     {"learners": ["trees"], "steps": {"trees 0": [-1]}},
     {"learners": ["trees"], "options": {"trees": {"n_rounds": "many"}}}],
)  # fmt: skip
def test_what_is_not_a_plan_is_refused(given):
    with pytest.raises(TypeError, match=r"`plan` must .* Pass the `plan_`"):
        FitPlan.of(given)


def test_a_plan_repeats_a_fit():
    graph, X, _, y = blocks(4, n=120)
    wanted = ["trees", "linear"]
    first = quick(learners=wanted, exclude=["features alone"]).fit(X, y, graph=graph)
    assert first.plan_.learners == ("trees", "linear")
    again = quick(learners=wanted, plan=first.plan_).fit(X, y, graph=graph)
    np.testing.assert_array_equal(again.predict_proba(), first.predict_proba())
    assert again.plan_ == first.plan_
    short = FitPlan(("trees",), {f"trees {k}": [2] for k in range(3)})
    less = quick(learners=wanted, plan=short.to_dict()).fit(X, y, graph=graph)
    assert less.plan_ == short
    assert {trial.name: trial.note for trial in less.trials_}["linear"].startswith("not run: not")
    assert np.abs(less.predict_proba() - first.predict_proba()).max() > 1e-3
