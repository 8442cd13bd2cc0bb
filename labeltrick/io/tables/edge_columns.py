"""Which columns of a table of edges are the two ends and the weight.

Options decide first. Then values decide: where the ids of the nodes are known, an end holds ids.
Then names decide, such as "source" and "target". If several columns are left, it is an error that
lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import NoReturn

import polars as pl

from .column_names import (
    is_measure_name,
    is_time_name,
    is_type_name,
    is_unlike_an_end,
    is_weight_name,
    pairs_of_ends,
)
from .content import Sample, are_dates
from .kinds import Roles, find_column, how_it_was_read, listed, shown_name
from .sources import TableName
from .written_numbers import numbers_as_written

_HALF = 0.5  # an end holds at least that share of the ids that the best column holds


@dataclass(frozen=True)
class EdgeColumns:
    """The columns of the start, the end and the weight of an edge, and all others; ``amounts`` are
    those of them that hold numbers, ``types`` and ``times`` those that tell the kind and the time
    of an edge, which are recognized and not used."""

    source: str
    target: str
    weight: str | None
    unused: tuple[str, ...]
    amounts: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    times: tuple[str, ...] = ()

    def notes(self, roles: Roles) -> list[str]:
        """Sentences that say how the columns are used."""
        said = [f"edges: {shown_name(self.source)} → {shown_name(self.target)}"]
        if self.weight is not None:
            said.append(f"weight {shown_name(self.weight)}")
        for role, names in (("type", self.types), ("time", self.times)):
            if names:
                said.append(f"{role} {listed(map(shown_name, names))} (not used)")
        unused = [name for name in self.unused if name not in (*self.types, *self.times)]
        if unused:
            said.append(f"not used: {listed(map(shown_name, unused))}")
        notes = ["; ".join(said)]
        if self.weight is not None and roles.weight is None:
            notes.append(f"edges are weighted by the column {self.weight!r}")
        amounts = [name for name in self.amounts if is_measure_name(name)]
        if amounts and self.weight is None:
            notes.append(
                f"edges are not weighted; pass --weight {quote(amounts[0])} to weight them by the "
                f"column {amounts[0]!r}"
            )
        return notes


def choose_edge_columns(
    path: TableName,
    sample: Sample,
    roles: Roles,
    shares: Callable[[list[str]], dict[str, float]] | None,
    id_name: str | None = None,
) -> EdgeColumns:
    """Choose the columns of a table of edges.

    Parameters
    ----------
    path : Path or Source
        The file, for messages.
    sample : Sample
        Some of its rows.
    roles : Roles
        The columns that were given.
    shares : callable or None
        The share of ids among the values of each of some columns; None if ids are not known.
    id_name : str, default=None
        The column of the ids in the table of nodes. A column of the same name may be an end, even
        if its values are all different, as where each node points to one other.
    """
    frame = sample.frame
    if all(name.lstrip("-").isdigit() for name in frame.columns):
        raise ValueError(
            f"`{path}` must begin with a row of column names; its first row is "
            f"{', '.join(frame.columns)}. Add a row such as src,dst."
        )
    given = [
        None if name is None else find_column(path, frame, name, option)
        for name, option in ((roles.src, "--src"), (roles.dst, "--dst"))
    ]
    weight = _weight(path, frame, roles, given)
    source, target = given
    if source is None or target is None:
        source, target = _ends(path, sample, given, weight, shares, id_name)
    if source == target:
        raise ValueError(
            f"`--src` and `--dst` must be different columns of '{path}'; got {source!r} twice."
        )
    used = {source, target, weight}
    unused = tuple(name for name in frame.columns if name not in used)
    amounts = tuple(name for name in unused if _holds_numbers(path, frame[name]))
    times = tuple(name for name in unused if _holds_times(frame[name], name in amounts))
    rest = [name for name in unused if name not in times]
    types = tuple(name for name in rest if _holds_types(frame[name]))
    return EdgeColumns(source, target, weight, unused, amounts, types, times)


def _holds_times(series: pl.Series, numbers: bool) -> bool:
    """Whether a column tells when an edge was made: dates, or numbers that are named as times."""
    if series.dtype in (pl.Date, pl.Datetime):
        return True
    if numbers:
        return is_time_name(series.name)
    return are_dates(series)


def _holds_types(series: pl.Series) -> bool:
    """Whether a column tells the type of an edge: it is named so and has few different values."""
    if not is_type_name(series.name) or series.dtype.is_nested() or series.dtype.is_float():
        return False
    known = series.drop_nulls()
    return 0 < known.n_unique() <= max(len(known) // 2, 1)


def _holds_numbers(path: TableName, series: pl.Series) -> bool:
    if series.dtype != pl.String:
        return series.dtype.is_numeric()
    try:
        series, _ = numbers_as_written(path, series)
    except ValueError:  # almost all are numbers; the error names the others if it is the weight
        return True
    known = series.drop_nulls()
    return len(known) > 0 and known.cast(pl.Float64, strict=False).null_count() == 0


def _weight(
    path: TableName, frame: pl.DataFrame, roles: Roles, ends: Sequence[str | None]
) -> str | None:
    if roles.weight is not None:
        return find_column(path, frame, roles.weight, "--weight")
    found = [name for name in frame.columns if is_weight_name(name) and name not in ends]
    if len(found) > 1:
        raise ValueError(
            f"`{path}` must have one column of weights; {listed(map(repr, found), 'and')} could "
            f"be. Choose one with --weight, such as --weight {quote(found[0])}."
        )
    return find_column(path, frame, found[0], "--weight") if found else None


def _ends(
    path: TableName,
    sample: Sample,
    given: list[str | None],
    weight: str | None,
    shares: Callable[[list[str]], dict[str, float]] | None,
    id_name: str | None,
) -> tuple[str, str]:
    """Guess the ends that were not given."""
    _refuse_matrix(path, sample)
    taken = [name for name in (*given, weight) if name is not None]
    needed = given.count(None)
    plain, numbers = _plain(sample, taken, needed), sample.row_numbers()
    names = [name for name in plain if name not in numbers]
    if len(names) < needed:
        names = plain  # then row numbers are nodes: a list of the successor of each node
    if len(names) < needed:
        _refuse_width(path, sample.frame)
    names = _without_amounts(names, needed)
    share = {} if shares is None else shares(plain)
    full = _full_of_ids(names, share) or names
    if len(full) < needed:
        full = _full_of_ids([*names, *numbers], share)
    named = _by_name(names, given)
    # Names that are clear are not overruled by columns whose values are ids by chance.
    if len(full) >= needed and (named is None or pairs_of_ends(full)):
        names = full
    found = _by_name(names, given) or _by_exclusion(sample, names, given, id_name)
    if found is None:
        _refuse_guess(path, names, given, share)
    return found


def _plain(sample: Sample, taken: list[str], needed: int) -> list[str]:
    """The columns that can be ends by their values or by clear names."""
    names = sample.single(taken)
    found = set(sample.plain(taken))
    for pair in pairs_of_ends(names):
        found |= {pair.source, pair.target} if pair.clear == 2 else set()
    return [name for name in names if name in found or len(found) < needed]


def _without_amounts(names: list[str], needed: int) -> list[str]:
    """The columns without amounts, times and kinds, if enough are left."""
    paired = {name for pair in pairs_of_ends(names) for name in (pair.source, pair.target)}
    some = [name for name in names if name in paired or not is_unlike_an_end(name)]
    return some if len(some) >= needed else names


def _full_of_ids(names: list[str], share: dict[str, float]) -> list[str]:
    best = max(share.values(), default=0.0)
    return [name for name in names if best > 0 and share.get(name, 0.0) >= _HALF * best]


def _by_name(names: list[str], given: list[str | None]) -> tuple[str, str] | None:
    """The clearest pair of names, if there is only one."""
    known = [name for name in given if name is not None]
    fitting = [
        pair
        for pair in pairs_of_ends([*known, *names])
        if given[0] in (None, pair.source) and given[1] in (None, pair.target)
    ]
    clearest = [pair for pair in fitting if pair.clear == fitting[0].clear]
    return (clearest[0].source, clearest[0].target) if len(clearest) == 1 else None


def _by_exclusion(
    sample: Sample, names: list[str], given: list[str | None], id_name: str | None
) -> tuple[str, str] | None:
    """The columns that are left, in their order, without those that are different in each row or
    have nothing in common with any other; None if too many are left."""
    needed = given.count(None)
    if len(pairs_of_ends(names)) > 1:
        return None  # several pairs of names that are equally clear

    def left(keep: Callable[[str], bool]) -> list[str]:
        some = [name for name in names if keep(name)]
        return some if len(some) >= needed else names

    if len(names) > needed:
        names = left(lambda name: name == id_name or not sample.all_different(name))
    if len(names) > needed:
        names = left(lambda name: _overlaps(sample, name, names))
    if len(names) != needed:
        return None
    free = iter(names)
    source, target = (next(free) if name is None else name for name in given)
    return source, target


def _overlaps(sample: Sample, name: str, others: list[str]) -> bool:
    """Whether a column shares values with another: both ends of an edge are nodes."""
    texts = sample.frame[name].drop_nulls().cast(pl.String).implode()
    return any(
        sample.frame[other].drop_nulls().cast(pl.String).is_in(texts).any()
        for other in others
        if other != name
    )


def _refuse_matrix(path: TableName, sample: Sample) -> None:
    """Raise an error for a matrix: the first column names the other columns."""
    names = sample.frame.columns[1:]
    if len(names) < 2 or int(sample.rows[-1]) + 1 != len(names):
        return
    first = sample.frame.to_series(0)
    if not first.dtype.is_nested() and set(first.cast(pl.String).to_list()) <= set(names):
        raise ValueError(
            f"`{path}` must have one row per edge; it looks like a matrix with one row and one "
            f"column per node, such as {names[0]!r}. Write its edges one below the other, or read "
            "it in Python with Graph.from_scipy."
        )


def _refuse_width(path: TableName, frame: pl.DataFrame) -> NoReturn:
    raise ValueError(
        f"`{path}` must have two columns of node ids, the start and the end of an edge (--src and "
        f"--dst); it has {frame.width} column{'' if frame.width == 1 else 's'}: "
        f"{listed(map(repr, frame.columns))}."
    )


def _refuse_guess(
    path: TableName, names: list[str], given: list[str | None], share: dict[str, float]
) -> NoReturn:
    known = [name for name in given if name is not None]
    some = [name for name in names if share.get(name, 0.0) > 0]
    names = some if len(some) >= given.count(None) else names
    best = sorted((share.get(name, 0.0) for name in names), reverse=True)[: given.count(None)]
    likely = [name for name in names if share.get(name, 0.0) >= best[-1]]
    pairs = pairs_of_ends([*known, *likely])
    ends = (pairs[0].source, pairs[0].target) if pairs else (likely[0], likely[-1])
    options = [
        f"{option} {quote(name)}"
        for option, name, was in zip(("--src", "--dst"), ends, given, strict=True)
        if was is None
    ]
    could = [
        f"{name!r} ({share[name]:.0%} of its values are ids of nodes)" if share else repr(name)
        for name in names
    ]
    raise ValueError(
        f"`{path}` must show which columns are the start and the end of an edge; "
        f"{listed(could, 'and')} could be. Choose with {' and '.join(options)}, for example."
        f"{how_it_was_read(path)}"
    )
