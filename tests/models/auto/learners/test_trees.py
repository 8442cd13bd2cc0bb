"""Trees of AutoModel."""

import numpy as np
import pytest

from labeltrick.models.auto.learners import trees
from labeltrick.models.auto.learners.trees import TreesLearner
from tests.support.auto import quick
from tests.support.graphs import blocks


@pytest.mark.parametrize("share", [0.01, 0.25, 0.8])
def test_shortened_trees_grow_fewer_rounds_on_fewer_rows(share, monkeypatch):
    seen = []

    def note(columns, Y, weight, validation, task, options, bar):
        seen.append(options)
        return fit(columns, Y, weight, validation, task, options, bar)

    fit = trees.fit_trees
    monkeypatch.setattr(trees, "fit_trees", note)
    monkeypatch.setattr(trees, "_FEWEST_ROWS", 5)
    graph, X, _, y = blocks(3, n=120)
    short = TreesLearner("trees").shortened(share)
    for learner in (short, TreesLearner("trees")):
        quick(learners=[learner], exclude=["features alone"]).fit(X, y, graph=graph)
    shorter, usual = seen[0], seen[-1]
    assert shorter.n_rounds == max(60, round(300 * share)) < usual.n_rounds
    assert 1 < shorter.learning_rate / usual.learning_rate <= 2.5
    assert share <= dict(shorter.extra)["bagging_fraction"] < 1
    assert "bagging_fraction" not in dict(usual.extra)


def test_shortened_trees_are_repeated_by_their_plan():
    graph, X, _, y = blocks(5, n=150)
    options = {"learners": ["trees", "linear"], "n_folds": 2}
    first = quick(**options, plan={"learners": ["trees"], "options": {"trees": {"share": 0.3}}})
    first.fit(X, y, graph=graph)
    assert first.plan_.options == {"trees": {"share": 0.3}}
    again = quick(**options, plan=first.plan_).fit(X, y, graph=graph)
    np.testing.assert_array_equal(again.predict_proba(), first.predict_proba())
    usual = quick(**options, plan={"learners": ["trees"]}).fit(X, y, graph=graph)
    assert not np.array_equal(usual.predict_proba(), first.predict_proba())
