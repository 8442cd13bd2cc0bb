"""Types of edges and nodes are used, or their fit says that they are not."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

import labeltrick
from labeltrick import (
    GNN,
    SGC,
    SIGN,
    TWIRLS,
    AutoModel,
    CorrectAndSmooth,
    Graph,
    GraphBoosting,
    GraphSearch,
    LabelFeatureRegression,
    LabelPropagation,
    SelfExcludedLabels,
    TrainableCorrectAndSmooth,
    TrainableLabelPropagation,
)
from labeltrick.models.base.estimator import GraphEstimator

N = 24
Y = np.array([0, 1] * 10 + [-1] * 4)
X = np.random.default_rng(0).normal(size=(N, 3))
ENDS = list(range(N)), [(k + 1) % N for k in range(N)]
EDGE_TYPES = ["road", "rail"] * (N // 2)
NODE_TYPES = ["town", "city", "city"] * (N // 3)

IGNORING = [
    LabelPropagation(),
    LabelFeatureRegression(split_rate=0.5),
    SGC(2, max_epochs=2),
    SIGN(2, hidden=4, max_epochs=2),
    TWIRLS(hidden=4, max_epochs=2),
    GNN("gcn", hidden=4, n_layers=2, max_epochs=2),
    CorrectAndSmooth(LogisticRegression()),
    CorrectAndSmooth(LabelFeatureRegression(split_rate=0.5)),
    TrainableCorrectAndSmooth(LogisticRegression(), n_folds=2, max_epochs=2),
    GraphBoosting(n_rounds=3),
    GraphBoosting(n_rounds=3, mode="two_stage", correct=0.6, smooth=0.3),
    AutoModel(learners=["linear"], n_folds=2),
    GraphSearch(LabelPropagation(), {"damping": [0.3, 0.6]}),
]
USING = [
    TrainableLabelPropagation(),
    TrainableLabelPropagation(weights="per_hop", n_hops=2),
    TrainableLabelPropagation(types=False),  # left out on request
    GraphSearch(TrainableLabelPropagation(), {"ridge": [0.1, 1.0]}),
]


def typed(**types):
    return Graph.from_edges(*ENDS, **types)


def warnings_of(model, graph):
    model = clone(model)
    if "progress" in model.get_params():
        model.set_params(progress=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, Y, graph=graph)
    return [each for each in caught if "does not use" in str(each.message)]


def names(models):
    return [f"{type(model).__name__} {k}" for k, model in enumerate(models)]


def test_all_estimators_are_tried():
    public = {getattr(labeltrick, name) for name in labeltrick.__all__}
    every = {each for each in public if isinstance(each, type) and issubclass(each, GraphEstimator)}
    assert {type(model) for model in IGNORING + USING} == every


@pytest.mark.parametrize("model", IGNORING, ids=names(IGNORING))
def test_types_that_are_not_used_are_reported_once(model):
    if isinstance(model, SGC | SIGN | TWIRLS | GNN):
        pytest.importorskip("torch")
    (found,) = warnings_of(model, typed(edge_type=EDGE_TYPES, node_type=NODE_TYPES))
    text = str(found.message)
    assert text.startswith(f"{type(model).__name__} does not use the 2 edge types and 2 node types")
    assert "TrainableLabelPropagation" in text
    assert "\n" not in text
    assert found.filename == __file__


@pytest.mark.parametrize("model", USING, ids=names(USING))
def test_types_that_are_used_are_not_reported(model):
    assert not warnings_of(model, typed(edge_type=EDGE_TYPES, node_type=NODE_TYPES))


@pytest.mark.parametrize(
    ("types", "words"),
    [
        ({"edge_type": EDGE_TYPES}, "use the 2 edge types of the graph"),
        ({"node_type": NODE_TYPES}, "use the 2 node types of the graph"),
        ({"edge_type": ["road"] * N, "node_type": ["town"] * N}, None),
        ({}, None),
    ],
)
def test_what_there_is_to_use(types, words):
    found = warnings_of(LabelPropagation(), typed(**types))
    assert [words in str(each.message) for each in found] == ([True] if words else [])


def test_the_advice_works():
    graph = typed(edge_type=EDGE_TYPES)
    (found,) = warnings_of(LabelPropagation(), graph)
    assert "graph=graph.relations['rail']" in str(found.message)
    assert not warnings_of(LabelPropagation(), graph.relations["rail"])


def test_a_second_fit_and_a_fit_after_an_error_warn_too():
    graph, model = typed(edge_type=EDGE_TYPES), LabelPropagation()
    assert len(warnings_of(model, graph)) == 1
    with pytest.warns(UserWarning, match="edge types"), pytest.raises(ValueError, match="damping"):
        LabelPropagation(damping=7).fit(None, Y, graph=graph)
    assert len(warnings_of(model, graph)) == 1


def test_the_transformer_reports_them_too():
    graph = typed(edge_type=EDGE_TYPES)
    with pytest.warns(UserWarning, match="SelfExcludedLabels does not use the 2 edge types"):
        SelfExcludedLabels(graph).fit(X, Y)
