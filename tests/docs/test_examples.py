"""The examples of the gallery: titles, prose, figures, and that they run."""

import ast
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "docs" / "examples").glob("plot_*.py"))
# Runs an example as the gallery does, with figures that are drawn but not shown.
RUN = """
import runpy, sys
import matplotlib
matplotlib.use("agg")
import matplotlib.pyplot as plt
shown = []
def show():
    for number in plt.get_fignums():
        plt.figure(number).canvas.draw()
        shown.append(number)
    plt.close("all")
plt.show = show
runpy.run_path(sys.argv[1], run_name="__main__")
assert not plt.get_fignums(), "a figure is made after the last plt.show()"
print("figures:", len(shown))
"""

each_example = pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)


def test_there_are_enough_examples():
    assert len(EXAMPLES) >= 10


@each_example
def test_an_example_has_a_title_an_introduction_and_sections(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    title, underline, _, *introduction = ast.get_docstring(tree).splitlines()
    assert set(underline) == {"="}
    assert len(underline) == len(title)
    assert len(" ".join(introduction).split()) >= 20
    for section, line in re.findall(r"^# %%\n# (.+)\n# (-+)$", path.read_text(), flags=re.M):
        assert len(section) == len(line), section


@each_example
def test_an_example_has_a_figure_and_downloads_nothing(path):
    text = path.read_text(encoding="utf-8")
    assert "plt.show()" in text
    assert not re.search(r"fetch_|datasets\.load\(|urlopen|requests", text)


@pytest.mark.slow
@each_example
def test_an_example_runs(path):
    pytest.importorskip("matplotlib")
    if "torch" in path.read_text() and importlib.util.find_spec("torch") is None:
        pytest.skip("needs torch")
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(path)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "LABELTRICK_QUIET": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"^figures: [1-9]", done.stdout, flags=re.M)
