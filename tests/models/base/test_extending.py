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
    with pytest.raises(
        ValueError, match="`edges` must connect nodes .*; 'p99' in row 0 of edges.0. "
    ):
        model.extend(X.iloc[N:], (["p99"], ["p01"]))
    with pytest.raises(ValueError, match="`edges` must have the column 'source'; it has: 'from'"):
        model.extend(edges=pd.DataFrame({"from": ["p01"], "to": ["p02"]}))
    with pytest.raises(TypeError, match="`edges` must be a frame"):
        model.extend(edges=[["p01", "p02"]])
    with pytest.raises(ValueError, match="`nodes` must have names, as in the fit"):
        model.extend(np.ones((1, 1)))
    with pytest.raises(ValueError, match="must have no weights, as in the fit"):
        model.extend(edges=(["p01"], ["p02"], [1.0]))
    weighted = LabelPropagation().fit(
        None, {"a": "x", "b": "y"}, graph=Graph.from_edges(["a"], ["b"], weight=[2.0])
    )
    with pytest.raises(ValueError, match="must have weights, .* Add a column 'weight'"):
        weighted.extend(edges=(["a"], ["b"]))
    with pytest.raises(ValueError, match="'p99', which is not a node"):
        model.extend(labels={"p99": "a"})
    with pytest.raises(ValueError, match="classes seen in fit; got .*'c'"):
        model.extend(labels={"p01": "c"})
    with pytest.raises(ValueError, match="columns of the fit; 'height' is missing"):
        model.extend(X.iloc[N:].rename(columns={"height": "width"}), after)


def test_an_index_that_counts_rows_names_no_old_nodes():
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3])
    frame = pd.DataFrame({"f": [0.0, 1, 2, 3]})
    model = LabelFeatureRegression(task="regression").fit(frame, frame["f"], graph=graph)
    more = model.extend(pd.DataFrame({"f": [100.0, 200.0]}))
    assert more.predict().shape == (6,)
    np.testing.assert_allclose(more.predict()[:4], model.predict(), atol=1e-6)


def test_labels_of_validation_nodes_stay_where_the_model_uses_them():
    edges, X, y = town(6)
    before, _ = halves(edges)
    model = CorrectAndSmooth(LogisticRegression(), validation_labels=True)
    known = y.iloc[:N].dropna().index
    graph = Graph.from_pandas(before, nodes=X.iloc[:N])
    model.fit(X.iloc[:N], y.iloc[:N], graph=graph, validation=known[:8])
    assert model.predict_frame()["labeled"].sum() == len(known)
    pd.testing.assert_frame_equal(model.extend().predict_frame(), model.predict_frame())


@pytest.mark.parametrize("weights", ["balanced", {"a": 3.0}])
def test_class_weights_count_old_and_new_labels(weights):
    edges, X, y = town(7)
    before, after = halves(edges)
    graph = Graph.from_pandas(before, nodes=X.iloc[:N])
    model = LabelPropagation(0.9, class_weight=weights).fit(None, y.iloc[:N], graph=graph)
    fresh = pd.Series(["a"] * 6 + ["b"], index=NAMES[N : N + 7])
    whole = Graph.from_pandas(edges, nodes=X)
    expected = model.predict_frame(None, pd.concat([y.iloc[:N], fresh]), graph=whole)
    once = model.extend(NAMES[N:], after, fresh)
    twice = model.extend(NAMES[N:], after, fresh[:3]).extend(labels=fresh[3:])
    for more in (once, twice):
        found = more.predict_frame(output="pandas").loc[NAMES]
        pd.testing.assert_frame_equal(found, expected.loc[NAMES], atol=1e-6)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_new_nodes_updated_rows_and_labels_of_frames_with_ids(kind):
    """New nodes have edges to old ones, an old row changes, and a new node has a label."""
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame}[kind]
    edges, X, y = town(8)
    before, after = halves(edges)
    frame = make({"who": NAMES.tolist(), "height": X["height"].tolist()})
    graph = Graph.from_pandas(before, nodes=X.iloc[:N])
    known = y.iloc[:N].dropna()
    model = LabelFeatureRegression()
    given = make({"who": known.index.tolist(), "group": known.tolist()})
    model.fit(frame[:N], given, graph=graph, id="who")
    nodes = make({"who": ["p03", *NAMES[N:]], "height": [99.0, *X["height"].iloc[N:]]})
    labels = make({"who": ["p61", "p03"], "group": ["b", "a"]})
    after = make({name: after[name].tolist() for name in after})
    found = model.extend(nodes, after, labels, id="who").predict_frame(output="pandas")
    changed, all_known = X.copy(), y.where(y.index < "p60")
    changed.loc["p03", "height"] = 99.0
    all_known.loc[["p61", "p03"]] = ["b", "a"]
    plain = LabelFeatureRegression().fit(X.iloc[:N], known, graph=graph)
    whole = Graph.from_pandas(edges, nodes=X)
    expected = plain.predict_frame(changed, all_known, graph=whole, output="pandas")
    found = found.set_index("who") if "who" in found else found
    pd.testing.assert_frame_equal(found.loc[NAMES], expected, atol=1e-5, check_names=False)


