"""Settings in files: checked by type, shown before use, and without a say in what lies outside."""

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

from labeltrick.app.runs.careful import unused_options
from labeltrick.app.runs.folder import RunFolder
from labeltrick.app.runs.settings import FitSettings, read_settings
from tests.support.commands import run_command
from tests.support.dataset_files import heterophilous_arrays
from tests.support.people import fit_arguments, invoke, write_files


def config(folder, *lines):
    path = folder / "config.toml"
    path.write_text("\n".join(['edges = "edges.csv"', *lines]))
    return path


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("set = 5", "a table as 'set'; got 5"),
        ('set = "n_folds=2"', "a table as 'set'"),
        ("nodes = 7", "a text or a list of texts as 'nodes'; got 7"),
        ("target = true", "a text or a list of texts as 'target'"),
        ('directed = "yes"', "true or false as 'directed'"),
        ("directed = 1", "true or false as 'directed'"),
        ('seed = "3"', "a whole number as 'seed'"),
        ("seed = true", "a whole number as 'seed'"),
        ("seed = 1.5", "a whole number as 'seed'"),
        ('ignore = "x"', "a list of texts as 'ignore'"),
        ("ignore = [1]", "a list of texts as 'ignore'"),
        ("budget = 60", "a text as 'budget'"),
        ("target = 2020-01-01", "a text or a list of texts as 'target'"),
        ("[set]\nday = 2020-01-01", "numbers and texts in [set]; got day"),
        ("[set]\nday = [[2020-01-01]]", "numbers and texts in [set]; got day"),
        ("nodes = [1]", "a list of texts as 'nodes'"),
        ("[nodes]\na = 1", "a text or a list of texts as 'nodes'"),
        ("x = " + "[" * 5000, "must be valid TOML"),
        ("x = \x00", "must be valid TOML"),
    ],
)
def test_values_are_checked_by_type(tmp_path, line, words):
    with pytest.raises(ValueError, match="config.toml` must") as error:
        read_settings(config(tmp_path, line))
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "name", ["resume_from", "checkpoint_dir", "address", "engine", "max_memory", "progress"]
)
def test_a_file_has_no_say_in_what_reaches_outside(tmp_path, name):
    with pytest.raises(ValueError, match=f"must not set '{name}', a setting of the machine"):
        read_settings(config(tmp_path, "[set]", f'{name} = "mydata"'))
    settings = FitSettings("edges.csv", set={name: "mydata", "n_folds": 2})
    (tmp_path / "own.toml").write_text(settings.to_toml())
    assert read_settings(tmp_path / "own.toml").set == {"n_folds": 2}


def test_a_folder_is_no_config(tmp_path):
    with pytest.raises(ValueError, match="must be a file; it is a folder"):
        read_settings(tmp_path)


def test_lines_of_a_file_are_printed_and_typed_ones_are_not(tmp_path):
    path = config(tmp_path, 'nodes = "missing.csv"', 'target = "label"', "[set]", "n_folds = 2")
    command = ("fit", "--config", path, "--target", "other", "--out", tmp_path / "run", "--json")
    done = run_command(*command)
    assert done.returncode == 2
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert any("config.toml: nodes = " in line and "missing.csv" in line for line in lines)
    assert any("config.toml: n_folds = 2" in line for line in lines)
    assert not any("target" in line for line in lines)
    assert "must" in lines[-1]


def test_resume_refuses_options_it_would_ignore(tmp_path):
    write_files(tmp_path, n=60, split=False)
    folder = tmp_path / "run"
    arguments = fit_arguments(tmp_path, "run")
    settings = FitSettings(str(tmp_path / "edges.csv"), str(tmp_path / "nodes.csv"), "label",
                           model="label-propagation")  # fmt: skip
    RunFolder(folder).start(settings.to_toml(), resume=False, overwrite=False)
    with pytest.raises(ValueError, match="`--resume` must come without --"):
        invoke(*arguments, "--resume")
    with pytest.raises(ValueError, match="without --set damping"):
        invoke("fit", "--out", folder, "--resume", "--set", "damping=0.5")
    invoke("fit", "--out", folder, "--resume", "--set", "engine=memory", "--quiet")
    assert (folder / "metrics.json").is_file()
    assert "engine" not in (folder / "config.toml").read_text()


