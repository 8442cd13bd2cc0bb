"""Names of nodes: any hashable values, one per node, and how nodes are found by them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from .node_ids import NodeIds

Kept = pl.Series | np.ndarray
"""Names as a polars column of integers or strings, or as an array of other hashable objects."""


def as_names(name: str, values: Any) -> Kept:
    """Names from a list, an array, a column of pandas, polars or Arrow, or a tensor.

    Integers and strings become polars columns, in which millions of names are found quickly. The
    integer 7 and the string "7" are different names.
    """
    if isinstance(values, pl.Series):
        return _from_polars(values)
    if hasattr(values, "to_numpy") and type(values).__module__.startswith("pyarrow"):
        return _from_polars(pl.Series(pl.from_arrow(values)))
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    array = getattr(values, "values", values) if hasattr(values, "iloc") else values
    dtype = getattr(array, "dtype", None)
    kind = getattr(dtype, "kind", "")
    if kind in "iuf" and isinstance(array, np.ndarray) and array.ndim == 1:
        return _from_numbers(array)
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise TypeError(f"`{name}` must be a list or column of names; got {values!r}.")
    return _from_objects(array.tolist() if hasattr(array, "tolist") else list(array))


def _from_polars(series: pl.Series) -> Kept:
    if series.dtype in (pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    if series.dtype == pl.String or not series.dtype.is_numeric():
        return series if series.dtype == pl.String else _from_objects(series.to_list())
    if series.null_count():
        return _from_objects(series.to_list())
    return _from_numbers(series.to_numpy())


def _from_numbers(array: np.ndarray) -> Kept:
    """Whole numbers as integers: pandas turns integers into floats where a value is missing."""
    if array.dtype.kind == "f":
        if not (np.isfinite(array) & (array == np.floor(array)) & (np.abs(array) < 2**53)).all():
            return _from_objects(array.tolist())
    elif array.dtype.kind == "u" and array.max(initial=0) > np.iinfo(np.int64).max:
        return _from_objects(array.tolist())
    return pl.Series("name", array.astype(np.int64))


def _from_objects(values: list[Any]) -> Kept:
    kinds = {type(value) for value in values}
    if kinds and all(issubclass(kind, str) for kind in kinds):
        return pl.Series("name", [str(value) for value in values], dtype=pl.String)
    whole = all(issubclass(kind, int | np.integer) and kind is not bool for kind in kinds)
    if kinds and whole and max(map(abs, values)) < 2**63:
        return pl.Series("name", [int(value) for value in values], dtype=pl.Int64)
    return np.fromiter(values, dtype=object, count=len(values))


@dataclass(frozen=True, eq=False)
class NodeNames:
    """The names of all nodes, in the order of the nodes; each occurs once."""

    kept: Kept

    @classmethod
    def of(cls, values: Any, name: str = "names") -> NodeNames:
        """Check names: none is missing, and none occurs twice."""
        kept = as_names(name, values)
        found = cls(kept)
        if isinstance(kept, pl.Series):
            missing, twice = kept.is_null(), kept.n_unique() < len(kept)
        else:
            gaps = [value is None or value != value for value in kept.tolist()]
            missing = pl.Series(gaps, dtype=pl.Boolean)
            twice = not missing.any() and len(found._places) < len(kept)
        if missing.any():
            raise ValueError(
                f"`{name}` must have no missing names; row {missing.arg_max()} is missing. Name it."
            )
        if twice:
            seen: set[Any] = set()
            for row, value in enumerate(found.values.tolist()):
                if value in seen:
                    raise ValueError(
                        f"`{name}` must hold each name once; got {value!r} again at row {row}. "
                        "Drop or merge the rows."
                    )
                seen.add(value)
        return found

    def __len__(self) -> int:
        return len(self.kept)

    @cached_property
    def values(self) -> np.ndarray:
        """The names as an array of int64 or of objects."""
        if not isinstance(self.kept, pl.Series):
            return self.kept
        if self.kept.dtype == pl.String:
            return np.array(self.kept.to_list(), dtype=object)
        return self.kept.to_numpy()

    @cached_property
    def _places(self) -> dict[Any, int]:
        try:
            return {name: place for place, name in enumerate(self.values.tolist())}
        except TypeError as error:
            raise TypeError(f"`names` must be hashable; got one that is not ({error}).") from None

    @property
    def are_numbers(self) -> bool:
        """Whether the names are 0…n−1, which is the same as having no names."""
        return (
            isinstance(self.kept, pl.Series)
            and self.kept.dtype.is_integer()
            and np.array_equal(self.kept.to_numpy(), np.arange(len(self.kept)))
        )

    @property
    def are_numbers_in_another_order(self) -> bool:
        """Whether the names are 0…n−1, but node k is not called k."""
        if not isinstance(self.kept, pl.Series) or not self.kept.dtype.is_integer():
            return False
        numbers = np.arange(len(self.kept))
        mine = self.kept.to_numpy()
        return not np.array_equal(mine, numbers) and np.array_equal(np.sort(mine), numbers)

    def find(self, wanted: Kept) -> np.ndarray:
        """The node of each name; −1 for a name that no node has."""
        mine = self.kept
        if isinstance(mine, pl.Series) and isinstance(wanted, pl.Series):
            if mine.dtype != wanted.dtype:
                return np.full(len(wanted), -1)
            found = NodeIds(mine).find(wanted.fill_null(-1) if _is_whole(wanted) else wanted)
            found = found.astype(np.int64, copy=False)
            return np.where(wanted.is_null().to_numpy(), -1, found)
        return self.find_few(wanted)

    def find_few(self, wanted: Kept) -> np.ndarray:
        """`find` for a few names at a time, from a dictionary that is kept."""
        mine = self.kept
        if (
            isinstance(mine, pl.Series)
            and isinstance(wanted, pl.Series)
            and mine.dtype != wanted.dtype
        ):
            return np.full(len(wanted), -1)
        asked = wanted.to_list() if isinstance(wanted, pl.Series) else wanted.tolist()
        return np.array([self._places.get(name, -1) for name in asked], np.int64)

    def take(self, nodes: np.ndarray) -> NodeNames:
        """The names of some nodes."""
        return NodeNames(self.kept[nodes])

    def equals(self, other: NodeNames) -> bool:
        """Whether the names are the same, in the same order."""
        if isinstance(self.kept, pl.Series) and isinstance(other.kept, pl.Series):
            return self.kept.dtype == other.kept.dtype and bool((self.kept == other.kept).all())
        return len(self) == len(other) and self.values.tolist() == other.values.tolist()


def _is_whole(series: pl.Series) -> bool:
    return series.dtype.is_integer()


def counted(n: int) -> NodeNames:
    """The names of nodes that have no others: 0…n−1."""
    return NodeNames(pl.Series("name", np.arange(n)))


def shown(kept: Kept, place: int) -> str:
    """A name as messages show it."""
    value = kept[place]
    return repr(value.item() if isinstance(value, np.generic) else value)
