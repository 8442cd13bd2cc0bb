"""Options that commands share, and how they talk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..._utils.escaping import visible
from ..._utils.json_files import dumps

Part = str | tuple[str, str]
"""What is printed: a text, or (text, style)."""

Edges = Annotated[
    Path | None,
    typer.Option(
        help="Table of edges (CSV, TSV, Parquet, JSON lines, compressed or not, a folder of "
        "Parquet parts), a graph folder (see graph build), or a file with graph and nodes in one "
        "(.npz, .graphml, an OGB folder, ind.NAME.graph)."
    ),
]
Nodes = Annotated[Path | None, typer.Option(help="Table of nodes: an id, columns, labels.")]
Target = Annotated[
    str | None, typer.Option(help="Column of the nodes to predict; blank where not known.")
]
Id = Annotated[str | None, typer.Option("--id", help="Column of the nodes' ids. [id, else first]")]
Src = Annotated[str | None, typer.Option(help="Column of an edge's start. [src, source, … or 1st]")]
Dst = Annotated[str | None, typer.Option(help="Column of an edge's end. [dst, target, … or 2nd]")]
Weight = Annotated[str | None, typer.Option(help="Column of the edges' weights. [weight, if any]")]
Time = Annotated[str | None, typer.Option(help="Column of dates among the nodes', as a feature.")]
Ignore = Annotated[
    list[str] | None, typer.Option(help="Column of the nodes to leave out; may be repeated.")
]
SplitColumn = Annotated[
    str | None,
    typer.Option(
        help="Column that says train, val or test: train rows give labels, val rows serve "
        "selection, test rows are only scored."
    ),
]
Labels = Annotated[
    Path | None,
    typer.Option(help="Table of further labels, as label-next writes: an id, the target's column."),
]
UnknownNodes = Annotated[
    str, typer.Option(help="Edges to nodes that the table lacks: error, add or drop.")
]
Directed = Annotated[bool, typer.Option("--directed", help="Edges have a direction.")]
Task = Annotated[str, typer.Option(help="auto, classification or regression.")]
Metric = Annotated[
    str | None, typer.Option(help="accuracy, roc_auc, log_loss; rmse, mae or r2 for numbers.")
]
Model = Annotated[
    str,
    typer.Option(
        help="auto, label-propagation, trainable-label-propagation, boosting, regression, sgc, "
        "sign, twirls, gnn, correct-and-smooth or trainable-correct-and-smooth."
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", help="Parameter of the model as key=value; may be repeated."),
]
Budget = Annotated[str, typer.Option(help="Time that auto may take, by its estimate: 60s, 5m, 1h.")]
Seed = Annotated[int, typer.Option(help="Of everything random; the same gives the same.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]


class Speaker:
    """Prints for people, as JSON, or not at all.

    Texts are shown as they are: names in data may look like rich's markup or steer a terminal.
    """

    def __init__(self, as_json: bool, quiet: bool) -> None:
        self.as_json, self.silent = as_json, quiet
        self._console = Console(quiet=as_json or quiet, highlight=False, soft_wrap=True)

    @property
    def progress(self) -> bool | None:
        """Bars on a terminal, unless nothing is to be printed."""
        return False if self.as_json or self.silent else None

    def say(self, *parts: Part) -> None:
        """Print one line; ``("warning:", "yellow")`` is text with a style."""
        self._console.print(Text.assemble(*map(_text, parts)))

    def table(self, title: str, header: list[str], rows: Sequence[Sequence[Part]]) -> None:
        table = Table(title=_text(title), title_justify="left", title_style="bold")
        for k, name in enumerate(header):
            justify: Any = "left" if k == 0 else "right"
            table.add_column(_text(name), justify=justify, overflow="fold")
        for row in rows:
            table.add_row(*map(_text, row))
        self._console.print(table)

    def result(self, value: Any) -> None:
        """The machine's answer."""
        if self.as_json:
            print(dumps(value))


def _text(part: Part) -> Text:
    text, style = part if isinstance(part, tuple) else (part, "")
    return Text(visible(text), style=style)


def settings_of(edges: Path | None, nodes: Path | None, ignore: Any, **others: Any) -> Any:
    """The settings of a command from its options."""
    from ..runs.settings import FitSettings

    if edges is None:
        raise ValueError("`--edges` must be given: the table of edges. Example: --edges edges.csv")
    table = None if nodes is None else str(nodes)
    return FitSettings(str(edges), table, ignore=tuple(ignore or ()), **others)
