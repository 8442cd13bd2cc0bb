"""Models by name."""

import json

import polars as pl
import pytest

from labeltrick import load_model
from labeltrick.app.runs.models import MODELS, make_model
from labeltrick.app.runs.settings import FitSettings, read_settings
from labeltrick.models.auto.on_table import OnTable
from tests.support.people import QUICK, fit_arguments, invoke, write_files


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


SMALL = {
    "boosting": ["n_rounds=20"],
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
        files = ("--edges", tmp_path / "edges.csv", "--nodes", tmp_path / f"{file}.csv")
        reported = invoke("predict", tmp_path / "run", "--replace", *files, "--out", out)
        assert ("counts as missing: 'elsewhere'" in " ".join(reported.split())) == (file == "other")
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


def test_learned_edge_weights_read_the_columns(tmp_path):
    pytest.importorskip("torch")
    write_files(tmp_path, n=90, split=False)
    chosen = ("--model", "trainable-label-propagation", "--set", "edge_weights=learned")
    command = fit_arguments(tmp_path, "run", *chosen, "--set", "max_epochs=10", "--json")
    said = json.loads(invoke(*command))
    assert said["leaks"] is False
    assert said["score"]["value"] > 0.6
    model = load_model(tmp_path / "run" / "model")
    assert isinstance(model, OnTable)
    assert model.edge_function_ is not None


def test_learners_of_auto_are_chosen_and_checked():
    settings = FitSettings("e.csv", learners=("trees", "network"), exclude=("graph network",))
    model = make_model(settings, "classification")
    assert model.learners == ["trees", "network"]
    assert model.exclude == ["graph network"]
    assert make_model(FitSettings("e.csv"), "classification").learners is None
    with pytest.raises(ValueError, match=r"`--learners` must hold .* got 'tree'. Did you mean 'tr"):
        make_model(FitSettings("e.csv", learners=("tree",)), "classification")
    with pytest.raises(ValueError, match=r"`--exclude` must hold names"):
        make_model(FitSettings("e.csv", exclude=("forest",)), "classification")


def test_a_fit_tries_the_learners_that_are_named(tmp_path):
    write_files(tmp_path, n=90, split=False)
    more = ("--learners", "trees,linear", "--exclude", "linear", *QUICK, "--json")
    said = json.loads(invoke(*fit_arguments(tmp_path, "run", *more)))
    tried = {t["name"] for t in said["tried"] if t["score"] is not None}
    assert "trees" in tried
    assert not tried & {"network", "deep network", "graph network", "linear"}
    config = (tmp_path / "run" / "config.toml").read_text()
    assert 'learners = ["trees", "linear"]' in config
    assert read_settings(tmp_path / "run" / "config.toml").exclude == ("linear",)
