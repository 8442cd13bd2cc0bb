"""New nodes predicted from their neighborhoods: the same as predicting everything."""

import numpy as np
import pandas as pd
import pytest

from labeltrick import Graph, load_model, save_model
from labeltrick.models.auto import new_nodes
from labeltrick.models.auto.blend import Correction
from labeltrick.propagation import nearby
from tests.support.auto import numbers, quick
from tests.support.graphs import blocks

LEARNERS = ["trees", "linear"]


def named(graph, X, y):
    """The graph with names, and features and labels as pandas objects."""
    names = [f"n{k}" for k in range(graph.n_nodes)]
    A = graph.to_scipy().tocoo()
    once = A.row <= A.col
    ends = ([names[i] for i in A.row[once]], [names[i] for i in A.col[once]])
    frame = pd.DataFrame(X, index=names, columns=[f"x{k}" for k in range(X.shape[1])])
    return Graph.from_edges(*ends, names=names), frame, pd.Series(y, index=names)


def new_rows(X, rng, count):
    """Rows of new nodes, and edges to old nodes and among themselves."""
    names = [f"new{k}" for k in range(count)]
    rows = pd.DataFrame(rng.normal(size=(count, X.shape[1])), index=names, columns=X.columns)
    source = [name for name in names for _ in range(3)]
    target = rng.choice(X.index, len(source)).tolist()
    target[-1] = names[0]  # of the last one, also if it is the first itself
    return rows, (source, target)


def close(found, expected, tolerance):
    assert found.index.tolist() == expected.index.tolist()
    assert found.columns.tolist() == expected.columns.tolist()
    for name in expected.columns:
        if expected[name].dtype.kind == "f":
            assert np.abs(found[name] - expected[name]).max() < tolerance, name
        else:
            assert found[name].tolist() == expected[name].tolist(), name


@pytest.fixture(scope="module")
def fitted():
    graph, X, _, y = blocks(3, n=240)
    graph, X, y = named(graph, X, np.where(y < 0, None, y.astype(object)))
    return quick(learners=LEARNERS).fit(X, y, graph=graph), X


@pytest.mark.parametrize("count", [1, 4])
def test_equals_predicting_everything(fitted, count, monkeypatch):
    model, X = fitted
    for seed in range(5):
        rows, edges = new_rows(X, np.random.default_rng(seed), count)
        expected = model.extend(rows, edges).predict_frame().loc[rows.index]
        with monkeypatch.context() as patched:
            patched.setattr(type(model), "extend", None)  # everything is not computed
            close(model.predict_new(rows, edges), expected, 1e-6)


def test_without_keeping_anything_of_the_other_nodes(fitted):
    model, X = fitted
    rows, edges = new_rows(X, np.random.default_rng(1), 2)
    expected = model.extend(rows, edges).predict_proba()[-2:]
    new = new_nodes.NewNodes.of(model, rows, edges, None)
    found = model._scores_of_new(new, keep=False)
    assert np.abs(model.calibration_.apply(found, "classification") - expected).max() < 1e-6


def test_numbers_with_a_correction_by_residuals():
    graph, X, _, y = numbers()
    graph, X, y = named(graph, X, y)
    model = quick(learners=LEARNERS).fit(X, y, graph=graph)
    nodes = model.labeled_  # the correction that another set of data might choose
    model._correction = Correction(0.8, 0.5, nodes, model.oof_rows_, model.targets_.Y[nodes])
    rows, edges = new_rows(X, np.random.default_rng(0), 3)
    expected = model.extend(rows, edges).predict_frame().loc[rows.index]
    close(model.predict_new(rows, edges), expected, 1e-6)


def test_labels_alone_and_names_that_are_numbers():
    graph, _, _, y = blocks(4, n=120)
    model = quick(learners=["linear"]).fit(None, y, graph=graph)
    edges = (np.array([120, 121, 121]), np.array([3, 5, 120]))
    expected = model.extend([120, 121], edges).predict_proba()[120:]
    found = model.predict_new([120, 121], edges)
    assert found["name"].to_list() == [120, 121]
    columns = [name for name in found.columns if name.startswith("p_")]
    assert np.abs(found[columns].to_numpy() - expected).max() < 1e-6


def test_nodes_that_no_label_reaches(fitted):
    model, X = fitted
    rows = X.iloc[:2].set_axis(["alone", "apart"])
    expected = model.extend(rows, (["alone"], ["apart"])).predict_frame().loc[rows.index]
    found = model.predict_new(rows, (["alone"], ["apart"]))
    close(found, expected, 1e-9)
    assert not found["reached"].any()


def test_everything_is_computed_where_it_must_be(fitted):
    model, X = fitted
    again = X.iloc[[7]] + 1.0  # other features of a known node
    close(model.predict_new(again), model.extend(again).predict_frame().loc[again.index], 1e-12)
    rows, edges = new_rows(X, np.random.default_rng(2), 2)
    labels = {rows.index[0]: 1}
    expected = model.extend(rows, edges, labels).predict_frame().loc[rows.index]
    found = model.predict_new(rows, edges, labels)
    assert found["labeled"].tolist() == [True, False]
    close(found, expected, 1e-12)


def test_learners_on_the_whole_graph_are_computed_everywhere():
    pytest.importorskip("torch")
    graph, X, _, y = blocks(3, n=120)
    model = quick(learners=["graph network"]).fit(X, y, graph=graph)
    edges = (np.array([120]), np.array([3]))
    found = model.predict_new(X[:1], edges)
    expected = model.extend(X[:1], edges).predict_proba()[120:]
    columns = [name for name in found.columns if name.startswith("p_")]
    assert np.abs(found[columns].to_numpy() - expected).max() < 1e-12


def test_a_model_that_was_saved(fitted, tmp_path):
    model, X = fitted
    rows, edges = new_rows(X, np.random.default_rng(3), 1)
    save_model(model, tmp_path / "model")
    close(
        load_model(tmp_path / "model").predict_new(rows, edges),
        model.predict_new(rows, edges),
        1e-9,
    )


def test_a_row_that_cannot_be_trusted_is_computed_from_the_whole_graph(fitted, monkeypatch):
    model, X = fitted
    rows, edges = new_rows(X, np.random.default_rng(4), 1)
    expected = model.predict_new(rows, edges)
    monkeypatch.setattr(nearby, "_BUDGET", 3)
    monkeypatch.setattr(nearby, "_TRUSTED", 0.0)
    close(model.predict_new(rows, edges), expected, 1e-5)


def test_unknown_ends_are_named(fitted):
    model, X = fitted
    with pytest.raises(ValueError, match="'nobody' in row 0"):
        model.predict_new(X.iloc[:1].set_axis(["new"]), (["new"], ["nobody"]))
