"""Label columns that were computed last: learners of the same fold share them, and workers of a
cluster do through files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ..._utils.memory import free_memory
from ..._utils.targets import Targets
from ..._utils.whole_files import replacing
from ...graph.graph import Graph

_MOST_BYTES, _SHARE_OF_FREE = 400_000_000, 0.1  # of memory, whichever is more


class KeptLabels:
    """``kept.get(known, graph, make)`` returns the columns of these labels, made at most once while
    they are among the last ones that fit into memory. With a ``folder``, they are also kept there.
    ``of_all`` says that they are those of all nodes, though other columns are not.
    """

    folder: Path | None = None
    of_all = False

    def __init__(self) -> None:
        self._graph: Graph | None = None
        self._columns: dict[bytes, np.ndarray] = {}

    def clear(self) -> None:
        self._columns = {}

    def get(self, known: Targets, graph: Graph, make: Callable[[], np.ndarray]) -> np.ndarray:
        if graph is not self._graph:
            self._graph, self._columns = graph, {}
        key = _digest(known)
        if key not in self._columns:
            made = self._made(key.hex(), make)
            made.flags.writeable = False
            most = max(_MOST_BYTES, int(_SHARE_OF_FREE * free_memory()))
            while self._columns and self._n_bytes + made.nbytes > most:
                del self._columns[next(iter(self._columns))]
            self._columns[key] = made
        return self._columns[key]

    def _made(self, name: str, make: Callable[[], np.ndarray]) -> np.ndarray:
        if self.folder is None:
            return make()
        file = self.folder / f"{name}.npy"
        if not file.exists():
            with replacing(file, durable=False) as temporary, temporary.open("wb") as out:
                np.save(out, make())
        return np.asarray(np.load(file, mmap_mode="r"))

    @property
    def _n_bytes(self) -> int:
        return sum(each.nbytes for each in self._columns.values())


def _digest(known: Targets) -> bytes:
    nodes = np.flatnonzero(known.labeled)
    digest = hashlib.blake2b(nodes.tobytes(), digest_size=16)
    digest.update(np.ascontiguousarray(known.Y[nodes]).data)
    return digest.digest()
