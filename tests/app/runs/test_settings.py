"""Settings in files: checked by type, shown before use, and without a say in what lies outside."""

import pytest

from labeltrick.app.runs.folder import RunFolder
from labeltrick.app.runs.settings import FitSettings, read_settings
from tests.support.people import fit_arguments, invoke, run_command, write_files


def config(folder, *lines):
    path = folder / "config.toml"
    path.write_text("\n".join(['edges = "edges.csv"', *lines]))
    return path


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("set = 5", "a table as 'set'; got 5"),
        ('set = "n_folds=2"', "a table as 'set'"),
        ("nodes = 7", "a text as 'nodes'; got 7"),
        ("target = true", "a text as 'target'"),
        ('directed = "yes"', "true or false as 'directed'"),
        ("directed = 1", "true or false as 'directed'"),
        ('seed = "3"', "a whole number as 'seed'"),
        ("seed = true", "a whole number as 'seed'"),
        ("seed = 1.5", "a whole number as 'seed'"),
        ('ignore = "x"', "a list of texts as 'ignore'"),
        ("ignore = [1]", "a list of texts as 'ignore'"),
        ("budget = 60", "a text as 'budget'"),
        ("target = 2020-01-01", "a text as 'target'"),
        ("[set]\nday = 2020-01-01", "numbers and texts in [set]; got day"),
        ("[set]\nday = [[2020-01-01]]", "numbers and texts in [set]; got day"),
        ("[nodes]\na = 1", "a text as 'nodes'"),
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
