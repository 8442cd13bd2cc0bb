"""What others' words say, as a learner of `AutoModel`."""

import numpy as np
import pytest
from graphs import word_graph

from labeltrick import AutoModel, LabelPropagation
from labeltrick.auto import trials
from labeltrick.auto.nearby import nearby_columns


@pytest.mark.parametrize("dense", [False, True])
def test_words_of_others_stand_beside_their_labels(dense, monkeypatch):
    pytest.importorskip("torch")
    kept = trials.learners
    monkeypatch.setattr(
        "labeltrick.auto.estimator.learners",
        lambda *given: [spec for spec in kept(*given) if spec.name == "words nearby"],
    )
    graph, X, truth, y = word_graph()
    model = AutoModel(n_folds=3, progress=False).fit(X.toarray() if dense else X, y, graph=graph)
    (learner,) = model._learners
    assert all(member.learned.weights is not None for member in learner.members)
    hidden = y < 0
    together = model._maker.rows(learner, model._fitted_inputs).argmax(axis=1)
    seen = model._maker.features(model._fitted_inputs, learner.spec)
    alone = np.mean([member.learned.network.predict(seen) for member in learner.members], axis=0)
    right = (together == truth)[hidden].mean()
    assert right > 0.85
    assert right >= (alone.argmax(axis=1) == truth)[hidden].mean()


def test_columns_of_what_is_said_nearby_are_those_of_the_formula():
    graph, _, _, y = word_graph(2, 30)
    rng = np.random.default_rng(0)
    said = rng.dirichlet(np.ones(3), 30)
    known = LabelPropagation().fit(None, y, graph=graph).targets_
    S = graph.to_scipy()
    S = S.toarray() / np.maximum(S.sum(axis=1), 1)[:, None]
    there = said.copy()
    there[y >= 0] = np.eye(3)[y[y >= 0]]
    expected = np.hstack([np.log(said.clip(1e-4)), 3 * S @ there, 3 * S @ S @ there])
    np.testing.assert_allclose(nearby_columns(said, known, graph), expected, atol=1e-12)
