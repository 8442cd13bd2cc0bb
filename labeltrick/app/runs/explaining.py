"""Explanations of the predictions of a finished run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from ...explain import Explanations, explain
from ...explain.names import output_names, suggestion
from .fitting import open_run
from .spellings import did_you_mean


def explain_run(
    run: Any, ids: Sequence[str], *, target: str | None, top: int, edges: bool | str
) -> Explanations:
    """Explain nodes of a run, which are given by their ids as texts."""
    folder, _, model = open_run(run)
    if target is not None:
        known = [str(name) for name in output_names(model.targets_)]
        if target not in known:
            raise ValueError(
                f"`--target` must be one of {', '.join(map(repr, known[:20]))}; got {target!r}."
                f"{did_you_mean(target, known)}"
            )
    nodes = [_name_of(text, model.graph_, folder.path) for text in ids]
    return explain(model, nodes, target=target, top=top, edges=edges)


def _name_of(text: str, graph: Any, run: Any) -> Any:
    """The name of a node from its id: ids are numbers if all ids of the run are."""
    kept = graph.name_table.kept
    numbers = isinstance(kept, pl.Series) and kept.dtype.is_integer()
    known = text.strip() if numbers else text
    if numbers and known.removeprefix("-").isdecimal():
        name: Any = int(known)
    else:
        name = None if numbers else text
    wanted = pl.Series("name", [name], dtype=pl.Int64 if numbers else pl.String)
    if name is None or graph.name_table.find_few(wanted)[0] < 0:
        raise ValueError(
            f"`--node` must be the id of a node of '{run}'; no node is called {text!r}."
            f"{suggestion(text, graph)}"
        )
    return name
