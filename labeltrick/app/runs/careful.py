"""Warnings that a careful colleague would give about labels, options and scores.

One function per warning; each returns sentences, or an empty list if there is nothing to say.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ...evaluation import metrics
from ...io.tables import Problem
from ...io.tables.content import are_dates
from ...io.tables.graph_files import is_graph_file
from ...io.tables.kinds import listed, shown_name
from ...io.tables.label_lists import SEPARATORS
from ...io.tables.placeholders import looks_like_a_placeholder
from ...io.tables.places import Place
from ...io.tables.sources import TEXT_ENDINGS, endings
from ...io.tables.written_numbers import are_numbers
from .models import is_random
from .scores import Score, shown
from .settings import FitSettings, labels_of
from .spellings import folded
from .without_columns import takes_columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_FEW_MEMBERS = 5  # classes with fewer are missing from some of the five folds
_MANY_CLASSES = 20  # whole numbers that are more than that are often quantities
_FEWEST_IDS = 20  # labels that differ by chance are too few to tell
_SHOWN = 5
_NOT_KNOWN = {
    "", "-1", "-99", "-999", "n.a.", "<na>", "missing", "not known", "not labeled",
    "tbd", "to be determined", "undefined", "unknown", "unlabeled", "unlabelled", "unspecified",
}  # fmt: skip
_WITH_UNIT = re.compile(r"[-+]?\d[\d.,]*\s*([^\d\s.,].*)")


def careful_warnings(problem: Problem, used: np.ndarray) -> list[str]:
    """All warnings about the labels of a problem; ``used`` marks those that a fit would use."""
    if problem.labels is None:
        return []
    if problem.labels.columns:  # several labels or numbers per node
        return [*problem.warnings, *single_labels(problem), *small_classes(problem, used)]
    return [
        *problem.warnings,
        *spelling_variants(problem),
        *missing_as_class(problem),
        *target_like_an_id(problem),
        *numbers_as_classes(problem),
        *fractions_as_classes(problem),
        *numbers_with_units(problem),
        *dates_as_classes(problem),
        *classes_as_numbers(problem),
        *lists_as_classes(problem),
        *small_classes(problem, used),
    ]


def _classes(problem: Problem) -> Counter[str]:
    """How often each class occurs; empty for regression."""
    labels = labels_of(problem)
    if labels.task != "classification":
        return Counter()
    return Counter(str(value) for value in labels.values[labels.known])


def spelling_variants(problem: Problem) -> list[str]:
    """Classes that differ only in case or spaces."""
    groups: dict[str, list[str]] = {}
    counts = _classes(problem)
    for name in counts:
        groups.setdefault(folded(name), []).append(name)
    return [
        f"classes {listed([f'{name!r} ({counts[name]:,})' for name in names], 'and')} of "
        f"{labels_of(problem).name!r} differ only in case or spaces and are different classes. "
        "Write them alike if they mean the same"
        for names in groups.values()
        if len(names) > 1
    ]


def missing_as_class(problem: Problem) -> list[str]:
    """Classes such as "unknown" or -1 that may stand for a missing label; −1 and 1 are classes,
    and so are "+" and "-"."""
    counts = _classes(problem)
    return _missing_in(counts, labels_of(problem).name, "is learned like any other class")


def missing_among(values: np.ndarray, name: str) -> list[str]:
    """`missing_as_class` for labels that are scored."""
    return _missing_in(Counter(map(str, values)), name, "is scored like any other class")


def _missing_in(counts: Counter[str], column: str, but: str) -> list[str]:
    found = [name for name in counts if _is_not_known(name)]
    if set(counts) == {"-1", "1"} or not any(map(str.isalnum, "".join(counts))):
        return []
    return [
        f"the class {name!r} ({counts[name]:,} label{'' if counts[name] == 1 else 's'}) of "
        f"{column!r} looks like a missing label, but {but}. If the label is not known, leave its "
        f"cells blank or pass --missing {shlex.quote(name)}"
        for name in found[:_SHOWN]
    ]


def _is_not_known(name: str) -> bool:
    known_word = folded(name) in _NOT_KNOWN or looks_like_a_placeholder(name)
    return known_word or not any(map(str.isalnum, name))


def small_classes(problem: Problem, used: np.ndarray) -> list[str]:
    """Classes with so few labels that they can hardly be learned."""
    labels = labels_of(problem)
    if labels.task == "regression":
        return []
    if labels.columns:
        found = labels.values[used].sum(axis=0).astype(int).tolist()
        counts = Counter(dict(zip(labels.columns, found, strict=True)))
    else:
        counts = Counter(str(value) for value in labels.values[used])
    rare = sorted((n, name) for name, n in counts.items() if n < _FEW_MEMBERS)
    if not rare:
        return []
    names = listed([f"{name!r} ({n})" for n, name in rare[:_SHOWN]])
    more = f" and {len(rare) - _SHOWN:,} more" if len(rare) > _SHOWN else ""
    one = len(rare) == 1
    what = "1 class has" if one else f"{len(rare):,} classes have"
    they, them = ("It", "it") if one else ("They", "them")
    return [
        f"{what} fewer than {_FEW_MEMBERS} labels: {names}{more}. {they} can hardly be learned. "
        f"Label more nodes of {them}, or merge {them} with others"
    ]


def target_like_an_id(problem: Problem) -> list[str]:
    """A target whose values are all different, as those of an id are."""
    labels = labels_of(problem)
    values = labels.values[labels.known]
    if len(values) < _FEWEST_IDS or len(set(values.tolist())) < len(values):
        return []
    if labels.task == "regression" and not _number_rows(values):
        return []
    return [
        f"all {len(values):,} labels of {labels.name!r} are different, as in an id. Name the "
        "column to predict with --target"
    ]


def _number_rows(values: np.ndarray) -> bool:
    """Whether different numbers are whole and dense, like row numbers."""
    whole = bool((values == np.round(values)).all())
    return whole and float(values.max() - values.min()) < 2 * len(values)


def _whole_numbers(names: Counter[str]) -> list[int] | None:
    try:
        return sorted(int(name) for name in names)
    except ValueError:
        return None


def numbers_as_classes(problem: Problem) -> list[str]:
    """Many whole numbers that are taken as classes, unless they are 0…k−1 or 1…k."""
    counts = _classes(problem)
    numbers = _whole_numbers(counts)
    if numbers is None or len(numbers) <= _MANY_CLASSES or _are_codes(numbers):
        return []
    name = labels_of(problem).name
    return [
        f"{name!r} holds {len(numbers):,} different whole numbers from {numbers[0]:,} to "
        f"{numbers[-1]:,}, which are taken as classes without an order. Pass --task regression if "
        "they are amounts"
    ]


def fractions_as_classes(problem: Problem) -> list[str]:
    """Many numbers with fractions that are taken as classes."""
    counts = _classes(problem)
    if len(counts) <= _MANY_CLASSES or not are_numbers(pl.Series(list(counts))).all():
        return []
    if _whole_numbers(counts) is not None:
        return []
    return [
        f"{labels_of(problem).name!r} holds {len(counts):,} different numbers, such as "
        f"{next(iter(counts))!r}, which are taken as classes without an order. Pass --task "
        "regression if they are amounts"
    ]


def dates_as_classes(problem: Problem) -> list[str]:
    """Many dates that are taken as classes."""
    counts = _classes(problem)
    if len(counts) <= _MANY_CLASSES or not are_dates(pl.Series(list(counts))):
        return []
    return [
        f"{labels_of(problem).name!r} holds {len(counts):,} different dates, which are taken as "
        "classes without an order. Write them as numbers, such as days since a date, to predict "
        "when something happens"
    ]


def single_labels(problem: Problem) -> list[str]:
    """One column of labels with ``--task multilabel`` in which no cell has more than one, or all
    parts are numbers."""
    labels = labels_of(problem)
    if not labels.listed:
        return []
    if (labels.values[labels.known].sum(axis=1) <= 1).all():
        why = "no cell holds more than one label"
    elif len(labels.columns) > _MANY_CLASSES and are_numbers(pl.Series(labels.columns)).all():
        why = "all labels are numbers"
    else:
        return []
    return [
        f"{labels.name!r} is taken as lists of labels, but {why}. Pass --task classification if "
        "each cell is a class, or --task regression if it is an amount"
    ]


def numbers_with_units(problem: Problem) -> list[str]:
    """Many numbers with the same unit, such as "12.5 °C", that are taken as classes."""
    counts = _classes(problem)
    found = [_WITH_UNIT.fullmatch(name.strip()) for name in counts]
    units = {match[1] if match else None for match in found}
    if len(counts) <= _MANY_CLASSES or len(units) > 1 or None in units:
        return []
    return [
        f"{labels_of(problem).name!r} holds {len(counts):,} different numbers with the unit "
        f"{units.pop()!r}, such as {next(iter(counts))!r}, which are taken as classes without an "
        "order. Write them without the unit if they are amounts"
    ]


def lists_as_classes(problem: Problem) -> list[str]:
    """Lists such as "drama|comedy" that are taken as classes, if their parts occur elsewhere."""
    counts = _classes(problem)
    alone = {name.strip() for name in counts}
    for sign in SEPARATORS:
        parts = {name: {part.strip() for part in name.split(sign)} for name in counts}
        uses = Counter(part for found in parts.values() for part in found if part)
        # "Lyon, France" and "Nice, France" are names; "Lyon, Nice" beside "Nice" is a list.
        lists = [
            name
            for name, found in parts.items()
            if len(found) > 1 and any(p in alone or (sign != "," and uses[p] > 1) for p in found)
        ]
        if lists:
            return [
                f"classes of {labels_of(problem).name!r} look like lists of labels, such as "
                f"{lists[0]!r}, and are taken as one class each. Pass --task multilabel to "
                "predict each label"
            ]
    return []


def classes_as_numbers(problem: Problem) -> list[str]:
    """Codes 0…k−1 or 1…k with many labels each that are taken as numbers."""
    labels = labels_of(problem)
    if labels.task != "regression":
        return []
    values = labels.values[labels.known]
    distinct = np.unique(values)
    if (distinct != np.round(distinct)).any() or not _are_codes(distinct.astype(int).tolist()):
        return []
    if len(values) < 2 * len(distinct):
        return []
    return [
        f"{labels.name!r} holds the whole numbers from {distinct[0]:.0f} to {distinct[-1]:.0f}, "
        "which are taken as amounts. Pass --task classification if they are codes of classes"
    ]


def _are_codes(numbers: list[int]) -> bool:
    return numbers[0] in (0, 1) and numbers[-1] - numbers[0] + 1 == len(numbers)


def better_baselines(score: Score, baselines: Mapping[str, Score]) -> list[str]:
    """Baselines with a better score than the model."""
    better = [
        f"{name} ({shown(score.metric, simple.value)})"
        for name, simple in baselines.items()
        if metrics.better(score.metric, simple.value, score.value)
    ]
    if not better:
        return []
    return [
        f"the model ({score.metric} {shown(score.metric, score.value)}) is not better than "
        f"simpler ones: {listed(better)}. Try another --model"
    ]


def unused_options(settings: FitSettings, models: Sequence[str] = ()) -> list[str]:
    """Options that have no effect together with the others. ``models`` are those of a comparison;
    () for the model of the settings."""
    found = []
    if settings.nodes is None:
        given: dict[str, object] = {"--id": settings.id if not settings.labels else None}
        if not settings.edges[0].lower().endswith(".graphml"):  # which has columns of its own
            given |= {"--time": settings.time, "--ignore": settings.ignore,
                      "--split-column": settings.split_column}  # fmt: skip
        given["--unknown-nodes"] = settings.unknown_nodes != FitSettings.unknown_nodes
        found += _not_used(given, ", because there is no --nodes")
    if settings.target is None:
        # A file that holds a whole graph may hold labels without a name.
        task = settings.task != FitSettings.task and not is_graph_file(Path(settings.edges[0]))
        aimed = {"--labels": settings.labels, "--task": task}
        found += _not_used(aimed, ", because there is no --target")
    files = [*settings.edges, *(settings.nodes or ()), *(settings.labels or ())]
    written = {name: getattr(settings, name) for name in ("delimiter", "encoding", "decimal")}
    found += unused_text_options(files, written)
    names = tuple(models) or (settings.model,)
    if "auto" in names:
        return found
    of_auto = {"--budget": settings.budget != FitSettings.budget,
               "--learners": settings.learners, "--exclude": settings.exclude}  # fmt: skip
    by = f"--models {','.join(names)}" if models else f"--model {settings.model}"
    found += _not_used(of_auto, f" by {by}")
    if not models and settings.seed != FitSettings.seed and not is_random(settings.model):
        found.append(
            f"--model {settings.model} makes no random choices: --seed changes only the confidence "
            "intervals and the baselines"
        )
    return found


def unused_text_options(files: Sequence[str], written: Mapping[str, str | None]) -> list[str]:
    """Options that say how text is written where no file is a text table."""
    if any(_is_text(file) for file in files):
        return []
    options = {f"--{name}": value for name, value in written.items()}
    return _not_used(options, ", because no file is a text table")


def _not_used(options: Mapping[str, object], why: str) -> list[str]:
    names = [name for name, value in options.items() if value]
    return [f"not used{why}: {listed(names)}"] if names else []


def _is_text(file: str) -> bool:
    return Place.of(file).kind == "file" and endings(Path(file))[0] in TEXT_ENDINGS


def unused_columns(problem: Problem, settings: FitSettings) -> list[str]:
    """The features that the model does not use, if it does not use any."""
    if takes_columns(settings) or problem.X is None:
        return []
    named = [shown_name(kind.name) for kind in problem.kinds if kind.role in ("feature", "time")]
    what = f"columns {listed(named)}" if named else f"{problem.X.shape[1]:,} columns"
    return [f"not used by --model {settings.model}: {what}"]
