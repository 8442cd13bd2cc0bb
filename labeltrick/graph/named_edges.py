"""Edges between named nodes: the number of each start and each end."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from .names import Kept, NodeNames, as_names, shown
from .node_ids import number_edges


def numbered_ends(
    src: Any, dst: Any, names: Any, sides: tuple[str, str] = ("src", "dst")
) -> tuple[NodeNames, np.ndarray, np.ndarray]:
    """The names of the nodes, and the number of each start and each end. ``sides`` are the names
    of the caller's arguments, for messages."""
    ends = [as_names(side, column) for side, column in zip(sides, (src, dst), strict=True)]
    for side, end in zip(sides, ends, strict=True):
        _refuse_missing(side, end)
    if names is not None:
        given = NodeNames.of(names)
        return given, _found(given, sides[0], ends[0]), _found(given, sides[1], ends[1])
    first, second = ends
    if isinstance(first, pl.Series) and isinstance(second, pl.Series):
        if first.dtype != second.dtype and len(first) and len(second):
            kinds = ["strings" if end.dtype == pl.String else "integers" for end in (first, second)]
            raise TypeError(
                f"`{sides[0]}` and `{sides[1]}` must hold names of one kind; got "
                f"{' and '.join(kinds)}. Convert one of them: the string '7' and the integer 7 are "
                "different names."
            )
        ids, *numbers = number_edges(first, second)
        return NodeNames(ids.ids.alias("name")), numbers[0], numbers[1]
    everyone = dict.fromkeys(name for end in ends for name in _listed(end))
    found = NodeNames(as_names("names", list(everyone)))
    return found, found.find(first), found.find(second)


def _listed(end: Kept) -> list[Any]:
    return end.to_list() if isinstance(end, pl.Series) else end.tolist()


def _refuse_missing(side: str, end: Kept) -> None:
    if isinstance(end, pl.Series):
        missing = end.is_null().to_numpy()
    else:
        missing = np.array([name is None or name != name for name in end.tolist()], bool)
    if missing.any():
        raise ValueError(
            f"`{side}` must have no missing names; row {int(np.argmax(missing))} is missing. Drop "
            "the edge."
        )


def _found(names: NodeNames, side: str, end: Kept) -> np.ndarray:
    at = names.find(end)
    if (at < 0).any():
        row, n = int(np.argmax(at < 0)), int((at < 0).sum())
        raise ValueError(
            f"`{side}` must hold names of nodes; {shown(end, row)} at row {row} is not one of the "
            f"{len(names)} names ({n} such edge{'' if n == 1 else 's'}). Add it to the "
            "names, or drop the edge."
        )
    return at
