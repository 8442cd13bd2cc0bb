"""Which column is what."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Roles:
    """Which column is what; None: found by its name or place."""

    target: str | None = None
    id: str | None = None
    src: str | None = None
    dst: str | None = None
    weight: str | None = None
    time: str | None = None
    split: str | None = None
    ignore: tuple[str, ...] = ()
