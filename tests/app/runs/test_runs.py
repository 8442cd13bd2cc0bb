"""The commands on people's files, through the real executable where it matters."""

import json
import os
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from labeltrick import load_model
from labeltrick.app.runs.labeling import choose_nodes
from labeltrick.app.runs.models import MODELS
from labeltrick.app.runs.settings import read_settings
from tests.support.people import fit_arguments, invoke, run_command, write_files

QUICK = ("--set", "n_folds=2", "--budget", "2s")


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A finished run, made by the executable."""
    folder = write_files(tmp_path_factory.mktemp("people"))
    command = fit_arguments(folder, "run", "--split-column", "split", *QUICK, "--json")
    result = run_command(*command)
    assert result.returncode == 0, result.stderr
    return folder, json.loads(result.stdout)


def test_fit_writes_a_whole_folder(fitted):
    folder, said = fitted
    run = folder / "run"
    assert sorted(p.name for p in run.iterdir()) == [
        "checksums.json", "config.toml", "metrics.json", "model", "predictions.parquet",
        "report.html",
    ]  # fmt: skip
    frame = pl.read_parquet(run / "predictions.parquet")
    assert frame.columns == [
        "id", "prediction", "p_blue", "p_green", "p_red", "labeled", "reached", "test",
    ]  # fmt: skip
    nodes = pl.read_csv(folder / "nodes.csv")
    assert frame["test"].to_list() == (nodes["split"] == "test").to_list()
    assert frame["id"].to_list() == nodes["id"].to_list()
    assert frame["labeled"].to_list() == (nodes["split"] == "train").to_list()
    test = nodes["split"] == "test"
    right = (frame["prediction"] == nodes["label"]).filter(test).mean()
    assert said["score"]["value"] == pytest.approx(right)
    assert said["score"]["low"] <= right <= said["score"]["high"]
    assert said["scored_on"] == "test nodes"
    assert set(said["baselines"]) >= {"majority", "label propagation"}
    assert said["leaks"] is False
    assert right > 0.85
    assert (run / "report.html").stat().st_size < 6e6


def test_test_labels_change_nothing_but_the_score(fitted, tmp_path):
    folder, _ = fitted
    nodes = pl.read_csv(folder / "nodes.csv")
    spoiled = nodes.with_columns(
        pl.when(pl.col("split") == "test").then(pl.lit("red")).otherwise("label").alias("label")
    )
    spoiled.write_csv(tmp_path / "nodes.csv")
    (tmp_path / "edges.csv").write_bytes((folder / "edges.csv").read_bytes())
    invoke(*fit_arguments(tmp_path, "run", "--split-column", "split", *QUICK, "--quiet"))
    a, b = (pl.read_parquet(f / "run" / "predictions.parquet") for f in (folder, tmp_path))
    assert a.equals(b)


def test_the_saved_model_gives_the_same_bits_in_a_fresh_process(fitted, tmp_path):
    folder, _ = fitted
    code = (
        "import sys, numpy as np; from labeltrick import load_model; "
        "np.save(sys.argv[2], load_model(sys.argv[1]).predict_proba())"
    )
    out = tmp_path / "p.npy"
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "LABELTRICK")}
    subprocess.run(
        [sys.executable, "-c", code, str(folder / "run" / "model"), str(out)],
        check=True,
        env={**os.environ, **threads},  # as many as it likes: the bits are the same
    )
    frame = pl.read_parquet(folder / "run" / "predictions.parquet")
    np.testing.assert_array_equal(np.load(out), frame.select("^p_.*$").to_numpy())


def test_predict_with_new_nodes_edges_and_labels(fitted, tmp_path):
    folder, _ = fitted
    nodes, edges = (pl.read_csv(folder / f"{name}.csv") for name in ("nodes", "edges"))
    same = tmp_path / "same.parquet"
    invoke("predict", folder / "run", "--edges", folder / "edges.csv", "--nodes",
           folder / "nodes.csv", "--out", same, "--quiet")  # fmt: skip
    stored = pl.read_parquet(folder / "run" / "predictions.parquet")
    assert pl.read_parquet(same).equals(
        stored.drop("test")
    )  # scored rows are no inputs here either
    red = nodes.filter(pl.col("label") == "red")["id"].to_list()[:5]
    new = nodes.head(1).with_columns(id=pl.lit("newcomer"), label=None, split=None)
    pl.concat([nodes.drop("split"), new.drop("split")]).write_csv(tmp_path / "n.csv")
    pl.concat([edges, pl.DataFrame({"from": ["newcomer"] * 5, "to": red})]).write_csv(
        tmp_path / "e.csv"
    )
    out = tmp_path / "new.csv"
    said = invoke("predict", folder / "run", "--edges", tmp_path / "e.csv", "--nodes",
                  tmp_path / "n.csv", "--out", out, "--json")  # fmt: skip
    assert json.loads(said)["nodes"] == nodes.height + 1
    found = pl.read_csv(out)
    assert found["id"][-1] == "newcomer"
    assert found["prediction"][-1] == "red"
    with pytest.raises(FileExistsError, match="--overwrite"):
        invoke("predict", folder / "run", "--out", out)
    nodes.drop("height").write_csv(tmp_path / "less.csv")
    with pytest.raises(ValueError, match="'height' is missing"):
        invoke("predict", folder / "run", "--edges", folder / "edges.csv", "--nodes",
               tmp_path / "less.csv", "--out", tmp_path / "x.csv")  # fmt: skip


def test_evaluate_on_what_became_known(fitted, tmp_path):
    folder, said = fitted
    found = json.loads(
        invoke("evaluate", folder / "run", "--nodes", folder / "truth.csv", "--json")
    )
    nodes = pl.read_csv(folder / "nodes.csv")
    assert found["nodes"] == int((nodes["split"] == "test").sum())  # val rows chose the model
    assert 0.8 < found["scores"]["accuracy"]["value"] <= 1
    assert "accuracy" in invoke("evaluate", folder / "run")
    assert json.loads(invoke("evaluate", folder / "run", "--json"))["score"] == said["score"]
    nodes.filter(pl.col("split") == "train").write_csv(tmp_path / "t.csv")
    with pytest.raises(ValueError, match="did not know"):
        invoke("evaluate", folder / "run", "--nodes", tmp_path / "t.csv")


def test_label_next_asks_for_unlabeled_nodes(fitted, tmp_path):
    folder, _ = fitted
    for by in ("reach", "uncertainty"):
        out = tmp_path / f"{by}.csv"
        invoke("label-next", folder / "run", "--count", 7, "--by", by, "--out", out, "--quiet")
        frame = pl.read_csv(out)
        assert frame.columns == ["id", "prediction", "uncertainty", "reach", "label"]
        assert frame["label"].null_count() == frame.height == 7
        stored = pl.read_parquet(folder / "run" / "predictions.parquet")
        labeled = stored.filter(pl.col("labeled"))["id"].to_list()
        assert not set(frame["id"]) & set(labeled)


def test_label_next_leaves_test_nodes_alone_while_there_are_others(tmp_path):
    write_files(tmp_path)
    nodes = pl.read_csv(tmp_path / "nodes.csv")
    blank = pl.int_range(pl.len()) % 5 == 0
    nodes = nodes.with_columns(
        pl.when(blank).then(None).otherwise("label").alias("label"),
        pl.when(blank).then(None).otherwise("split").alias("split"),
    )
    nodes.write_csv(tmp_path / "nodes.csv")
    arguments = fit_arguments(tmp_path, "run", "--split-column", "split", "-q")
    invoke(*arguments, "--model", "label-propagation")
    invoke("label-next", tmp_path / "run", "--count", 300, "--out", tmp_path / "ask.csv", "-q")
    asked = pl.read_csv(tmp_path / "ask.csv")["id"]
    assert sorted(asked) == sorted(nodes.filter(pl.col("label").is_null())["id"])


def test_labels_that_were_filled_in_are_inputs_without_a_new_fit(fitted, tmp_path):
    folder, _ = fitted
    truth = dict(pl.read_csv(folder / "truth.csv").iter_rows())
    invoke("label-next", folder / "run", "--count", 30, "--out", tmp_path / "ask.csv", "--quiet")
    asked = pl.read_csv(tmp_path / "ask.csv")
    filled = asked.with_columns(pl.col("id").replace_strict(truth).alias("label"))
    filled.write_csv(tmp_path / "filled.csv")
    out = tmp_path / "p.parquet"
    more = ("--labels", tmp_path / "filled.csv", "--out")
    said = json.loads(invoke("predict", folder / "run", *more, out, "--json"))
    assert "30 labels came from filled.csv" in said["notes"]
    now, before = pl.read_parquet(out), pl.read_parquet(folder / "run" / "predictions.parquet")
    assert now["labeled"].sum() == before["labeled"].sum() + 30
    assert not now["p_red"].equals(before["p_red"])
    invoke("fit", "--config", folder / "run" / "config.toml", *more, tmp_path / "refit", "-q")
    assert len(load_model(tmp_path / "refit" / "model").labeled_) == now["labeled"].sum()
    filled.with_columns(pl.lit("stranger").alias("id")).head(1).write_csv(tmp_path / "bad.csv")
    out.unlink()
    with pytest.raises(ValueError, match="row 2, column 'id' .* got 'stranger', which"):
        invoke("predict", folder / "run", "--labels", tmp_path / "bad.csv", "--out", out)


def test_label_next_spreads_its_choices():
    """Two far-apart stars of doubt: one center each, rather than a center and its leaf."""
    from labeltrick import Graph, Resolvent

    hub = np.repeat([0, 10], 9)
    graph = Graph.from_edges(hub, np.concatenate([np.arange(1, 10), np.arange(11, 20)]))
    P = Resolvent(graph, 0.8, norm="row")
    chosen = choose_nodes(np.ones(20), np.arange(20), P, 2, "reach")
    assert set(chosen) == {0, 10}


def test_run_again_from_its_config(fitted, tmp_path):
    folder, _ = fitted
    invoke("fit", "--config", folder / "run" / "config.toml", "--out", tmp_path / "again", "-q")
    a, b = (
        pl.read_parquet(f / "predictions.parquet") for f in (folder / "run", tmp_path / "again")
    )
    assert a.equals(b)
    changed = ("--model", "label-propagation", "--set", "damping=0.5")
    invoke(
        "fit", "--config", folder / "run" / "config.toml", "--out", tmp_path / "lp", "-q", *changed
    )
    assert load_model(tmp_path / "lp" / "model").damping == 0.5
    assert read_settings(tmp_path / "lp" / "config.toml").target == "label"


@pytest.mark.parametrize("model", ["label-propagation", "trainable-label-propagation", "boosting"])
def test_named_models(tmp_path, model):
    write_files(tmp_path, n=90, split=False)
    more = ("--set", "n_rounds=20") if model == "boosting" else ()
    said = json.loads(invoke(*fit_arguments(tmp_path, "run", "--model", model, *more, "--json")))
    assert said["scored_on"].startswith("labeled nodes")
    assert said["score"]["value"] > 0.6
    # Labels of labeled nodes take part in their own propagation, by definition of the method.
    assert said["leaks"] is (None if model == "label-propagation" else False)
    others = {"majority", "label propagation", "features alone"} - {model.replace("-", " ")}
    assert set(said["baselines"]) == others
    assert said["baselines"]["features alone"]["n"] == said["score"]["n"]
    assert (tmp_path / "run" / "report.html").is_file()


def test_numbers(tmp_path):
    write_files(tmp_path, task="numbers", split=False)
    said = json.loads(invoke(*fit_arguments(tmp_path, "run", *QUICK, "--json")))
    assert said["task"] == "regression"
    assert said["score"]["metric"] == "rmse"
    assert said["score"]["value"] < said["baselines"]["mean"]["value"]
    frame = pl.read_parquet(tmp_path / "run" / "predictions.parquet")
    assert frame.columns == ["id", "prediction", "low", "high", "labeled", "reached"]
    truth = pl.read_csv(tmp_path / "truth.csv")["label"]
    hidden = ~frame["labeled"]
    inside = (truth >= frame["low"]) & (truth <= frame["high"])
    assert inside.filter(hidden).mean() > 0.7
    assert "rmse" in invoke("evaluate", tmp_path / "run", "--nodes", tmp_path / "truth.csv")
    invoke("label-next", tmp_path / "run", "--count", 3, "--out", tmp_path / "next.csv", "-q")


def test_compare_and_sweep(tmp_path):
    write_files(tmp_path, n=90)
    files = (
        "--edges",
        tmp_path / "edges.csv",
        "--nodes",
        tmp_path / "nodes.csv",
        "--target",
        "label",
    )
    names = "label-propagation,trainable-label-propagation"
    found = json.loads(invoke("compare", *files, "--ignore", "split", "--models", names,
                              "--repeats", 3, "--json"))  # fmt: skip
    first, second = found["models"]
    assert first["difference"] is None
    gap = second["difference"]["mean"]
    assert gap == pytest.approx(second["mean"] - first["mean"])
    sweep = ("sweep", *files, "--split-column", "split", "--parameter", "damping", "--values",
             "0.1,0.5,0.9")  # fmt: skip
    curve = json.loads(invoke(*sweep, "--out", tmp_path / "c.svg", "--json"))
    assert [point["value"] for point in curve["points"]] == [0.1, 0.5, 0.9]
    assert curve["scored_on"] == "validation nodes"
    assert (tmp_path / "c.svg").read_text().count("<circle") == 3
    invoke(*sweep, "--out", tmp_path / "c.html", "-q")
    assert "Plotly.newPlot" in (tmp_path / "c.html").read_text()
    with pytest.raises(ValueError, match=r"must end in .html or .svg"):
        invoke(*sweep, "--out", tmp_path / "c.doc")


def test_inspect_warns_of_columns_that_give_the_answer_away(tmp_path):
    folder = write_files(tmp_path)
    nodes = pl.read_csv(folder / "nodes.csv")
    code = {"red": 3, "green": 1, "blue": 2}
    nodes.with_columns(pl.col("label").replace_strict(code).alias("grade")).write_csv(
        folder / "nodes.csv"
    )
    files = ("--edges", folder / "edges.csv", "--nodes", folder / "nodes.csv", "--target", "label")
    found = json.loads(invoke("inspect", *files, "--split-column", "split", "--json"))
    assert [w for w in found["warnings"] if "'grade'" in w and "--ignore grade" in w]
    assert not [w for w in found["warnings"] if "'height'" in w]
    assert found["graph"]["nodes"] == 150
    assert found["labels"]["homophily"] > 0.7
    assert "Suggested" in invoke("inspect", *files)


def test_a_folder_that_holds_something_is_not_overwritten(fitted, tmp_path):
    folder, _ = fitted
    before = (folder / "run" / "metrics.json").read_bytes()
    with pytest.raises(FileExistsError, match="finished run"):
        invoke(*fit_arguments(folder, "run"))
    assert (folder / "run" / "metrics.json").read_bytes() == before
    write_files(tmp_path, n=40)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    for more in ((), ("--overwrite",)):
        with pytest.raises(FileExistsError, match="other files"):
            invoke(*fit_arguments(tmp_path, "mine", *more))
    assert [p.name for p in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["county", "minesweeper"])
def test_public_files_from_start_to_end(data_dir, tmp_path, name):
    if name == "county":
        files = ("--edges", data_dir / "county" / "edges.csv", "--nodes", tmp_path / "n.csv")
        table = pl.read_csv(data_dir / "county" / "county_2016.csv", infer_schema_length=None)
        table.with_row_index("row").write_csv(tmp_path / "n.csv")
        more = ("--target", "UnemploymentRate", "--ignore", "FIPS", "--id", "row")
    else:
        files, more = ("--edges", data_dir / "heterophilous" / "minesweeper.npz"), ()
    said = json.loads(invoke("fit", *files, *more, "--model", "boosting", "--set", "n_rounds=60",
                             "--out", tmp_path / "run", "--json"))  # fmt: skip
    best = min(s["value"] for s in said["baselines"].values())
    assert said["score"]["value"] < best if name == "county" else said["score"]["value"] > 0.8


SMALL = {
    "regression": [],
    "sgc": ["max_epochs=100"],
    "sign": ["max_epochs=5", "n_steps=2"],
    "twirls": ["max_epochs=100", "hidden=8"],
    "gnn": ["max_epochs=40", "backbone=sage", "hidden=8"],
    "correct-and-smooth": ["base=linear"],
    "trainable-correct-and-smooth": ["base=linear", "n_splits=2", "split_rate=0.5", "n_folds=2"],
}


@pytest.mark.parametrize(
    ("name", "task"),
    [*((name, "classes") for name in SMALL), ("sgc", "numbers"), ("correct-and-smooth", "numbers")],
)
def test_named_models_take_tables_and_are_kept(name, task, tmp_path):
    pytest.importorskip("torch_geometric")
    write_files(tmp_path, n=90, task=task)
    settings = [part for one in SMALL[name] for part in ("--set", one)]
    options = ("--split-column", "split", "--model", name, "--json", *settings)
    found = invoke(*fit_arguments(tmp_path, "run", *options))
    blind = 0.45 if task == "classes" else -1.2  # of a guess
    said = json.loads(found)
    score = said["score"]
    assert said["leaks"] is (None if "correct" in name else False)
    assert {"label propagation", "features alone"} < set(said["baselines"])
    assert (score["value"] if task == "classes" else -score["value"]) > blind
    kept = pl.read_parquet(tmp_path / "run" / "predictions.parquet")
    nodes = pl.read_csv(tmp_path / "nodes.csv").with_columns(
        pl.when(pl.col("town") == "Ulm").then(pl.lit("elsewhere")).otherwise("town").alias("town")
    )
    nodes.write_csv(tmp_path / "other.csv")
    rows = {}
    for file in ("nodes", "other"):
        out = tmp_path / f"{file}.parquet"
        told = invoke("predict", tmp_path / "run", "--edges", tmp_path / "edges.csv", "--nodes",
                      tmp_path / f"{file}.csv", "--out", out)  # fmt: skip
        assert ("counts as missing: 'elsewhere'" in " ".join(told.split())) == (file == "other")
        rows[file] = pl.read_parquet(out)
    assert rows["nodes"]["prediction"].to_list() == kept["prediction"].to_list()
    assert rows["other"]["id"].to_list() == kept["id"].to_list()


def test_named_models_say_what_they_need(tmp_path):
    write_files(tmp_path, n=60)
    pl.read_csv(tmp_path / "nodes.csv").select("id", "label").write_csv(tmp_path / "nodes.csv")
    with pytest.raises(ValueError, match="must have columns to learn from"):
        invoke(*fit_arguments(tmp_path, "run", "--model", "sgc"))
    assert not (tmp_path / "run").exists()


def test_the_help_names_every_model():
    text = "".join(invoke("fit", "--help").split())
    assert all(name in text.replace("│", "") for name in MODELS)


def test_new_nodes_with_a_blank_label_column(fitted, tmp_path):
    folder, _ = fitted
    nodes = pl.read_csv(folder / "nodes.csv").with_columns(
        pl.lit(None, pl.String).alias("label"), pl.lit(None, pl.String).alias("split")
    )
    nodes.write_csv(tmp_path / "nodes.csv")
    out = tmp_path / "found.parquet"
    invoke("predict", folder / "run", "--edges", folder / "edges.csv", "--nodes",
           tmp_path / "nodes.csv", "--out", out)  # fmt: skip
    assert len(pl.read_parquet(out)) == len(nodes)


def test_a_wrong_setting_leaves_no_unfinished_run(tmp_path):
    pytest.importorskip("torch_geometric")
    write_files(tmp_path, n=60)
    wrong = fit_arguments(tmp_path, "run", "--model", "gnn", "--set", "backbone=sagee")
    with pytest.raises(ValueError, match="`backbone` must be one of"):
        invoke(*wrong)
    assert not (tmp_path / "run").exists()
