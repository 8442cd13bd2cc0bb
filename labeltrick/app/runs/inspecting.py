"""A description of a problem before a model is fitted."""

from __future__ import annotations

from shlex import quote
from typing import Any

import numpy as np

from ...evaluation.multilabel import mean_defined
from ...io.tables import Problem
from ...io.tables.kinds import DATE, TEXT, count_of
from ...io.tables.targets import likely_targets
from ...models.base.date_columns import DateColumns
from ...models.base.tables import components_per_text
from ...models.base.word_columns import learn_words
from .careful import careful_warnings
from .settings import labels_of
from .suspicious_columns import columns_to_doubt, used_labels


def inspect_problem(problem: Problem) -> dict[str, Any]:
    """Statistics, columns, warnings and a suggestion, as plain values."""
    graph = problem.graph
    degree = graph.degrees
    uses = _uses(problem)
    found: dict[str, Any] = {
        "graph": {
            "nodes": graph.n_nodes,
            "edges": graph.n_edges,
            "directed": graph.directed,
            "weighted": graph.weighted,
            "self_loops": graph.n_self_loops,
            "components": int(graph.components.max(initial=-1)) + 1,
            "largest_component": int(np.bincount(graph.components).max(initial=0)),
            "isolated_nodes": len(graph.isolated),
            "median_degree": float(np.median(degree)) if len(degree) else 0.0,
            "largest_degree": int(degree.max(initial=0)),
        },
        "columns": [
            {"name": k.name, "kind": k.kind, "missing": k.n_missing, "distinct": k.n_distinct,
             "role": k.role, "note": k.note or uses.get(k.name, "")}
            for k in problem.kinds
        ],
        "labels": {},
        "suspicious_columns": [],
        "notes": problem.notes,
        "warnings": [],
    }  # fmt: skip
    if problem.labels is not None:
        found["labels"] = _labels(problem)
        doubted = columns_to_doubt(problem)
        found["suspicious_columns"] = [entry.to_json() for entry in doubted]
        found["warnings"] += map(str, doubted)
        found["warnings"] += careful_warnings(problem, used_labels(problem))
    else:
        found["warnings"] += problem.warnings
    found["warnings"] += _warnings(problem)
    found["suggestion"] = _suggestion(problem, found)
    return found


def _uses(problem: Problem) -> dict[str, str]:
    """The columns that texts and dates become in a fit, in words."""
    used = {k.name: k.kind for k in problem.kinds if k.role == "feature"}
    texts = [name for name, kind in used.items() if kind == TEXT]
    most, found = components_per_text(len(texts)), {}
    for name in texts:
        words, _ = learn_words(name, problem.X[name].to_list(), None)
        n = min(words.width, most)
        found[name] = f"text → {n} columns of words"
        if n < words.width and words.vocabulary is not None:
            found[name] = f"text → {n} components of {words.width:,} words"
    for name in (name for name, kind in used.items() if kind == DATE):
        dates = DateColumns.of(name, problem.X[name].to_numpy().astype("datetime64[us]"))
        found[name] = f"date → {', '.join(dates.parts)}"
    return found


def _labels(problem: Problem) -> dict[str, Any]:
    labels = labels_of(problem)
    used = used_labels(problem)
    values = labels.only(np.flatnonzero(used))
    found: dict[str, Any] = {
        "target": labels.target,
        "task": labels.task,
        "labeled": int(used.sum()),
        "label_rate": float(used.mean()),
    }
    if problem.split:
        found |= {part: len(nodes) for part, nodes in problem.split.items()}
    if labels.columns:
        found |= _several(problem, values, used)
    elif labels.task == "regression":
        some = values[used]
        found |= {"mean": float(some.mean()), "standard_deviation": float(some.std())}
        found["likeness_of_neighbors"] = _correlation(problem, values, used)
    else:
        classes, counts = np.unique(values[used].astype(str), return_counts=True)
        found |= {"classes": len(classes), "largest_class": float(counts.max() / counts.sum())}
        found["homophily"] = problem.graph.homophily(values)
        found["homophily_by_chance"] = float(np.sum((counts / counts.sum()) ** 2))
    return found


