"""Without a graph, rows are nodes without edges, and keep their names."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from labeltrick import SGC, Graph, GraphSearch, LabelPropagation

N = 40
pytestmark = pytest.mark.filterwarnings("ignore:no graph was given")


def customers(called="c", n=N, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 2)), columns=["age", "income"])
    X.index = pd.Index([f"{called}{k}" for k in range(n)], name="customer")
    y = pd.Series(np.where(X["age"] > 0, "stay", "go"), index=X.index)
    return X, y


def test_predictions_carry_the_index_of_the_frame():
    X, y = customers()
    model = SGC().fit(X, y.where(np.arange(N) % 3 > 0))
    assert model.predict_frame().index.tolist() == X.index.tolist()
    assert set(model.suspicious_labels().names) == set(X.index[np.arange(N) % 3 > 0])
    same = model.predict_frame(X.iloc[::-1])
    assert same.index.tolist() == X.index[::-1].tolist()
    pd.testing.assert_frame_equal(same.loc[X.index], model.predict_frame(), check_names=False)


def test_predictions_carry_the_id_column():
    X, y = customers()
    frame = pl.DataFrame({"customer": X.index.tolist(), **X.to_dict("list")})
    model = SGC().fit(frame, y.to_numpy(), id="customer")
    assert model.predict_frame()["name"].to_list() == X.index.tolist()
    assert model.predict_frame(frame[:3])["name"].to_list() == ["c0", "c1", "c2"]
    pandas = SGC().fit(X.reset_index(), y.to_numpy(), id="customer")
    assert pandas.predict_frame().index.tolist() == X.index.tolist()


@pytest.mark.parametrize("n", [N, N - 7])
@pytest.mark.parametrize("named", [True, False])
def test_other_rows_have_names_and_no_labels_of_the_fit(n, named):
    X, y = customers()
    new, truth = customers("d", n, seed=1)
    new = new if named else new.reset_index(drop=True)
    model = SGC().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame = model.predict_frame(new)
    assert frame.index.tolist() == new.index.tolist()
    assert not frame["labeled"].any()
    assert (frame["prediction"].to_numpy() == truth).mean() > 0.9


def test_some_of_the_rows_are_known_by_name():
    X, y = customers()
    model = LabelPropagation().fit(X, y)
    new, _ = customers("d", 3)
    some = pd.concat([X.iloc[5:8], new])
    frame = model.predict_frame(some)
    assert frame["labeled"].tolist() == [True] * 3 + [False] * 3
    assert frame["prediction"].tolist()[:3] == y.iloc[5:8].tolist()
    assert model.score(X.iloc[:5], y.iloc[:5].iloc[::-1]) == 1.0


def test_weights_and_validation_follow_the_names():
    X, y = customers()
    weight = pd.Series(np.arange(N) % 2 + 1.0, index=X.index)
    mask = pd.Series(np.arange(N) % 4 == 0, index=X.index)
    model = SGC().fit(X, y, sample_weight=weight.iloc[::-1], validation=mask.iloc[::-1])
    straight = SGC().fit(X, y, sample_weight=weight.to_numpy(), validation=mask.to_numpy())
    assert model.validation_.tolist() == straight.validation_.tolist()
    np.testing.assert_array_equal(model.predict_proba(), straight.predict_proba())
    assert SGC().fit(X, y, validation=["c4", "c9"]).validation_.tolist() == [4, 9]


def test_a_search_keeps_names_too():
    X, y = customers()
    search = GraphSearch(SGC(), {"n_steps": [1, 2]}).fit(X, y)
    assert search.predict_frame().index.tolist() == X.index.tolist()


def test_an_index_that_does_not_tell_rows_apart_is_left_out():
    X, y = customers()
    X.index = ["a"] * N
    frame = SGC().fit(X, y.to_numpy()).predict_frame()
    assert frame.index.tolist() == list(range(N))
    X.index = [None, *range(N - 1)]
    assert SGC().fit(X, y.to_numpy()).predict_frame().index.tolist() == list(range(N))


def test_the_missing_graph_is_reported_once():
    X, y = customers()
    with pytest.warns(UserWarning, match="no graph was given") as caught:
        SGC().fit(X, y)
    assert len(caught) == 1


def test_a_given_graph_without_edges_says_no_more_than_none():
    X, y = customers()
    graph = Graph.from_edges([], [], n_nodes=N).with_names(X.index)
    model = SGC().fit(X, y, graph=graph)
    assert model.predict_frame(X.iloc[5:8]).index.tolist() == ["c5", "c6", "c7"]
