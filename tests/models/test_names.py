"""Frames and series in any order give the same predictions by name, for every estimator.

Another order of the rows changes nothing but rounding: the tolerances are those of
`test_node_order`. Another order of the columns in `predict` changes nothing at all. In `fit`, it
draws other folds, because folds depend on the values of a node in the order of the columns, and
networks start from other weights. What must hold then is that the fitted model knows which column
is which.
"""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

from labeltrick import (
    AutoModel,
    Graph,
    GraphSearch,
    LabelFeatureRegression,
    SelfExcludedLabels,
    TableEncoder,
    models,
)
from tests.models import test_node_order as node_order
from tests.support.leaks import TASKS
from tests.support.node_order import Problem

N = 40
COLUMNS = ["c", "a", "d", "b"]
RIDGES = {"ridge": [0.1, 1.0]}
MORE = {
    "AutoModel": AutoModel(n_folds=2, learners=["trees", "linear"], progress=False),
    "search": GraphSearch(LabelFeatureRegression(progress=False), RIDGES, progress=False),
}
MODELS = {**node_order.EXACT, **node_order.SINGLE, **MORE}
TRANSFORMERS = (SelfExcludedLabels, TableEncoder)  # tested below
TOLERANCE = {name: node_order.TOLERANCE.get(name, 2e-5) for name in MODELS}


def test_every_public_estimator_is_here():
    found = {getattr(models, name) for name in models.__all__}
    estimators = {value for value in found if hasattr(value, "fit")}
    assert estimators == {type(model) for model in MODELS.values()} | set(TRANSFORMERS)


def model_for(name, task):
    return clone(MORE[name]) if name in MORE else node_order.model_for(name, task)


class Named:
    """A problem as frames in the order of the nodes, which have names."""

    def __init__(self, name, seed, task=None):
        if name in node_order.BY_TORCH and name not in MORE:
            pytest.importorskip("torch")
        if name == "GNN":
            pytest.importorskip("torch_geometric")
        self.task = task or TASKS[(list(MODELS).index(name) + seed) % 3]
        problem = Problem(seed, self.task, n=N)
        self.rng = np.random.default_rng(seed)
        self.names = [f"n{k:02}" for k in self.rng.permutation(N)]
        graph = Graph.from_edges(*problem.edges, weight=problem.weight, n_nodes=N)
        self.graph = graph.with_names(self.names)
        self.X = pd.DataFrame(problem.X, index=self.names, columns=list("abcd"))
        make = pd.DataFrame if problem.y.ndim == 2 else pd.Series
        self.y = make(problem.y, index=self.names)
        self.name, self.model = name, model_for(name, self.task)
        if "calibrate" in self.model.get_params():  # it would amplify rounding
            self.model.set_params(calibrate=False)

    def fitted(self):
        return clone(self.model).fit(self.X, self.y, graph=self.graph)

    def shuffled(self, value):
        return value.iloc[self.rng.permutation(N)]

    def permuted_graph(self):
        return self.graph.permuted(self.rng.permutation(N))

    def close(self, found, expected, tolerance=None):
        tolerance = TOLERANCE[self.name] if tolerance is None else tolerance
        pd.testing.assert_frame_equal(found, expected, rtol=0, atol=tolerance, check_names=False)


def numbers_of(model, *arguments, **options):
    """The columns of numbers that `predict_frame` returns, by name."""
    frame = model.predict_frame(*arguments, output="pandas", **options)
    return frame.select_dtypes("number").astype(float).sort_index()


def check_rows(given):
    """Rows of features and labels in any order, in `fit` and in `predict`."""
    X, y, model = given.X, given.y, given.fitted()
    expected = numbers_of(model)
    again = clone(model).fit(given.shuffled(X), given.shuffled(y), graph=given.permuted_graph())
    given.close(numbers_of(again), expected)
    given.close(numbers_of(model, given.shuffled(X)), expected)
    given.close(numbers_of(model, given.shuffled(X), graph=given.permuted_graph()), expected)
    given.close(numbers_of(model, given.shuffled(X), given.shuffled(y)), numbers_of(model, X, y))


