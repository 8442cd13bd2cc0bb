"""Rows are matched with nodes by name; arrays go by position."""

import warnings

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeltrick import (
    Graph,
    GraphBoosting,
    GraphSearch,
    LabelFeatureRegression,
    LabelPropagation,
    open_graph,
)
from labeltrick import save_graph as save

N = 60


def people(seed=0, names="string"):
    """Two groups of people: edges within groups, a column that helps, half of the labels."""
    rng = np.random.default_rng(seed)
    group = np.arange(N) % 2
    ends = rng.integers(0, N, (2, 6 * N))
    ends = ends[:, group[ends[0]] == group[ends[1]]]
    called = np.array([f"p{k:02}" for k in range(N)]) if names == "string" else np.arange(N)
    frame = pd.DataFrame(
        {"height": group + rng.normal(size=N), "label": np.where(group, "b", "a")}, index=called
    )
    known = frame["label"].where(rng.random(N) < 0.4)
    edges = pd.DataFrame({"source": called[ends[0]], "target": called[ends[1]]})
    return frame, known, edges


def graph_of(frame, edges):
    return Graph.from_pandas(edges, nodes=frame)


@pytest.mark.parametrize("names", ["string", "integer"])
@given(seed=st.integers(0, 100))
@settings(max_examples=10)
def test_shuffled_frames_give_the_same_predictions(names, seed):
    frame, known, edges = people(names=names)
    rng = np.random.default_rng(seed)
    graph = graph_of(frame, edges)
    X = frame[["height"]]
    expected = LabelFeatureRegression().fit(X, known, graph=graph).predict_frame()
    assert expected.index.tolist() == frame.index.tolist()
    rows, others = rng.permutation(N), rng.permutation(N)
    model = LabelFeatureRegression().fit(X.iloc[rows], known.iloc[others], graph=graph)
    found = model.predict_frame()
    assert found.index.tolist() == frame.index[rows].tolist()
    pd.testing.assert_frame_equal(found.loc[expected.index], expected)
    # Everything that comes out follows the rows of X.
    assert model.predict().tolist() == found["prediction"].tolist()
    assert model.predict(X.iloc[others]).tolist() == found["prediction"][X.index[others]].tolist()
    assert model.score(None, frame["label"].iloc[others]) == pytest.approx(
        (found["prediction"] == frame["label"].iloc[rows]).mean()
    )


def test_a_shuffled_series_is_not_taken_by_position():
    frame, known, edges = people(names="integer")
    graph = Graph.from_edges(edges["source"], edges["target"], n_nodes=N)
    assert graph.names is None
    straight = LabelPropagation(0.9).fit(None, known, graph=graph)
    shuffled = LabelPropagation(0.9).fit(None, known.sample(frac=1, random_state=0), graph=graph)
    assert straight.score(None, frame["label"]) > 0.95
    np.testing.assert_array_equal(straight.predict(), shuffled.predict())


def test_only_the_known_labels_may_be_given():
    frame, known, edges = people()
    graph = graph_of(frame, edges)
    expected = LabelPropagation().fit(None, known, graph=graph)
    for some in (known.dropna(), known.dropna().to_dict()):
        found = LabelPropagation().fit(None, some, graph=graph)
        np.testing.assert_array_equal(found.predict_proba(), expected.predict_proba())
    codes = known.dropna().map({"a": 0, "b": 1}).astype(int)
    classes = LabelPropagation().fit(None, codes, graph=graph).classes_
    assert classes.tolist() == [0, 1]
    assert classes.dtype.kind == "i"
    numbers = LabelPropagation(task="regression").fit(None, codes - 1, graph=graph)
    assert len(numbers.labeled_) == len(codes)  # −1 is a number there


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_an_id_column_names_the_rows(kind):
    frame, known, edges = people()
    graph = graph_of(frame, edges)
    expected = GraphBoosting(n_rounds=5).fit(frame[["height"]], known, graph=graph).predict_frame()
    table = frame.reset_index(names="who")[["height", "who"]].sample(frac=1, random_state=1)
    labels = known.reset_index(name="label").rename(columns={"index": "who"})
    if kind == "polars":
        table, labels = pl.from_pandas(table), pl.from_pandas(labels)
    model = GraphBoosting(n_rounds=5).fit(table, labels, graph=graph, id="who")
    assert model.n_features_in_ == 1
    found = model.predict_frame(output="pandas")
    assert found.index.tolist() == table["who"].to_list()
    pd.testing.assert_frame_equal(found.loc[expected.index], expected)
    again = model.predict(table)
    np.testing.assert_array_equal(again, model.predict())


