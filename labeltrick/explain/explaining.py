"""`explain`: which method explains which model, and what is shown of its result."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._utils.checks import check_choice, check_count
from ..models.base.out_of_fold import decode
from ..models.base.prediction_frame import kind_of_frame
from . import auto_rows, by_label_propagation, by_regression, by_trees
from .by_auto import explain_auto
from .by_changes import explain_by_changes
from .edges import edge_effects, edges_are_affordable
from .effects import Source
from .explanation import Contribution, Explanation, Explanations
from .found import Found, Method, Question
from .names import label_of, nodes_asked, output_names

EDGES = ("auto", True, False)


def explain(
    model: Any,
    nodes: Any,
    X: Any = None,
    y: Any = None,
    *,
    graph: Any = None,
    target: Any = None,
    top: int = 5,
    edges: bool | str = "auto",
) -> Explanations:
    """Explain predictions: which labels, columns and edges they rest on.

    A node's own label is left out of its prediction, and never contributes. For label propagation
    and `LabelFeatureRegression`, contributions are exact and add up to the score: they are entries
    of the row of P at the node, times labels and weights. Columns of boosted trees have LightGBM's
    SHAP values, which add up too. Everywhere else a label is hidden, a column replaced by its mean
    or an edge removed, and the node predicted again. Such effects of single changes do not add up,
    and say so.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this library.
    nodes : name, number or list of them
        The nodes to explain: names if the nodes of the graph have names, otherwise numbers.
    X : data frame, array-like, sparse matrix or None, default=None
        Features of all nodes. None uses those of the fit.
    y : array-like, Series, dict or None, default=None
        Known labels to predict from. None uses those of the fit.
    graph : Graph, networkx or igraph graph, default=None
        The graph to predict on. None uses that of the fit.
    target : object, default=None
        The class to explain, or the name or number of one of several labels or numbers. None
        explains the predicted class, or each label or number.
    top : int, default=5
        Number of contributions of each kind.
    edges : bool or "auto", default="auto"
        Whether to remove edges at the node, which takes predictions of the whole graph. "auto"
        does so on small graphs.

    Returns
    -------
    explanations : Explanations
        One explanation per node, and per label or number if there are several.

    See Also
    --------
    explain.Explanation : The explanation of one prediction.
    LabelPropagation : Label propagation, whose contributions are exact.
    AutoModel : A blend of several models without settings.

    Notes
    -----
    Probabilities are those of `predict_proba`. Calibration is not linear: effects are carried
    through it along the straight line from the baseline to the score, which keeps their sum.

    Contributions of labels by exact methods take one product with the transpose of P for many
    nodes. Hiding labels takes about ``2·top`` predictions of the whole graph for one node, and
    hardly more for several that are far from each other. `AutoModel` computes changed rows alone
    unless a graph network is in its blend.

    Examples
    --------
    >>> from labeltrick import Graph, LabelPropagation
    >>> from labeltrick.explain import explain
    >>> graph = Graph.from_edges(["ann", "bob", "bob", "dia"], ["bob", "cem", "dia", "eve"])
    >>> known = {"ann": "tea", "cem": "tea", "eve": "coffee"}
    >>> model = LabelPropagation(calibrate=False).fit(None, known, graph=graph)
    >>> print(explain(model, "bob", edges=False))
    bob: predicted tea (0.85): 2 labeled neighbors are tea (+0.28: ann, cem), \