@pytest.mark.parametrize("name", MODELS)
def test_rows_in_any_order_give_the_same_predictions_by_name(name):
    check_rows(Named(name, 0))


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", MODELS)
def test_the_same_for_every_task_on_several_graphs(name, task):
    for seed in range(1, 4):
        check_rows(Named(name, seed, task))


@pytest.mark.parametrize("name", MODELS)
def test_columns_in_any_order_give_the_same_predictions(name):
    given = Named(name, 1)
    X, y, graph = given.X, given.y, given.graph
    for fit_on in (X, X[COLUMNS]):
        model = clone(given.model).fit(fit_on, y, graph=graph)
        expected = numbers_of(model, fit_on)
        given.close(expected, numbers_of(model))
        for other in (X, X[COLUMNS]):
            given.close(numbers_of(model, other), expected, 0.0)
        given.close(numbers_of(model, given.shuffled(X)[COLUMNS[::-1]]), expected)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", ["regression", "C&S"])
def test_columns_in_any_order_give_the_same_fit_where_nothing_is_drawn(name, task):
    given = Named(name, 2, task)
    if name == "regression":
        given.model.set_params(split_rate=0.5)
    other = clone(given.model).fit(given.X[COLUMNS], given.y, graph=given.graph)
    found, expected = numbers_of(other), numbers_of(given.fitted())
    drawn = ["low", "high"]  # intervals come from folds
    given.close(
        found.drop(columns=drawn, errors="ignore"), expected.drop(columns=drawn, errors="ignore")
    )


@pytest.mark.parametrize("name", MODELS)
def test_names_of_another_graph_are_never_matched_by_position(name):
    given = Named(name, 0)
    X, y, graph, model = given.X, given.y, given.graph, given.fitted()
    others = [f"m{k}" for k in range(N)]
    for axis in (others, range(N)):
        with pytest.raises(ValueError, match="must be indexed by names of nodes"):
            clone(model).fit(X.set_axis(axis), y, graph=graph)
        with pytest.raises(ValueError, match="must be indexed by names of nodes"):
            clone(model).fit(X, y.set_axis(axis), graph=graph)
        with pytest.raises(ValueError, match="must be indexed by names of nodes"):
            model.predict(X.set_axis(axis))
        with pytest.raises(ValueError, match="must be indexed by names of nodes"):
            model.predict(X, y.set_axis(axis))
    with pytest.warns(UserWarning, match="no labels are used"):
        found = model.predict_frame(X.set_axis(others), graph=graph.with_names(others))
    assert not found["labeled"].any()
    # One node of the other graph was in the fit: it keeps its label, wherever it stands.
    known = graph.names[model.labeled_[0]]
    others[-1] = known
    found = model.predict_frame(X.set_axis(others), graph=graph.with_names(others))
    assert found.index[found["labeled"]].tolist() == [known]


@pytest.mark.parametrize("task", TASKS)
def test_ids_in_a_column_of_polars_are_names(task):
    given = Named("regression", 3, task)
    who = given.shuffled(given.X).rename_axis("who").reset_index()
    y = given.shuffled(given.y)
    y = pl.from_pandas(y.rename_axis("who").reset_index()) if y.ndim == 2 else y.to_dict()
    model = clone(given.model).fit(pl.from_pandas(who), y, graph=given.graph, id="who")
    given.close(numbers_of(model), numbers_of(given.fitted()))


@pytest.mark.parametrize("task", TASKS)
def test_columns_of_labels_belong_to_the_names_of_the_rows(task):
    given = Named("regression", 4, task)
    columns = SelfExcludedLabels(given.graph, fill="prior", task=task, progress=False)
    expected = columns.fit_transform(given.X, given.y)
    found = clone(columns).fit_transform(given.shuffled(given.X), given.shuffled(given.y))
    given.close(found.sort_index(), expected.sort_index())


def test_encoded_rows_keep_their_names():
    given = Named("regression", 4)
    X = given.X.assign(color=np.where(given.X["a"] > 0, "red", "blue"))
    encoder = TableEncoder().set_output(transform="pandas")
    expected = encoder.fit_transform(X)
    found = encoder.transform(given.shuffled(X)[["color", *COLUMNS]])
    given.close(found.sort_index(), expected.sort_index(), 0.0)
