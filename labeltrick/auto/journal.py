"""Parts of a fit that are done, kept in a folder so that an interrupted fit goes on from there."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .._node_inputs import NodeInputs
from ..model_file import load_parts, save_parts
from ..targets import Targets


def signature(inputs: NodeInputs, validation: Targets, settings: Any) -> str:
    """Tells a fit from others: labels, edges, columns, settings."""
    digest = hashlib.sha256()
    known, graph = inputs.targets, inputs.graph
    arrays = [known.Y, known.weight, validation.Y, validation.labelled, graph.indptr, graph.indices]
    if graph.weights is not None:
        arrays.append(graph.weights)
    if inputs.X is not None:
        values = inputs.X.values
        arrays += [values.data, values.indices] if hasattr(values, "indices") else [values]
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    digest.update(repr(settings).encode())
    return digest.hexdigest()


class Journal:
    """``journal.get(key, make)``: what ``make()`` gave last time, or gives now.

    Without a folder nothing is kept. ``signature`` tells the data and settings apart: parts of
    another fit in the same folder are thrown away.
    """

    def __init__(self, folder: Path | None, signature: str) -> None:
        self.folder = None if folder is None else Path(folder)
        self.n_found = 0
        if self.folder is None:
            return
        mark = self.folder / "signature.txt"
        if self.folder.exists() and (not mark.exists() or mark.read_text() != signature):
            shutil.rmtree(self.folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        if not mark.exists():
            mark.write_text(signature)

    def get(self, key: str, make: Callable[[], Any]) -> Any:
        if self.folder is None:
            return make()
        path = self.folder / hashlib.sha256(key.encode()).hexdigest()[:16]
        if path.exists():
            try:
                found = load_parts(path)
                self.n_found += 1
                return found
            except (ValueError, OSError):  # damaged: made anew
                shutil.rmtree(path, ignore_errors=True)
        # What is kept is what goes on: a resumed fit and one in one go are the same.
        made = make()
        save_parts(made, path)
        return made
