"""Columns that are not numbers, and columns in another order than in the fit."""

from datetime import date, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from labeltrick import (
    GNN,
    SGC,
    SIGN,
    TWIRLS,
    AutoModel,
    CorrectAndSmooth,
    Graph,
    GraphBoosting,
    LabelFeatureRegression,
    TrainableCorrectAndSmooth,
    load_model,
    save_model,
)

N = 40
NAMES = [f"p{k:02}" for k in range(N)]
QUICK = {"progress": False, "max_epochs": 2}
NUMERIC = {
    "regression": lambda: LabelFeatureRegression(),
    "SGC": lambda: SGC(1, **QUICK),
    "SIGN": lambda: SIGN(1, hidden=4, **QUICK),
    "TWIRLS": lambda: TWIRLS(hidden=4, **QUICK),
    "GNN": lambda: GNN(hidden=4, **QUICK),
    "C&S, network": lambda: CorrectAndSmooth(progress=False),
}
BASES = {
    "C&S": lambda: CorrectAndSmooth(LogisticRegression()),
    "trainable C&S": lambda: TrainableCorrectAndSmooth(LogisticRegression(), max_epochs=2),
}
TABLES = {
    "boosting": lambda: GraphBoosting(n_rounds=3, progress=False),
    "AutoModel": lambda: AutoModel(budget=0.1, n_folds=2, progress=False),
}
BY_TORCH = ("SGC", "SIGN", "TWIRLS", "GNN", "C&S, network")


def made(name):
    if name in BY_TORCH:
        pytest.importorskip("torch")
    if name == "GNN":
        pytest.importorskip("torch_geometric")
    return {**NUMERIC, **BASES, **TABLES}[name]()


def problem():
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(*rng.integers(0, N, (2, 120)), n_nodes=N).with_names(NAMES)
    X = pd.DataFrame({"a": rng.normal(size=N), "b": rng.normal(size=N) * 9}, index=NAMES)
    return graph, X, pd.Series(np.arange(N) % 2, index=NAMES)


ODD = {
    "text": (["rome", "oslo"] * 20, "texts such as 'rome'"),
    "digits": (["02134", "00501"] * 20, "texts such as '02134'"),
    "category": (pd.Categorical(["rome", "oslo"] * 20), "categories"),
    "string": (pd.array(["rome", None] * 20, dtype="string"), "texts such as 'rome'"),
    "date": (pd.date_range("2020-01-01", periods=N), "dates or times"),
    "zone": (pd.date_range("2020-01-01", periods=N, tz="UTC"), "dates or times"),
    "objects": ([None, date(2020, 1, 1)] * 20, "dates or times"),
    "duration": ([timedelta(days=1), timedelta(days=2)] * 20, "durations"),
}


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize("odd", ODD)
def test_columns_that_are_not_numbers_are_named(odd, kind):
    graph, X, y = problem()
    values, what = ODD[odd]
    X = X.assign(city=values)
    message = f"numbers for LabelFeatureRegression; column 'city' holds {what}. .*TableEncoder"
    id = None
    if kind == "polars":
        X, id = pl.from_pandas(X.reset_index(names="who")), "who"
    with pytest.raises(TypeError, match=message):
        LabelFeatureRegression().fit(X, y, graph=graph, id=id)


def test_all_such_columns_are_named():
    graph, X, y = problem()
    X = X.assign(city="rome", since=date(2024, 1, 31))
    said = "column 'city' holds texts such as 'rome' and column 'since' holds dates or times. "
    with pytest.raises(TypeError, match=said):
        LabelFeatureRegression().fit(X, y, graph=graph)
    X = X.assign(**{f"t{k}": "a" for k in range(9)})
    with pytest.raises(TypeError, match="'t2' holds texts such as 'a' and 6 more columns hold"):
        LabelFeatureRegression().fit(X, y, graph=graph)


@pytest.mark.parametrize("name", NUMERIC)
def test_every_estimator_of_numbers_says_so(name):
    graph, X, y = problem()
    model = made(name)
    with pytest.raises(TypeError, match="column 'city' holds texts such as 'rome'"):
        model.fit(X.assign(city="rome"), y, graph=graph)
    with pytest.raises(TypeError, match="column 1 holds texts such as 'rome'"):
        model.fit(X.assign(b="rome").to_numpy(), y.to_numpy(), graph=graph)


@pytest.mark.parametrize("name", BASES)
def test_bases_that_take_only_numbers_say_so_and_others_get_the_columns(name):
    graph, X, y = problem()
    X = X.assign(city=["rome", "oslo"] * 20)
    with pytest.raises(TypeError, match="base LogisticRegression takes; column 'city' holds texts"):
        made(name).fit(X, y, graph=graph)
    encode = make_column_transformer((OneHotEncoder(), ["city"]), remainder="passthrough")
    model = made(name).set_params(base=make_pipeline(encode, LogisticRegression()))
    assert model.fit(X, y, graph=graph).predict().shape == (N,)


def test_numbers_of_all_types_are_taken():
    graph, X, y = problem()
    X = X.assign(
        flag=[True, False] * 20,
        whole=pd.array(range(N), dtype="Int64"),
        maybe=pd.array([True, False] * 20, dtype="boolean"),
        loose=pd.Series([1, 2.5] * 20, index=NAMES, dtype=object),
    )
    found = LabelFeatureRegression().fit(X, y, graph=graph).predict_proba()
    plain = LabelFeatureRegression().fit(X.astype(np.float64), y, graph=graph).predict_proba()
    np.testing.assert_allclose(found, plain, atol=1e-6)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize("name", [*NUMERIC, *BASES, *TABLES])
def test_columns_are_matched_by_name(name, kind):
    graph, X, y = problem()
    y = y.where(np.arange(N) % 3 > 0, -1)
    id = None
    if kind == "polars":
        X, id = pl.from_pandas(X.reset_index(names="who")), "who"
    model = made(name).fit(X, y, graph=graph, id=id)
    turned = X[X.columns[::-1].tolist() if kind == "pandas" else X.columns[::-1]]
    np.testing.assert_allclose(model.predict_proba(turned), model.predict_proba(X), atol=1e-6)
    fewer = X.drop(columns="b") if kind == "pandas" else X.drop("b")
    with pytest.raises(ValueError, match="columns of the fit; 'b' is missing"):
        model.predict(fewer)
    more = X.assign(c=1.0) if kind == "pandas" else X.with_columns(c=pl.lit(1.0))
    with pytest.raises(ValueError, match="and no others; got 'c'. Drop it"):
        model.predict(more)


@pytest.mark.parametrize("name", ["regression", "boosting"])
def test_columns_called_by_numbers_are_matched_too(name, tmp_path):
    graph, X, y = problem()
    X.columns = [0, 1]
    model = made(name).fit(X, y, graph=graph)
    save_model(model, tmp_path / "model")
    for one in (model, load_model(tmp_path / "model")):
        np.testing.assert_allclose(one.predict_proba(X[[1, 0]]), model.predict_proba(X), atol=1e-6)


def test_column_names_that_occur_twice_are_refused():
    graph, X, y = problem()
    X.columns = ["a", "a"]
    with pytest.raises(ValueError, match="distinct column names; 'a' occurs twice"):
        LabelFeatureRegression().fit(X, y, graph=graph)
