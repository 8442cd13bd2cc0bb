"""Saved models give the same predictions to the bit, and replace nothing of others."""

import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

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
    LabelPropagation,
    TrainableCorrectAndSmooth,
    TrainableLabelPropagation,
    load_model,
    save_model,
)
from labeltrick.graph.compute import Compute
from labeltrick.models.auto.on_table import OnTable
from tests.support.graphs import blocks, wavy
from tests.support.people import texts_and_dates


@pytest.mark.parametrize("mode", ["features", "two_stage", "end_to_end"])
def test_trees_are_kept(mode, tmp_path):
    graph, X, _, y = wavy(1, n=150)
    model = GraphBoosting(mode, n_rounds=20, progress=False).fit(X, y, graph=graph)
    again = load_model(save_model(model, tmp_path / "m"))
    np.testing.assert_array_equal(model.predict(), again.predict())
    np.testing.assert_array_equal(model.predict(X, y), again.predict(X, y))
    assert again.feature_names_ == model.feature_names_
    assert again.get_params() == {**model.get_params(), "progress": None}


@pytest.mark.parametrize(
    "model",
    [
        GraphBoosting(n_rounds=5, progress=False),
        AutoModel(n_folds=2, budget=0.1, progress=False),
        OnTable(SGC(max_epochs=5, progress=False)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_words_and_dates_are_kept(model, tmp_path):
    graph, _, _, y = wavy(1, n=120)
    model.fit(texts_and_dates(120), y, graph=graph)
    again = load_model(save_model(model, tmp_path / "m"))
    np.testing.assert_array_equal(model.predict(), again.predict())
    new = texts_and_dates(120, seed=1, first="2031-01-01")
    np.testing.assert_array_equal(
        model.predict(new, y, graph=graph), again.predict(new, y, graph=graph)
    )
    given = again.features_.given
    assert given[0].vocabulary == model.features_.given[0].vocabulary
    assert given[0].components.shape[1] == 64
    assert given[1] == model.features_.given[1]


@pytest.mark.parametrize("model", [LabelPropagation(), LabelPropagation(n_steps=5)])
def test_labels_alone(model, tmp_path):
    graph, _, _, y = blocks(0, n=90)
    names = np.array(["x", "y", "z"], dtype=object)[y]
    names[y < 0] = None
    fitted = model.fit(None, names, graph=graph)
    again = load_model(save_model(fitted, tmp_path / "m"))
    np.testing.assert_array_equal(fitted.predict_proba(), again.predict_proba())
    assert again.predict().tolist() == fitted.predict().tolist()


def test_names_of_columns_are_kept(tmp_path):
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3])
    y = pl.DataFrame({"a": [1, 0, 1, None], "b": [0, 0, 1, None]})
    model = LabelPropagation().fit(None, y, graph=graph)
    again = load_model(save_model(model, tmp_path / "m"))
    assert again.targets_.columns == model.targets_.columns == ("a", "b")
    swapped = y.select("b", "a")
    np.testing.assert_array_equal(again.predict(y=swapped), model.predict(y=y))
    assert again.score(None, swapped) == model.score(None, y)


def test_a_fresh_process_gives_the_same_bits(saved, tmp_path):
    model, folder = saved
    code = (
        "import sys, numpy as np; from labeltrick import load_model; "
        "np.save(sys.argv[2], load_model(sys.argv[1]).predict())"
    )
    out = tmp_path / "rows.npy"
    subprocess.run([sys.executable, "-c", code, str(folder), str(out)], check=True)
    np.testing.assert_array_equal(np.load(out), model.predict())


def test_a_model_is_replaced_and_nothing_else_is(saved, tmp_path):
    model, folder = saved
    save_model(model, folder)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model"]
    other = tmp_path / "mine"
    other.mkdir()
    (other / "thesis.txt").write_text("years of work")
    with pytest.raises(FileExistsError, match="new or empty folder"):
        save_model(model, other)
    assert (other / "thesis.txt").read_text() == "years of work"
    (other / "model.json").write_text('{"class_name": "Sequential"}')  # of another library
    with pytest.raises(FileExistsError, match="new or empty folder"):
        save_model(model, other)
    (folder / "thesis.txt").write_text("years of work")
    with pytest.raises(FileExistsError, match="also holds 'thesis.txt'"):
        save_model(model, folder)
    for place in (other, folder):
        assert (place / "thesis.txt").read_text() == "years of work"


def test_what_cannot_be_saved_leaves_nothing(tmp_path):
    graph, X, _, y = blocks(1, n=60)
    model = CorrectAndSmooth(LogisticRegression()).fit(X, y, graph=graph)
    with pytest.raises(TypeError, match="is a sklearn.linear_model"):
        save_model(model, tmp_path / "m")
    with pytest.raises(ValueError, match="must be fitted"):
        save_model(LabelPropagation(), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


NETWORKS = {
    "SGC": lambda: SGC(max_epochs=5),
    "SIGN": lambda: SIGN(2, hops="concat", max_epochs=5),
    "SIGN, random splits": lambda: SIGN(2, label_trick="stochastic", max_epochs=5),
    "TWIRLS": lambda: TWIRLS(max_epochs=5, hidden=8),
    "regression": lambda: LabelFeatureRegression(),
    "GCN": lambda: GNN("gcn", max_epochs=5, hidden=8),
    "GraphSAGE, added": lambda: GNN("sage", combine="add", max_epochs=5, hidden=8),
    "GAT, features alone": lambda: GNN("gat", label_trick=None, max_epochs=5, hidden=8),
    "APPNP": lambda: GNN("appnp", max_epochs=5, hidden=8),
    "C&S": lambda: CorrectAndSmooth(SGC(0, max_epochs=5)),
    "C&S on an MLP": lambda: CorrectAndSmooth(SIGN(0, n_layers=3, max_epochs=5)),
    "trainable C&S": lambda: TrainableCorrectAndSmooth(
        SGC(0, max_epochs=5), n_splits=2, split_rate=0.5, n_folds=2
    ),
    "trainable C&S, deterministic": lambda: TrainableCorrectAndSmooth(
        SGC(0, max_epochs=5), label_trick="deterministic", n_folds=2
    ),
    "end to end": lambda: TrainableCorrectAndSmooth("linear", mode="end_to_end", max_epochs=3),
}

OF_NUMBERS = ("SIGN", "TWIRLS", "regression", "GCN", "C&S", "end to end")


@pytest.mark.parametrize(
    ("name", "task"),
    [*((name, "classes") for name in NETWORKS), *((name, "numbers") for name in OF_NUMBERS)],
)
def test_networks_are_kept(name, task, tmp_path):
    pytest.importorskip("torch_geometric")
    graph, X, _, y = blocks(1, n=90)
    if task == "numbers":
        y = np.where(y >= 0, X[:, 0] + 0.37 * y, np.nan)
    slow = "C&S" in name or name == "end to end"  # to be fitted without each fifth of the labels
    options = {"progress": False, "calibrate": not slow}
    model = NETWORKS[name]().set_params(**options).fit(X, y, graph=graph)
    again = load_model(save_model(model, tmp_path / "m"))
    ask = "predict_proba" if task == "classes" else "predict"
    np.testing.assert_array_equal(getattr(again, ask)(), getattr(model, ask)())
    shuffled = np.random.default_rng(0).permutation(X)
    rows = getattr(model, ask)(shuffled, graph=graph)
    np.testing.assert_array_equal(getattr(again, ask)(shuffled, graph=graph), rows)
    if not slow:
        np.testing.assert_array_equal(again.oof_rows_, model.oof_rows_)
    assert again.get_params().keys() == model.get_params().keys()


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_where_work_is_done_belongs_to_the_machine(tmp_path, engine):
    graph = Graph.from_edges(np.arange(99), np.arange(1, 100))
    y = np.where(np.arange(100) % 2, np.arange(100) // 50, -1)
    options = {"engine": engine, "max_memory": "1MB", "checkpoint_dir": str(tmp_path / "kept")}
    model = TrainableLabelPropagation(0.8).fit(None, y, graph=graph.on(**options))
    loaded = load_model(save_model(model, tmp_path / "model"))
    assert loaded.graph_.compute == Compute()
    np.testing.assert_allclose(loaded.predict_proba(), model.predict_proba(), atol=1e-9)
    np.testing.assert_allclose(loaded.oof_proba_, model.oof_proba_, atol=1e-9)
    assert str(tmp_path / "kept") not in (tmp_path / "model" / "model.json").read_text()