def test_a_parameter_that_is_none_and_an_id_of_another_name(tmp_path):
    write_files(tmp_path, n=60, split=False)
    nodes = pl.read_csv(tmp_path / "nodes.csv").rename({"id": "person"})
    nodes.write_csv(tmp_path / "nodes.csv")
    invoke(*fit_arguments(tmp_path, "run", "--model", "label-propagation", "--id", "person",
                          "--set", "n_steps=None", "--quiet"))  # fmt: skip
    assert read_settings(tmp_path / "run" / "config.toml").set == {"n_steps": None}
    invoke("label-next", tmp_path / "run", "--count", 2, "--out", tmp_path / "ask.csv", "-q")
    asked = pl.read_csv(tmp_path / "ask.csv")
    assert asked.columns[0] == "person"
    asked.with_columns(pl.lit("red").alias("label")).write_csv(tmp_path / "filled.csv")
    nodes.drop("label").write_csv(tmp_path / "bare.csv")
    for table in ("nodes.csv", "bare.csv"):  # also where the table has no column of labels
        out = tmp_path / f"{table}.parquet"
        invoke("predict", tmp_path / "run", "--nodes", tmp_path / table, "--labels",
               tmp_path / "filled.csv", "--out", out, "-q")  # fmt: skip
        found = pl.read_parquet(out)
        labeled = found.filter(pl.col("labeled"))["person"].to_list()
        assert set(asked["person"]) <= set(labeled)


def test_settings_come_back_from_toml(tmp_path):
    settings = FitSettings(
        str(tmp_path / "e.csv"), str(tmp_path / "n.csv"), target='a "b" ü', ignore=("x",),
        directed=True, set={"damping": 0.5, "k": [1, "z"]}, seed=3,
    )  # fmt: skip
    (tmp_path / "c.toml").write_text(settings.to_toml(), encoding="utf-8")
    assert read_settings(tmp_path / "c.toml") == settings
    (tmp_path / "d.toml").write_text("nonsense = 1\n")
    with pytest.raises(ValueError, match=r"config.toml of a run; it has 'nonsense'"):
        read_settings(tmp_path / "d.toml")


def test_settings_come_back_whatever_columns_are_called(tmp_path):
    name = "a\x7f\x1b\x85\u2028\u202e\"'\\ é 👩"
    settings = FitSettings("/e.csv", "/n.csv", target=name, ignore=(name, "b"), set={name: name})
    (tmp_path / "config.toml").write_text(settings.to_toml(), encoding="utf-8")
    assert read_settings(tmp_path / "config.toml") == settings


def test_several_files_come_back_and_one_stays_a_text(tmp_path):
    settings = FitSettings(("/a.csv", "/b.csv"), "/n.csv")
    text = settings.to_toml()
    assert 'edges = ["/a.csv", "/b.csv"]' in text
    assert 'nodes = "/n.csv"' in text
    (tmp_path / "config.toml").write_text(text)
    assert read_settings(tmp_path / "config.toml") == settings
    assert settings.nodes == ("/n.csv",)


