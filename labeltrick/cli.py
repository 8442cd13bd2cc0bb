"""The command line: ``labeltrick``."""

from __future__ import annotations

import signal
import sys
import warnings
from typing import Annotated, Any

import typer

from . import __version__
from ._escape import visible
from .commands import (
    compare,
    datasets,
    evaluate,
    fit,
    graph,
    inspect,
    label_next,
    predict,
    quickstart,
    reproduce,
)

app = typer.Typer(
    name="labeltrick",
    help="Predict on graphs with labels and features in parallel, "
    "without a node ever seeing its own label.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
app.command(epilog=quickstart.EXAMPLE)(quickstart.quickstart)
app.command(epilog=inspect.EXAMPLE)(inspect.inspect)
app.command(epilog=fit.EXAMPLE)(fit.fit)
app.command(epilog=predict.EXAMPLE)(predict.predict)
app.command(epilog=evaluate.EXAMPLE)(evaluate.evaluate)
app.command(epilog=compare.EXAMPLE)(compare.compare)
app.command(epilog=compare.SWEEP_EXAMPLE)(compare.sweep)
app.add_typer(datasets.app, name="datasets")
app.add_typer(graph.app, name="graph")
app.command(epilog=reproduce.EXAMPLE)(reproduce.reproduce)
app.command("label-next", epilog=label_next.EXAMPLE)(label_next.label_next)


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


def _one_line(message: Any, *_: Any, **__: Any) -> None:
    """Warnings are for the user of a library; here they are one line each."""
    _complain(next(iter(str(message).splitlines()), ""))


def _complain(message: Any) -> None:
    """One line, whatever names from data it quotes."""
    print(f"labeltrick: {visible(message)}", file=sys.stderr)


class _Interrupted(BaseException):
    """Ctrl-C, or the system's wish that we end. Not a KeyboardInterrupt, for which the option
    parser has an exit of its own."""

    def __init__(self, code: int) -> None:
        self.code = code


def _interrupt(number: int, _: Any) -> None:
    raise _Interrupted(1 if number == signal.SIGINT else 128 + number)


def main() -> None:
    """Entry point: bad input prints one line and exits with 2, an interruption or a full disk
    with 1, SIGTERM with 143; never a traceback."""
    from polars.exceptions import PolarsError

    warnings.showwarning = _one_line
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        app()
    except (ValueError, TypeError, FileNotFoundError, FileExistsError, ImportError) as error:
        _complain(error)
        sys.exit(2)
    except _Interrupted as interrupted:
        print("labeltrick: interrupted; nothing half-written is left behind", file=sys.stderr)
        sys.exit(interrupted.code)
    except PolarsError as error:
        _complain(next(iter(str(error).splitlines()), "a table cannot be read"))
        sys.exit(2)
    except MemoryError:
        print("labeltrick: out of memory. Try --model label-propagation", file=sys.stderr)
        sys.exit(1)
    except (ConnectionError, RuntimeError) as error:
        _complain(error)
        sys.exit(1)
    except OSError as error:
        _complain(f"{error}. Free some space or choose another folder")
        sys.exit(1)


if __name__ == "__main__":
    main()
