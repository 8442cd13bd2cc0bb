"""Warnings about classes that may not be what the caller means. All begin with "`y` holds"."""

from __future__ import annotations

import numpy as np

from .checks import warn_caller

_BLANKS = ("", "nan", "none", "null", "na", "n/a", "<na>", "-1", "unknown", "missing", "?")
_MANY = 20  # whole numbers that are more than that are often amounts
_MOST_NAMES = 10_000  # that are compared


def warn_of_classes(classes: np.ndarray, *, chosen: bool) -> None:
    """Warn of classes that look like missing labels, like each other, or, unless the caller has
    ``chosen`` classification, like amounts."""
    if classes.dtype.kind in "OUS":
        names = [str(name) for name in classes[:_MOST_NAMES].tolist()]
        _warn_of_blanks(names)
        _warn_of_spellings(names)
    elif classes.dtype.kind in "iuf" and not chosen:
        _warn_of_amounts(classes)


def _warn_of_blanks(names: list[str]) -> None:
    """Missing labels that were read from a file as text and look like a class."""
    blank = [name for name in names if name.strip().lower() in _BLANKS]
    if blank:
        warn_caller(
            f"`y` holds the class {blank[0]!r}, which looks like a missing label. If it is one, "
            "replace it with None."
        )


def _warn_of_spellings(names: list[str]) -> None:
    """Words that differ only in case or spaces. Single letters may be classes: "a" and "A"."""
    seen: dict[str, str] = {}
    for name in names:
        folded = " ".join(name.lower().split())
        other = seen.setdefault(folded, name)
        if other != name and len(folded) > 1:
            warn_caller(
                f"`y` holds the classes {other!r} and {name!r}, which differ only in case or "
                "spaces. Write them alike if they mean the same."
            )
            return


def _warn_of_amounts(classes: np.ndarray) -> None:
    """Many whole numbers that are not numbered from 0 or 1 on, with few gaps, as classes are."""
    low, high = float(classes[0]), float(classes[-1])
    if len(classes) <= _MANY or (low in (0, 1) and high - low < 2 * len(classes)):
        return
    warn_caller(
        f"`y` holds {len(classes):,} different whole numbers from {low:.0f} to {high:.0f}, which "
        "are taken as classes. If they are amounts, pass task='regression'; if they are classes, "
        "task='classification'."
    )
