"""Which column of a table of nodes or labels holds the ids.

The option --id decides first. Then values decide: the ids are what edges refer to. Among columns
that fit, names decide: "customer_id" for edges from "from_customer", then names of ids, then any
name, and last row numbers that pandas has written. If several are left, it is an error that lists
them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from shlex import quote

import polars as pl

from .column_names import ID_NAMES, is_about, is_id_name, pairs_of_ends
from .content import Sample, shares_of_ids
from .kinds import find_column, how_it_was_read, listed
from .sources import TableName

_NEARLY = 0.95  # of the best share, for a column that fits as well
_MOST = 0.5  # a column that holds fewer of the ids that edges name is chosen by name alone
Score = Callable[[str], float]
"""The share of ids among the values of a column, by its name."""


def choose_id(
    file: TableName,
    frame: pl.DataFrame,
    given: str | None,
    taken: Collection[str | None],
    referring: pl.DataFrame,
) -> str:
    """The column of a node table that holds the ids to which edges refer.

    Parameters
    ----------
    file : Path or Source
        The file, for messages.
    frame : polars.DataFrame
        The node table.
    given : str or None
        The column that was given.
    taken : collection of str
        Columns with other roles.
    referring : polars.DataFrame
        The table of edges, whose ends are among its columns, or a column of the ids of a graph. A
        sample of its rows decides, or all rows if several columns fit the sample equally well.
    """
    if given is not None:
        return find_column(file, frame, given, "--id")
    sample = Sample.of(frame)
    some = Sample.of(referring)
    ends = _ends(some)
    names = [
        name
        for name in sample.plain(name for name in taken if name is not None)
        if name.lower() in ID_NAMES or sample.all_different(name)
    ]

    def score_on(rows: pl.DataFrame) -> Score:
        return lambda name: _referred_to({end: rows[end] for end in ends}, frame[name])

    exact = score_on(referring)
    return _choose(file, sample, names, taken, ends, score_on(some.frame), exact)


def choose_id_of_labels(
    file: TableName,
    frame: pl.DataFrame,
    given: str | None,
    targets: Collection[str],
    ids: pl.Series | None,
) -> str:
    """The column of a table of labels whose values are ids of the graph."""
    if given is not None:
        return find_column(file, frame, given, "--id")
    sample = Sample.of(frame)
    names = sample.plain(targets)
    if ids is None:
        return _choose(file, sample, names, targets, [], None, None)
    share = shares_of_ids({name: sample.frame[name] for name in names}, ids) if names else {}
    return _choose(file, sample, names, targets, [], lambda name: share[name], None)


def _ends(referring: Sample) -> list[str]:
    """The columns of a table of edges that may be its ends."""
    plain = referring.plain(referring.row_numbers())
    pairs = [pair for pair in pairs_of_ends(plain) if pair.clear == 2]
    named = {name for pair in pairs for name in (pair.source, pair.target)}
    return [name for name in plain if name in named] or plain


def _referred_to(columns: Mapping[str, pl.Series], ids: pl.Series) -> float:
    """The mean share of ids in the two columns that hold most of them."""
    best = sorted(shares_of_ids(columns, ids).values())[-2:] if columns else []
    return sum(best) / len(best) if best else 0.0


def _choose(
    file: TableName,
    sample: Sample,
    names: list[str],
    taken: Collection[str | None],
    ends: list[str],
    score: Score | None,
    exact: Score | None,
) -> str:
    numbers = sample.row_numbers()
    scores = {} if score is None else {name: score(name) for name in names}
    tiers = {name: _tier(name, ends, numbers) for name in names}
    best = max(scores.values(), default=0.0)
    fitting = [name for name in scores if scores[name] >= _NEARLY * best > 0]
    if best < _MOST:  # few matches may be a coincidence, unless the name says the same
        fitting = [name for name in fitting if tiers[name] < 2]
    if not fitting:
        return _by_name(file, sample, taken, numbers)
    fitting = [name for name in fitting if tiers[name] == min(tiers[name] for name in fitting)]
    if len(fitting) > 1 and exact is not None:
        scores = {name: exact(name) for name in fitting}
        fitting = [name for name in fitting if scores[name] == max(scores.values())]
    if len(fitting) > 1:
        raise ValueError(
            f"`{file}` must show which column holds the ids; {listed(map(repr, fitting), 'and')} "
            f"could. Choose one with --id, such as --id {quote(fitting[0])}.{how_it_was_read(file)}"
        )
    return fitting[0]


def _tier(name: str, ends: list[str], numbers: list[str]) -> int:
    """How well the name of a column says that it holds the ids: 0 (best) to 3."""
    if name in numbers:
        return 3
    if len(ends) == 2 and is_about(name, ends):
        return 0
    return 1 if is_id_name(name) else 2


def _by_name(
    file: TableName, sample: Sample, taken: Collection[str | None], numbers: list[str]
) -> str:
    """A column with a usual name, or else the first one."""
    free = [name for name in sample.frame.columns if name not in taken]
    lower = {name.lower(): name for name in reversed(free)}
    usual = [lower[name] for name in ID_NAMES if name in lower]
    named = usual or [name for name in free if is_id_name(name) and sample.all_different(name)]
    others = [name for name in free if name not in numbers]
    for names in (named, others, free, sample.frame.columns):
        if names:
            return find_column(file, sample.frame, names[0], "--id")
    raise AssertionError("a table has columns")  # pragma: no cover
