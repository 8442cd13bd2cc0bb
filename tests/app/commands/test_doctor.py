"""``labeltrick doctor``: tables, JSON and the exit code."""

import json

from typer.testing import CliRunner

from labeltrick import __version__
from labeltrick.app.cli import app
from labeltrick.app.doctor import self_test


def test_a_sound_installation():
    shown = CliRunner().invoke(app, ["doctor"])
    assert shown.exit_code == 0
    for part in ("CPUs", "threads", "cache of kernels", "torch", "Nothing is broken."):
        assert part in shown.output
    found = json.loads(CliRunner().invoke(app, ["doctor", "--json"]).output)
    assert found["labeltrick"] == __version__
    assert found["problems"] == []


def test_a_broken_one_has_exit_code_1(monkeypatch):
    monkeypatch.setattr(self_test, "_propagation", lambda: "differs by 1")
    shown = CliRunner().invoke(app, ["doctor"])
    assert shown.exit_code == 1
    assert "problem: self-test: propagation: differs by 1" in shown.output
