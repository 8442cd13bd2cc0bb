"""What others' words say, as a learner of `AutoModel`."""

import numpy as np
import pytest

from labeltrick import AutoModel, LabelPropagation, audit_leakage, load_model, save_model
from labeltrick.models.auto.learners.nearby import nearby_columns
from tests.support.estimator_checks import check_out_of_fold_rows
from tests.support.graphs import word_graph

pytest.importorskip("torch")


ALONE = {"learners": ["words nearby"], "exclude": ["features alone"]}


def fit(X, y, graph, **options):
    return AutoModel(n_folds=3, progress=False, **ALONE, **options).fit(X, y, graph=graph)


def test_words_of_others_stand_beside_their_labels(tmp_path):
    graph, X, truth, y = word_graph()
    model = fit(X, y, graph)
    (learner,) = model._learners
    assert all(member.learned.weights is not None for member in learner.members)
    hidden = y < 0
    together = model._maker.rows(learner, model.fitted_inputs).argmax(axis=1)
    seen = model._maker.features(model.fitted_inputs, learner.learner)
    alone = np.mean([member.learned.network.predict(seen) for member in learner.members], axis=0)
    right = (together == truth)[hidden].mean()
    assert right > 0.85
    assert right >= (alone.argmax(axis=1) == truth)[hidden].mean()

    labels = model.targets_.codes
    report = audit_leakage(model.rows_for, labels, model.labeled_, n_samples=40, progress=False)
    assert report.largest_change < 1e-6, str(report)

    loaded = load_model(save_model(model, tmp_path / "model"))
    np.testing.assert_array_equal(loaded.predict_proba(), model.predict_proba())


def test_many_columns_of_a_dense_table_are_words_too():
    graph, X, truth, y = word_graph(1)
    model = fit(np.ascontiguousarray(X.toarray()[:, X.sum(axis=0) > 0]), y, graph)
    assert (model.predict() == truth)[y < 0].mean() > 0.8


def test_members_know_nothing_of_the_fold_they_leave_out():
    check_out_of_fold_rows(*word_graph(20, n=90), **ALONE)


def test_class_weights_do_not_reveal_the_fold_either():
    """Those of the nodes that choose when to stop were once counted among all labels."""
    check_out_of_fold_rows(*word_graph(20, n=150), place=28, class_weight="balanced", **ALONE)


def test_several_labels_a_node():
    graph, X, truth, y = word_graph(3)
    both = np.stack([truth == 0, truth >= 1], axis=1).astype(float)
    model = fit(X, np.where((y >= 0)[:, None], both, np.nan), graph, task="multilabel")
    assert ((model.predict() > 0.5) == both)[y < 0].mean() > 0.85
    said = np.array([[0.9, 0.5]] * 150)
    own = nearby_columns(said, model.targets_, graph)[:, :2]
    np.testing.assert_allclose(own, np.log(said / (1 - said)))


def test_sparse_tables_of_one_column_are_taken():
    graph, X, _, y = word_graph(4, n=60)
    assert fit(X[:, [0]], y, graph).predict().shape == (60,)


def test_columns_of_what_is_said_nearby_are_those_of_the_formula():
    graph, _, _, y = word_graph(2, 30)
    said = np.random.default_rng(0).dirichlet(np.ones(3), 30)
    known = LabelPropagation().fit(None, y, graph=graph).targets_
    S = graph.to_scipy()
    S = S.toarray() / np.maximum(S.sum(axis=1), 1)[:, None]
    there = said.copy()
    there[y >= 0] = np.eye(3)[y[y >= 0]]
    expected = np.hstack([np.log(said.clip(1e-4)), 3 * S @ there, 3 * S @ S @ there])
    np.testing.assert_allclose(nearby_columns(said, known, graph), expected, atol=1e-12)
