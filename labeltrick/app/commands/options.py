"""Shared options of the commands, and their output."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_origin

import typer

from ..._utils.escaping import visible
from ..._utils.json_files import dumps
from ..._utils.progress import Progress, ProgressLines

if TYPE_CHECKING:
    from rich.text import Text

Part = str | tuple[str, str]
"""A text to print, or (text, style)."""

SHARED: dict[str, tuple[Any, Any, str]] = {
    "edges": (
        list[str] | None,
        None,
        "Table of edges (CSV, TSV, Parquet, JSON lines, compressed or not, a folder of Parquet "
        "parts, book.xlsx#Sheet, duckdb:FILE?TABLE, a database URL?QUERY), a graph folder (see "
        "graph build), or a file with both graph and nodes (.npz, .graphml, an OGB "
        "folder, ind.NAME.graph). Tables may be repeated: --edges a.csv --edges b.csv.",
    ),
    "nodes": (list[str] | None, None, "Table of nodes: ids, columns, labels; may be repeated."),
    "target": (
        list[str] | None,
        None,
        "Column of the node table to predict; blank where it is unknown. Several 0/1 columns or "
        "several columns of numbers: a,b,c (or repeat the option).",
    ),
    "id": (str | None, None, "Column of the node ids. [the one that edges refer to]"),
    "src": (str | None, None, "Column of the start of an edge. [found by name and content]"),
    "dst": (str | None, None, "Column of the end of an edge. [found by name and content]"),
    "weight": (str | None, None, "Column of the edge weights. [weight, if any]"),
    "time": (str | None, None, "Column of dates to use as a feature."),
    "ignore": (list[str] | None, None, "Column of the node table to leave out; may be repeated."),
    "split_column": (
        str | None,
        None,
        "Column that holds train, val or test: train labels are inputs, val labels choose the "
        "model, test labels are only scored.",
    ),
    "labels": (
        list[str] | None,
        None,
        "Table of labels, beside those of the node table or in place of them: ids and the target, "
        "as label-next writes; may be repeated.",
    ),
    "unknown_nodes": (str, "error", "What to do with edges to unknown nodes: error, add or drop."),
    "directed": (bool, False, "Edges have a direction."),
    "task": (
        str,
        "auto",
        "auto, classification, multilabel (several 0/1 columns, or one column of lists such as "
        "drama|comedy) or regression.",
    ),
    "model": (
        str,
        "auto",
        "auto, label-propagation, trainable-label-propagation, boosting, regression, sgc, sign, "
        "twirls, gnn, correct-and-smooth or trainable-correct-and-smooth.",
    ),
    "set": (list[str] | None, None, "Parameter of the model as key=value; may be repeated."),
    "budget": (str, "10m", "Time that auto may take to fit: 60s, 5m, 1h, or none for no limit."),
    "learners": (
        list[str] | None,
        None,
        "Learners that auto tries, separated by commas: trees, network, deep network, words "
        "nearby, graph network, linear. [all that suit the data]",
    ),
    "exclude": (list[str] | None, None, "Learners that auto does not try, separated by commas."),
    "metric": (
        str | None,
        None,
        "accuracy, roc_auc, log_loss; for multilabel subset_accuracy, roc_auc, average_precision, "
        "f1_macro, f1_micro; for regression rmse, mae or r2.",
    ),
    "seed": (int, 0, "Seed of all random choices."),
    "delimiter": (
        str | None,
        None,
        "Delimiter of text tables: comma, semicolon, tab, bar, space or one character. [found]",
    ),
    "encoding": (
        str | None,
        None,
        "Encoding of text tables: utf-8, utf-16, windows-1252, … [found]",
    ),
    "decimal": (str | None, None, "Decimal sign of text tables: . or , [found]"),
    "missing": (
        list[str] | None,
        None,
        "Values that mean missing, in all tables, such as n/a,unknown,-999; may be repeated. Blank "
        "cells and words such as NA always do.",
    ),
}
"""Type, default and description of the options that several commands have."""
Json = Annotated[bool, typer.Option("--json", help="Print only the result, as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.")]


def examples(*commands: str) -> str:
    """The last part of a help text: commands to copy, one per line."""
    title = "Example:" if len(commands) == 1 else "Examples:"
    # "\\b" keeps the lines of a paragraph as they are.
    return "\b\n" + "\n".join([title, *[f"  {_folded(command)}" for command in commands]])


def _folded(command: str) -> str:
    """A command on lines of at most 76 characters that a shell reads as one."""
    lines = [""]
    for word in command.replace(" --", "\0--").split("\0"):
        if lines[-1] and len(lines[-1]) + len(word) > 72:
            lines.append(f"    {word}")
        else:
            lines[-1] = f"{lines[-1]} {word}".strip() if len(lines) == 1 else f"{lines[-1]} {word}"
    return " \\\n  ".join(lines)


class Speaker:
    """Prints text, JSON, or nothing.

    Texts are printed literally: names in data may look like markup or control a terminal.
    """

    def __init__(self, as_json: bool, quiet: bool) -> None:
        # Not imported above: it would double the time of --help.
        from rich.console import Console

        self.as_json, self.silent = as_json, quiet
        self._console = Console(quiet=as_json or quiet, highlight=False, soft_wrap=True)

    @property
    def progress(self) -> Progress:
        """Lines of JSON with --json, False (none) with --quiet, else None: a bar on a terminal."""
        if self.silent:
            return False
        return ProgressLines() if self.as_json else None

    def say(self, *parts: Part) -> None:
        """Print one line; ``("warning:", "yellow")`` is text with a style."""
        from rich.text import Text

        self._console.print(Text.assemble(*map(_text, parts)))

    def table(self, title: str, header: list[str], rows: Sequence[Sequence[Part]]) -> None:
        """Print a table."""
        from rich.table import Table

        named = any(header)
        table = Table(
            title=_text(title), title_justify="left", title_style="bold", show_header=named
        )
        for k, name in enumerate(header):
            justify: Any = "left" if k == 0 else "right"
            table.add_column(_text(name), justify=justify, overflow="fold")
        for row in rows:
            table.add_row(*map(_text, row))
        self._console.print(table)

    def notes(self, notes: list[str]) -> None:
        """Print what was decided while reading files."""
        for note in notes:
            self.say(f"note: {note}")

    def scores(
        self, score: Any, on: str, baselines: dict[str, Any], *, trusted: bool, without: Any
    ) -> None:
        """Print a score on some nodes, whether it can be trusted, and the scores beside it: without
        the columns that give the answer away, and of the baselines."""
        style, doubt = ("bold", "") if trusted else ("bold red", ": NOT TO BE TRUSTED, see below")
        self.say((f"{score.metric} {score}", style), f" on {score.n:,} {on}", (doubt, style))
        if without is not None:
            self.say((f"{score.metric} {without.score}", "bold"), f" by {without.words}")
        for name, baseline in baselines.items():
            same = "" if without is None or name != "features alone" else " (of all columns)"
            self.say(f"  {name}: {baseline}{same}")

    def by_target(self, found: dict[str, Any] | None) -> None:
        """Print the scores of each label or number, if there are several."""
        if found is not None:
            from ..runs.by_target import table_by_target

            self.table("Scores of each target", *table_by_target(found, 20))

    def warnings(self, warnings: Sequence[str]) -> None:
        """Print what is likely to be a mistake."""
        for warning in warnings:
            self.say(("warning:", "yellow"), f" {warning}")

    def result(self, value: Any) -> None:
        """Print the result if JSON is wanted."""
        if self.as_json:
            print(dumps(value))


def _text(part: Part) -> Text:
    from rich.text import Text

    text, style = part if isinstance(part, tuple) else (part, "")
    return Text(visible(text), style=style)


def command(*left_out: str, **defaults: Any) -> Callable[[Callable[..., None]], Any]:
    """Make the options of a command from its parameters: ``speaker`` stands for --json and --quiet,
    ``given`` for a dictionary of all shared options except ``left_out``, and the name of a shared
    option for that option."""

    def with_options(function: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(function, eval_str=True)
        names = [name for name in SHARED if name not in left_out]

        @wraps(function)
        def run(*, json: bool, quiet: bool, **options: Any) -> None:
            if "given" in own.parameters:
                options["given"] = {name: _plain(name, options.pop(name)) for name in names}
            function(speaker=Speaker(json, quiet), **options)

        parameters = []
        for name, parameter in own.parameters.items():
            if name == "given":
                parameters += [_shared(each, **defaults) for each in names]
            elif name in SHARED and get_origin(parameter.annotation) is not Annotated:
                parameters.append(_shared(name))
            elif name != "speaker":
                parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
        parameters += [_option("json", Json, False), _option("quiet", Quiet, False)]
        run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        return run

    return with_options


def _shared(name: str, **defaults: Any) -> inspect.Parameter:
    kind, default, description = SHARED[name]
    option = typer.Option(f"--{name.replace('_', '-')}", help=description)
    return _option(name, Annotated[kind, option], defaults.get(name, default))


def _option(name: str, kind: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)


def _plain(name: str, value: Any) -> Any:
    """The value of an option as `FitSettings` holds it."""
    if name == "set":
        from ..runs.settings import parse_set

        return parse_set(value or [])
    if name in ("edges", "nodes", "labels"):
        return tuple(value) if value else None
    if name in ("learners", "exclude"):
        parts = [part.strip() for text in value or () for part in text.split(",")]
        return tuple(part for part in parts if part)
    if name == "missing":
        from ...io.tables.missing_values import checked_missing

        return checked_missing(value or ())
    if name == "ignore":
        return tuple(value or ())
    if name == "target":
        return target_of(value)
    return str(value) if isinstance(value, Path) else value


def written_as(
    delimiter: str | None, encoding: str | None, decimal: str | None, missing: list[str] | None
) -> dict[str, Any]:
    """How files are written, as `FitSettings` holds it; None and () for what was not given."""
    given = {"delimiter": delimiter, "encoding": encoding, "decimal": decimal}
    return {**given, "missing": _plain("missing", missing)}


def target_of(given: list[str] | None) -> str | tuple[str, ...] | None:
    """One target, several, or none."""
    return tuple(given) if given and len(given) > 1 else given[0] if given else None


def settings_of(given: dict[str, Any]) -> Any:
    """The settings that the options of a command describe."""
    from ..runs.settings import FitSettings

    if given["edges"] is None:
        raise ValueError("`--edges` must be given: the table of edges. Example: --edges edges.csv")
    return FitSettings(**given)


def new_file(out: Path, overwrite: bool) -> Path:
    """The file to write, which must not exist unless it is replaced."""
    target = Path(out).expanduser()
    if target.exists() and not overwrite:
        raise FileExistsError(f"`--out` must be a new file; '{target}' exists. Pass --overwrite.")
    return target
