"""Labels of others as columns for any scikit-learn model: leak-free in fit_transform."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from labeltrick import SelfExcludedLabels
from labeltrick.self_exclusion.labels import label_matrix
from tests.support.graphs import blocks, random_graph


def dense_views(A, Y, known, lam):
    """Mean labels 1 and 2 steps away and by the resolvent, without the own label."""
    degree = A.sum(axis=1)
    S = np.divide(A, degree[:, None], out=np.zeros_like(A), where=degree[:, None] > 0)
    n = len(A)
    kinds = [S, S @ S, (1 - lam) * np.linalg.inv(np.eye(n) - lam * S)]
    views = []
    for P in kinds:
        Q = P - np.diag(np.diag(P))
        mass = Q @ known
        seen = mass > 1e-9
        views.append(np.where(seen[:, None], Q @ Y / np.where(seen, mass, 1)[:, None], np.nan))
    return np.concatenate(views, axis=1)


def test_columns_are_those_of_the_dense_formula():
    A, graph = random_graph(0, n=30, n_edges=60)
    A, graph = (A > 0).astype(float), type(graph).from_scipy((A > 0).astype(float))
    rng = np.random.default_rng(0)
    y = np.where(rng.random(30) < 0.6, rng.integers(0, 3, 30), -1)
    columns = SelfExcludedLabels(graph, damping=0.7, append=False).fit_transform(
        np.zeros((30, 1)), y
    )
    Y = label_matrix(y, n_classes=3)
    expected = dense_views(A, Y, (y >= 0).astype(float), 0.7)
    np.testing.assert_allclose(columns[:, :9], expected, atol=1e-6)
    np.testing.assert_allclose(columns[:, -1], np.log1p((A > 0).sum(axis=1)))


def test_the_own_label_moves_nothing_in_fit_transform():
    _, graph = random_graph(1, n=25, n_edges=70)
    y = np.random.default_rng(1).normal(size=25)
    for fill in (None, "prior"):
        rows = []
        for shift in (0.0, 7.0):
            other = y.copy()
            other[3] += shift
            make = SelfExcludedLabels(graph, append=False, fill=fill, task="regression")
            rows.append(make.fit_transform(np.zeros((25, 1)), other))
        np.testing.assert_allclose(rows[0][3], rows[1][3], atol=1e-7)
        assert np.nanmax(np.abs(rows[0] - rows[1])) > 0.1


def test_transform_gives_the_plain_columns():
    _, graph = random_graph(2, n=25, n_edges=70)
    y = np.where(np.arange(25) % 2, np.arange(25) * 1.5, np.nan)
    make = SelfExcludedLabels(graph, append=False)
    trained = make.fit_transform(np.zeros((25, 1)), y)
    plain = make.transform(np.zeros((25, 1)))
    hidden = np.isnan(y)
    np.testing.assert_allclose(trained[hidden], plain[hidden], atol=1e-9)
    assert np.nanmax(np.abs(trained[~hidden] - plain[~hidden])) > 0.1


def test_in_a_pipeline_with_rows_by_index():
    graph, X, truth, y = blocks(0, n=300)
    frame = pd.DataFrame(X, columns=[f"f{k}" for k in range(X.shape[1])])
    train = np.flatnonzero(y >= 0)
    test = np.flatnonzero(y < 0)
    plain = LogisticRegression(max_iter=500).fit(frame.loc[train], truth[train])
    labels = SelfExcludedLabels(graph, fill="prior")
    model = make_pipeline(labels, LogisticRegression(max_iter=500)).fit(
        frame.loc[train], truth[train]
    )
    assert model.score(frame.loc[test], truth[test]) > plain.score(frame.loc[test], truth[test])
    scores = cross_val_score(model, frame, truth, cv=3)
    assert scores.mean() > 0.6
    # Columns with the own label would tell it: scores of random labels stay at chance.
    random = np.random.default_rng(99).integers(0, 3, 300)
    assert cross_val_score(model, frame, random, cv=3).mean() < 0.45


def test_names_and_frames():
    graph, X, _, y = blocks(1, n=60)
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"])
    make = SelfExcludedLabels(graph, n_hops=1)
    found = make.fit_transform(frame, y)
    assert list(found.columns) == list(make.get_feature_names_out())
    assert list(found.columns)[:3] == ["a", "b", "label 0, 1 away"]
    assert len(found) == 60


def test_rows_by_a_column():
    graph, X, truth, y = blocks(2, n=80)
    nodes = np.flatnonzero(y >= 0)
    with_ids = np.column_stack([nodes, X[nodes]])
    frame = pd.DataFrame(X, index=range(80)).loc[nodes]
    by_column = SelfExcludedLabels(graph, node_column=0).fit_transform(with_ids, truth[nodes])
    by_index = SelfExcludedLabels(graph).fit_transform(frame, truth[nodes])
    np.testing.assert_allclose(by_column, by_index.to_numpy())
    last = sp.csr_array(np.column_stack([X[nodes], nodes]))
    sparse = SelfExcludedLabels(graph, node_column=-1).fit_transform(last, truth[nodes])
    np.testing.assert_allclose(sparse.toarray(), by_column)


def test_models_that_take_gaps():
    graph, X, truth, y = blocks(3, n=200)
    model = make_pipeline(SelfExcludedLabels(graph, task="regression"),
                          HistGradientBoostingRegressor())  # fmt: skip
    frame = pd.DataFrame(X)
    train = np.flatnonzero(y >= 0)
    model.fit(frame.loc[train], truth[train].astype(float))
    assert np.corrcoef(model.predict(frame), truth)[0, 1] > 0.5


def test_clear_errors():
    graph, X, truth, _ = blocks(4, n=50)
    for make, rows, labels, message in [
        (SelfExcludedLabels(), X, truth, "`graph` must be a labeltrick.Graph"),
        (SelfExcludedLabels(graph), X[:10], truth[:10], "one row per node.*node_column"),
        (SelfExcludedLabels(graph), X, None, "`y` must be given"),
        (SelfExcludedLabels(graph), pd.DataFrame(X, index=range(10, 60)), truth, "row 40 is 50"),
        (
            SelfExcludedLabels(graph),
            pd.DataFrame(X, index=[f"n{k}" for k in range(50)]),
            truth,
            "must be node numbers",
        ),
        (SelfExcludedLabels(graph), pd.DataFrame(X, index=[0] * 50), truth, "one is repeated"),
        (SelfExcludedLabels(graph, n_hops=0, damping=None), X, truth, "there are no columns"),
        (SelfExcludedLabels(graph, node_column="id"), pd.DataFrame(X), truth, "must be a column"),
    ]:
        with pytest.raises((ValueError, TypeError), match=message):
            make.fit_transform(rows, labels)
    fitted = SelfExcludedLabels(graph).fit(X, truth)
    with pytest.raises(ValueError, match="columns as in fit"):
        fitted.transform(X[:, :2])
    with pytest.raises(ValueError, match="column 'degree', which is added here"):
        SelfExcludedLabels(graph).fit_transform(pd.DataFrame({"degree": X[:, 0]}), truth)
    with pytest.raises(ValueError, match="`node_column` must be a column"):
        SelfExcludedLabels(graph, node_column=9).fit_transform(X, truth)
    ridge = make_pipeline(SelfExcludedLabels(graph, fill="prior"), Ridge())
    assert ridge.fit(pd.DataFrame(X), truth * 1.5).predict(pd.DataFrame(X)).shape == (50,)


def test_named_nodes_and_shuffled_labels():
    graph, X, _, y = blocks(1, n=60)
    names = [f"p{k}" for k in range(60)]
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"], index=names)
    labels = pd.Series(y, index=names)
    expected = SelfExcludedLabels(graph).fit_transform(frame.to_numpy(), y)
    make = SelfExcludedLabels(graph.with_names(names))
    rows = np.random.default_rng(0).permutation(60)
    found = make.fit_transform(frame.iloc[rows], labels.iloc[::-1])
    np.testing.assert_array_equal(found.loc[names], expected)
    by_column = SelfExcludedLabels(graph.with_names(names), node_column="who")
    table = frame.iloc[rows].reset_index(names="who")
    np.testing.assert_array_equal(by_column.fit_transform(table, y[rows]), expected[rows])
    with pytest.raises(ValueError, match="row 1 is called 'p99', which is not a node"):
        make.transform(frame.rename(index={"p1": "p99"}))
    with pytest.raises(ValueError, match="`y` must be indexed by names"):
        make.fit(frame, labels.reset_index(drop=True))


@pytest.mark.parametrize("form", ["pandas", "polars"])
def test_set_output(form):
    graph, X, _, y = blocks(1, n=60)
    make = SelfExcludedLabels(graph).set_output(transform=form)
    found = make.fit_transform(X, y)
    assert type(found).__module__.startswith(form)
    assert list(found.columns) == list(make.get_feature_names_out())
