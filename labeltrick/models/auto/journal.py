"""Finished parts of a fit, stored in a folder so that an interrupted fit can resume."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..._utils.json_files import loads
from ..._utils.targets import Targets
from ..._utils.temporary_folders import sweep
from ..._utils.whole_files import replacing
from ...io.model_files import load_parts, save_parts
from ..base.node_inputs import NodeInputs

MARKER = "labeltrick-checkpoint.json"
_FORMAT = "labeltrick checkpoint"


def signature(inputs: NodeInputs, validation: Targets, settings: Any) -> str:
    """A digest of labels, edges, columns and settings; fits share parts only if it is equal."""
    digest = hashlib.sha256()
    known, graph = inputs.targets, inputs.graph
    arrays = [known.Y, known.weight, validation.Y, validation.labeled, graph.indptr, graph.indices]
    if graph.weights is not None:
        arrays.append(graph.weights)
    if inputs.X is not None:
        values = inputs.X.values
        sparse = hasattr(values, "indices")
        arrays += [values.data, values.indices, values.indptr] if sparse else [values]
    for array in arrays:
        plain = np.ascontiguousarray(array)
        digest.update(f"{plain.dtype.str} {plain.shape}".encode())
        digest.update(plain.data)
    digest.update(repr(settings).encode())
    return digest.hexdigest()


class Journal:
    """``journal.get(key, make)`` returns the stored result of ``make()``, or makes and stores it.

    Without a folder nothing is stored. A folder is used if it is new, empty, or the checkpoint of
    the same fit; any other folder is an error and is not changed.
    """

    def __init__(self, folder: Path | None, signature: str) -> None:
        self.folder = None if folder is None else Path(folder).expanduser()
        if self.folder is None:
            return
        if self._is_new():
            self.folder.mkdir(parents=True, exist_ok=True)
            with replacing(self.folder / MARKER) as marker:
                marker.write_text(json.dumps({"format": _FORMAT, "fit": signature}))
        elif self._fit_of_marker() != signature:
            raise ValueError(
                "`resume_from` must belong to a fit of the same data and settings; "
                f"'{self.folder}' belongs to another fit. Choose another folder, or delete this "
                "one."
            )

    def _is_new(self) -> bool:
        """Whether the folder does not exist or is empty."""
        assert self.folder is not None
        if not self.folder.exists():
            return True
        sweep(self.folder)  # a killed fit may have left only a temporary folder
        return self.folder.is_dir() and not any(self.folder.iterdir())

    def _fit_of_marker(self) -> Any:
        assert self.folder is not None
        try:
            found = loads((self.folder / MARKER).read_text())
            if found["format"] == _FORMAT:
                return found["fit"]
        except (OSError, ValueError, KeyError, TypeError):
            pass
        raise ValueError(
            f"`resume_from` must be a new or empty folder, or a checkpoint of a fit; "
            f"'{self.folder}' contains other files, which were not changed. Choose another folder."
        )

    def get(self, key: str, make: Callable[[], Any]) -> Any:
        if self.folder is None:
            return make()
        name = hashlib.sha256(key.encode()).hexdigest()[:16]
        path = self.folder / name
        for attempt in itertools.count(1):
            if not path.exists():
                break
            try:
                return load_parts(path)
            except (ValueError, OSError):  # damaged: compute again, and write under another name
                path = self.folder / f"{name}-{attempt}"
        made = make()
        save_parts(made, path)
        return made