def test_polars_frames_need_the_name_of_the_id_column():
    frame, known, edges = people()
    table = pl.DataFrame({"who": frame.index.to_list(), "height": frame["height"].to_list()})
    with pytest.raises(ValueError, match="`id` must be given: column 'who' of X holds names"):
        GraphBoosting().fit(table, known, graph=graph_of(frame, edges))
    with pytest.raises(ValueError, match="`id` must name a column of `X`, as in fit; got 'whom'"):
        GraphBoosting().fit(table, known, graph=graph_of(frame, edges), id="whom")
    friend = pl.DataFrame({"friend": ["p01", "p02"] * (N // 2), "height": table["height"]})
    model = GraphBoosting(n_rounds=2).fit(friend, known, graph=graph_of(frame, edges))
    assert model.n_features_in_ == 2


def test_networkx_graphs_are_taken_as_they_are():
    frame, known, edges = people()
    G = nx.from_pandas_edgelist(edges)
    G.add_nodes_from(frame.index)
    X = frame[["height"]]
    found = LabelFeatureRegression().fit(X, known, graph=G).predict_frame()
    expected = LabelFeatureRegression().fit(X, known, graph=graph_of(frame, edges)).predict_frame()
    pd.testing.assert_frame_equal(found, expected)
    names = {name: label for name, label in known.items() if label == label}
    model = LabelPropagation().fit(None, names, graph=G)
    assert dict(zip(G.nodes, model.predict(), strict=True))["p00"] == "a"


def test_names_of_validation_nodes():
    frame, known, edges = people()
    graph = graph_of(frame, edges)
    chosen = known.dropna().index[:6]
    expected = LabelPropagation().fit(None, known, graph=graph, validation=graph.index_of(chosen))
    mask = pd.Series(known.index.isin(chosen), index=known.index).sample(frac=1, random_state=0)
    for validation in (chosen, list(chosen), mask):
        model = LabelPropagation().fit(None, known, graph=graph, validation=validation)
        np.testing.assert_array_equal(model.validation_, expected.validation_)
    with pytest.raises(ValueError, match="no node is called 'nobody'"):
        LabelPropagation().fit(None, known, graph=graph, validation=["nobody"])


def test_sample_weights_are_matched_too():
    frame, known, edges = people()
    graph = graph_of(frame, edges)
    weight = pd.Series(np.linspace(0.5, 2, N), index=frame.index)
    one = LabelPropagation().fit(None, known, graph=graph, sample_weight=weight)
    other = LabelPropagation().fit(
        None, known, graph=graph, sample_weight=weight.sample(frac=1, random_state=0)
    )
    np.testing.assert_array_equal(one.predict_proba(), other.predict_proba())
    with pytest.raises(ValueError, match="a weight for every node; 'p00' has none"):
        LabelPropagation().fit(None, known, graph=graph, sample_weight=weight.iloc[1:])


def fitted_with(X, y, graph, **options):
    return LabelFeatureRegression().fit(X, y, graph=graph, **options)


def test_errors_name_the_first_id_that_does_not_match():
    frame, known, edges = people()
    graph = graph_of(frame, edges)
    X = frame[["height"]]
    with pytest.raises(ValueError, match=r"row 2 is called 'p99', which is not a node \(1 such"):
        fitted_with(X.rename(index={"p02": "p99"}), known, graph)
    with pytest.raises(ValueError, match=r"a row for every node \(60\); node 'p07' has none \(1"):
        fitted_with(X.drop(index="p07"), known, graph)
    with pytest.raises(ValueError, match="`y` must be indexed by names.*row 3 is called 'p99'"):
        fitted_with(X, known.rename(index={"p03": "p99"}), graph)
    with pytest.raises(ValueError, match=r"`the names of X` must hold each name once; got 'p01'"):
        fitted_with(X.rename(index={"p02": "p01"}), known, graph)
    with pytest.raises(ValueError, match=r"Column 'who' holds them: pass X.set_index\('who'\)"):
        fitted_with(X.reset_index(names="who"), known, graph)
    with pytest.raises(ValueError, match="row 0 is called 0, .*the first node is called 'p00'"):
        fitted_with(X, known.reset_index(drop=True), graph)


def test_arrays_beside_a_frame_in_another_order_are_refused():
    frame, known, edges = people()
    graph = graph_of(frame, edges)
    moved = frame[["height"]].iloc[::-1]
    with pytest.raises(ValueError, match=r"`y` must carry names.*pandas.Series\(y, index=X.index"):
        fitted_with(moved, known.to_numpy(), graph)
    with pytest.raises(ValueError, match="`validation` must carry names"):
        fitted_with(moved, known, graph, validation=[1])
    with pytest.raises(ValueError, match="`sample_weight` must carry names"):
        fitted_with(moved, known, graph, sample_weight=np.ones(N))
    assert fitted_with(frame[["height"]], known.to_numpy(), graph).n_features_in_ == 1


def test_an_index_that_is_not_the_nodes_numbers_is_refused():
    frame, known, edges = people(names="integer")
    graph = Graph.from_edges(edges["source"], edges["target"], n_nodes=N)
    X = frame[["height"]]
    with pytest.raises(ValueError, match=r"graph.with_names\(X.index\)"):
        fitted_with(X.set_index(X.index + 1), known, graph)
    with pytest.raises(ValueError, match=r"`y` must have one row per node \(60\); got 5"):
        fitted_with(X, known.iloc[:5].reset_index(drop=True), graph)
    matrix = Graph.from_scipy(graph.to_scipy())
    with pytest.raises(ValueError, match="in the order of the matrix that the graph was built"):
        fitted_with(X.iloc[::-1], known, matrix)
    assert fitted_with(X, known.iloc[::-1], matrix).score(None, frame["label"]) > 0.7


def test_without_a_graph_labels_follow_the_index_of_the_frame():
    frame, known, _ = people()
    X, graph = frame[["height"]], None
    with pytest.warns(UserWarning, match="no graph was given"):
        one = fitted_with(X, known, graph)
    with pytest.warns(UserWarning, match="no graph was given"):
        other = fitted_with(X, known.sample(frac=1, random_state=0), graph)
    np.testing.assert_array_equal(one.predict(), other.predict())


def test_graph_folders_take_rows_in_their_own_order(tmp_path):
    frame, known, edges = people()
    graph = open_graph(save(graph_of(frame, edges), tmp_path / "graph"))
    X = frame[["height"]]
    assert fitted_with(X, known.iloc[::-1], graph).predict_frame().index[3] == "p03"
    with pytest.raises(ValueError, match=r"Use X.loc\[graph.names\]"):
        fitted_with(X.iloc[::-1], known, graph)


def test_what_is_not_a_graph():
    frame, known, _ = people()
    with pytest.raises(TypeError, match="`graph` must be a labeltrick.Graph or a networkx"):
        fitted_with(frame[["height"]], known, "graph")


def numbered():
    """A path 0 – 1 – 2 – 3 with ids in a column, in reverse order; labels A at 0 and D at 3."""
    frame = pd.DataFrame({"id": [3, 2, 1, 0], "f": 0.0, "y": ["D", None, None, "A"]})
    return Graph.from_edges([0, 1, 2], [1, 2, 3]), frame


TRUTH = {0: "A", 1: "A", 2: "D", 3: "D"}


def test_labels_beside_an_id_column_follow_the_rows_of_the_frame():
    graph, frame = numbered()
    X, y = frame[["id", "f"]], frame["y"]
    for labels in (y, y.iloc[::-1], frame[["y"]], frame[["id", "y"]], y.dropna()):
        model = LabelPropagation().fit(X, labels, graph=graph, id="id")
        assert model.predict_frame()["prediction"].to_dict() == TRUTH
        assert model.predict(X, y).tolist() == ["D", "D", "A", "A"]
        assert model.score(X, pd.Series(["D", "D", "A", "A"])) == 1.0
    mask = pd.Series([True, False, False, False])  # row 0 of the frame, which is node 3
    model = LabelPropagation().fit(X, y, graph=graph, id="id", validation=mask)
    assert model.graph_.name_table.values[model.validation_].tolist() == [3]


def test_frames_without_the_id_column_of_the_fit_are_refused():
    graph, frame = numbered()
    model = LabelPropagation().fit(frame[["id", "f"]], frame[["id", "y"]], graph=graph, id="id")
    for table in (frame[["f"]], pl.from_pandas(frame[["f"]])):
        with pytest.raises(ValueError, match="`id` must name a column of `X`, as in fit; got 'id'"):
            model.predict(table)
    with pytest.raises(ValueError, match="`id` must name a column of `X`"):
        LabelPropagation().fit(frame[["f"]], frame["y"], graph=graph, id="customer")


def test_arrays_are_refused_after_a_fit_in_another_order():
    graph = Graph.from_edges(list("abc"), list("bcd"))
    X = pd.DataFrame({"f": [0.0] * 4}, index=list("dcba"))
    model = LabelPropagation().fit(X, {"a": "A", "d": "D"}, graph=graph)
    truth = np.array(["A", "A", "D", "D"])
    with pytest.raises(ValueError, match="`y` must carry names, because the fit put the nodes"):
        model.score(None, truth)
    with pytest.raises(ValueError, match="`X` must carry names, because the fit put the nodes"):
        model.predict(X.to_numpy())
    assert model.score(None, pd.Series(truth, index=list("abcd"))) == 1.0
    known = np.array(["A", None, None, "D"], object)
    assert model.predict(y=known, graph=graph).tolist() == ["A", "A", "D", "D"]
    doubtful = LabelPropagation().fit(X, {"a": "A", "b": "D", "c": "D", "d": "D"}, graph=graph)
    assert doubtful.suspicious_labels(1).names.tolist() == ["a"]


def test_features_that_have_lost_their_names_are_refused():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    frame, known, edges = people()
    graph = graph_of(frame, edges)
    X = frame[["height"]].iloc[::-1]
    steps = make_pipeline(StandardScaler(), LabelFeatureRegression())
    with pytest.raises(ValueError, match="`X` must carry names.*set_output"):
        steps.fit(X, known.iloc[::-1], labelfeatureregression__graph=graph)
    steps.set_output(transform="pandas")
    steps.fit(X, known.iloc[::-1], labelfeatureregression__graph=graph)
    straight = LabelFeatureRegression().fit(frame[["height"]], known, graph=graph).predict()
    assert (steps.predict(X) == straight[::-1]).mean() > 0.95


def test_features_without_names_beside_named_labels_are_a_warning():
    frame, known, edges = people()
    graph, X = graph_of(frame, edges), frame[["height"]]
    model = LabelFeatureRegression()
    for y in (known, known.dropna()):  # the rows of X may have been in another order than those
        with pytest.warns(UserWarning, match="`X` has no names, and `y` has: row k .*set_output"):
            model.fit(X.iloc[::-1].to_numpy(), y, graph=graph)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X.to_numpy(), known.to_numpy(), graph=graph)
        model.fit(X, known, graph=graph)
        LabelPropagation().fit(None, known, graph=graph)


def test_numbers_of_networkx_in_the_order_of_its_edges_are_a_warning():
    """`Graph.from_pandas` calls node k k; networkx lists nodes in the order of the edges."""
    graph = nx.Graph([(3, 1), (1, 0), (0, 2)])
    y, X = np.array([0, 1, -1, -1]), np.arange(4.0)[:, None]
    words = (
        "the nodes are called 0 to 3, but their order is 3, 1, 0, …, and `y` has no names: row k"
    )
    with pytest.warns(UserWarning, match=words):
        LabelPropagation().fit(None, y, graph=graph)
    with pytest.warns(UserWarning, match="`X` and `y` have no names"):
        model = LabelFeatureRegression().fit(X, y, graph=graph)
    with pytest.warns(UserWarning, match="`X` has no names"):
        model.predict(X, graph=graph)
    named, straight = pd.Series(y), nx.Graph([(0, 1), (1, 3), (0, 2)])
    straight = Graph.from_edges(*np.array(straight.edges).T)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = LabelPropagation().fit(None, y, graph=straight).predict()
        found = LabelPropagation().fit(None, named, graph=graph).predict_frame()["prediction"]
        assert found.sort_index().tolist() == expected.tolist()
        frame = pd.DataFrame(X, index=[3, 1, 0, 2])
        LabelFeatureRegression().fit(frame, y, graph=graph)  # rows of y are those of X
        LabelPropagation().fit(None, np.array([0, 1, -1, -1]), graph=nx.path_graph(4))


def test_search_with_an_id_column():
    graph, frame = numbered()
    X = frame[["id", "f"]].assign(f=[3.0, 2.0, 1.0, 0.0])
    search = GraphSearch(LabelFeatureRegression(), {"ridge": [0.1]}, progress=False)
    y = frame.assign(y=["D", "D", "A", "A"])["y"]
    search.fit(X, y, graph=graph, id="id")
    assert search.predict_frame()["prediction"].to_dict() == TRUTH
    assert search.extend(pd.DataFrame({"f": [9.0]}, index=[4])).predict().shape == (5,)


def test_no_labels_at_all():
    frame, known, edges = people()
    model = LabelPropagation().fit(None, known, graph=graph_of(frame, edges))
    for nothing in (pd.Series(dtype=object), {}):
        assert not model.predict_frame(None, nothing)["labeled"].any()


def test_ids_of_another_type():
    frame, known, edges = people(names="integer")
    graph = Graph.from_pandas(edges + 100, nodes=frame.index + 100)
    X = frame[["height"]].set_index((frame.index + 100).astype(str))
    with pytest.raises(ValueError, match="They are of another type: convert them"):
        fitted_with(X, known, graph)


def test_a_column_of_node_numbers_in_another_order_is_pointed_out():
    graph, frame = numbered()
    for table in (frame[["id", "f"]], pl.from_pandas(frame[["id", "f"]])):
        with pytest.warns(
            UserWarning, match=r"column 'id' of `X` holds the numbers 0 to 3.*id='id"
        ):
            LabelPropagation().fit(table, frame["y"], graph=graph)
