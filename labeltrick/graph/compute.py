"""Where propagation is computed: in memory, from disk or on a cluster. A setting of the graph."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from .._utils import memory
from .._utils.checks import check_choice

ENGINES = ("auto", "memory", "disk", "dask")
SETTINGS = ("engine", "address", "max_memory", "checkpoint_dir")  # arguments of `Graph.on`


@dataclass(frozen=True)
class Compute:
    """How propagation on a graph is computed; the settings of `Graph.on`, checked."""

    engine: str = "auto"
    address: str | None = None
    max_memory: int | str | None = None
    checkpoint_dir: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        check_choice("engine", self.engine, ENGINES)
        if self.max_memory is not None:
            memory.bytes_of("max_memory", self.max_memory)
        if self.address is not None:
            if not isinstance(self.address, str) or "://" not in self.address:
                raise ValueError(
                    f"`address` must be a Dask scheduler's, such as 'tcp://host:8786'; "
                    f"got {self.address!r}."
                )
            if self.engine not in ("auto", "dask"):
                raise ValueError(
                    f"`engine` must be 'dask' if an address is given; got {self.engine!r}."
                )
        if self.checkpoint_dir is not None:
            if not isinstance(self.checkpoint_dir, str | os.PathLike):
                raise TypeError(
                    f"`checkpoint_dir` must be a path; got {type(self.checkpoint_dir).__name__}."
                )
            # Absolute: workers start in another folder.
            absolute = str(Path(self.checkpoint_dir).expanduser().resolve())
            object.__setattr__(self, "checkpoint_dir", absolute)

    @property
    def memory_bytes(self) -> int:
        """``max_memory`` in bytes, else ``LABELTRICK_MAX_MEMORY``, else 2 GiB."""
        return memory.allowed(self.max_memory)

    def room_for_a_graph(self) -> int:
        """Bytes that a graph and its iterates may take in memory: ``max_memory``, else a share of
        this machine's free memory."""
        return memory.room(self.max_memory)
