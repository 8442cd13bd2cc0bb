"""Finding the files of datasets, and reading them as tables and graphs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._utils.archives import OPENERS, unpack
from ..._utils.table_errors import refusing_table, require_distinct_columns
from ...graph.graph import Graph

if TYPE_CHECKING:
    import polars as pl

VARIABLE = "LABELTRICK_DATA"


def data_folder(data_dir: str | os.PathLike[str] | None) -> Path:
    """The folder of all datasets, as an absolute path: the argument, else ``LABELTRICK_DATA``,
    else the cache that `get` fills."""
    given = data_dir if data_dir is not None else os.environ.get(VARIABLE)
    if not given and cache_folder().is_dir():
        return cache_folder()
    if not given:
        raise FileNotFoundError(
            f"`data_dir` must name the folder that holds the datasets; got {data_dir!r}. "
            f"Pass it, set the environment variable {VARIABLE}, or download a dataset: labeltrick "
            "datasets get NAME"
        )
    folder = Path(given).expanduser().absolute()
    if not folder.is_dir():
        origin = "data_dir" if data_dir is not None else VARIABLE
        raise FileNotFoundError(
            f"`{origin}` must name an existing folder; got '{folder}'. Correct the path."
        )
    return folder


def cache_folder() -> Path:
    """The folder of datasets that `get` has downloaded."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base).expanduser().absolute() / "labeltrick" / "data"


def require_file(path: Path) -> Path:
    """Return the path, or raise `FileNotFoundError` if there is no file."""
    if not path.is_file():
        raise FileNotFoundError(
            f"`{path}` must exist; it does not. Put the original files of the dataset into "
            f"'{path.parent}', or set `data_dir` or {VARIABLE} to another folder."
        )
    return path


def read_csv(
    path: Path, columns: dict[str, Any] | None = None, *, separator: str = ","
) -> pl.DataFrame:
    """Read a CSV file, compressed or not. ``columns`` gives the names and types of the columns of a
    file without a header."""
    import polars as pl

    advice = "Download the original files again."
    packed = require_file(path).suffix.lower() in OPENERS
    with refusing_table(path, "a table that can be read", advice):
        source: Any = unpack(path) if packed else path
        options: dict[str, Any] = {"separator": separator}
        if not packed:
            options["glob"] = False  # "[" in a file name is a plain character
        if columns is not None:
            return pl.read_csv(source, has_header=False, schema=columns, **options)
        require_distinct_columns(path, source, separator)
        return pl.read_csv(source, infer_schema_length=None, **options)


def take_columns(path: Path, table: pl.DataFrame, *wanted: str) -> list[np.ndarray]:
    """The named numeric columns as arrays."""
    missing = [name for name in wanted if name not in table.columns]
    if missing:
        raise ValueError(
            f"`{path}` must have a column {missing[0]!r}; got {', '.join(table.columns)}."
        )
    for name in wanted:
        if not table[name].dtype.is_numeric():
            raise ValueError(
                f"`{path}` must hold numbers in column {name!r}; got {table[name].dtype}."
            )
    return [table[name].to_numpy() for name in wanted]


def undirected_graph(
    path: Path, source: Any, target: Any, n_nodes: int, *, self_loops: bool = False
) -> Graph:
    """The undirected graph of a list of edges, which may contain an edge in both directions."""
    try:
        if not self_loops:
            source, target = np.asarray(source), np.asarray(target)
            different = source != target
            source, target = source[different], target[different]
        return Graph.from_edges(source, target, n_nodes=n_nodes)
    except (TypeError, ValueError) as error:
        raise ValueError(f"`{path}` must hold pairs of nodes. {error}") from None
