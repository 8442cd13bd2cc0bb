"""The result of an explanation: contributions to one prediction, as a frame and as a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

from .._utils.checks import check_choice
from .._utils.extras import require
from ..models.base.prediction_frame import OUTPUTS
from .sentences import sentence


@dataclass(frozen=True)
class Contribution:
    """What one label, column or edge contributes to a prediction.

    Attributes
    ----------
    kind : str
        "label" (of another node), "own column", "neighbor column", "label column" (a summary of the
        labels of other nodes) or "edge" (at the node).
    source : object
        The name of the labeled node, of the column, or of the other end of the edge.
    value : object
        The label, or the value of the column; None if it is missing.
    effect : float
        Change of the score. Positive effects support the prediction.
    adds_up : bool
        Whether the effect is part of a sum that gives the score. Otherwise it is the effect of this
        change alone.
    is_neighbor : bool
        Whether the source is a node with an edge to the explained one.

    See Also
    --------
    explain.Explanation : All contributions to one prediction.
    explain.explain : Explain predictions of any model.

    Examples
    --------
    >>> from labeltrick import Graph, LabelPropagation
    >>> graph = Graph.from_edges(["ann", "bob", "cem"], ["bob", "cem", "dia"])
    >>> model = LabelPropagation().fit(None, {"ann": 1.5, "dia": 2.5}, graph=graph)
    >>> first = model.explain("bob", edges=False)[0].contributions[0]
    >>> first.kind, first.source, first.value, round(first.effect, 2)
    ('label', 'ann', 1.5, -0.37)
    """

    kind: str
    source: Any
    value: Any
    effect: float
    adds_up: bool = False
    is_neighbor: bool = False


@dataclass(frozen=True)
class Explanation:
    """Why a node is predicted what it is.

    Attributes
    ----------
    node : object
        The name of the node; its number if nodes have no names.
    output : object
        The explained class, label or number of several; None for a single number.
    prediction : object
        The predicted class, indicator or number.
    score : float
        The probability of ``output``, or the number, without the node's own label.
    baseline : float
        Where the sum of contributions begins: the score without any label or, for trees, of the
        mean row.
    without_labels : float
        The score without any labels as inputs.
    contributions : tuple of Contribution
        The largest of each kind, in descending order of size.
    rest : float
        Sum of all other contributions that add up.
    additive : bool
        Whether ``baseline``, the contributions that add up and ``rest`` sum to ``score``.
    error_bound : float or None
        Certified bound of the error of the contributions of labels, before calibration; None if the
        method has none.
    labeled : bool
        Whether the node has a label of its own, which was left out.
    task : str
        "classification", "multilabel" or "regression".
    notes : tuple of str
        What the method could not do.

    See Also
    --------
    explain.explain : Explain predictions of any model.
    explain.Explanations : The explanations of several nodes.

    Examples
    --------
    >>> from labeltrick import Graph, LabelPropagation
    >>> graph = Graph.from_edges(["ann", "bob"], ["bob", "cem"])
    >>> model = LabelPropagation().fit(None, {"ann": "tea", "cem": "tea"}, graph=graph)
    >>> found = model.explain("bob")[0]
    >>> found.prediction, found.score, found.additive
    ('tea', 1.0, True)
    """

    node: Any
    output: Any
    prediction: Any
    score: float
    baseline: float
    without_labels: float
    contributions: tuple[Contribution, ...]
    rest: float
    additive: bool
    error_bound: float | None
    labeled: bool
    task: str
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return sentence(self)

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain values, for JSON.

        Returns
        -------
        dict
        """
        found = {name: value for name, value in vars(self).items() if name != "contributions"}
        found["contributions"] = [dict(vars(each)) for each in self.contributions]
        return {**found, "notes": list(self.notes), "text": str(self)}


class Explanations(Sequence):
    """Explanations of several nodes, in the order in which they were asked for.

    Printed, each is a sentence. With several labels or numbers, a node has one for each.

    Parameters
    ----------
    items : sequence of Explanation
        The explanations.
    kind : {"pandas", "polars"}, default="polars"
        The kind of frame that `to_frame` gives by default.

    See Also
    --------
    explain.explain : Explain predictions of any model.
    explain.Explanation : The explanation of one prediction.

    Examples
    --------
    >>> from labeltrick import Graph, LabelPropagation
    >>> graph = Graph.from_edges(["ann", "bob"], ["bob", "cem"])
    >>> model = LabelPropagation().fit(None, {"ann": "tea", "cem": "tea"}, graph=graph)
    >>> found = model.explain(["bob"])
    >>> len(found), found[0].node
    (1, 'bob')
    """

    def __init__(self, items: Sequence[Explanation], kind: str = "polars") -> None:
        self.items = tuple(items)
        self.kind = kind

    def __len__(self) -> int:
        return len(self.items)

    @overload
    def __getitem__(self, place: int) -> Explanation: ...
    @overload
    def __getitem__(self, place: slice) -> Explanations: ...
    def __getitem__(self, place: int | slice) -> Explanation | Explanations:
        if isinstance(place, slice):
            return Explanations(self.items[place], self.kind)
        return self.items[place]

    def __iter__(self) -> Iterator[Explanation]:
        return iter(self.items)

    def __str__(self) -> str:
        return "\n".join(map(str, self.items))

    __repr__ = __str__

    def to_frame(self, output: str | None = None) -> Any:
        """Convert to a data frame with one row per contribution.

        The rows "baseline" and "rest" complete the sum: for each explanation that is ``additive``,
        ``effect`` sums to ``score`` where ``adds_up`` is true.

        Parameters
        ----------
        output : {"pandas", "polars"} or None, default=None
            The kind of frame. None gives the kind that was passed to `fit`, or polars.

        Returns
        -------
        frame : pandas.DataFrame or polars.DataFrame
            The columns ``name`` (of the node), ``output``, ``prediction``, ``score``,
            ``without_labels``, ``kind``, ``source``, ``value``, ``effect`` and ``adds_up``.
        """
        check_choice("output", output, OUTPUTS)
        columns = _columns(self.items)
        if (output or self.kind) == "pandas":
            pandas = require("pandas", "to_frame(output='pandas')")
            return pandas.DataFrame(columns)
        import polars as pl

        texts = dict.fromkeys(("kind", "source", "value"), pl.String)
        return pl.DataFrame(columns, schema_overrides=texts, strict=False)


_ABOUT = ("name", "output", "prediction", "score", "without_labels")
_COLUMNS = (*_ABOUT, "kind", "source", "value", "effect", "adds_up")


def _columns(items: Sequence[Explanation]) -> dict[str, list[Any]]:
    rows = [row for item in items for row in _rows(item)]
    return {name: [row[k] for row in rows] for k, name in enumerate(_COLUMNS)}


def _rows(item: Explanation) -> Iterator[tuple[Any, ...]]:
    about = (item.node, item.output, item.prediction, item.score, item.without_labels)
    if item.additive:
        yield (*about, "baseline", None, None, item.baseline, True)
    for each in item.contributions:
        value = None if each.value is None else str(each.value)
        yield (*about, each.kind, str(each.source), value, each.effect, each.adds_up)
    if item.additive:
        yield (*about, "rest", None, None, item.rest, True)
