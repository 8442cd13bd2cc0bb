"""``labeltrick fit``: fits a model to files and writes a run."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from . import options as o

EXAMPLE = o.examples(
    "labeltrick fit --edges edges.csv --nodes nodes.csv --target label "
    "--split-column split --out run/"
)

_WITH_RESUME = ("out", "resume", "json", "quiet", "set", "address")  # options


@o.command()
def fit(
    speaker: o.Speaker,
    context: typer.Context,
    out: Annotated[Path, typer.Option(help="Folder for the run, new or empty.")],
    given: dict[str, Any],
    config: Annotated[
        Path | None,
        typer.Option(
            help="Take options from the config.toml of a run; they are shown before use. Options "
            "on the command line override them."
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the interrupted run in --out.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the run in --out.")
    ] = False,
    address: Annotated[
        str | None,
        typer.Option(
            help="Dask scheduler whose workers fit the learners of auto, such as tcp://host:8786. "
            "Workers on other machines must see --set checkpoint_dir=FOLDER."
        ),
    ] = None,
) -> None:
    """Fit a model to the labeled nodes, predict all nodes, and score the predictions.

    Writes model/, predictions.parquet, metrics.json, report.html and config.toml into the folder.
    """
    from ..report import write_report
    from ..runs.fitting import fit_run
    from ..runs.folder import REPORT, RunFolder

    folder = RunFolder(out)
    settings = _settings(context, speaker, given, config, folder if resume else None)
    if address is not None:
        settings = replace(settings, set={**settings.set, "address": address})
    run = fit_run(settings, folder, resume=resume, overwrite=overwrite, progress=speaker.progress)
    path = write_report(run, folder / REPORT)
    folder.finish()
    _tell(run, folder, path, speaker)


def _settings(
    context: typer.Context, speaker: o.Speaker, given: dict[str, Any], config: Any, resumed: Any
) -> Any:
    """The settings of the options, of a file with the options, or of an interrupted run."""
    from ..runs.fitting import unfinished_settings
    from ..runs.folder import CONFIG
    from ..runs.settings import parse_seconds, read_settings

    if resumed is not None:
        settings = _resumed(context, unfinished_settings(resumed), given["set"])
    elif config is None:
        settings = o.settings_of(given)
    else:
        typed = {name: value for name, value in given.items() if _was_typed(context, name)}
        settings = replace(read_settings(config), **typed)
        if typed and settings.plan:
            # It records a fit of other files, columns or settings.
            settings = replace(settings, plan={})
            speaker.say("note: the plan in the file is not used, because options were given")
        _show_config(config, settings, set(typed))
    if resumed is not None or config is not None:
        _require_own_databases(config or resumed / CONFIG, settings, given)
    parse_seconds(settings.budget)
    return settings


def _resumed(context: typer.Context, settings: Any, given: dict[str, Any]) -> Any:
    """The settings of the interrupted run. Only settings of the machine, which the folder does not
    keep, may be given again; any other option is an error."""
    from ...io.model_files.registry import OF_THE_MACHINE

    others = [name for name in context.params if _was_typed(context, name)]
    others = [name for name in others if name not in _WITH_RESUME]
    others += [f"set {name}" for name in given if name not in OF_THE_MACHINE]
    if others:
        raise ValueError(
            f"`--resume` must come without --{others[0].replace('_', '-')}: the run continues with "
            "its own settings. Leave the option out, or start again with --overwrite."
        )
    return replace(settings, set={**settings.set, **given})


def _show_config(config: Path, settings: Any, typed: set[str]) -> None:
    """Show the settings of a file, which may come from a stranger, before they are used."""
    from ..._utils.escaping import visible

    for line in settings.to_toml().splitlines():
        name = line.partition(" = ")[0]
        if line and not line.startswith("#") and name not in typed:
            print(visible(f"labeltrick: {config.name}: {line}"), file=sys.stderr)


def _require_own_databases(config: Path, settings: Any, given: dict[str, Any]) -> None:
    """Refuse to connect to a server that only a file of settings names."""
    from ...io.tables.places import require_opened_by_the_user
    from ...io.tables.sources import as_texts

    for option in ("edges", "nodes", "labels"):
        files = getattr(settings, option)
        if files is not None and given[option] is None:
            require_opened_by_the_user(str(config), option, as_texts(files))


def _was_typed(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _tell(run: Any, folder: Any, report: Path, speaker: o.Speaker) -> None:
    from ..._utils.memory import shown_bytes
    from ..runs.kept_tables import size_of_tables
    from ..runs.scores import shown

    summary = run.summary
    speaker.result({**summary, "out": str(folder.path), "report": str(report)})
    metric = run.scored.score.metric
    speaker.notes(summary["notes"])
    if summary["tried"]:
        rows = [
            [t["name"], "–" if t["score"] is None else shown(metric, t["score"]),
             f"{t['seconds']:.1f} s" if t["score"] is not None else "", t["note"]]
            for t in summary["tried"]
        ]  # fmt: skip
        nodes = "validation nodes" if len(run.model.validation_) else "labeled nodes, out of fold"
        speaker.table(f"Tried ({metric} on {nodes})", ["", metric, "time", "note"], rows)
    # The best learner by the metric shown is not always the one chosen.
    how = ""
    if summary["tried"]:
        how = " by squared error" if summary["task"] == "regression" else " by log loss"
    speaker.say(f"Chosen{how}: {summary['chosen']}")
    scored = run.scored
    doubt = {"trusted": run.trusted, "without": run.without}
    speaker.scores(scored.score, scored.on, scored.baselines, **doubt)
    speaker.by_target(summary["by_target"])
    speaker.warnings(run.warnings)
    if run.leakage is not None:
        blind = "" if run.without is None else ". It changes labels and does not look at columns"
        speaker.say(f"Leakage check: {run.leakage}{blind}")
    speaker.say(f"Predictions: {folder / 'predictions.parquet'}")
    speaker.say("Those of labeled nodes may use their own labels and are no test; scores do not.")
    command = shlex.join(["labeltrick", "predict", str(folder.path), "--out", "predictions.csv"])
    speaker.say(f"As CSV: {command}")
    size = shown_bytes(size_of_tables(folder.path))
    speaker.say(f"Tables, to which predict adds rows: {folder / 'inputs'} ({size})")
    speaker.say(f"Report: {report}")