def test_options_of_files_may_be_repeated(tmp_path):
    write_files(tmp_path, n=60, split=False)
    for name in ("edges", "nodes"):
        whole = pl.read_csv(tmp_path / f"{name}.csv")
        whole[:20].write_csv(tmp_path / f"{name}-1.csv")
        whole[20:].write_csv(tmp_path / f"{name}-2.csv")
    pieces = [word for name in ("edges", "nodes") for k in (1, 2)
              for word in (f"--{name}", tmp_path / f"{name}-{k}.csv")]  # fmt: skip
    model = ("--model", "label-propagation", "--quiet")
    invoke(*fit_arguments(tmp_path, "run", *model))
    invoke("fit", *pieces, "--target", "label", "--out", tmp_path / "again", *model)
    whole, parts = (pl.read_parquet(tmp_path / run / "predictions.parquet")
                    for run in ("run", "again"))  # fmt: skip
    assert parts.equals(whole)
    assert len(read_settings(tmp_path / "again" / "config.toml").nodes) == 2
    out = ("--out", tmp_path / "new.parquet", "-q")
    invoke("predict", tmp_path / "run", "--replace", *pieces, *out)
    assert pl.read_parquet(tmp_path / "new.parquet")["id"].equals(whole["id"])
    truth = pl.read_csv(tmp_path / "truth.csv")
    for k, part in enumerate((truth[:30], truth[30:])):
        part.write_csv(tmp_path / f"truth-{k}.csv")
    both = [word for k in (0, 1) for word in ("--nodes", tmp_path / f"truth-{k}.csv")]
    found = invoke("evaluate", tmp_path / "again", *both)
    assert found == invoke("evaluate", tmp_path / "again", "--nodes", tmp_path / "truth.csv")


def test_how_text_is_written_is_shown_stored_and_used_again(tmp_path):
    write_files(tmp_path, n=60, split=False)
    nodes = pl.read_csv(tmp_path / "nodes.csv").with_columns(pl.col("town").replace("Bonn", "Köln"))
    text = nodes.write_csv(separator=";", decimal_comma=True)
    (tmp_path / "nodes.csv").write_bytes(text.encode("cp1252"))
    said = "note: nodes.csv: semicolons, decimal comma, Windows-1252"
    files = fit_arguments(tmp_path, "run")[1:7]
    assert said in invoke("inspect", *files)
    model = ("--model", "label-propagation")
    assert said in invoke(*fit_arguments(tmp_path, "run", *model))
    (tmp_path / "nodes.csv").write_bytes(text.encode("cp1250"))
    given = ("--encoding", "windows-1250", "--decimal", "comma")
    words = "note: nodes.csv: semicolons, decimal comma, CP1250"
    assert words in invoke(*fit_arguments(tmp_path, "again", *model, *given))
    settings = read_settings(tmp_path / "again" / "config.toml")
    assert (settings.delimiter, settings.encoding, settings.decimal) == (
        None, "windows-1250", "comma",
    )  # fmt: skip
    more = ("--nodes", tmp_path / "nodes.csv", "--edges", tmp_path / "edges.csv")
    out = ("--out", tmp_path / "p.csv", "--overwrite")
    assert words in invoke("predict", tmp_path / "again", *more, *out)
    assert words in invoke("predict", tmp_path / "run", *more, *out, *given)
    with pytest.raises(ValueError, match="`--delimiter` must be one character"):
        invoke("predict", tmp_path / "run", *more, *out, "--delimiter", "xx")
    truth = pl.read_csv(tmp_path / "truth.csv").write_csv(separator="|")
    (tmp_path / "truth.csv").write_text(truth)
    truth = ("--nodes", tmp_path / "truth.csv")
    assert "note: truth.csv: bars" in invoke("evaluate", tmp_path / "run", *truth)
    assert "bars" in invoke("evaluate", tmp_path / "run", *truth, "--delimiter", "bar")


def test_a_server_that_only_a_file_names_is_not_opened(tmp_path):
    settings = FitSettings("postgresql://me:secret@host/db?links", "n.csv", "label")
    text = settings.to_toml()
    assert "secret" not in text
    (tmp_path / "config.toml").write_text(text)
    with pytest.raises(ValueError, match="names a database on a server.* Pass --edges"):
        invoke("fit", "--config", tmp_path / "config.toml", "--out", tmp_path / "run")
    RunFolder(tmp_path / "run").start(text, resume=False, overwrite=False)
    with pytest.raises(ValueError, match="names a database on a server"):
        invoke("fit", "--out", tmp_path / "run", "--resume")


