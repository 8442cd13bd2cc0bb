"""Checkpoints of a run of steps, from which an interrupted run continues.

A recurrence changes its iterates only through steps, and chooses the next step from what the last
ones returned. So it is enough to keep both iterates and all returned values: a new run repeats the
same steps without computing them, until it reaches the point where the old one stopped.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..._utils.disk_full import told_if_full
from ..._utils.json_files import loads
from ..._utils.temporary_folders import is_temporary, sweep
from ..._utils.whole_files import replacing

EVERY = 5  # steps between two checkpoints, at least
_MOST_TIME = 0.1  # share of the time that may be spent on writing them


class Trail:
    """Keeps nothing: every step is computed."""

    is_known = False

    def recall(self) -> np.ndarray | None:
        raise LookupError("nothing is known")

    def note(self, largest: np.ndarray | None, first: np.ndarray, second: np.ndarray) -> None: ...

    def finish(self, first: np.ndarray, second: np.ndarray) -> None: ...


NO_TRAIL = Trail()


class StoredTrail(Trail):
    """Iterates and results of steps in a file that is replaced every few steps.

    If the file exists, its iterates are read into ``first`` and ``second``.
    """

    def __init__(
        self,
        file: Path,
        first: np.ndarray,
        second: np.ndarray,
        writing: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self.file, self._writing = file, writing
        self._results: list[np.ndarray | None] = []
        self._at = self._saved = 0
        self._next = 0.0  # earliest time of the next checkpoint
        if file.exists():
            self._load(first, second)

    def _load(self, first: np.ndarray, second: np.ndarray) -> None:
        with np.load(self.file, allow_pickle=False) as kept:
            if kept["first"].shape != first.shape or kept["first"].dtype != first.dtype:
                return  # written with other column blocks
            first[:], second[:] = kept["first"], kept["second"]
            results = kept["results"]
        self._results = [None if np.isnan(row).all() else row for row in results]
        self._saved = len(self._results)

    @property
    def is_known(self) -> bool:  # type: ignore[override]
        return self._at < len(self._results)

    def recall(self) -> np.ndarray | None:
        self._at += 1
        return self._results[self._at - 1]

    def note(self, largest: np.ndarray | None, first: np.ndarray, second: np.ndarray) -> None:
        self._results.append(largest)
        self._at += 1
        if self._at - self._saved >= EVERY and time.monotonic() >= self._next:
            self._save(first, second)

    def finish(self, first: np.ndarray, second: np.ndarray) -> None:
        if self._saved < self._at:
            self._save(first, second)

    def _save(self, first: np.ndarray, second: np.ndarray) -> None:
        begin = time.monotonic()
        blank = np.full(first.shape[1], np.nan)
        results = np.array([blank if row is None else row for row in self._results], first.dtype)
        with self._writing(), replacing(self.file) as temporary, temporary.open("wb") as out:
            np.savez(out, first=first, second=second, results=results)
        self._saved = self._at
        now = time.monotonic()
        self._next = now + (now - begin) / _MOST_TIME


class CheckpointFolder:
    """A folder for checkpoints, with a subfolder for each run.

    Finished runs leave nothing behind, and the folder may then serve another graph. Leftover
    checkpoints of another graph are an error: the caller probably has the wrong graph.
    """

    _NAME, _FORMAT = "graph.json", "labeltrick checkpoints"

    def __init__(self, path: str | os.PathLike[str], graph: dict[str, Any]) -> None:
        self.path = Path(path).expanduser()
        known, described = self.path / self._NAME, {"format": self._FORMAT, **graph}
        if self.path.exists():
            kept = self._kept(known)
            if kept is None and not (self.path.is_dir() and self._is_free()):
                raise ValueError(
                    f"`checkpoint_dir` must be a new or empty folder, or one with checkpoints; "
                    f"'{self.path}' holds other files. Choose another."
                )
            if kept is not None and self._same(kept, described):
                return
        with self._told_if_full(), replacing(known) as temporary:
            temporary.write_text(json.dumps(described))

    def _is_free(self) -> bool:
        return all(is_temporary(entry) for entry in self.path.iterdir())

    def _kept(self, known: Path) -> dict[str, Any] | None:
        """The folder's description of its graph; None if it is not a folder of checkpoints."""
        try:
            kept = loads(known.read_text())
        except (OSError, ValueError):
            return None
        ours = isinstance(kept, dict) and kept.get("format") == self._FORMAT
        return kept if ours else None

    def _same(self, kept: dict[str, Any], graph: dict[str, Any]) -> bool:
        """Whether the folder describes this graph; an error if it holds runs of another one."""
        if kept == graph or not any(self.path.glob("run-*/*.npz")):
            return kept == graph
        sizes = "{n_nodes:,} nodes and {nnz:,} entries"
        try:
            theirs = sizes.format(**kept)
        except (TypeError, KeyError, ValueError):
            theirs = "unreadable"
        raise ValueError(
            f"`checkpoint_dir` must hold checkpoints of this graph ({sizes.format(**graph)}); "
            f"'{self.path}' is of another ({theirs}). Choose another folder, or delete it."
        )

    def trail(self, run: str, block: str, first: np.ndarray, second: np.ndarray) -> StoredTrail:
        """The trail of one column block of a run."""
        return StoredTrail(self.path / run / f"{block}.npz", first, second, self._told_if_full)

    def _told_if_full(self) -> AbstractContextManager[None]:
        remedy = "make room, or set `checkpoint_dir` to a folder with more"
        return told_if_full("checkpoints", self.path, remedy)

    def forget(self, run: str) -> None:
        """Remove the checkpoints of a finished run, and nothing else."""
        place = self.path / run
        with suppress(OSError):
            for file in place.glob("*.npz"):
                file.unlink()
            sweep(place)
            place.rmdir()
