"""The transcript and the screenshots of docs/guides/cli.md: every command, on generated files.

    python -m experiments.cli_page            # print the transcript
    python -m experiments.cli_page --write    # also write it and the screenshots into the docs

The screenshots need playwright and Chromium.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from experiments.record import ROOT, write_between_markers

FILES = "--edges edges.csv --nodes nodes.csv --target label"
COMMANDS = (
    f"labeltrick inspect {FILES} --split-column split --ignore town",
    f"labeltrick fit {FILES} --split-column split --out run/",
    "labeltrick evaluate run/ --nodes truth.csv",
    "labeltrick label-next run/ --count 3 --out to-label.csv",
    "labeltrick predict run/ --out predictions.csv",
    f"labeltrick compare {FILES} --ignore split --models boosting,label-propagation --repeats 3",
    f"labeltrick sweep {FILES} --split-column split --parameter damping --values 0.1,0.5,0.9 "
    "--out curve.svg",
)


def transcript(folder: Path) -> str:
    """Each command after a ``$``, and its output."""
    environment = {**os.environ, "COLUMNS": "100", "LABELTRICK_QUIET": "1"}
    program = [sys.executable, "-m", "labeltrick"]
    parts = []
    for command in COMMANDS:
        done = subprocess.run(
            [*program, *command.split()[1:]],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(f"{command} failed: {done.stderr}")
        said = (done.stderr + done.stdout).replace(f"{folder}/", "").rstrip()
        parts.append(f"$ {command}\n{said}\n")
        print(parts[-1], flush=True)
    return "```text\n" + "\n".join(parts) + "```\n"


def screenshots(report: Path) -> None:
    """Screenshots of the report on a desktop and on a phone, into docs/figures."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as session:
        browser = session.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, width, height, scheme in (
            ("report", 1200, 1000, "light"),
            ("report-phone", 390, 844, "dark"),
        ):
            page = browser.new_page(
                viewport={"width": width, "height": height}, color_scheme=scheme
            )
            page.goto(report.as_uri())
            page.wait_for_selector(".chart .main-svg")
            page.wait_for_timeout(800)
            page.screenshot(path=ROOT / "docs" / "figures" / f"{name}.png")
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--write", action="store_true", help="write docs/guides/cli.md and docs/figures"
    )
    given = parser.parse_args()
    from tests.support.people import write_files

    with tempfile.TemporaryDirectory() as name:
        folder = write_files(Path(name), n=600, noise=0.35)
        text = transcript(folder)
        if given.write:
            screenshots(folder / "run" / "report.html")
            write_between_markers(ROOT / "docs" / "guides" / "cli.md", "transcript", text)


if __name__ == "__main__":
    main()
