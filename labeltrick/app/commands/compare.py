"""``labeltrick compare`` and ``labeltrick sweep``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from . import options as o

EXAMPLE = o.examples(
    "labeltrick compare --edges edges.csv --nodes nodes.csv --target label "
    "--models auto,boosting,label-propagation --repeats 5"
)
SWEEP_EXAMPLE = o.examples(
    "labeltrick sweep --edges edges.csv --nodes nodes.csv --target label "
    "--model label-propagation --parameter damping --values 0.1,0.5,0.9 --out curve.html"
)


@o.command("split_column", "model", "set")
def compare(
    speaker: o.Speaker,
    given: dict[str, Any],
    models: Annotated[str, typer.Option(help="Names of models, separated by commas.")] = (
        "auto,boosting,label-propagation"
    ),
    repeats: Annotated[
        int, typer.Option(help="Number of random 6:2:2 splits of the labeled nodes.")
    ] = 5,
) -> None:
    """Compare models on the same random splits.

    Prints the mean and standard deviation of the test scores, and a paired test of the difference
    to the first model.
    """
    from ..runs.comparing import compare_models

    settings = o.settings_of(given)
    names = [name.strip() for name in models.split(",") if name.strip()]
    found = compare_models(settings, names, repeats, speaker.progress)
    speaker.result(found)
    speaker.notes(found["notes"])
    rows: list[list[o.Part]] = []
    for entry in found["models"]:
        difference = ""
        if entry["difference"] is not None:
            gap = entry["difference"]
            p = "" if gap["p_value"] is None else f", p = {gap['p_value']:.2g}"
            error = f" ± {gap['standard_error']:.4f}" if repeats > 1 else ""
            difference = f"{gap['mean']:+.4f}{error}{p}"
        style = "" if entry["trusted"] else "red"
        name = entry["name"] if entry["trusted"] else f"{entry['name']} (NOT TO BE TRUSTED)"
        score = f"{entry['mean']:.4f}"
        score += f" ± {entry['deviation']:.4f}" if repeats > 1 else ""
        rows.append([(name, style), (score, style), difference, f"{entry['seconds']:.1f} s"])
    header = ["model", found["metric"], f"difference from {found['reference']}", "time per fit"]
    splits = "1 random split" if repeats == 1 else f"{repeats} random splits"
    title = f"{splits}, test nodes in each split: {found['test_nodes']:,}"
    speaker.table(title, header, rows)
    speaker.warnings(found["warnings"])


@o.command(model="label-propagation")
def sweep(
    speaker: o.Speaker,
    parameter: Annotated[str, typer.Option(help="Parameter of the model to vary.")],
    values: Annotated[str, typer.Option(help="Values of the parameter, separated by commas.")],
    given: dict[str, Any],
    out: Annotated[
        Path | None, typer.Option(help="File for a chart of the scores: .html or .svg.")
    ] = None,
) -> None:
    """Fit a model with several values of a parameter.

    Scores are computed on validation nodes, or else on labeled nodes that are predicted without
    their own label. Test labels are not used.
    """
    from ..runs.comparing import sweep_parameter
    from ..runs.scores import Score

    settings = o.settings_of(given)
    tried = [entry.strip() for entry in values.split(",") if entry.strip()]
    found = sweep_parameter(settings, parameter, tried, speaker.progress)
    if out is not None:
        from ..report.curves import write_curve

        found["out"] = str(write_curve(found, out))
    speaker.result(found)
    speaker.notes(found["notes"])
    rows = [[str(point["value"]), str(Score(**point["score"])),
             "best" if k == found["best"] else ""]
            for k, point in enumerate(found["points"])]  # fmt: skip
    title = f"{found['model']}, {found['parameter']} (on {found['scored_on']})"
    speaker.table(title, [found["parameter"], found["metric"], ""], rows)
    if not found["trusted"]:
        speaker.say(("These scores are NOT TO BE TRUSTED:", "bold red"))
    speaker.warnings(found["warnings"])
    if "out" in found:
        speaker.say(f"Chart: {found['out']}")
