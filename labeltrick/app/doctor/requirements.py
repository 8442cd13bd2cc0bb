"""The dependencies that this installation was declared with, and whether they are met."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata

_LINE = re.compile(r"([\w.-]+)(\[[^]]*])?\s*([^;]*)(?:;\s*(.*))?")
_BEFORE = re.compile(r"""python_version\s*<\s*["'](\d+)\.(\d+)["']""")
_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")
_BOUND = re.compile(r"(>=|<=|==|!=|>|<)\s*([\w.]+)")


@dataclass(frozen=True)
class Requirement:
    """A dependency: its bounds, the extra that asks for it (or None) and the version found."""

    name: str
    bounds: str
    extra: str | None
    version: str | None

    @property
    def met(self) -> bool:
        """Whether it is installed, in a version within the bounds."""
        return self.version is not None and within(self.version, self.bounds)


def requirements(lines: list[str] | None = None) -> list[Requirement]:
    """Requirements of the installed package, or of the given lines of its metadata.

    >>> requirements(['numpy<3,>=1.26', 'tomli; python_version < "3.0"'])[0].name
    'numpy'
    """
    return list(_parsed(_declared() if lines is None else lines))


def _declared() -> list[str]:
    try:
        return metadata.requires("labeltrick") or []
    except metadata.PackageNotFoundError:  # run from a folder that was not installed
        return []


def _parsed(lines: list[str]) -> Iterator[Requirement]:
    for line in lines:
        found = _LINE.match(line)
        if found is None or found[1] == "labeltrick":  # an extra that consists of others
            continue
        marker = found[4] or ""
        before, extra = _BEFORE.search(marker), _EXTRA.search(marker)
        if before and sys.version_info >= (int(before[1]), int(before[2])):
            continue
        yield Requirement(
            found[1], found[3].strip(), extra[1] if extra else None, installed_version(found[1])
        )


def installed_version(name: str) -> str | None:
    """The version of an installed distribution, or None."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def within(version: str, bounds: str) -> bool:
    """Whether a version lies within bounds such as ``>=1.26,<3``. Only release numbers count.

    >>> within("2.4.6", ">=1.26,<3"), within("1.25", ">=1.26,<3"), within("2.13.0+cpu", "<2.14")
    (True, False, True)
    """
    has = _release(version)
    checks = {
        ">=": lambda b: has >= b,
        "<=": lambda b: has <= b,
        ">": lambda b: has > b,
        "<": lambda b: has < b,
        "==": lambda b: has == b,
        "!=": lambda b: has != b,
    }
    return all(checks[sign](_release(bound)) for sign, bound in _BOUND.findall(bounds))


def _release(version: str) -> tuple[int, ...]:
    numbers = [int(part) for part in re.match(r"[\d.]*", version)[0].split(".") if part]  # type: ignore[index]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)