def _several(problem: Problem, values: np.ndarray, used: np.ndarray) -> dict[str, Any]:
    """Several labels or numbers: how frequent they are, and how alike neighbors are."""
    labels = labels_of(problem)
    some = values[used]
    found: dict[str, Any] = {}
    if labels.task == "multilabel":
        found["labels"] = len(labels.columns)
        found["labels_per_node"] = float(some.sum(axis=1).mean())
        found["shares"] = dict(zip(labels.columns, some.mean(axis=0).tolist(), strict=True))
    else:
        found["means"] = dict(zip(labels.columns, some.mean(axis=0).tolist(), strict=True))
        deviations = some.std(axis=0).tolist()
        found["standard_deviations"] = dict(zip(labels.columns, deviations, strict=True))
    each = [_correlation(problem, column, used) for column in values.T]
    found["likeness_of_neighbors"] = mean_defined(np.array(each))
    return found


def _correlation(problem: Problem, values: np.ndarray, used: np.ndarray) -> float:
    """Correlation of the labels at both ends of an edge."""
    source, target = problem.graph.to_edge_index()
    both = used[source] & used[target] & (source != target)
    a, b = values[source[both]], values[target[both]]
    if len(a) < 3 or a.std() == 0 or b.std() == 0:
        return float("nan")
    return float(np.corrcoef(a, b)[0, 1])


def _warnings(problem: Problem) -> list[str]:
    graph, found = problem.graph, []
    n = graph.n_nodes
    if len(graph.isolated):
        one = len(graph.isolated) == 1
        have, they = ("has", "it is") if one else ("have", "they are")
        found.append(
            f"{len(graph.isolated):,} of {count_of(n, 'node')} {have} no edge: {they} predicted "
            f"only from {'its' if one else 'their'} own columns"
        )
    if problem.labels is None:
        return found
    used = used_labels(problem)
    component = graph.components
    has = np.zeros(int(component.max(initial=-1)) + 1, bool)
    has[component[used]] = True
    alone = np.zeros(n, bool)
    alone[graph.isolated] = True
    dark = int((~has[component] & ~alone).sum())
    if dark > 0:
        what = "1 other node is" if dark == 1 else f"{dark:,} other nodes are"
        found.append(f"{what} in components without a label")
    if used.mean() < 0.01:
        found.append(f"only {count_of(int(used.sum()), 'label')} ({used.mean():.2%} of the nodes)")
    missing = [k for k in problem.kinds if k.role == "feature" and k.n_missing > 0.5 * n]
    found += [
        f"column {k.name!r} is missing in {k.n_missing / n:.0%} of the nodes" for k in missing
    ]
    return found


def _suggestion(problem: Problem, found: dict[str, Any]) -> str:
    if problem.labels is None:
        likely = likely_targets(problem.kinds)
        such = f", such as --target {quote(likely[0].name)}" if likely else ""
        return f"name the column to predict with --target{such}"
    if problem.X is None:
        return (
            "--model auto: there are no columns, so it tries label propagation and learners on "
            "the labels of nearby nodes"
        )
    if not problem.graph.n_edges:
        return "--model auto: there are no edges, so it learns only from the columns"
    labels = found["labels"]
    likeness = labels.get("likeness_of_neighbors")
    if likeness is None:
        gain = labels["homophily"] - labels["homophily_by_chance"]
        alike = f"{labels['homophily']:.0%} of the edges join equal labels"
    else:
        gain, alike = likeness, f"labels of neighbors have a correlation of {likeness:.2f}"
    if np.isnan(gain):
        return "--model auto: no edge joins two labeled nodes, so their likeness is unknown"
    if gain > 0.1:
        return f"--model auto: {alike}, so labels of neighbors may help in addition to the columns"
    return f"--model auto: {alike}, hardly more than by chance; it tests whether edges help"
