"""Which learners are tried within a budget."""

from dataclasses import replace

import numpy as np

from labeltrick.models.auto.columns import Signal
from labeltrick.models.auto.learners.nearby import WordsNearbyLearner
from labeltrick.models.auto.learners.protocol import Problem, Sizes
from labeltrick.models.auto.learners.registry import LEARNERS
from labeltrick.models.base.tables import read_table
from tests.support.auto import quick
from tests.support.graphs import blocks


def test_the_budget_is_kept_by_leaving_learners_out():
    graph, X, _, y = blocks(4, n=120)
    tight = quick(budget=1e-9).fit(X, y, graph=graph)
    ran = [t.name for t in tight.trials_ if not np.isnan(t.score)]
    assert ran[:3] == ["majority", "label propagation", "trees"]
    assert all("budget" in t.note for t in tight.trials_ if np.isnan(t.score))
    problem = Problem(Signal.of(read_table(X, ()), 0), graph, "classification")
    trees = LEARNERS[0].prepared(problem)
    small = Sizes(100, 500, 50, 3, 10, 10, 10, 10)
    large = Sizes(10**6, 10**7, 10**5, 40, 300, 300, 50, 300)
    assert trees.cost(small, 5) < 5 < trees.cost(large, 5)
    words = WordsNearbyLearner("").prepared(problem)
    dense = replace(large, n_dense=large.n_table)
    assert words.cost(dense, 5) > 1.5 * words.cost(large, 5)
