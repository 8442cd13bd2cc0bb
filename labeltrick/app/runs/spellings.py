"""Spellings of one class: "Yes", "yes" and "YES " differ only in case and spaces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...io.tables.kinds import listed
from ...io.tables.labels import Labels


def folded(name: str) -> str:
    """A name without differences of case and spaces.

    >>> folded("Not  Known ")
    'not known'
    """
    return " ".join(name.casefold().split())


def did_you_mean(name: str, classes: Iterable[Any]) -> str:
    """A question that names the class with another spelling, if there is one.

    >>> did_you_mean("YES", ["No", "Yes"])
    " Did you mean 'Yes'?"
    """
    same = [str(each) for each in classes if folded(str(each)) == folded(name)]
    return f" Did you mean {same[0]!r}?" if same else ""


def warnings_on_new_classes(labels: Labels, rows: np.ndarray, fitted: Any) -> list[str]:
    """A sentence about classes that a run does not know; ``fitted`` are the targets of its fit. It
    is an error if one of them differs from a class of the run only in case or spaces: all its rows
    would count as wrong."""
    if fitted.task != "classification":
        return []
    column, known = labels.name, [str(name) for name in fitted.classes]
    counts = Counter(str(value) for value in labels.values[rows])
    new = {name: n for name, n in counts.items() if name not in known}
    for name, n in new.items():
        if hint := did_you_mean(name, known):
            raise ValueError(
                f"column {column!r} must hold classes of the run; got {name!r} "
                f"({n:,} row{'' if n == 1 else 's'}).{hint} "
                "Write it as in the run."
            )
    if not new:
        return []
    names = listed(f"{name!r} ({n:,})" for name, n in new.items())
    none = len(new) == len(counts)
    rest = ". It knows none: name the column of the labels with --target" if none else ""
    return [
        f"the run does not know these classes of {column!r}, so their rows count as wrong: {names}"
        f"{rest}"
    ]
