"""New nodes, edges and labels without training again."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from labeltrick import (
    CorrectAndSmooth,
    Graph,
    GraphBoosting,
    LabelFeatureRegression,
    LabelPropagation,
)

N, NEW = 60, 8
NAMES = np.array([f"p{k:02}" for k in range(N + NEW)])


def town(seed, weighted=False):
    """People, of whom the last are new, with edges between all of them."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, N + NEW)
    ends = rng.integers(0, N + NEW, (2, 500))
    ends = ends[:, group[ends[0]] == group[ends[1]]]
    edges = pd.DataFrame({"source": NAMES[ends[0]], "target": NAMES[ends[1]]})
    if weighted:
        edges["weight"] = rng.integers(1, 4, len(edges)).astype(float)
    X = pd.DataFrame({"height": group + rng.normal(size=N + NEW)}, index=NAMES)
    y = pd.Series(np.where(group, "b", "a"), index=NAMES).where(rng.random(N + NEW) < 0.4)
    return edges, X, y


def halves(edges):
    old = edges["source"].lt("p60") & edges["target"].lt("p60")
    return edges[old], edges[~old]


MODELS = {
    "propagation": lambda: LabelPropagation(0.9),
    "regression": lambda: LabelFeatureRegression(),
    "boosting": lambda: GraphBoosting(n_rounds=4, progress=False),
    "correct and smooth": lambda: CorrectAndSmooth(LogisticRegression()),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", MODELS)
@given(seed=st.integers(0, 1000))
@settings(max_examples=3)
def test_an_extended_model_predicts_like_the_larger_graph(name, weighted, seed):
    edges, X, y = town(seed, weighted)
    before, after = halves(edges)
    weight = "weight" if weighted else None
    graph = Graph.from_pandas(before, nodes=X.iloc[:N], weight=weight)
    model = MODELS[name]()
    features = None if name == "propagation" else X
    model.fit(None if features is None else X.iloc[:N], y.iloc[:N], graph=graph)
    nodes = X.index[N:] if features is None else X.iloc[N:].sample(frac=1, random_state=seed)
    more = model.extend(nodes, after, y.iloc[N:].dropna())
    whole = Graph.from_pandas(edges, nodes=X, weight=weight)
    expected = model.predict_frame(features, y, graph=whole, output="pandas")
    found = more.predict_frame(output="pandas")
    assert found.index[:N].tolist() == NAMES[:N].tolist()
    pd.testing.assert_frame_equal(found.loc[expected.index], expected, atol=1e-6)
    assert more.predict().tolist() == found["prediction"].tolist()
    np.testing.assert_array_equal(more.predict_proba()[:, 0], found["p_a"])


def fitted():
    edges, X, y = town(3)
    before, after = halves(edges)
    model = LabelFeatureRegression().fit(
        X.iloc[:N], y.iloc[:N], graph=Graph.from_pandas(before, nodes=X.iloc[:N])
    )
    return model, X, after


def test_nothing_new_changes_nothing():
    model, X, _ = fitted()
    np.testing.assert_allclose(model.extend().predict_proba(), model.predict_proba(), atol=1e-6)
    same = model.extend(X.iloc[:5])
    np.testing.assert_allclose(same.predict_proba(), model.predict_proba(), atol=1e-6)


def test_rows_of_known_nodes_replace_their_features():
    model, X, _ = fitted()
    found = [model.extend(X.iloc[[7]] + shift).inputs.X[7, 0] for shift in (0, 100)]
    assert found[1] == pytest.approx(found[0] + 100)
    low, high = (model.extend(X.iloc[[7]] + shift).predict()[7] for shift in (-100, 100))
    assert (low, high) == ("a", "b")


def test_extending_twice_is_extending_once():
    model, X, after = fitted()
    once = model.extend(X.iloc[N:], after, {"p61": "a", "p62": "b"})
    twice = model.extend(X.iloc[N:], after).extend(labels={"p61": "a", "p62": "b"})
    pd.testing.assert_frame_equal(once.predict_frame(), twice.predict_frame(), atol=1e-9)
    assert once.predict_frame().loc["p61", "labeled"]


def test_polars_with_an_id_column_and_rows_without_names():
    edges, X, y = town(4)
    before, after = halves(edges)
    model = GraphBoosting(n_rounds=4, progress=False)
    model.fit(X.iloc[:N], y.iloc[:N], graph=Graph.from_pandas(before, nodes=X.iloc[:N]))
    nodes = pl.DataFrame({"who": X.index[N:].to_list(), "height": X["height"].iloc[N:].to_list()})
    found = model.extend(nodes, pl.from_pandas(after), id="who").predict_frame()
    pd.testing.assert_frame_equal(found, model.extend(X.iloc[N:], after).predict_frame())
    graph = Graph.from_edges([0, 1], [1, 2])
    plain = LabelFeatureRegression().fit(np.eye(3), [0, 1, -1], graph=graph)
    assert plain.extend(np.ones((2, 3)), ([3, 4], [0, 3])).predict().shape == (5,)


def test_what_is_refused():
    model, X, after = fitted()
    with pytest.raises(ValueError, match="`src` must hold names of nodes; 'p99' at row 0"):
        model.extend(X.iloc[N:], (["p99"], ["p01"]))
    with pytest.raises(ValueError, match="`edges` must have the column 'source'; it has: 'from'"):
        model.extend(edges=pd.DataFrame({"from": ["p01"], "to": ["p02"]}))
    with pytest.raises(TypeError, match="`edges` must be a frame"):
        model.extend(edges=[["p01", "p02"]])
    with pytest.raises(ValueError, match="`nodes` must have names, as in the fit"):
        model.extend(np.ones((1, 1)))
    with pytest.raises(ValueError, match="must have no weights"):
        model.extend(edges=(["p01"], ["p02"], [1.0]))
    with pytest.raises(ValueError, match="'p99', which is not a node"):
        model.extend(labels={"p99": "a"})
    with pytest.raises(ValueError, match="classes seen in fit; got .*'c'"):
        model.extend(labels={"p01": "c"})
    with pytest.raises(ValueError, match="feature names"):
        model.extend(X.iloc[N:].rename(columns={"height": "width"}), after)


def test_an_index_that_counts_rows_names_no_old_nodes():
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3])
    frame = pd.DataFrame({"f": [0.0, 1, 2, 3]})
    model = LabelFeatureRegression(task="regression").fit(frame, frame["f"], graph=graph)
    more = model.extend(pd.DataFrame({"f": [100.0, 200.0]}))
    assert more.predict().shape == (6,)
    np.testing.assert_allclose(more.predict()[:4], model.predict(), atol=1e-6)
