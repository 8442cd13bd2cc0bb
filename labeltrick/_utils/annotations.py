"""Checks values from files against the annotated types of a dataclass's fields."""

from __future__ import annotations

import builtins
import typing
from collections.abc import Callable
from functools import cache
from importlib import import_module
from types import NoneType, UnionType
from typing import Any


class _Names(dict[str, Any]):
    """Names of a module; names imported only for type checkers become ``Any``."""

    def __missing__(self, name: str) -> Any:
        return getattr(builtins, name, Any)


@cache
def hints_of(kind: type) -> dict[str, Any]:
    """The type of each field of a dataclass."""
    names = _Names()
    for base in reversed(kind.__mro__):  # annotations of a base use the names of its own module
        names.update(vars(import_module(base.__module__)))
    return typing.get_type_hints(kind, localns=names)


def fits(value: Any, hint: Any) -> bool:
    """Whether a value has an annotated type; vague annotations allow anything.

    >>> fits([1, 2], list[int]), fits([1, "2"], list[int]), fits(None, str | None)
    (True, False, True)
    """
    if hint is Any or isinstance(hint, str | typing.TypeVar):
        return True
    if hint is None or hint is NoneType:
        return value is None
    origin, given = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, UnionType):
        return any(fits(value, option) for option in given)
    if origin is typing.Literal:
        return value in given
    if origin is Callable or hint is Callable:
        return value is None  # functions are not stored
    if origin is not None:
        return isinstance(value, origin) and _entries_fit(value, origin, given)
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, hint) if isinstance(hint, type) else True


def _entries_fit(value: Any, origin: Any, given: tuple[Any, ...]) -> bool:
    if origin is dict and len(given) == 2:
        return all(fits(k, given[0]) and fits(v, given[1]) for k, v in value.items())
    if origin is tuple and given and given[-1] is not ...:
        pairs = zip(value, given, strict=False)
        return len(value) == len(given) and all(fits(entry, hint) for entry, hint in pairs)
    if origin in (list, tuple) and given:
        return all(fits(entry, given[0]) for entry in value)
    return True
