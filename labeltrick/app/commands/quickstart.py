"""``labeltrick quickstart``: the main job, on a generated Minesweeper board."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import options as o

EXAMPLE = o.examples("labeltrick quickstart --label-share 0.3 --seed 1")


@o.command()
def quickstart(
    speaker: o.Speaker,
    *,
    label_share: Annotated[
        float, typer.Option(help="Share of the cells known to be mines or not, in (0, 1).")
    ] = 0.5,
    size: Annotated[int, typer.Option(help="Rows and columns of the board.")] = 50,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the files and the run. [a temporary folder]")
    ] = None,
    seed: int,
) -> None:
    """Write a Minesweeper board as two tables, fit them, and compare with simpler methods."""
    from ...io.datasets.examples import make_minesweeper
    from ..quickstart import BOARD, compare, run_on_files

    board = make_minesweeper(size, label_share, seed=seed)
    scores = compare(board)
    score, report = run_on_files(board, out, seed, speaker.progress)
    scores.append(score)
    folder = report.parent.parent
    speaker.result({"scores": [vars(entry) for entry in scores], "report": str(report)})
    speaker.say(
        f"A board of {len(board.y):,} cells, each with the number of mines around it; "
        f"{len(board.train):,} cells are known to be mines or not. Which of the other "
        f"{len(board.test):,} are mines?"
    )
    best = max(entry.auc for entry in scores)
    rows: list[list[o.Part]] = []
    for entry in scores:
        cells = [entry.method, entry.uses, f"{entry.auc:.3f}", f"{entry.seconds:.1f}"]
        rows.append([(cell, "bold green" if entry.auc == best else "") for cell in cells])
    speaker.table("Mines found (AUC: 0.5 is chance)", ["method", "uses", "AUC", "seconds"], rows)
    speaker.say(f"Board:  {folder / BOARD}")
    speaker.say(f"Report: {report}")
