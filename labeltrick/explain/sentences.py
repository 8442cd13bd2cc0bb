"""Explanations as sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._utils.escaping import visible

if TYPE_CHECKING:
    from .explanation import Contribution, Explanation

_MOST_NAMES = 3
_MOST_COLUMNS = 3


def sentence(found: Explanation) -> str:
    """The prediction, the largest effects, and what it would be without labels."""
    digits = 2 if found.task != "regression" else None
    told = [each for each in found.contributions if _signed(each.effect, digits).strip("+−0.")]
    told = told if digits is not None else list(found.contributions)
    parts = [*_labels(found, told, digits), *_columns(told, digits), *_edges(told, digits)]
    effects = ", ".join(parts) or "no single label or column decides"
    own = ", its own label left out" if found.labeled else ""
    without = _number(found.without_labels, digits)
    text = f"{_head(found, digits)}{own}: {effects}; without labels it would be {without}."
    return text + _caution(found, told)


def _caution(found: Explanation, told: Sequence[Contribution]) -> str:
    """What must not be summed."""
    single = [each for each in told if not each.adds_up]
    if not single:
        return ""
    if not found.additive:
        return " Each effect is that of one change; they do not add up to the score."
    words = {"label": "labels", "edge": "edges"}
    kinds = dict.fromkeys(words.get(each.kind, f"{each.kind}s") for each in single)
    return f" Effects of {' and '.join(kinds)} are those of one change each and do not add up."


def _head(found: Explanation, digits: int | None) -> str:
    node, score = visible(found.node), _number(found.score, digits)
    if found.task == "regression":
        what = "" if found.output is None else f"{visible(found.output)} "
        return f"{node}: predicted {what}{score}"
    if found.task == "multilabel":
        said = "predicted" if found.prediction else "not predicted"
        return f"{node}: {said} {visible(found.output)} ({score})"
    if found.output != found.prediction:
        return f"{node}: predicted {visible(found.prediction)}; {visible(found.output)} ({score})"
    return f"{node}: predicted {visible(found.output)} ({score})"


def _number(value: float, digits: int | None) -> str:
    return f"{value:.4g}" if digits is None else f"{value:.{digits}f}"


def _signed(value: float, digits: int | None) -> str:
    text = f"{abs(value):.3g}" if digits is None else f"{abs(value):.{digits}f}"
    return f"{'−' if value < 0 else '+'}{text}"


def _labels(found: Explanation, told: Sequence[Contribution], digits: int | None) -> list[str]:
    """One part for the labels that raise the score, and one for those that lower it."""
    parts = []
    for sign in (1, -1):
        some = [each for each in told if each.kind == "label" and each.effect * sign > 0]
        if some:
            parts.append(f"{_who(found, some)} ({_effects(some, digits)})")
    together = found.score - found.without_labels
    if not parts and _signed(together, digits).strip("+−0."):
        # Labels that agree replace each other: hiding one of them changes nothing.
        near = [visible(each.source) for each in found.contributions if each.kind == "label"]
        names = f": {', '.join(near[:_MOST_NAMES])}, …" if near else ""
        parts.append(f"all labels together ({_signed(together, digits)}{names})")
    return parts


def _effects(some: Sequence[Contribution], digits: int | None) -> str:
    """The sum of the effects of labels and their nodes, or each effect if they do not add up."""
    more = ", …" if len(some) > _MOST_NAMES else ""
    first = some[:_MOST_NAMES]
    if not all(each.adds_up for each in some):
        each_one = [f"{visible(each.source)} {_signed(each.effect, digits)}" for each in first]
        return ", ".join(each_one) + more
    total = _signed(sum(each.effect for each in some), digits)
    return f"{total}: {', '.join(visible(each.source) for each in first)}{more}"


def _who(found: Explanation, some: Sequence[Contribution]) -> str:
    n, near = len(some), all(each.is_neighbor for each in some)
    which = "labeled neighbor" if near else "labeled node"
    who = f"{n} {which}{'' if n == 1 else 's'}{'' if near else ' nearby'}"
    values = [each.value for each in some]
    if found.task == "regression":
        low, high = f"{min(values):.4g}", f"{max(values):.4g}"
        return f"{who} with {low}" + (f" to {high}" if high != low else "")
    if found.task == "multilabel":
        has = sum(values)
        return f"{who} of which {has} {'has' if has == 1 else 'have'} it" if n > 1 else (
            f"{who} that {'has' if has else 'lacks'} it")  # fmt: skip
    if len(set(values)) > 1:
        return f"{who} of several classes"
    return f"{who} {'is' if n == 1 else 'are'} {visible(values[0])}"


def _columns(told: Sequence[Contribution], digits: int | None) -> list[str]:
    some = [each for each in told if each.kind.endswith("column")][:_MOST_COLUMNS]
    return [f"{_column(each)} ({_signed(each.effect, digits)})" for each in some]


def _column(each: Contribution) -> str:
    name = visible(each.source)
    if each.kind == "neighbor column" and "neighbors" not in name:
        name += " of neighbors"
    return name if each.value is None else f"{name} = {_value(each.value)}"


def _value(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else visible(value)


def _edges(told: Sequence[Contribution], digits: int | None) -> list[str]:
    some = [each for each in told if each.kind == "edge"][:1]
    return [f"the edge to {visible(each.source)} ({_signed(each.effect, digits)})" for each in some]