def test_names_in_a_column_for_a_model_without_features():
    graph = Graph.from_edges(["ann", "bob"], ["bob", "cem"])
    model = LabelPropagation().fit(None, {"ann": "tea", "cem": "coffee"}, graph=graph)
    frame = {"who": ["dia", "eve"], "town": ["Ulm", "Bonn"]}
    edges = (["dia", "eve"], ["cem", "dia"])
    expected = model.extend(["dia", "eve"], edges).predict_frame()
    for nodes in (pd.DataFrame(frame), pl.DataFrame(frame)):
        assert model.extend(nodes, edges, id="who").predict_frame().equals(expected)
    nodes = pd.DataFrame(frame).set_index("who")
    assert model.extend(nodes, edges).predict_frame().equals(expected)
    for nodes in (pd.DataFrame(frame), pl.DataFrame(frame)):
        with pytest.raises(ValueError, match="`nodes` must have names, as in the fit"):
            model.extend(nodes, edges)


def test_which_nodes_labels_belong_to_must_be_said():
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3])
    model = LabelPropagation().fit(None, [0, -1, -1, 1], graph=graph)
    edges = ([4, 5], [0, 3])
    more = model.extend([4, 5], edges, {4: 1})
    assert more.predict_frame()["labeled"].to_list() == [True, False, False, True, True, False]
    for labels in ([1, 0], np.array([1, 0]), pl.Series([1, 0]), pl.DataFrame({"y": [1, 0]})):
        with pytest.raises(ValueError, match="`labels` must say which nodes they belong to; got"):
            model.extend([4, 5], edges, labels)
    with pytest.raises(ValueError, match="its index only counts rows.* numbered up to 5"):
        model.extend([4, 5], edges, pd.Series([1, 0]))


def test_names_of_another_type_and_names_that_occur_twice():
    model, X, after = fitted()
    with pytest.raises(TypeError, match="`nodes` must have names of the same type.* got 7, "):
        model.extend(pd.DataFrame({"height": [1.0]}, index=[7]))
    with pytest.raises(ValueError, match="edges.'target'. is neither. Convert it.*'p00'"):
        model.extend(edges=pd.DataFrame({"source": ["p01"], "target": [2]}))
    twice = X.iloc[[N, N]]
    with pytest.raises(ValueError, match="names of nodes` must hold each name once; got 'p60'"):
        model.extend(twice, after)
    with pytest.raises(ValueError, match="names of labels` must hold each name once; got 'p01'"):
        model.extend(labels=pd.Series(["a", "b"], index=["p01", "p01"]))
    with pytest.raises(
        ValueError, match="`edges` must have as many sources as targets; got 2 and 1"
    ):
        model.extend(edges=(["p01", "p02"], ["p03"]))
    weighted = Graph.from_edges(["a", "b"], ["b", "c"], weight=[1.0, 2.0])
    heavy = LabelPropagation().fit(None, {"a": 0, "c": 1}, graph=weighted)
    for wrong in (["x"], [None], [np.nan], [-1.0], [1.0, 2.0]):
        with pytest.raises((ValueError, TypeError), match="weight"):
            heavy.extend(["d"], (["d"], ["a"], wrong))
    with pytest.raises(ValueError, match="`edges` must connect .*; None in row 1 of edges"):
        model.extend(edges=pl.DataFrame({"source": ["p01", None], "target": ["p02", "p03"]}))
