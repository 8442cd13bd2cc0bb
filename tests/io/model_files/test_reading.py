"""Saved models as others may find them: damaged, changed, hostile."""

import json
import os

import numpy as np
import pytest

from labeltrick import (
    SGC,
    AutoModel,
    Graph,
    LabelPropagation,
    load_model,
    save_model,
)
from labeltrick._utils.json_files import sealed
from labeltrick.graph.compute import Compute
from tests.support.graphs import blocks


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
    with pytest.raises(ValueError, match="version 8; got 99"):
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
        ("Targets", "columns", ["a"]),
        ("Targets", "columns", {"$tuple": ["a", "b", "c", "d", "e", "f", "g"]}),
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
