"""``python -m experiments``: reproduce the paper's tables and figure."""

from __future__ import annotations

import os
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from experiments.gains import HEADER, gain_row
from experiments.ledger import make_ledger, shown
from experiments.paper import EXPERIMENTS
from experiments.running import choices, nothing_to_run, plan, run_jobs
from labeltrick.app.cli import run
from labeltrick.app.commands import options as o
from labeltrick.app.commands.datasets import DataDir
from labeltrick.io import datasets

EXAMPLE = (
    "Example: [bold]python -m experiments table1 --dataset pubmed --seeds 2 --data-dir data[/bold]"
)
app = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)


class What(str, Enum):
    """Parts of the paper."""

    table1 = "table1"
    table2 = "table2"
    table3 = "table3"
    table4 = "table4"
    figure1 = "figure1"
    theorems = "theorems"
    all = "all"


@app.command(epilog=EXAMPLE)
def reproduce(
    what: Annotated[What, typer.Argument(help="A table, the figure, the theorems, or all.")],
    dataset: Annotated[
        list[str] | None, typer.Option("--dataset", help="Only these datasets; may be repeated.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Number of splits per cell.")] = 10,
    fast: Annotated[
        bool, typer.Option("--fast", help="Only 2 seeds, and only what takes minutes.")
    ] = False,
    data_dir: DataDir = None,
    results: Annotated[
        Path | None,
        typer.Option(help="Folder for results; default results/, or results/fast/ with --fast."),
    ] = None,
    only_ledger: Annotated[
        bool, typer.Option("--only-ledger", help="Run nothing; compare existing results.")
    ] = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Run the paper's experiments, and compare each published value with ours.

    Results are saved as they are computed, and an interrupted run resumes where it stopped. The
    ledger is written to ledger.md and ledger.json in the results folder.
    """
    speaker = o.Speaker(json, quiet)
    wanted = list(EXPERIMENTS) if what is What.all else [what.value]
    folder = (results or Path("results/fast" if fast else "results")).absolute()
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"`--results` must be a folder; '{folder}' is a file.")
    names = [datasets.info(name)["name"] for name in dataset] if dataset else None
    given = data_dir or os.environ.get("LABELTRICK_DATA")
    where = Path(given).expanduser().absolute() if given else None
    open_choices = choices()
    if not only_ledger:
        jobs = plan(wanted, names, fast, where)
        if not jobs:
            raise ValueError(nothing_to_run(wanted, names, where))
        tell = None if json or quiet else speaker.say
        run_jobs(jobs, 2 if fast else seeds, folder, where, speaker.progress, tell)
    ledger = make_ledger(folder, where, open_choices)
    ledger.write(folder)
    cells = [cell for cell in ledger.cells if cell.table in wanted]
    cells = [cell for cell in cells if not names or cell.dataset in names]
    gains = [gain for gain in ledger.gains if gain.table in wanted]
    gains = [gain for gain in gains if not names or gain.dataset in names]
    checks = ledger.checks if "theorems" in wanted else []
    shown_as = {"cells": [vars(cell) for cell in cells], "gains": [vars(gain) for gain in gains]}
    speaker.result({**shown_as, "checks": checks})
    rows = [
        [cell.table, cell.dataset, cell.method + (" (val)" if cell.part == "val" else ""),
         shown(cell.paper, cell.paper_std, cell.digits), shown(cell.ours, cell.ours_std),
         "" if cell.errors is None else f"{cell.errors:+.1f}", cell.verdict]
        for cell in cells
        if cell.verdict != "data absent"
    ]  # fmt: skip
    header = ["", "dataset", "method", "paper", "ours", "s.e.", "verdict"]
    if rows:
        speaker.table("Published values and ours", header, rows)
    compared = [gain for gain in gains if gain.ours is not None]
    if compared:
        lines = [[gain.table, *gain_row(gain)[:-1]] for gain in compared]  # without notes
        speaker.table("Gains and their standard errors", ["", *HEADER[:-1]], lines)
    absent = len(cells) - len(rows)
    if absent:
        speaker.say(f"{absent} more cells have no data. See: labeltrick datasets list")
    for check in checks:
        holds = "holds" if check["holds"] else "does not hold"
        value = f"{check['measure']} {check['value']:.1g} in {check['cases']} cases"
        speaker.say(f"{check['check']}: {holds} ({value}; {check['note']})")
    speaker.say(f"wrote {folder / 'ledger.md'} and ledger.json")


if __name__ == "__main__":
    run(app)
