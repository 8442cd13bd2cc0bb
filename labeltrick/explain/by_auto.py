"""`AutoModel`: labels are hidden one at a time, and columns are explained learner by learner.

Trees have SHAP values; in other learners a column is replaced by its mean. Both are weighted by
the learner's share of the blend. What learners say together is not their sum, so that these effects
do not add up to the score.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..models.auto.choosing import LABELS_ALONE
from ..models.auto.crossfit import FittedLearner
from ..models.boosting.node_columns import NodeColumns, neighbor_names
from ..models.boosting.trees import Trees
from .auto_rows import AutoRows, Wanted
from .by_trees import has_shap, link_of_trees, margin_effects, shown_values
from .effects import Source, mean_jacobian, mean_of
from .found import Found, Question
from .label_rows import EVERYTHING, NOTHING
from .rows_of_propagation import batches

_MOST_COLUMNS = 24  # columns of a node, and of its neighbors, that are replaced
ALL_LABELS = "all label columns"
_Effects = dict[tuple[str, str], tuple[Any, np.ndarray]]


def explain_auto(question: Question) -> list[Found]:
    """Effects of labels and columns on the blend."""
    found, n_views = [], question.model._maker.label_hops + 1
    for nodes in batches(question.nodes, question.inputs.graph.n_nodes, n_views):
        found += _explained(AutoRows(question, nodes))
    return found


def _explained(rows: AutoRows) -> list[Found]:
    places = np.arange(len(rows.nodes))
    nothing = Wanted(places, np.full(len(places), NOTHING))
    base, raw = rows.rows(nothing), rows.raw(nothing)
    none = Wanted(places, np.full(len(places), EVERYTHING))
    without, without_raw = rows.rows(none), rows.raw(none)
    columns = _column_effects(rows, nothing)
    hidden = _hidden_labels(rows, base)
    found = []
    for k in places:
        J = mean_jacobian(rows.question.shown, without_raw[k], raw[k])
        effects = [(Source(kind, name, value), effect @ J.T)
                   for (kind, name), (value, effect) in columns[k].items()]  # fmt: skip
        found.append(Found(base[k], without[k], changes=[*hidden[k], *effects]))
    return found


def _hidden_labels(rows: AutoRows, base: np.ndarray) -> list[list[tuple[Source, np.ndarray]]]:
    """Effects of the nearest labels of each node, all predicted together."""
    near = [rows.nearest(k, 3 * rows.question.top) for k in range(len(rows.nodes))]
    places = np.repeat(np.arange(len(near)), [len(some) for some in near])
    if not len(places):
        return [[] for _ in near]
    hidden = np.concatenate(near)
    changed = rows.rows(Wanted(places, hidden))
    found: list[list[tuple[Source, np.ndarray]]] = [[] for _ in near]
    for place, node, row in zip(places.tolist(), hidden.tolist(), changed, strict=True):
        found[place].append((Source("label", node), base[place] - row))
    return found


def _column_effects(rows: AutoRows, nothing: Wanted) -> list[_Effects]:
    """Effects of columns on the blend at each node, summed over its learners."""
    found: list[_Effects] = [{} for _ in rows.nodes]
    for name, share in rows.question.model.shares_.items():
        if name == LABELS_ALONE:
            continue
        fitted = rows.used[name]
        is_trees = all(
            isinstance(each.learned, Trees) and has_shap(each.learned) for each in fitted.members
        )
        parts = (
            _of_trees(rows, name, fitted, nothing) if is_trees else _of_others(rows, name, nothing)
        )
        for mine, some in zip(found, parts, strict=True):
            for source, effect in some:
                key = source.kind, source.key
                value, before = mine.get(key, (source.value, 0.0))
                mine[key] = value, before + share * effect
    return found


def _of_trees(
    rows: AutoRows, name: str, fitted: FittedLearner, nothing: Wanted
) -> list[list[tuple[Source, np.ndarray]]]:
    """The mean SHAP values of the members, carried through their links and the calibration."""
    question, learner = rows.question, fitted.learner
    spread = None if rows.spread is None else rows.spread[nothing.places]
    maker, inputs = rows.maker_of(nothing, spread)
    columns = learner.columns_of(maker, inputs)  # type: ignore[attr-defined]
    columns = columns if isinstance(columns, NodeColumns) else columns.rows(nothing.places)
    if question.inputs.X is None:
        shown = [[None if np.isnan(each) else float(each) for each in row]
                 for row in np.asarray(columns.values)]  # fmt: skip
    else:
        shown = shown_values(question.model, question.inputs.X, rows.nodes, columns)
    calibration, of_members = question.model._calibrations[name], []
    for member in fitted.members:
        link, scale = link_of_trees(member.learned), member.scale
        margins = margin_effects(member.learned, columns, shown)
        of_members.append(
            [each.through(lambda m, link=link, scale=scale: scale.back(link(m)))  # type: ignore[misc]
             for each in margins]
        )  # fmt: skip
    found = []
    for place in range(len(rows.nodes)):
        mean = mean_of([each[place] for each in of_members])
        effects = mean.through(lambda part: calibration.apply(part, question.task))
        found.append(list(zip(effects.sources, effects.values, strict=True)))
    return found


def _of_others(rows: AutoRows, name: str, nothing: Wanted) -> list[list[tuple[Source, np.ndarray]]]:
    """Effects of replacing columns by their means, one at a time."""
    base = rows.of_learner(name, nothing)
    found: list[list[tuple[Source, np.ndarray]]] = [[] for _ in rows.nodes]
    if rows.label_rows is not None and rows.used[name].learner.recipe.label_hops:
        blank = rows.of_learner(name, nothing, blank=True)
        for mine, effect in zip(found, base - blank, strict=True):
            mine.append((Source("label column", ALL_LABELS), effect))
    if rows.spread is None:
        return found
    sources, places, spread = _replaced(rows)
    if sources:
        wanted = Wanted(places, np.full(len(places), NOTHING))
        changed = rows.of_learner(name, wanted, spread)
        for place, source, row in zip(places.tolist(), sources, changed, strict=True):
            found[place].append((source, base[place] - row))
    return found


def _replaced(rows: AutoRows) -> tuple[list[Source], np.ndarray, np.ndarray]:
    """(what is replaced, the place of the node, the changed columns) of each row."""
    question, spread = rows.question, rows.spread
    assert spread is not None
    columns = question.model._maker.columns
    names = list(columns.signal.names)
    width, n_blocks = len(names), spread.shape[1] // len(names)
    scale = columns.scales[max(columns.scales)]
    center, size = scale.center[: spread.shape[1]], scale.spread[: spread.shape[1]]
    sources, places, changed = [], [], []
    for place, row in enumerate(spread):
        away = np.abs(row - center) / size
        for block in range(n_blocks):
            part = away[block * width : (block + 1) * width]
            some = np.argsort(-part, kind="stable")[:_MOST_COLUMNS]
            for k in some[part[some] > 0].tolist():
                at, other = block * width + k, row.copy()
                other[at] = center[at]
                kind = "neighbor column" if block else "own column"
                name = neighbor_names([names[k]], block)[0] if block else names[k]
                sources.append(Source(kind, name, float(row[at])))
                places.append(place)
                changed.append(other)
    return sources, np.array(places, np.int64), np.array(changed)
