"""Saved models: the same predictions to the bit, and no file that can do harm."""

import json
import os
import subprocess
import sys

import numpy as np
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
from labeltrick._utils.json_files import sealed
from labeltrick.graph.compute import Compute
from labeltrick.io.model_files.registry import PARTS, PROPAGATIONS, find_class, is_listed
from tests.models.boosting.test_boosting import wavy
from tests.support.graphs import blocks


@pytest.fixture
def saved(tmp_path):
    graph, X, _, y = wavy(0, n=120)
    model = GraphBoosting(n_rounds=20, progress=False).fit(X, y, graph=graph)
    return model, save_model(model, tmp_path / "model")


@pytest.mark.parametrize("mode", ["features", "two_stage", "end_to_end"])
def test_trees_are_kept(mode, tmp_path):
    graph, X, _, y = wavy(1, n=150)
    model = GraphBoosting(mode, n_rounds=20, progress=False).fit(X, y, graph=graph)
    again = load_model(save_model(model, tmp_path / "m"))
    np.testing.assert_array_equal(model.predict(), again.predict())
    np.testing.assert_array_equal(model.predict(X, y), again.predict(X, y))
    assert again.feature_names_ == model.feature_names_
    assert again.get_params() == {**model.get_params(), "progress": None}


@pytest.mark.parametrize("model", [LabelPropagation(), LabelPropagation(n_steps=5)])
def test_labels_alone(model, tmp_path):
    graph, _, _, y = blocks(0, n=90)
    names = np.array(["x", "y", "z"], dtype=object)[y]
    names[y < 0] = None
    fitted = model.fit(None, names, graph=graph)
    again = load_model(save_model(fitted, tmp_path / "m"))
    np.testing.assert_array_equal(fitted.predict_proba(), again.predict_proba())
    assert again.predict().tolist() == fitted.predict().tolist()


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


def rewrite(folder, change):
    index = json.loads((folder / "model.json").read_text())
    change(index)
    del index["sha256"]
    (folder / "model.json").write_text(sealed(index))  # whoever changes a file can do this too


def test_a_changed_number_in_the_index_is_found(saved):
    _, folder = saved
    text = (folder / "model.json").read_text()
    changed = text.replace('"learning_rate": 0.05', '"learning_rate": 0.06')
    assert changed != text
    (folder / "model.json").write_text(changed)
    with pytest.raises(ValueError, match=r"model\.json.*its checksum differs"):
        load_model(folder)


@pytest.mark.parametrize("name", ["arrays.npz", "trees-0.txt", "model.json"])
def test_damaged_and_missing_files(saved, name):
    _, folder = saved
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=f"{name}.*damaged or changed"):
        load_model(folder)
    os.remove(folder / name)
    with pytest.raises((ValueError, FileNotFoundError), match=name):
        load_model(folder)


def test_foreign_files(saved, tmp_path):
    _, folder = saved
    with pytest.raises(FileNotFoundError, match="folder of a saved model"):
        load_model(tmp_path)
    rewrite(folder, lambda index: index.update(version=99))
    with pytest.raises(ValueError, match="version 4; got 99"):
        load_model(folder)
    (folder / "model.json").write_text("[1, 2]")
    with pytest.raises(ValueError, match="a different kind of file"):
        load_model(folder)


@pytest.mark.parametrize(
    "name",
    ["os:system", "Popen", "labeltrick.app.cli:main", "Graph", "Compute", "x", 5, None, ["x"]],
)
def test_no_other_class_is_made(saved, name):
    _, folder = saved
    rewrite(folder, lambda index: index["model"].update({"$object": name}))
    with pytest.raises(ValueError, match="which is not part of any model|damaged"):
        load_model(folder)


def test_files_outside_the_folder_are_not_read(saved):
    _, folder = saved
    rewrite(folder, lambda index: index["files"].update({"../secret": "0"}))
    with pytest.raises(ValueError, match="outside the folder"):
        load_model(folder)


def test_a_graph_that_is_none(saved):
    _, folder = saved

    def break_it(index):
        def walk(tree):
            if isinstance(tree, dict):
                if "$graph" in tree:
                    tree["$graph"][0], tree["$graph"][1] = tree["$graph"][1], tree["$graph"][0]
                    return True
                return any(walk(value) for value in tree.values())
            return isinstance(tree, list) and any(walk(value) for value in tree)

        assert walk(index["model"])

    rewrite(folder, break_it)
    with pytest.raises(ValueError, match="`graph` must be|graph in it is not sound"):
        load_model(folder)


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


def test_networks_that_do_not_fit_their_weights(tmp_path):
    pytest.importorskip("torch")
    graph, X, _, y = blocks(1, n=60)
    folder = save_model(SGC(max_epochs=2, progress=False).fit(X, y, graph=graph), tmp_path / "m")
    index = folder / "model.json"
    sound = index.read_text()
    wider = json.dumps(["in_features", X.shape[1] + 3])[1:-1]
    for old, new in (('"$network": "mlp"', '"$network": "other"'), ('"hidden"', '"hidden_"'),
                     (json.dumps(["n_layers", 1])[1:-1], wider)):  # fmt: skip
        text = "".join(line.strip() + " " for line in sound.splitlines())
        changed = text.replace(old, new, 1)
        if changed == text:
            changed = text.replace('"n_layers", 1', '"n_layers", 4', 1)
        assert changed != text
        index.write_text(changed)
        rewrite(folder, lambda _: None)  # its checksum fits
        with pytest.raises(ValueError, match="damaged or changed"):
            load_model(folder)
    index.write_text(sound)
    load_model(folder)


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


