"""``labeltrick datasets``: lists, describes and downloads public research graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from . import options as o

SUMMARY = "List, describe and download public research graphs."
app = typer.Typer(
    help=SUMMARY,
    epilog=o.examples("labeltrick datasets list", "labeltrick datasets info pubmed"),
    no_args_is_help=True,
    rich_markup_mode=None,
)
DataDir = Annotated[
    Path | None,
    typer.Option(help="Folder of all datasets. Default: LABELTRICK_DATA, or else a cache."),
]
Name = Annotated[str, typer.Argument(help="Name of a dataset; see `labeltrick datasets list`.")]

_VERIFIED = {
    "SHA-256": "verified by its SHA-256",
    "commit": "from a fixed commit, no SHA-256 known",
    "not verified": "not verified: no SHA-256 known",
}


@app.command("list", epilog=o.examples("labeltrick datasets list"))
@o.command()
def list_all(speaker: o.Speaker, data_dir: DataDir = None) -> None:
    """List all datasets with their sizes, and whether they are present."""
    from ...io import datasets

    found = [datasets.info(name, data_dir) for name in datasets.names()]
    speaker.result(found)
    rows = [_row(entry) for entry in found]
    header = ["name", "nodes", "edges", "features", "classes", "here"]
    speaker.table("Datasets", header, rows)


def _row(entry: dict[str, Any]) -> list[str]:
    counts = entry["counts"]
    sizes = [f"{counts[key]:,}" if key in counts else "" for key in ("nodes", "edges", "features")]
    if entry["here"] and "features" in counts and not entry["features_here"]:
        sizes[2] += " (absent)"
    target = str(counts.get("classes", "numbers"))
    return [entry["name"], *sizes, target, "yes" if entry["here"] else ""]


@app.command(epilog=o.examples("labeltrick datasets info pubmed"))
@o.command()
def info(speaker: o.Speaker, name: Name, data_dir: DataDir = None) -> None:
    """Show the source, license and counts of a dataset, and where its files belong."""
    from ...io import datasets

    found = datasets.info(name, data_dir)
    speaker.result(found)
    shown = {key: found[key] for key in ("source", "license", "home", "task", "metric", "path")}
    shown |= {key: f"{value:,}" for key, value in found["counts"].items()}
    shown["here"] = "yes" if found["here"] else "no"
    if found["here"] and "features" in found["counts"] and not found["features_here"]:
        shown["here"] = "yes, without its features"
    speaker.table(found["name"], ["", ""], [[key, str(value)] for key, value in shown.items()])
    for file in found["files"]:
        speaker.say(f"{file['path']}: {file['url']} ({_VERIFIED[file['verified']]})")
    if not found["files"]:
        speaker.say(f"Download the files by hand from {found['home']}.")


@app.command(epilog=o.examples("labeltrick datasets get pubmed cora"))
@o.command()
def get(
    speaker: o.Speaker,
    names: Annotated[list[str], typer.Argument(help="Names of datasets.")],
    data_dir: DataDir = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Download files that exist again.")
    ] = False,
) -> None:
    """Download datasets and verify them. Interrupted downloads are resumed."""
    from ...io import datasets

    found = []
    for name in names:
        data = datasets.get(name, data_dir, overwrite=overwrite, progress=speaker.progress)
        found.append({"name": data.name, "nodes": data.n_nodes, "edges": data.graph.n_edges})
        speaker.say(repr(data))
    speaker.result(found)
