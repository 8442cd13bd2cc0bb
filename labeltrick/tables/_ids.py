"""Node ids, strings or integers in any order and with gaps, to numbers 0…n−1 and back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

_DENSE = 4  # a table of all ids between the least and the largest may be so many times theirs


def canonical_integers(series: pl.Series) -> pl.Series | None:
    """Ids as integers, or None if some are not: "7" is the number 7, "007" and "7a" are names."""
    if series.dtype.is_integer():
        return series.cast(pl.Int64, strict=False)
    if series.dtype.is_float():
        whole = series.cast(pl.Int64, strict=False)
        same = (whole.cast(pl.Float64) == series).fill_null(True).all()
        return whole if same else None
    if series.dtype != pl.String:
        return None
    whole = series.cast(pl.Int64, strict=False)
    same = (whole.cast(pl.String) == series) | series.is_null()
    return whole if same.fill_null(False).all() else None


@dataclass(frozen=True)
class NodeIds:
    """Ids of the nodes in their order; ``find`` numbers others by them."""

    ids: pl.Series

    @property
    def are_integers(self) -> bool:
        return self.ids.dtype.is_integer()

    def __len__(self) -> int:
        return len(self.ids)

    def find(self, wanted: pl.Series) -> np.ndarray:
        """The number of each id; −1 where it is none of ours."""
        if not self.are_integers:
            mine = pl.DataFrame({"id": self.ids, "at": np.arange(len(self.ids))})
            asked = pl.DataFrame({"id": wanted.cast(pl.String)})
            found = asked.join(mine, on="id", how="left", maintain_order="left")["at"]
            return found.fill_null(-1).to_numpy()
        return _find_integers(self.ids.to_numpy(), wanted.to_numpy())


def _find_integers(ids: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    if not len(ids) or not len(wanted):
        return np.full(len(wanted), -1)
    low, high = int(ids.min()), int(ids.max())
    width = high - low + 1
    if width == len(ids) and np.array_equal(ids, np.arange(low, high + 1)):
        found = wanted - low if low else wanted
        outside = (wanted < low) | (wanted > high)
        return np.where(outside, -1, found) if outside.any() else found
    if width <= _DENSE * len(ids) + 1_000_000:
        place = np.full(width, -1, np.int32 if len(ids) < 2**31 else np.int64)
        place[ids - low] = np.arange(len(ids))
        inside = (wanted >= low) & (wanted <= high)
        if inside.all():
            return place[wanted - low]
        return np.where(inside, place[np.where(inside, wanted - low, 0)], -1)
    order = np.argsort(ids, kind="stable")
    at = np.searchsorted(ids[order], wanted).clip(max=len(ids) - 1)
    return np.where(ids[order][at] == wanted, order[at], -1)


def ids_of_edges(source: pl.Series, target: pl.Series) -> NodeIds:
    """All ids that edges name: integers in ascending order, strings in order of appearance."""
    both = (source.alias("id"), target.alias("id"))
    if not source.dtype.is_integer():
        return NodeIds(pl.concat(list(both)).unique(maintain_order=True))
    ends = [part.to_numpy() for part in both]
    low, high = min(int(part.min()) for part in ends), max(int(part.max()) for part in ends)
    n = 2 * len(source)
    if high - low + 1 <= _DENSE * n + 1_000_000:
        there = np.zeros(high - low + 1, bool)
        for values in ends:
            there[values - low if low else values] = True
        if there.all():
            return NodeIds(pl.Series("id", np.arange(low, high + 1)))
        return NodeIds(pl.Series("id", np.flatnonzero(there) + low))
    return NodeIds(pl.concat(list(both)).unique().sort())


def require_known(
    file: Path, columns: tuple[str, str], found: tuple[np.ndarray, np.ndarray], ids: Any
) -> None:
    """Every end of an edge is a node, or the first that is not is told."""
    for name, numbers, values in zip(columns, found, ids, strict=True):
        unknown = numbers < 0
        if unknown.any():
            row = int(np.argmax(unknown))
            raise ValueError(
                f"`{file}`, row {row + 1}, column {name!r} must be a node of the nodes' table; got "
                f"{values[row]!r}, which is none ({int(unknown.sum()):,} such in this column). Add "
                "it there, or pass --unknown-nodes add (nodes without columns) or drop (no such "
                "edges)."
            )
