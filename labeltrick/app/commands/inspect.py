"""``labeltrick inspect``: describes files before a fit."""

from __future__ import annotations

from typing import Any

from . import options as o

EXAMPLE = o.examples("labeltrick inspect --edges edges.csv --nodes nodes.csv --target label")


@o.command("model", "set", "budget", "learners", "exclude", "metric", "seed")
def inspect(speaker: o.Speaker, given: dict[str, Any]) -> None:
    """Describe the graph, the columns and the labels, and warn about likely mistakes."""
    from ..runs.careful import unused_options
    from ..runs.inspecting import inspect_problem

    settings = o.settings_of(given)
    found = inspect_problem(settings.read(speaker.progress))
    found["notes"] = found["notes"] + unused_options(settings)
    speaker.result(found)
    _tell(found, speaker)


def _tell(found: dict[str, Any], speaker: o.Speaker) -> None:
    from ...io.tables.kinds import count_of

    graph = found["graph"]
    sizes = count_of(graph["nodes"], "node"), count_of(graph["edges"], "edge")
    speaker.say((", ".join(sizes), "bold"))
    rows = [[name.replace("_", " "), _shown(value)] for name, value in graph.items()]
    speaker.table("Graph", ["", ""], rows)
    if found["columns"]:
        rows = [
            [
                c["name"] or "(no name)",
                c["kind"],
                f"{c['missing']:,}",
                f"{c['distinct']:,}",
                c["role"],
                c["note"],
            ]
            for c in found["columns"]
        ]
        header = ["column", "kind", "missing", "different", "role", "note"]
        speaker.table("Columns of the node table", header, rows)
    if found["labels"]:
        rows = [[name.replace("_", " "), _shown(value)] for name, value in found["labels"].items()]
        speaker.table("Labels", ["", ""], rows)
    speaker.notes(found["notes"])
    speaker.warnings(found["warnings"])
    speaker.say(f"Suggested: {found['suggestion']}")


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(value)
    if isinstance(value, dict):  # a number for each of several labels
        shown = [f"{name}: {number:.3f}" for name, number in value.items()]
        return ", ".join(shown[:20]) + (", …" if len(shown) > 20 else "")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
