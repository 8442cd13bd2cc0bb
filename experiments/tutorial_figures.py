"""The printed output and the figures of docs/tutorials, from the blocks of the pages themselves.

    python -m experiments.tutorial_figures            # run everything, write nothing
    python -m experiments.tutorial_figures --write    # write the pages and docs/figures

The screenshot of the report needs playwright and Chromium.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from experiments.record import ROOT

PAGES = ROOT / "docs" / "tutorials"
FIGURES = ROOT / "docs" / "figures"
# A command of the program, and the output that stands under it.
SHELL = re.compile(r"```bash\n(labeltrick [^\n]*)\n```\n\n```text\n(.*?)```", flags=re.S)
BLUE, RED, GRAY = "#0071bc", "#c1272d", "#9aa3ad"


def run_blocks(page: Path) -> dict[str, Any]:
    """The names that the Python blocks of a page define, run in order."""
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.S):
        exec(compile(block, page.name, "exec"), names)
    return names


def run_command(command: str, folder: Path) -> str:
    """What a command of the page prints, in the folder of its files."""
    done = subprocess.run(
        [sys.executable, "-m", "labeltrick", *shlex.split(command)[1:]],
        cwd=folder,
        env={**os.environ, "COLUMNS": "100", "LABELTRICK_QUIET": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"{command} failed: {done.stderr}")
    lines = (done.stderr + done.stdout).replace(f"{folder}/", "").splitlines()
    return "\n".join(line.rstrip() for line in lines).strip("\n") + "\n"


def with_output(page: Path, folder: Path) -> str:
    """The text of a page, with what its commands print now."""

    def shown(found: re.Match[str]) -> str:
        output = run_command(found[1], folder)
        print(f"$ {found[1]}\n{output}", flush=True)
        return f"```bash\n{found[1]}\n```\n\n```text\n{output}```"

    return SHELL.sub(shown, page.read_text(encoding="utf-8"))


def screenshot(report: Path) -> None:
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as session:
        browser = session.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1000, "height": 900}, color_scheme="light")
        page.goto(report.as_uri())
        page.wait_for_selector(".chart .main-svg")
        page.wait_for_timeout(800)
        page.screenshot(path=FIGURES / "tutorial-report.png")
        browser.close()


def draw_trials(names: dict[str, Any]) -> Any:
    """Accuracy of everything that AutoModel tried within the budget."""
    import matplotlib.pyplot as plt

    model = names["model"]
    scores = {trial.name: trial.score for trial in model.trials_ if np.isfinite(trial.score)}
    figure, axis = plt.subplots(figsize=(6.8, 3.2), layout="constrained")
    colors = [BLUE if name == "blend" else GRAY for name in scores]
    bars = axis.barh(list(scores), [100 * value for value in scores.values()], color=colors)
    axis.bar_label(bars, fmt="%.1f", label_type="center", color="white")
    axis.axvline(100 * names["real"], color="#333333", linestyle=":")
    axis.set(xlabel="accuracy, % (dotted: the blend on shops not rated yet)", xlim=(0, 100))
    axis.invert_yaxis()
    axis.spines[["top", "right"]].set_visible(False)
    return figure


def draw_training(names: dict[str, Any]) -> Any:
    """AUC on training nodes and on hidden ones, by epoch."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(8.0, 3.2), layout="constrained", sharey=True)
    kinds = (("labels appended", "naive_history", RED), ("label trick", "history", BLUE))
    for axis, (title, key, color) in zip(axes, kinds, strict=True):
        seen, hidden = np.array(names[key]).T
        axis.plot(seen, color=color, linewidth=2, label="where the loss is taken")
        axis.plot(hidden, ":", color="#333333", linewidth=2, label="hidden cells")
        axis.set_title(title, fontsize=11, color=color)
        axis.set_xlabel("epoch")
        axis.grid(alpha=0.3)
        axis.legend(frameon=False, loc="lower right")
    axes[0].set_ylabel("AUC")
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the pages and docs/figures")
    given = parser.parse_args()
    import matplotlib

    matplotlib.use("agg")
    tables = PAGES / "two-tables.md"
    folder = run_blocks(tables)["folder"]
    text = with_output(tables, folder)
    figures = {
        "tutorial-trials": draw_trials(run_blocks(PAGES / "scikit-learn-and-pandas.md")),
        "tutorial-gnn": draw_training(run_blocks(PAGES / "your-own-gnn.md")),
    }
    if given.write:
        tables.write_text(text, encoding="utf-8")
        for name, figure in figures.items():
            figure.savefig(FIGURES / f"{name}.png", dpi=110)
        screenshot(folder / "run" / "report.html")


if __name__ == "__main__":
    main()
