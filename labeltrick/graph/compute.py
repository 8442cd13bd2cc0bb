"""Where the work is done: in memory, from disk or on a cluster; a setting of the graph."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .._utils import memory
from .._utils.checks import check_choice

ENGINES = ("auto", "memory", "disk", "dask")
SETTINGS = ("engine", "address", "max_memory", "checkpoint_dir")  # arguments of `Graph.on`


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
            memory.bytes_of("max_memory", self.max_memory)
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
        return memory.allowed(self.max_memory)

    def room_for_a_graph(self) -> int:
        """Bytes that a graph and its iterates may take in memory: as given, else a share of what
        is free on this machine."""
        return memory.room(self.max_memory)
