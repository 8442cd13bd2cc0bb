"""Predictions on another graph: labels and features count only where names say so."""

import warnings

import numpy as np
import pandas as pd
import pytest

from labeltrick import (
    CorrectAndSmooth,
    Graph,
    GraphBoosting,
    LabelFeatureRegression,
    LabelPropagation,
    load_model,
    save_model,
)


def town(seed, n=80, prefix="p"):
    """A graph of two groups, a column that tells something about the group, and the groups."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n)
    ends = rng.integers(0, n, (2, 8 * n))
    ends = ends[:, group[ends[0]] == group[ends[1]]]
    graph = Graph.from_edges(*ends, n_nodes=n)
    X = (group + 0.5 * rng.normal(size=n))[:, None]
    names = [f"{prefix}{k}" for k in rng.permutation(n)]
    return graph, X, group, names


def test_labels_of_one_graph_never_stand_for_another_by_row_number():
    graph, X, y, _ = town(0)
    other, X2, y2, _ = town(1)
    model = LabelFeatureRegression().fit(X, y, graph=graph)
    with pytest.warns(UserWarning, match="no labels are used: `graph` is not the graph of the fit"):
        found = model.predict_proba(X2, graph=other)
    np.testing.assert_array_equal(found, model.predict_proba(X2, np.full(80, -1), graph=other))
    # The other graph's own labels are what counts there.
    known = np.where(np.arange(80) % 2, y2, -1)
    assert (model.predict(X2, known, graph=other) == y2).mean() > 0.9


def test_an_equal_graph_is_the_graph_of_the_fit():
    graph, X, y, _ = town(0)
    y = np.where(np.arange(80) % 2, y, -1)
    rebuilt = Graph(graph.indptr.copy(), graph.indices.copy(), None, False)
    model = LabelFeatureRegression().fit(X, y, graph=graph)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(model.predict_proba(X, graph=rebuilt), model.predict_proba())
        np.testing.assert_array_equal(model.predict_proba(graph=rebuilt), model.predict_proba())


@pytest.mark.parametrize(
    "model",
    [LabelPropagation(0.9), LabelFeatureRegression(), GraphBoosting(n_rounds=5),
     CorrectAndSmooth("linear")],
    ids=lambda model: type(model).__name__,
)  # fmt: skip
def test_known_nodes_keep_labels_and_features_in_any_order(model):
    graph, X, y, names = town(0)
    y = np.where(np.arange(80) % 2, y, -1)
    graph = graph.with_names(names)
    model.fit(X, y, graph=graph)
    expected = pd.Series(model.predict_proba()[:, 1], index=names)
    order = np.random.default_rng(1).permutation(80)
    moved = graph.permuted(order)
    found = pd.Series(model.predict_proba(graph=moved)[:, 1], index=moved.names)
    np.testing.assert_allclose(found[expected.index], expected, atol=2e-6)


def test_new_nodes_have_no_labels_and_old_ones_keep_theirs():
    graph, X, y, names = town(0)
    model = LabelPropagation(0.9).fit(None, y, graph=graph.with_names(names))
    rows = np.repeat(np.arange(80), np.diff(graph.indptr))
    ends = [names[k] for k in rows] + ["new"], [names[k] for k in graph.indices] + [names[7]]
    larger = Graph.from_edges(*ends, names=["new", *names])
    frame = model.predict_frame(graph=larger)
    assert frame["labeled"].to_list() == [False] + [True] * 80
    assert frame["prediction"][0] == y[7]
    with pytest.raises(ValueError, match="`X` must be given for another graph: node 'new' was not"):
        LabelFeatureRegression().fit(X, y, graph=graph.with_names(names)).predict(graph=larger)


def test_features_are_not_taken_by_row_number_either():
    graph, X, y, _ = town(0)
    other, *_ = town(1)
    model = LabelFeatureRegression().fit(X, y, graph=graph)
    with (
        pytest.warns(UserWarning, match="no labels"),
        pytest.raises(ValueError, match="`X` must be given for another graph: names do not say"),
    ):
        model.predict(graph=other)


def test_names_of_only_one_of_the_graphs_say_nothing():
    graph, _, y, names = town(0)
    model = LabelPropagation().fit(None, y, graph=graph)
    with pytest.warns(UserWarning, match="no labels are used"):
        assert not model.predict_frame(graph=graph.with_names(names))["labeled"].any()
    model = LabelPropagation().fit(None, y, graph=graph.with_names(names))
    with pytest.warns(UserWarning, match="no labels are used"):
        assert not model.predict_frame(graph=graph)["labeled"].any()


def test_validation_labels_are_inputs_of_the_same_nodes_only():
    graph, X, y, names = town(0)
    graph = graph.with_names(names)
    y = np.where(np.arange(80) % 4 < 3, y, -1)
    val = np.arange(0, 80, 4)
    model = CorrectAndSmooth("linear", validation_labels=True).fit(
        X, y, graph=graph, validation=val
    )
    order = np.random.default_rng(2).permutation(80)
    found = model.predict_frame(graph=graph.permuted(order), output="pandas")
    expected = model.predict_frame(output="pandas")
    pd.testing.assert_frame_equal(found.loc[expected.index], expected, atol=2e-6)


def test_saved_models_know_their_nodes(tmp_path):
    graph, _, y, names = town(0)
    for called in (names, list(range(100, 180)), [(k, "x") for k in range(80)]):
        named = graph.with_names(called)
        model = LabelPropagation(0.9).fit(None, y, graph=named)
        loaded = load_model(save_model(model, tmp_path / "model"))
        assert loaded.graph_.names.tolist() == list(called)
        order = np.random.default_rng(3).permutation(80)
        moved = named.permuted(order)
        np.testing.assert_array_equal(loaded.predict(graph=moved), model.predict(graph=moved))


def test_numbers_are_not_names():
    import networkx as nx

    path = nx.Graph([(0, 1), (1, 2), (2, 3)])
    model = LabelPropagation().fit(None, {0: "a", 3: "b"}, graph=path)
    for other in (nx.Graph([(2, 0), (0, 3), (3, 1)]), nx.Graph([(0, 1), (1, 2), (2, 3), (0, 3)])):
        with pytest.warns(UserWarning, match="numbers 0…n−1 are no names"):
            assert not model.predict_frame(graph=other)["labeled"].any()
    same = nx.Graph()
    same.add_nodes_from([3, 1, 0, 2])  # the same edges in another order
    same.add_edges_from(path.edges)
    frame = model.predict_frame(graph=same)
    assert dict(zip(frame["name"], frame["labeled"], strict=True))[3]
    assert frame["labeled"].sum() == 2


def test_names_of_another_type_are_reported():
    graph, _, y, _ = town(0)
    model = LabelPropagation().fit(None, y, graph=graph.with_names(range(1, 81)))
    with pytest.warns(UserWarning, match="no node of `graph` has a name of the fit"):
        model.predict(graph=graph.with_names([str(k) for k in range(1, 81)]))
