"""The command line: ``labeltrick``."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from . import __version__

app = typer.Typer(
    name="labeltrick",
    help="Predict on graphs with labels and features in parallel, "
    "without a node ever seeing its own label.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"labeltrick {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Options before the command."""


@app.command(epilog="Example: [bold]labeltrick quickstart --label-share 0.05 --seed 1[/bold]")
def quickstart(
    label_share: Annotated[
        float, typer.Option(help="Share of the nodes whose label is known, in (0, 1).")
    ] = 0.1,
    seed: Annotated[int, typer.Option(help="Which nodes are labelled.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print the scores as JSON.")] = False,
) -> None:
    """Features alone against labels alone on scikit-learn's digits, in seconds."""
    from ._check import check_number
    from .quickstart import compare, make_problem

    check_number("label_share", label_share, 0.0, 1.0)
    problem = make_problem(label_share, seed)
    scores = compare(problem)
    if json:
        from dataclasses import asdict
        from json import dumps

        print(dumps([asdict(score) for score in scores]))
        return
    from rich.console import Console
    from rich.table import Table

    console = Console()
    console.print(
        f"{len(problem.y):,} images of digits as nodes, {problem.graph.n_edges:,} edges between "
        f"similar ones, {len(problem.train)} labelled; scored on the other {len(problem.test):,}."
    )
    table = Table("method", "uses", title="Digits, few labels", title_justify="left")
    table.add_column("accuracy", justify="right")
    table.add_column("seconds", justify="right")
    best = max(score.accuracy for score in scores)
    for score in scores:
        style = "bold green" if score.accuracy == best else ""
        cells = [score.method, score.uses, f"{score.accuracy:.1%}", f"{score.seconds:.2f}"]
        table.add_row(*cells, style=style)
    console.print(table)


def main() -> None:
    """Entry point: bad input prints one line and exits with 2, never a traceback."""
    try:
        app()
    except (ValueError, TypeError, FileNotFoundError, ImportError) as error:
        print(f"labeltrick: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
