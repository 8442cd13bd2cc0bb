"""What a fit of `AutoModel` has run, so that it can be run again without a clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class FitPlan:
    """The learners of a fit and how far each of its parts went.

    Attributes
    ----------
    learners : tuple of str
        The learners that were fitted on all folds.
    steps : dict of str to list
        For each part ("trees 0" is that of the first fold, "choice" what follows learning) which
        the clock has ended: the steps of its loops, None for loops that ended by themselves.
    options : dict of str to dict
        Settings of learners that were shortened to fit into the budget.
    nested : bool
        Whether the choice for the score of each fold was made by learners fitted without it.
    """

    learners: tuple[str, ...]
    steps: dict[str, list[int | None]] = field(default_factory=dict)
    options: dict[str, dict[str, Any]] = field(default_factory=dict)
    nested: bool = False

    def to_dict(self) -> dict[str, Any]:
        """As plain values; 0 stands for None, which TOML does not have."""
        steps = {name: [count or 0 for count in counts] for name, counts in self.steps.items()}
        learners = list(self.learners)
        return {
            "learners": learners,
            "nested": self.nested,
            "steps": steps,
            "options": self.options,
        }

    @classmethod
    def of(cls, given: Any) -> FitPlan:
        """A plan, or one as plain values.

        >>> FitPlan.of({"learners": ["trees"], "steps": {"trees 0": [12]}}).steps
        {'trees 0': [12]}
        """
        if isinstance(given, FitPlan):
            return given
        advice = "Pass the `plan_` of a fitted AutoModel."
        names = {"learners", "nested", "steps", "options"}
        if not isinstance(given, Mapping) or not set(given) <= names:
            raise TypeError(f"`plan` must hold learners and steps; got {given!r}. {advice}")
        learners, steps = given.get("learners", []), given.get("steps", {})
        texts = isinstance(learners, list | tuple) and all(isinstance(n, str) for n in learners)
        if not texts or not learners:
            raise TypeError(f"`plan` must list names of learners; got {learners!r}. {advice}")
        if not isinstance(steps, Mapping) or not all(map(_are_counts, steps.values())):
            raise TypeError(f"`plan` must hold numbers of steps ≥ 0; got {steps!r}. {advice}")
        found = {str(k): [count or None for count in counts] for k, counts in steps.items()}
        options = given.get("options", {})
        plain = isinstance(options, Mapping) and all(map(_are_numbers, options.values()))
        if not plain:
            raise TypeError(f"`plan` must hold options that are numbers; got {options!r}. {advice}")
        nested = given.get("nested", False)
        if not isinstance(nested, bool):
            raise TypeError(f"`plan` must hold true or false as nested; got {nested!r}. {advice}")
        return cls(tuple(learners), found, {str(k): dict(v) for k, v in options.items()}, nested)


def _are_numbers(given: Any) -> bool:
    return isinstance(given, Mapping) and all(isinstance(n, int | float) for n in given.values())


def _are_counts(given: Any) -> bool:
    if not isinstance(given, list | tuple):
        return False
    plain = [count for count in given if count is not None]
    return all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in plain)
