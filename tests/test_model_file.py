"""Saved models: the same predictions to the bit, and no file that can do harm."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from graphs import blocks
from sklearn.linear_model import LogisticRegression
from test_boosting import wavy

from labeltrick import (
    CorrectAndSmooth,
    GraphBoosting,
    LabelPropagation,
    load_model,
    save_model,
)


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
    (folder / "model.json").write_text(json.dumps(index))


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
    with pytest.raises(ValueError, match="version 1; it is of 99"):
        load_model(folder)
    (folder / "model.json").write_text("[1, 2]")
    with pytest.raises(ValueError, match="another kind of file"):
        load_model(folder)


@pytest.mark.parametrize(
    "name", ["os:system", "subprocess:Popen", "labeltrick.cli:main", "labeltrick.graph:np", "x"]
)
def test_no_other_class_is_made(saved, name):
    _, folder = saved
    rewrite(folder, lambda index: index["model"].update({"$object": name}))
    with pytest.raises(ValueError, match="no part of labeltrick"):
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
    with pytest.raises(ValueError, match="graph in it is none"):
        load_model(folder)
