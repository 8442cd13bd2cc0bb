"""``labeltrick graph``: graph folders, for graphs larger than memory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from . import options as o

SUMMARY = "Build and describe graph folders, for graphs larger than memory."
app = typer.Typer(
    help=SUMMARY,
    epilog=o.examples(
        "labeltrick graph build edges.parquet graph.lt", "labeltrick graph info graph.lt"
    ),
    no_args_is_help=True,
    rich_markup_mode=None,
)
Folder = Annotated[Path, typer.Argument(help="The graph folder, such as graph.lt.")]


@app.command(epilog=o.examples("labeltrick graph build edges.parquet graph.lt --max-memory 2GB"))
@o.command()
def build(
    speaker: o.Speaker,
    edges: Annotated[
        list[Path],
        typer.Argument(
            help="Table of edges: Parquet (also a folder of parts), CSV, TSV or JSON lines, "
            "compressed or not; several with the same columns are read as one."
        ),
    ],
    folder: Folder,
    src: str | None,
    dst: str | None,
    weight: str | None,
    directed: bool,
    delimiter: str | None,
    encoding: str | None,
    decimal: str | None,
    missing: list[str] | None,
    n_nodes: Annotated[
        int | None,
        typer.Option(help="Ids are node numbers from 0 to N - 1; keeps nodes without edges."),
    ] = None,
    max_memory: Annotated[str, typer.Option(help="Memory to use at most, such as 8GB.")] = "2GB",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the folder.")] = False,
) -> None:
    """Build a graph folder from a table of edges that may be larger than memory."""
    from ...io.tables import Roles, TextFormat, build_graph_folder
    from ..runs.careful import unused_text_options

    graph, notes = build_graph_folder(
        edges,
        folder,
        roles=Roles(src=src, dst=dst, weight=weight),
        n_nodes=n_nodes,
        directed=directed,
        text_format=TextFormat(delimiter, encoding, decimal, missing or ()),
        max_memory=max_memory,
        overwrite=overwrite,
        progress=speaker.progress,
    )
    written = {"delimiter": delimiter, "encoding": encoding, "decimal": decimal}
    speaker.notes(notes + unused_text_options([str(file) for file in edges], written))
    _tell(graph, speaker)


@app.command(epilog=o.examples("labeltrick graph info graph.lt"))
@o.command()
def info(
    speaker: o.Speaker,
    folder: Folder,
    verify: Annotated[
        bool, typer.Option("--verify", help="Compare the checksums of all files.")
    ] = False,
) -> None:
    """Show the size of a graph folder, and the memory that propagation needs."""
    from ...graph.stored import open_graph

    _tell(open_graph(folder, verify=verify), speaker, verified=verify)


def _tell(graph: Any, speaker: o.Speaker, *, verified: bool = False) -> None:
    from ..._utils.memory import shown_bytes
    from ...propagation.engine.placing import estimated_bytes

    needed = estimated_bytes(graph)
    facts = {
        "folder": str(graph.folder),
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "directed": graph.directed,
        "weighted": graph.weighted,
        "bytes_on_disk": graph.nbytes * (2 if graph.directed else 1),
        "bytes_in_memory": needed,
        "verified": verified,
    }
    speaker.result(facts)
    shown = {
        **{key: f"{facts[key]:,}" for key in ("nodes", "edges")},
        **{key: "yes" if facts[key] else "no" for key in ("directed", "weighted")},
        "on disk": shown_bytes(facts["bytes_on_disk"]),
        "to propagate in memory": f"about {shown_bytes(needed)}",
    }
    if verified:
        shown["checksums"] = "all files are as they were written"
    speaker.table(facts["folder"], ["", ""], [[key, value] for key, value in shown.items()])
