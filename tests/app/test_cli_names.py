"""Names from data are printed as they are: no markup, no escape sequences, no crashes."""

import json
import shlex

import polars as pl
import pytest

from labeltrick._utils.escaping import visible
from labeltrick.app import cli
from labeltrick.app.commands.options import Speaker
from tests.support.hostile import NAMES, TARGET, fit_hostile, write_hostile
from tests.support.people import invoke

MARKUP = ["[/bold]", "[red]x[/red]", "[link=https://example.org]y[/link]", ":smile:", "[", "\\[x]"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return write_hostile(tmp_path_factory.mktemp("[red]names"))


@pytest.fixture(scope="module")
def run(files):
    said = invoke(*fit_hostile(files, "--model", "label-propagation"))
    return files / "[red]run[", said


def clean(said):
    """Nothing in it steers a terminal; rich's own styles are off where nobody looks."""
    assert not [sign for sign in said if visible(sign) != sign and sign != "\n"]
    return said


def test_inspect(files):
    tables = "--edges", files / "edges.parquet", "--nodes", files / "nodes.parquet"
    said = clean(invoke("inspect", *tables, "--target", TARGET))
    joined = "".join(part.strip(" │") for part in said.splitlines())
    for word in ("[/bold] kind", "[link=https://example.org]y[/link]", ":smile:", r"\x1b[31m"):
        assert word.replace(" ", "") in joined.replace(" ", "").replace("│", "")
    found = json.loads(invoke("inspect", *tables, "--target", TARGET, "--json"))
    assert {f"{name} column" for name in NAMES} <= {entry["name"] for entry in found["columns"]}


def test_fit_predict_and_evaluate(run, files, tmp_path):
    folder, said = run
    clean(said)
    assert f"Report: {folder / 'report.html'}" in said
    assert f"Predictions: {folder / 'predictions.parquet'}" in said
    assert "labeled nodes may use their own labels and are no test" in said
    assert "As CSV: labeltrick predict " in said
    assert "accuracy" in clean(invoke("evaluate", folder))
    out = tmp_path / "[/red].csv"
    assert f"predictions: {out}" in clean(invoke("predict", folder, "--out", out))
    asked = tmp_path / "[/bold] :smile:.csv"
    said = clean(invoke("label-next", folder, "--count", "12", "--out", asked))
    command = said.split("then: ")[1].split(" --out")[0]
    assert shlex.split(command)[2:] == [str(folder), "--labels", str(asked)]


def test_sweep(files, tmp_path):
    out = tmp_path / "[/bold].html"
    said = clean(
        invoke("sweep", "--edges", files / "edges.parquet", "--nodes", files / "nodes.parquet",
               "--target", TARGET, "--parameter", "damping", "--values", "0.5,0.9", "--out", out)
    )  # fmt: skip
    assert f"Chart: {out}" in said


@pytest.fixture
def command(monkeypatch, capsys):
    """(exit code, errors) of the command line as a shell starts it, in this process."""
    monkeypatch.setattr("signal.signal", lambda *_: None)
    monkeypatch.setattr("warnings.showwarning", lambda *_, **__: None)

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["labeltrick", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        return stop.value.code, capsys.readouterr().err

    return run


def test_errors_are_one_line(tmp_path, command):
    bad = "\x1b]0;title\x07[/bold]\nlabeltrick: all is well"
    pl.DataFrame({"id": ["a", "b"], bad: ["x", "x"]}).write_parquet(tmp_path / "nodes.parquet")
    pl.DataFrame({"src": ["a"], "dst": ["b"]}).write_parquet(tmp_path / "edges.parquet")
    tables = "--edges", tmp_path / "edges.parquet", "--nodes", tmp_path / "nodes.parquet"
    for target in ("label", bad):
        code, said = command("fit", *tables, "--target", target, "--out", tmp_path / "[/x]")
        assert code == 2
        assert said.count("\n") == 1
        assert r"\x1b]0;title\x07[/bold]\nlabeltrick: all is well" in said.replace(r"\\", "\\")


@pytest.mark.parametrize("word", [*MARKUP, "--[/bold]", "--[red]"])
def test_unknown_words_on_the_command_line(word, command):
    code, said = command("datasets", "info", word)
    assert code == 2
    assert word.lstrip("-") in said.replace(r"\\", "\\")


def test_a_speaker_says_what_it_is_given(capsys):
    speaker = Speaker(False, False)
    for word in MARKUP:
        speaker.say(word)
        speaker.say(("warning:", "yellow"), f" {word}")
        assert capsys.readouterr().out == f"{word}\nwarning: {word}\n"
        speaker.table(word, [word, "b"], [[word, word]])
        assert capsys.readouterr().out.count(word) == 4
    speaker.say("a\x1b[2Jb\nc")
    assert capsys.readouterr().out == "a\\x1b[2Jb\\nc\n"