def test_a_file_cannot_make_a_model_connect_anywhere(tmp_path):
    graph = Graph.from_edges([0, 1], [1, 2])
    model = LabelPropagation().fit(None, ["a", None, "b"], graph=graph)
    folder = save_model(model, tmp_path / "model")

    def point_elsewhere(index):
        index["model"]["state"].update(engine="dask", address="tcp://elsewhere:8786")

    rewrite(folder, point_elsewhere)
    loaded = load_model(folder)
    assert loaded.graph_.compute == Compute()
    assert loaded.predict().tolist() == ["a", "a", "b"]

    def smuggle(index):
        state = {"engine": "dask", "address": "tcp://elsewhere:8786"}
        index["model"]["state"]["prior_"] = {
            "$place": 10**6,
            "$object": "Compute",
            "state": state,
        }

    rewrite(folder, smuggle)
    with pytest.raises(ValueError, match="which is not part of any model"):
        load_model(folder)


def test_a_file_cannot_choose_a_folder_to_write_to(tmp_path):
    graph, X, _, y = blocks(1, n=60)
    model = AutoModel(budget=1, n_folds=2, progress=False).fit(X, y, graph=graph)
    folder = save_model(model, tmp_path / "model")
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis.txt").write_text("years of work")
    rewrite(folder, lambda index: index["model"]["state"].update(resume_from=str(precious)))
    loaded = load_model(folder)
    assert loaded.resume_from is None
    loaded.fit(X, y, graph=graph)
    assert [path.name for path in precious.iterdir()] == ["thesis.txt"]


def state_of(index, kind):
    """The state of the first object of a class in a model's tree."""
    trees = [index["model"]]
    while trees:
        tree = trees.pop()
        if isinstance(tree, dict) and tree.get("$object") == kind:
            return tree["state"]
        trees += tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else []
    raise AssertionError(f"the model has no {kind}")


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        ("GraphBoosting", "predict", 5),
        ("GraphBoosting", "__class__", "str"),
        ("GraphBoosting", "graph_", None),
        ("GraphBoosting", "labeled_", [1, 2]),
        ("GraphBoosting", "_cache", None),
        ("GraphBoosting", "surprise\n", 1),
        ("Targets", "Y", 5),
        ("Targets", "labeled", "all"),
        ("Targets", "task", "guessing"),
        ("Targets", "surprise", 1),
        ("TargetScale", "center", "here"),
        ("Trees", "n_columns", "many"),
        ("Trees", "boosters", None),
    ],
)
def test_fields_of_other_types_are_refused(saved, kind, field, value):
    _, folder = saved
    rewrite(folder, lambda index: state_of(index, kind).update({field: value}))
    with pytest.raises(ValueError, match="damaged or changed") as error:
        load_model(folder)
    assert "\n" not in str(error.value)


def test_a_model_must_be_an_estimator(saved):
    _, folder = saved
    for name in ("OnTable", "Targets", "Calibration"):
        rewrite(folder, lambda index, name=name: index["model"].update({"$object": name}))
        with pytest.raises(ValueError, match="damaged or changed"):
            load_model(folder)


def test_every_listed_class_exists():
    for listed in (PARTS, PROPAGATIONS):
        for name in listed:
            assert is_listed(find_class(name, listed), listed)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a": ' * 50_000, "1" * 10_000, "\x00", "nan"])
def test_texts_that_break_parsers(saved, text):
    _, folder = saved
    (folder / "model.json").write_text(text)
    with pytest.raises(ValueError, match="damaged or changed|a different kind of file"):
        load_model(folder)


def test_node_numbers_of_a_file_are_whole_numbers(tmp_path):
    graph, _, _, y = blocks(0, n=60)
    model = LabelPropagation().fit(None, y, graph=graph)
    model.validation_ = np.empty(0)  # equal to no nodes at all, yet it cannot be an index
    folder = save_model(model, tmp_path / "m")
    with pytest.raises(ValueError, match="validation_ does not fit the labels"):
        load_model(folder)


def test_a_file_cannot_ask_for_endless_layers():
    pytest.importorskip("torch")
    from labeltrick.nn import MLP
    from labeltrick.nn.rebuild import rebuilt, recipe_of, weights_of

    kind, arguments = recipe_of(MLP(3, 2, hidden=4))
    weights = weights_of(MLP(3, 2, hidden=4))
    assert rebuilt(kind, arguments, weights)(torch_rows(5, 3)).shape == (5, 2)
    for count in (10**9, 10**12):
        with pytest.raises(ValueError, match="does not fit"):
            rebuilt(kind, {**arguments, "n_layers": count}, weights)


def torch_rows(*shape):
    import torch

    return torch.ones(shape)