def test_a_database_is_fitted_and_not_needed_again(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    write_files(tmp_path, n=60, split=False)
    with duckdb.connect(str(tmp_path / "d.db")) as connection:
        for name in ("edges", "nodes"):
            connection.execute(f"create table {name} as from read_csv('{tmp_path}/{name}.csv')")
    url = f"duckdb:{tmp_path}/d.db"
    files = ("--edges", f"{url}?edges", "--nodes", f"{url}?select * from nodes order by id")
    run = tmp_path / "run"
    model = ("--model", "label-propagation")
    invoke("fit", *files, "--target", "label", "--out", run, *model)
    labels = tmp_path / "truth.csv"
    (tmp_path / "d.db").unlink()  # the run keeps its tables
    invoke("predict", run, "--labels", labels, "--out", tmp_path / "p.csv", "-q")
    assert pl.read_csv(tmp_path / "p.csv")["labeled"].all()


@pytest.mark.parametrize("command", ["fit", "inspect", "compare", "sweep", "predict", "evaluate"])
def test_every_command_that_reads_tables_takes_their_format(command):
    said = invoke(command, "--help")
    assert all(option in said for option in ("--delimiter", "--encoding", "--decimal", "--missing"))


def test_a_target_that_a_graph_file_cannot_have_is_refused(tmp_path):
    sp.save_npz(tmp_path / "a.npz", sp.csr_matrix(np.ones((4, 4)) - np.eye(4)))
    with pytest.raises(ValueError, match="`--target` must come with --nodes.* got 'y'.*a.npz'"):
        FitSettings(str(tmp_path / "a.npz"), target="y").read()
    pl.DataFrame({"id": range(4), "y": ["a", "b", "a", "b"]}).write_csv(tmp_path / "y.csv")
    more = FitSettings(str(tmp_path / "a.npz"), target="y", labels=str(tmp_path / "y.csv"))
    assert more.read().labels.known.all()
    assert unused_options(more) == []  # its ids and labels are used
    np.savez(tmp_path / "b.npz", **heterophilous_arrays())
    assert FitSettings(str(tmp_path / "b.npz")).read().labels.known.all()
    with pytest.raises(ValueError, match="`--target` must be left out.*b.npz'.* got 'y'"):
        FitSettings(str(tmp_path / "b.npz"), target="y").read()


def test_options_that_a_graph_with_columns_uses_are_not_called_unused():
    given = {"ignore": ("x",), "time": "t", "split_column": "s", "unknown_nodes": "add"}
    (said,) = unused_options(FitSettings("g.graphml", target="y", **given))
    assert said == "not used, because there is no --nodes: --unknown-nodes"
    assert unused_options(FitSettings("photo.npz", task="regression")) == []


def test_columns_that_could_be_the_target_are_listed(tmp_path):
    (tmp_path / "e.csv").write_text("from,to\na,b\nb,c\nc,d\n")
    files = ("--edges", tmp_path / "e.csv", "--nodes", tmp_path / "n.csv")
    (tmp_path / "n.csv").write_text("id,x,churned\na,1,no\nb,2,\nc,2,yes\nd,1,\n")
    with pytest.raises(ValueError, match="none was given. These could be: churned.$"):
        invoke("fit", *files, "--out", tmp_path / "run")
    assert "with --target, such as --target churned" in " ".join(invoke("inspect", *files).split())
    (tmp_path / "n.csv").write_text("id,x,size,label\na,1,,n\nb,2,1,y\nc,2,2,y\nd,1,2,n\n")
    with pytest.raises(ValueError, match="These could be: label, size.$"):
        invoke("fit", *files, "--out", tmp_path / "run")
    with pytest.raises(ValueError, match="must name the column to predict; none was given.$"):
        invoke("fit", "--edges", tmp_path / "e.csv", "--out", tmp_path / "run")