1 labeled node nearby is coffee (−0.10: eve); without labels it would be 0.67.
    """
    model = getattr(model, "best_estimator_", model)  # of a search
    check_is_fitted(model, "targets_")
    top = check_count("top", top, 1)
    if edges not in EDGES:
        raise ValueError(f"`edges` must be True, False or 'auto'; got {edges!r}. Use one of them.")
    with model._suspecting_its_file():
        inputs = model._inputs(X, y, graph)
        asked = nodes_asked(nodes, inputs.graph)
        question = Question(model, inputs, np.unique(asked), top)
        outputs = _outputs(inputs.targets, target)
        found = _method(question)(question)
        if edges is True or (edges == "auto" and edges_are_affordable(question)):
            for each, more in zip(found, edge_effects(question), strict=True):
                each.changes.extend(more[0])
                each.notes.extend(more[1])
    place = {int(node): k for k, node in enumerate(question.nodes)}
    items = [
        item
        for node in asked.tolist()
        for item in _explanations(question, node, found[place[node]], outputs)
    ]
    return Explanations(items, kind_of_frame(model))


def _method(question: Question) -> Method:
    model = question.model
    if by_label_propagation.suits(model):
        return by_label_propagation.explain_label_propagation
    if by_regression.suits(model):
        return by_regression.explain_regression
    if by_trees.suits(model):
        return by_trees.explain_trees
    if auto_rows.suits(model, question.inputs):
        return explain_auto
    return explain_by_changes


def _outputs(known: Any, target: Any) -> list[int] | None:
    """The outputs to explain; None for the predicted class."""
    if target is None:
        return None if known.task == "classification" else list(range(known.Y.shape[1]))
    names = output_names(known)
    texts = [str(name) for name in names]
    if target in names:
        return [names.index(target)]
    check_choice("target", str(target), texts)
    return [texts.index(str(target))]


def _explanations(
    question: Question, node: int, found: Found, outputs: list[int] | None
) -> list[Explanation]:
    some = [int(found.row.argmax())] if outputs is None else outputs
    return [_explanation(question, node, found, k) for k in some]


def _explanation(question: Question, node: int, found: Found, k: int) -> Explanation:
    known, graph = question.inputs.targets, question.inputs.graph
    names = output_names(known)
    predicted = decode(known, found.row[None])
    predicted = predicted[0, k] if predicted.ndim == 2 else predicted[0]
    listed = _contributions(question, node, found, k)
    additive = found.effects is not None
    effects = found.effects
    baseline = float(found.without_labels[k] if effects is None else effects.start[k])
    summed = sum(each.effect for each in listed if each.adds_up)
    alone = known.task == "regression" and known.Y.shape[1] == 1 and known.columns is None
    return Explanation(
        node=_plain(graph.name_table.kept[node]),
        output=None if alone else names[k],
        prediction=_plain(predicted),
        score=float(found.row[k]),
        baseline=baseline,
        without_labels=float(found.without_labels[k]),
        contributions=tuple(listed),
        rest=float(found.row[k]) - baseline - summed if additive else 0.0,
        additive=additive,
        error_bound=found.error,
        labeled=question.is_labeled(node),
        task=known.task,
        notes=tuple(found.notes),
    )


def _contributions(question: Question, node: int, found: Found, k: int) -> list[Contribution]:
    """The largest contributions of each kind, all in descending order of size."""
    every = [(source, float(effect[k]), False) for source, effect in found.changes]
    if found.effects is not None:
        pairs = zip(found.effects.sources, found.effects.values[:, k].tolist(), strict=True)
        every += [(source, effect, True) for source, effect in pairs]
    every.sort(key=lambda each: -abs(each[1]))
    left: dict[str, int] = {}
    listed = []
    for source, effect, adds_up in every:
        n = left.get(source.kind, 0)
        # Labels that agree replace each other: each has no effect, but they are the reason.
        if n < question.top and (effect != 0 or source.kind == "label"):
            left[source.kind] = n + 1
            listed.append(_contribution(question, node, source, effect, adds_up, k))
    return listed


def _contribution(
    question: Question, node: int, source: Source, effect: float, adds_up: bool, k: int
) -> Contribution:
    known, graph = question.inputs.targets, question.inputs.graph
    name, value, near = source.key, source.value, False
    if source.kind in ("label", "edge"):
        near = bool((graph.neighbors(node) == source.key).any())
        name = _plain(graph.name_table.kept[int(source.key)])
    if source.kind == "label":
        value = label_of(known, int(source.key), k)
    return Contribution(source.kind, name, value, effect, adds_up, near)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
