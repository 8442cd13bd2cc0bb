"""Numbers of bytes: parsed from text, shown as text, and limits on memory."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from .checks import check_count

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12,
          "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}  # fmt: skip
_DEFAULT = 2 * 1024**3
_SHARE_OF_FREE = 0.7  # share of the free memory that a graph may take


def bytes_of(name: str, value: Any) -> int:
    """A number of bytes, or text such as "8GB" (10⁹) or "512 MiB" (2²⁰).

    >>> bytes_of("max_memory", "8GB"), bytes_of("max_memory", "1.5 GiB")
    (8000000000, 1610612736)
    """
    if isinstance(value, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?i?)b?\s*", value.lower())
        if found is None or found[2] == "i":
            raise ValueError(
                f"`{name}` must be a number of bytes or text such as '8GB'; got {value!r}."
            )
        value = int(float(found[1]) * _UNITS[found[2]])
    return check_count(name, value, 1)


def shown_bytes(size: float) -> str:
    """A number of bytes as text.

    >>> shown_bytes(1_234_000), shown_bytes(56_000_000_000)
    ('1.2 MB', '56 GB')
    """
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if size < 999.5 or unit == "TB":
            return f"{size:.2g} {unit}" if size < 99.5 else f"{size:.0f} {unit}"
        size /= 1000
    raise AssertionError


def allowed(max_memory: int | str | None = None) -> int:
    """Bytes that work may take: ``max_memory``, else ``LABELTRICK_MAX_MEMORY``, else 2 GiB."""
    if max_memory is not None:
        return bytes_of("max_memory", max_memory)
    given = os.environ.get("LABELTRICK_MAX_MEMORY", "")
    return bytes_of("LABELTRICK_MAX_MEMORY", given) if given else _DEFAULT


def room(max_memory: int | str | None = None) -> int:
    """Bytes that data may take: ``max_memory``, else ``LABELTRICK_MAX_MEMORY``, else a share of
    this machine's free memory."""
    if max_memory is not None or os.environ.get("LABELTRICK_MAX_MEMORY"):
        return allowed(max_memory)
    return int(_SHARE_OF_FREE * free_memory())


def free_memory() -> int:
    """Free memory of this machine in bytes, including file caches."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return 8 * 10**9
