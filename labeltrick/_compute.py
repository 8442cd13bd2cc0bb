"""Where the work is done: in memory, from disk or on a cluster; a setting of the graph."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ._check import check_choice, check_count

ENGINES = ("auto", "memory", "disk", "dask")
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12,
          "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}  # fmt: skip
_DEFAULT_MEMORY = 2 * 1024**3
_SHARE_OF_FREE = 0.7  # of the machine's free memory, that a graph may take


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
    """
    >>> shown_bytes(1_234_000), shown_bytes(56_000_000_000)
    ('1.2 MB', '56 GB')
    """
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if size < 999.5 or unit == "TB":
            return f"{size:.2g} {unit}" if size < 99.5 else f"{size:.0f} {unit}"
        size /= 1000
    raise AssertionError


@dataclass(frozen=True)
class Compute:
    """How propagation on a graph is computed.

    Parameters
    ----------
    engine : "memory"; "disk", which streams a graph folder through ``max_memory``; "dask", columns
        spread over workers; or "auto": "dask" if there is an address, "disk" for a graph folder
        that does not fit, else "memory".
    address : of a Dask scheduler, such as "tcp://host:8786"; None starts one on this machine.
    max_memory : bytes, or text such as "8GB". In memory: what the iterates may take beyond input
        and output. From disk: what graph and iterates may take. On Dask: the same of each worker.
    checkpoint_dir : folder that iterates are written to every few steps; a run that was broken off
        goes on from there. With an address, workers must see it.
    """

    engine: str = "auto"
    address: str | None = None
    max_memory: int | str | None = None
    checkpoint_dir: str | os.PathLike[str] | None = None

    def over(
        self,
        engine: str | None = None,
        address: str | None = None,
        max_memory: int | str | None = None,
        checkpoint_dir: str | os.PathLike[str] | None = None,
    ) -> Compute:
        """These settings with others over them, checked."""
        given: dict[str, Any] = {
            "engine": engine,
            "address": address,
            "max_memory": max_memory,
            "checkpoint_dir": checkpoint_dir,
        }
        made = replace(self, **{key: value for key, value in given.items() if value is not None})
        made.check()
        if made.checkpoint_dir is None:
            return made
        # Whole: workers start elsewhere.
        return replace(made, checkpoint_dir=str(Path(made.checkpoint_dir).expanduser().resolve()))

    def check(self) -> None:
        check_choice("engine", self.engine, ENGINES)
        if self.max_memory is not None:
            bytes_of("max_memory", self.max_memory)
        if self.address is not None:
            if not isinstance(self.address, str) or "://" not in self.address:
                raise ValueError(
                    f"`address` must be that of a Dask scheduler, such as 'tcp://host:8786'; "
                    f"got {self.address!r}."
                )
            if self.engine not in ("auto", "dask"):
                raise ValueError(
                    f"`engine` must be 'dask' where an address is given; got {self.engine!r}."
                )
        if self.checkpoint_dir is not None and not isinstance(
            self.checkpoint_dir, str | os.PathLike
        ):
            raise TypeError(
                f"`checkpoint_dir` must be a path; got {type(self.checkpoint_dir).__name__}."
            )

    @property
    def memory_bytes(self) -> int:
        """What may be taken: as given, else ``LABELTRICK_MAX_MEMORY``, else 2 GiB."""
        if self.max_memory is not None:
            return bytes_of("max_memory", self.max_memory)
        given = os.environ.get("LABELTRICK_MAX_MEMORY", "")
        return bytes_of("LABELTRICK_MAX_MEMORY", given) if given else _DEFAULT_MEMORY

    def room_for_a_graph(self) -> int:
        """Bytes that a graph and its iterates may take in memory: as given, else a share of what
        is free on this machine."""
        if self.max_memory is not None or os.environ.get("LABELTRICK_MAX_MEMORY"):
            return self.memory_bytes
        return int(_SHARE_OF_FREE * free_memory())


def free_memory() -> int:
    """Bytes of memory that are free on this machine, caches of files counted as free."""
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
