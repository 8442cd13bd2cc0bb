"""The command line: ``labeltrick``."""

from __future__ import annotations

import signal
import sys
import tempfile
import traceback
import warnings
from typing import Annotated, Any

import typer

from .._utils.escaping import visible
from .._utils.interruptions import after_interruption, after_os_error
from .._utils.version import __version__
from .commands import (
    compare,
    datasets,
    doctor,
    explain,
    finished,
    fit,
    graph,
    inspect,
    quickstart,
)
from .commands import options as o

app = typer.Typer(
    name="labeltrick",
    help="Predict nodes of a graph from labels and features in parallel, "
    "without a node ever seeing its own label.",
    no_args_is_help=True,
    epilog=o.examples(
        "labeltrick quickstart",
        "labeltrick fit --edges edges.csv --nodes nodes.csv --target label --out run/",
        "labeltrick fit --help",
        "labeltrick --install-completion",
    ),
    rich_markup_mode=None,  # rich would triple the time of --help
    pretty_exceptions_enable=False,
)


def _add(function: Any, example: str) -> None:
    # Without a short help, the list of commands would cut descriptions off.
    summary = " ".join(str(function.__doc__).split("\n\n")[0].split())
    app.command(epilog=example, short_help=summary)(function)


_add(quickstart.quickstart, quickstart.EXAMPLE)
_add(inspect.inspect, inspect.EXAMPLE)
_add(fit.fit, fit.EXAMPLE)
_add(finished.predict, finished.PREDICT_EXAMPLE)
_add(finished.evaluate, finished.EVALUATE_EXAMPLE)
_add(explain.explain, explain.EXAMPLE)
_add(compare.compare, compare.EXAMPLE)
_add(compare.sweep, compare.SWEEP_EXAMPLE)
app.add_typer(datasets.app, name="datasets", short_help=datasets.SUMMARY)
app.add_typer(graph.app, name="graph", short_help=graph.SUMMARY)
_add(finished.label_next, finished.LABEL_EXAMPLE)
_add(doctor.doctor, doctor.EXAMPLE)


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
    if "--help" not in sys.argv:
        _require_address_space()


def _one_line(message: Any, *_: Any, **__: Any) -> None:
    """Print the first line of a warning, without source code."""
    _complain(next(iter(str(message).splitlines()), ""))


def _complain(message: Any) -> None:
    """Print a message on one line, even if it quotes line breaks from data."""
    print(f"labeltrick: {visible(message)}", file=sys.stderr)


_UNEXPECTED = 3  # exit code
_LEAST_ADDRESS_SPACE = 2 * 1024**3
_NO_MEMORY = ("can't allocate memory", "not enough memory", "std::bad_alloc", "out of memory")
_OUT_OF_MEMORY = "out of memory. Try --model label-propagation, or close other programs"


class _Interrupted(BaseException):
    """SIGINT or SIGTERM. Not a KeyboardInterrupt, which the option parser handles itself."""

    def __init__(self, code: int) -> None:
        self.code = code


def _interrupt(number: int, _: Any) -> None:
    # The first Ctrl-C ends the search for learners; the fit goes on with those it has.
    budget = sys.modules.get("labeltrick.models.auto.budget")
    if number == signal.SIGINT and budget is not None and budget.finish_early():
        _complain("finishing with what there is; press Ctrl-C again to stop")
        return
    raise _Interrupted(1 if number == signal.SIGINT else 128 + number)


def main() -> None:
    """Entry point of ``labeltrick``."""
    run(app)


def run(commands: typer.Typer) -> None:
    """Run a command line. Errors are printed on one line, without a traceback.

    Exit codes: 2 for wrong input; 1 for an interruption, a full disk or too little memory; 143
    after SIGTERM; 3 for an unexpected error, whose traceback is written to a file.
    """
    warnings.showwarning = _one_line
    warnings.filterwarnings("ignore", "`y` holds")  # `careful_warnings` says more about classes
    # Rows of tables were matched with nodes by their ids.
    warnings.filterwarnings("ignore", "the nodes are called 0 to ")
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        commands()
    except Exception as error:
        line, code = _said(error)
    except _Interrupted as interrupted:
        line, code = after_interruption(), interrupted.code
    except BaseException as error:
        if isinstance(error, SystemExit | KeyboardInterrupt | GeneratorExit):
            raise
        line, code = _trace_line(error), _UNEXPECTED  # a panic of a library in Rust
    else:
        return
    _complain(line)
    sys.exit(code)


def _said(error: Exception) -> tuple[str, int]:
    """The message and the exit code of an error."""
    from polars.exceptions import PolarsError

    from ..propagation.engine.cluster.connection import ClusterError

    if _is_out_of_memory(error):
        return str(error) if "labeltrick needs" in str(error) else _OUT_OF_MEMORY, 1
    if isinstance(error, PolarsError):
        return next(iter(str(error).splitlines()), "a table cannot be read"), 2
    if isinstance(
        error, ValueError | TypeError | FileNotFoundError | FileExistsError | ImportError
    ):
        return str(error), 2
    if isinstance(error, ConnectionError | ClusterError):
        return str(error), 1
    if isinstance(error, OSError):
        return after_os_error(error)
    return _trace_line(error), _UNEXPECTED


def _trace_line(error: BaseException) -> str:
    """Write the traceback to a file, and return a line that names the file."""
    first = next(iter(str(error).splitlines()), "")
    what = f"{type(error).__name__}: {first}"[:300]
    text = "".join(traceback.format_exception(error))
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="labeltrick-error-", suffix=".txt", delete=False, encoding="utf-8"
        ) as file:
            file.write(text)
        where = f"The traceback is in '{file.name}'; please report it"
    except (OSError, UnicodeError) as failed:
        where = f"The traceback could not be written ({failed})"
    return f"unexpected error, a bug in labeltrick: {what}. {where}"


def _is_out_of_memory(error: BaseException) -> bool:
    """Whether an error of any library means that there is no memory left."""
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and any(text in str(error) for text in _NO_MEMORY)
    )


def _require_address_space() -> None:
    """Raise an error for a limit that makes libraries in Rust and C++ end the process silently."""
    try:
        import resource
    except ImportError:  # not a Unix system: there are no such limits
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < _LEAST_ADDRESS_SPACE:
        raise MemoryError(
            f"labeltrick needs at least {_LEAST_ADDRESS_SPACE / 1024**3:.0f} GiB of address space; "
            f"the limit is {limit / 1024**3:.1f} GiB. Raise it with: ulimit -v unlimited"
        )
