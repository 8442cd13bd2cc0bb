"""Folders with X.csv, y.csv, graph.graphml, masks.json and cat_features.txt.

This is the layout of BGNN (Ivanov and Prokhorenkova, 2021), which VK and Avazu have.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._utils.archives import refusing
from ..._utils.json_files import loads
from ..graphml import read_graphml
from .dataset import Contents, Split
from .files import read_csv, require_file, undirected_graph

if TYPE_CHECKING:
    import polars as pl


def read_tabular(folder: Path, key: str) -> Contents:
    """Read a folder. Blanks are NaN, and categories are the numbers of their sorted levels."""
    table = read_csv(folder / "X.csv")
    y = _target(folder / "y.csv", table.height)
    categorical = _categorical(folder / "cat_features.txt", table.columns)
    columns = [
        _column(folder / "X.csv", table[name], name in categorical) for name in table.columns
    ]
    path = folder / "graph.graphml"
    source, target = _graphml(path, table.height)
    return Contents(
        path=folder,
        graph=undirected_graph(path, source, target, table.height),
        X=np.stack(columns, axis=1),
        y=y,
        splits=_splits(folder / "masks.json", table.height),
        feature_names=list(table.columns),
        categorical=categorical,
    )


def _target(path: Path, n_rows: int) -> np.ndarray:
    table = read_csv(path)
    name = table.columns[-1]  # an index may come first
    if table.height != n_rows:
        raise ValueError(f"`{path}` must have {n_rows} rows like X.csv; got {table.height}.")
    if not table[name].dtype.is_numeric():
        raise ValueError(f"`{path}` must hold numbers in column '{name}'; got {table[name].dtype}.")
    return table[name].to_numpy().astype(np.float64)


def _categorical(path: Path, names: list[str]) -> list[str]:
    """Names of the categorical columns: the file has one name or position per line."""
    if not path.is_file():
        return []
    found = []
    for line in path.read_text().split("\n"):
        entry = line.strip()
        if not entry:
            continue
        if entry in names:
            found.append(entry)
        elif entry.isdigit() and int(entry) < len(names):
            found.append(names[int(entry)])
        else:
            raise ValueError(
                f"`{path}` must name columns of X.csv; got '{entry}'. They are: {', '.join(names)}."
            )
    return found


def _column(path: Path, series: pl.Series, categorical: bool) -> np.ndarray:
    if series.dtype.is_numeric() and not categorical:
        return series.to_numpy().astype(np.float64)
    if not categorical:
        raise ValueError(
            f"`{path}` must hold numbers in column '{series.name}'; got {series.dtype}. Name it in "
            "cat_features.txt if it holds categories."
        )
    levels = series.drop_nulls().unique().sort()
    codes = {level: k for k, level in enumerate(levels.to_list())}
    return np.array([np.nan if v is None else codes[v] for v in series.to_list()], np.float64)


def _graphml(path: Path, n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the edges. The id of node 12 is "12" or "n12"."""
    edges = read_graphml(require_file(path)).edges
    try:
        ends = [[_number(end) for end in edge.ends or ()] for edge in edges]
        pairs = np.array(ends, np.int64).reshape(-1, 2)
    except (OverflowError, ValueError) as error:
        raise ValueError(
            f"`{path}` must be GraphML whose node ids are numbers; got: {error}."
        ) from None
    outside = (pairs < 0) | (pairs >= n_nodes)
    if outside.any():
        raise ValueError(
            f"`{path}` must hold nodes below {n_nodes}, the rows of X.csv; got {pairs[outside][0]}."
        )
    return pairs[:, 0], pairs[:, 1]


def _number(name: str | None) -> int:
    if name is None:
        raise ValueError("an edge without source or target")
    return int(name.removeprefix("n"))


def _splits(path: Path, n_nodes: int) -> list[Split]:
    """masks.json: {"0": {"train": […], "val": […], "test": […]}, …}, with node numbers or masks."""
    if not path.is_file():
        return []
    advice = "Write the nodes of each part for each seed."
    with refusing(path, "train, val and test nodes for each seed", advice):
        masks = loads(path.read_text(encoding="utf-8"))
        return [_split(masks[name], n_nodes) for name in sorted(masks, key=int)]


def _split(parts: Any, n_nodes: int) -> Split:
    if not isinstance(parts, dict) or not {"train", "val", "test"} <= set(parts):
        raise ValueError(f"{sorted(parts) if isinstance(parts, dict) else type(parts).__name__}")
    arrays = [np.asarray(parts[part]) for part in ("train", "val", "test")]
    if all(array.dtype == bool for array in arrays):
        return Split.from_masks(*arrays, n_nodes=n_nodes)
    # An empty list becomes an array of floats.
    return Split.of(*(array if len(array) else array.astype(np.int64) for array in arrays))
