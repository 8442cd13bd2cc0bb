"""`explain`: nodes by name or number, other labels and graphs, saved models, and wrong input."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from labeltrick import (
    Graph,
    GraphSearch,
    LabelPropagation,
    load_model,
    open_graph,
    save_graph,
    save_model,
)
from labeltrick.explain import explain
from tests.explain.conftest import make_problem
from tests.support.leaks import make


def fitted(graph=None, y=None, **options):
    made, _, labels = make_problem()
    return LabelPropagation(0.8, **options).fit(
        None, labels if y is None else y, graph=made if graph is None else graph
    )


def test_nodes_by_name_and_by_number():
    named = fitted()
    plain = fitted(named.graph_.with_names(None))
    by_name, by_number = named.explain(["node 5", "node 2"]), plain.explain([5, 2])
    assert [item.node for item in by_name] == ["node 5", "node 2"]
    assert [item.node for item in by_number] == [5, 2]
    assert by_name[0].score == by_number[0].score
    assert plain.explain(5)[0] == by_number[0]
    assert plain.explain(np.arange(60) == 5)[0] == by_number[0]
    assert named.explain("node 5")[0] == by_name[0]


def test_whole_numbers_are_names_where_they_are_names():
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3]).with_names([10, 20, 30, 40])
    model = LabelPropagation().fit(None, pd.Series({10: "a", 40: "b"}), graph=graph)
    found = model.explain([20, 30])
    assert [(item.node, item.prediction) for item in found] == [(20, "a"), (30, "b")]
    with pytest.raises(ValueError, match="no node is called 2. "):
        model.explain(2)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ("node 7x", r"no node is called 'node 7x'. Did you mean 'node 7'\?"),
        ("NODE 7", r"Did you mean 'node 7'\?"),
        ("something else", "The first node is called 'node 0'."),
        (7, "no node is called 7. The first node is called 'node 0'."),
        ([], "at least one node; got none"),
    ],
)
def test_unknown_names(nodes, message):
    with pytest.raises(ValueError, match=message):
        fitted().explain(nodes)


def test_unknown_numbers():
    model = fitted(fitted().graph_.with_names(None))
    with pytest.raises(ValueError, match="`nodes` must hold node numbers in 0…59; got 60"):
        model.explain(60)
    with pytest.raises(ValueError, match="have no names; got 'ann'"):
        model.explain("ann")


def test_wrong_options():
    model = fitted()
    with pytest.raises(ValueError, match="`edges` must be True, False or 'auto'; got 'some'"):
        model.explain("node 1", edges="some")
    with pytest.raises(ValueError, match="`target` must be one of"):
        model.explain("node 1", target=7)
    with pytest.raises(ValueError, match="`top`"):
        model.explain("node 1", top=0)
    with pytest.raises(ValueError, match="not fitted"):
        LabelPropagation().explain(0)


def test_another_class_is_explained_on_request():
    model = fitted()
    a, b = (model.explain("node 1", target=k, edges=False)[0] for k in (0, 1))
    assert a.score + b.score == pytest.approx(1.0)
    assert a.prediction == b.prediction
    assert "; 1 (" in str(b if b.output != b.prediction else a) or "; 0 (" in str(a)


def test_columns_of_several_labels_have_names():
    graph, _, y = make_problem("multilabel")
    frame = pd.DataFrame(y, columns=["drama", "comedy"], index=graph.names)
    model = LabelPropagation(0.8).fit(None, frame, graph=graph)
    found = model.explain("node 9")
    assert [item.output for item in found] == ["drama", "comedy"]
    assert model.explain("node 9", target="comedy")[0] == found[1]
    labels = [each for item in found for each in item.contributions if each.kind == "label"]
    assert {each.value for each in labels} <= {0, 1}


def test_other_labels_and_another_graph():
    model = fitted()
    y = np.where(np.arange(60) % 3, -1, np.arange(60) % 2)
    item = model.explain("node 1", None, y, edges=False)[0]
    assert item.score == pytest.approx(model.predict_proba(None, y)[1].max(), abs=1e-5)
    other = Graph.from_edges(["node 1", "new"], ["node 2", "node 1"])
    found = model.explain(["new", "node 1"], graph=other, edges=False)
    rows = model.predict_proba(graph=other)
    place = other.index_of(["new"])[0]
    assert found[0].score == pytest.approx(rows[place].max(), abs=1e-5)


@pytest.mark.parametrize(
    "name", ["LabelPropagation", "LabelFeatureRegression", "GraphBoosting", "AutoModel"]
)
def test_saved_models_explain_as_before(tmp_path, name):
    graph, X, y = make_problem()
    model = make(name, "classification", 0).fit(X, y, graph=graph)
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    nodes = ["node 4", f"node {model.labeled_[1]}"]
    for before, after in zip(
        model.explain(nodes, top=3), loaded.explain(nodes, top=3), strict=True
    ):
        assert before.score == pytest.approx(after.score, abs=1e-6)
        assert [each.source for each in before.contributions][:2] == [
            each.source for each in after.contributions][:2]  # fmt: skip


def test_a_search_explains_its_best_estimator():
    graph, _, y = make_problem()
    search = GraphSearch(LabelPropagation(), {"damping": [0.3, 0.9]}, progress=False)
    search.fit(None, y, graph=graph)
    assert search.explain("node 1")[0] == search.best_estimator_.explain("node 1")[0]
    assert explain(search, "node 1")[0] == search.explain("node 1")[0]


def test_validation_labels_count_only_where_they_are_inputs():
    graph, _, y = make_problem()
    chosen = np.flatnonzero(y >= 0)[:8]
    model = LabelPropagation(0.8).fit(None, y, graph=graph, validation=graph.names[chosen])
    for item in model.explain(graph.names[chosen], top=50, edges=False):
        assert not item.labeled
        sources = {each.source for each in item.contributions}
        assert not sources & set(graph.names[chosen].tolist())


def test_explaining_changes_no_model():
    model = fitted()
    before = model.predict_proba()
    model.explain(model.graph_.names[:5])
    np.testing.assert_array_equal(model.predict_proba(), before)


@pytest.mark.parametrize("name", ["LabelPropagation", "SIGN"])
def test_graph_folders(tmp_path, name):
    graph, X, y = make_problem()
    save_graph(graph, tmp_path / "graph")
    stored = open_graph(tmp_path / "graph")
    nodes = graph.names[:3] if stored.has_names else [0, 1, 2]
    model = make(name, "classification", 0).fit(X, y, graph=stored)
    found = model.explain(nodes, top=2)
    assert all(np.isfinite(item.score) for item in found)
    asked = model.explain(nodes[:1], top=2, edges=True)[0]
    assert asked.notes == ("edges are not removed from graph folders",)


def test_sparse_words():
    graph, X, y = make_problem()
    words = sp.csr_array(np.where(X > 0.5, 1.0, 0.0))
    item = make("TrainableCorrectAndSmooth", "classification", 0)
    item = item.fit(words, y, graph=graph).explain("node 3", top=3, edges=False)[0]
    assert {each.kind for each in item.contributions} >= {"label"}
    assert item.notes == ()
