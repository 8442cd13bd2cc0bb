"""The sections of a report: titles, sentences, figures and tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._utils.escaping import shortened
from ...io.tables.kinds import count_of
from ..runs.by_target import column_names, table_by_target
from ..runs.predictions import joined, stored_rows
from ..runs.scores import few_nodes_warning, shown
from ..runs.without_columns import named
from . import figures

_MOST_ROWS = 100
_MOST_FIGURES = 10
_LONGEST_NAME = 40  # characters of columns beside the score
_WITHOUT = "without these columns"


@dataclass(frozen=True)
class Section:
    """A section: a heading, sentences, and optionally a figure, a table or code."""

    title: str
    text: list[str]
    figure: Any = None
    header: list[str] = field(default_factory=list)
    rows: list[list[Any]] = field(default_factory=list)
    code: str = ""
    big: str = ""
    alarm: str = ""  # shown first, and marks the section


def sections(run: Any) -> list[Section]:
    """All sections of a run, in reading order."""
    found = [
        _headline(run),
        _doubt(run),
        _tried(run),
        _leakage(run),
        *_quality(run),
        *_graph(run),
        *_columns(run),
        *_look(run),
        _warned(run),
        _noted(run),
        _again(run),
    ]
    return [section for section in found if section is not None]


def _headline(run: Any) -> Section:
    scored, labels = run.scored, run.problem.labels
    score = scored.score
    bars = {"this model": score}
    if run.without is not None:
        bars[_WITHOUT] = run.without.score
    bars |= scored.baselines
    text = [
        f"“{labels.name}” was predicted for {count_of(run.problem.n_nodes, 'node')} from "
        f"{count_of(len(run.model.labeled_), 'label')} and "
        f"{count_of(run.problem.graph.n_edges, 'edge')}.",
        f"On {score.n:,} {scored.on}, {_words(score.metric)} is {shown(score.metric, score.value)} "
        f"(95 % confidence interval: {shown(score.metric, score.low)} to "
        f"{shown(score.metric, score.high)}).",
    ]
    if scored.on.startswith("validation"):
        text.append("Because these nodes also chose the model, the score is slightly optimistic.")
    text += [f"{sentence}." for sentence in few_nodes_warning(score)]
    figure = figures.score_bars(list(bars), list(bars.values()))
    big, alarm = shown(score.metric, score.value), ""
    if run.without is not None:
        without = run.without
        columns, there = named(without.columns), shown(score.metric, without.score.value)
        give = "gives" if len(without.columns) == 1 else "give"
        alarm = f"This score is not to be trusted: {columns} {give} the answer away."
        text.insert(0, (
            f"It is {there} ({shown(score.metric, without.score.low)} to "
            f"{shown(score.metric, without.score.high)}) for {without.words}. The predictions of "
            f"this run use {columns}."
        ))  # fmt: skip
        big += f" (without {shortened(columns, _LONGEST_NAME)}: {there})"
    elif not run.trusted:
        alarm = "This score is not to be trusted: predictions change with the node's own label."
    return Section("Score", text, figure, big=big, alarm=alarm)


def _doubt(run: Any) -> Section | None:
    if not run.doubted:
        return None
    text = [
        "Each column was tested alone on labeled rows that were left out, and labeled rows were "
        "compared with the other rows. A column that is only worth a look may be an honest one."
    ]
    rows = [[c.column, c.verdict, c.reason, c.advice] for c in run.doubted]
    header = ["column", "verdict", "reason", "what to do"]
    return Section("Suspicious columns", text, header=header, rows=rows)


def _words(metric: str) -> str:
    return {
        "accuracy": "the accuracy",
        "subset_accuracy": "the share of nodes with all labels right",
        "average_precision": "the average precision (mean over the labels)",
        "f1_macro": "F1 (mean over the labels)",
        "f1_micro": "F1 (over all pairs of a node and a label)",
        "roc_auc": "the area under the ROC curve",
        "rmse": "the root mean squared error (lower is better)",
        "mae": "the mean absolute error (lower is better)",
        "log_loss": "the log loss (lower is better)",
        "r2": "the share of explained variance",
    }.get(metric, metric)


def _tried(run: Any) -> Section | None:
    trials = getattr(run.model, "trials_", None)
    if not trials:
        return None
    metric = run.scored.score.metric
    nodes = "validation nodes" if len(run.model.validation_) else "labeled nodes, out of fold"
    rows = [[t.name, shown(metric, t.score), f"{t.seconds:.1f}", t.note] for t in trials]
    how = "squared error" if run.model.targets_.task == "regression" else "log loss"
    text = [f"Scores on {nodes}. Chosen by {how}: {run.model.chosen_}."]
    return Section(
        "Learners that were tried", text, header=["", metric, "seconds", "note"], rows=rows
    )


def _leakage(run: Any) -> Section:
    if run.leakage is None:
        text = [
            "This was not checked: it would take too long, or the method uses the label of a node "
            "for its own prediction by definition. The score does not use it."
        ]
    else:
        verdict = "A leak was found." if run.leakage.leaks else "No leak was found."
        if run.without is not None and not run.leakage.leaks:
            verdict = "No leak through labels was found, but columns give them away."
        text = [
            f"{verdict} Labels were changed one at a time, and the change of the node's own "
            f"prediction was measured: {run.leakage}."
        ]
        if run.without is not None:
            text.append(
                "This check changes labels and does not look at columns: see “Suspicious columns”."
            )
    return Section("Does a node see its own label?", text)


def _quality(run: Any) -> list[Section]:
    scored, known = run.scored, run.model.targets_
    names = column_names(known)
    if known.task == "regression":
        text = ["Each dot is a node. On the dotted line, predictions are exact."]
        pairs = zip(scored.Y.T, scored.rows.T, strict=True)
        shown = [
            Section(f"Predicted and true values{ending}", text, figures.residuals(*pair))
            for ending, pair in zip([f" of “{name}”" for name in names] or [""], pairs, strict=True)
        ]
        return _by_target(run) + shown[:_MOST_FIGURES]
    seen = scored.Y.any(axis=1) | (known.task == "multilabel")
    sure = ["On the dotted line, confidence equals accuracy. Larger dots stand for more nodes."]
    if known.task == "multilabel":
        sure.append("Each pair of a node and a label counts as one prediction.")
    truth = scored.Y if known.task == "multilabel" else scored.Y.argmax(axis=1)
    quality = Section("Calibration", sure, figures.calibration(truth[seen], scored.rows[seen]))
    if names:
        return [*_by_target(run), quality]
    mixed = [
        "Rows are true classes, columns are predicted classes. Darker cells are more frequent."
    ]
    figure = figures.confusion(scored.Y, scored.rows, [str(name) for name in known.classes])
    return [quality, Section("Confusion matrix", mixed, figure)]


def _by_target(run: Any) -> list[Section]:
    if run.by_target is None:
        return []
    header, rows = table_by_target(run.by_target, _MOST_ROWS)
    if run.problem.labels.task == "multilabel":
        text = [
            "Labels are predicted where their probability is above 0.5. Macro averages give "
            "each label the same weight, micro averages each pair of a node and a label. A "
            "dash means that a score is not defined: no node or every node has the label."
        ]
    else:
        text = ["The errors are in the units of each column. The average R² gives each column the "
                "same weight."]  # fmt: skip
    return [Section("Scores of each target", text, header=header, rows=rows)]


def _graph(run: Any) -> list[Section]:
    graph, model = run.problem.graph, run.model
    found = []
    alone = len(graph.isolated)
    sizes = count_of(graph.n_nodes, "node"), count_of(graph.n_edges, "edge")
    text = [f"{', '.join(sizes)}, {count_of(alone, 'isolated node')}."]
    found.append(Section("Number of neighbors", text, figures.degrees(graph.degrees)))
    if model.targets_.task == "classification" and graph.nnz:
        names, share, chance = _homophily(model)
        if len(names):
            text = ["How often a labeled neighbor has the same class. The marks show the share "
                    "expected by chance."]  # fmt: skip
            figure = figures.homophily(names, share, chance)
            found.append(Section("Do neighbors agree?", text, figure))
    return found + _curves(model)


def _curves(model: Any) -> list[Section]:
    """Scores against λ and α, if several values were tried."""
    names = {"regression": "R²", "multilabel": "share of nodes with all labels right"}
    name = names.get(model.targets_.task, "accuracy")
    damping = dict(getattr(model, "damping_curve_", None) or {})
    rates = getattr(model, "split_rate_scores_", None) or {}
    curves = [
        (damping, "How far labels travel", "λ, the share that comes from neighbors",
         "Scores of label propagation. Towards the right, labels come from farther away."),
        (rates, "How many labels are inputs", "α, the share of the labels that are inputs",
         "In training, this share of the labels is input and the rest is predicted. At the far "
         "right, each node sees all labels except its own."),
    ]  # fmt: skip
    return [
        Section(title, [text], figures.curve(list(tried), list(tried.values()), axis, name))
        for tried, title, axis, text in curves
        if len(tried) > 1
    ]


def _homophily(model: Any) -> tuple[list[str], np.ndarray, np.ndarray]:
    """For the 20 largest classes: name, share of labeled neighbors with the same class, and the
    share expected by chance."""
    graph, codes = model.graph_, model.targets_.codes
    source = np.repeat(np.arange(graph.n_nodes), graph.degrees)
    both = (codes[source] >= 0) & (codes[graph.indices] >= 0) & (source != graph.indices)
    a, b = codes[source[both]], codes[graph.indices[both]]
    n = len(model.targets_.classes)
    total, same = np.bincount(a, minlength=n), np.bincount(a[a == b], minlength=n)
    size = np.bincount(codes[codes >= 0], minlength=n)
    kept = [k for k in np.argsort(-size, kind="stable")[:20] if total[k]]
    share = same[kept] / total[kept]
    return [str(model.targets_.classes[k]) for k in kept], share, size[kept] / size.sum()


def _columns(run: Any) -> list[Section]:
    entries = getattr(run.model, "column_importances_", None)
    if not entries and hasattr(run.model, "feature_importances_"):
        found = zip(run.model.feature_names_, run.model.feature_groups_,
                    run.model.feature_importances_.tolist(), strict=True)  # fmt: skip
        entries = sorted(found, key=lambda entry: -entry[2])
    if not entries or not any(share for *_, share in entries):
        return []
    text = ["Shares in the gain of the trees. Blue: the node's own columns; green: means over "
            "neighbors; orange: labels of other nodes."]  # fmt: skip
    return [Section("Important columns", text, figures.importances(entries))]


def _look(run: Any) -> list[Section]:
    found = []
    frame = run.predictions
    blind = frame.filter(~frame["labeled"])
    if blind.height and run.problem.labels.task != "regression":
        p = stored_rows(blind, run.model)
        several = run.problem.labels.task == "multilabel"
        sure = np.maximum(p, 1 - p).min(axis=1) if several else p.max(axis=1)
        order = np.argsort(sure, kind="stable")[:_MOST_ROWS]
        ids, said = blind.to_series(0).to_list(), blind["prediction"].to_list()
        rows = [[ids[k], said[k], round(float(sure[k]), 3)] for k in order]
        text = ["Unlabeled nodes with the least certain predictions. Click a heading to sort."]
        if several:
            text.append("The probability is that of the least certain label.")
        header = ["node", "prediction", "probability"]
        found.append(Section("Uncertain predictions", text, header=header, rows=rows))
    doubt = run.model.suspicious_labels(_MOST_ROWS)
    ids, names = run.problem.ids.to_list(), column_names(run.model.targets_)
    rows = [
        [ids[node], _plain(given, names), _plain(suggested, names), round(float(amount), 3)]
        for node, given, suggested, amount in zip(
            doubt.nodes, doubt.given, doubt.suggested, doubt.doubt, strict=True
        )
        if amount > 0
    ]
    if rows:
        text = ["Labels that disagree most with the other labels and the columns. Some may be "
                "wrong. Click a heading to sort."]  # fmt: skip
        header = ["node", "label", "suggested", "doubt"]
        found.append(Section("Suspicious labels", text, header=header, rows=rows))
    return found


def _plain(value: Any, names: tuple[str, ...]) -> Any:
    if names and np.issubdtype(np.asarray(value).dtype, np.integer):
        return joined(names, value[None])[0] or "none"
    if names:
        return ", ".join(f"{number:.4g}" for number in value)
    return round(float(value), 4) if isinstance(value, float | np.floating) else str(value)


def _warned(run: Any) -> Section | None:
    sentences = [f"{sentence}." for sentence in run.warnings]
    return Section("Warnings", sentences) if sentences else None


def _noted(run: Any) -> Section:
    return Section("How the files were read", [f"{note}." for note in run.notes])


def _again(run: Any) -> Section:
    text = ["All settings are in config.toml in the folder of this file. New nodes, edges or "
            "labels do not need a new fit."]  # fmt: skip
    code = (
        "labeltrick fit --config config.toml --out new-run/\n"
        "labeltrick predict . --edges new-edges.csv --nodes new-nodes.csv --out new.parquet\n"
        "labeltrick label-next . --count 20 --out to-label.csv"
    )
    return Section("Run it again", text, code=code)
