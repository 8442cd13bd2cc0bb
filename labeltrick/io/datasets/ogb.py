"""The raw folder of an Open Graph Benchmark node dataset."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from ..._utils.archives import OPENERS, refusing
from .arrays import class_labels
from .dataset import Contents, Split
from .files import read_csv, take_columns, undirected_graph

_PARTS = ("train", "valid", "test")
_N_GUESSES = 5
_LONGEST_LINE = 1 << 24


def read_ogb(folder: Path, key: str) -> Contents:
    """Read ``raw/``, ``split/KEY/`` and ``mapping/``, whose files have no header and no ids.

    The directed edges become an undirected, unweighted graph. ``X`` is None if
    ``raw/node-feat.csv.gz`` is missing. If their files exist, ``extra`` holds "node_year" of shape
    (n,) and "llm_ranked_classes" of shape (n, 5): the classes that a language model guessed from
    the text of each paper, best first, padded with −1 (see `rank_features`).
    """
    raw = folder / "raw"
    labels = raw / "node-label.csv.gz"
    # Checked before any array of that size is allocated.
    y = class_labels(f"`{labels}`", _column(labels), _n_nodes(raw / "num-node-list.csv.gz"))
    ends = dict.fromkeys(("source", "target"), pl.Int64)
    source, target = take_columns(raw / "edge.csv.gz", read_csv(raw / "edge.csv.gz", ends), *ends)
    features = raw / "node-feat.csv.gz"
    extra = {}
    if (years := raw / "node_year.csv.gz").is_file():
        extra["node_year"] = _column(years)
    if (guesses := raw / "llm-ranked-classes.csv.gz").is_file():
        extra["llm_ranked_classes"] = _ragged(guesses)
    return Contents(
        path=folder,
        graph=undirected_graph(raw / "edge.csv.gz", source, target, len(y)),
        X=_features(features) if features.is_file() else None,
        y=y,
        splits=[_split(folder / "split" / key, len(y))],
        class_names=_class_names(folder / "mapping"),
        extra=extra,
    )


def _n_nodes(path: Path) -> int:
    counts = _column(path)
    if len(counts) != 1 or counts[0] < 1:
        raise ValueError(
            f"`{path}` must hold the number of nodes of one graph; got {counts.tolist()[:5]}."
        )
    return int(counts[0])


def _split(folder: Path, n_nodes: int) -> Split:
    parts = []
    for part in _PARTS:
        path = folder / f"{part}.csv.gz"
        nodes = _column(path)
        outside = (nodes < 0) | (nodes >= n_nodes)
        if outside.any():
            row = int(np.argmax(outside))
            raise ValueError(
                f"`{path}`, line {row + 1} must be a node from 0 to {n_nodes - 1}; got "
                f"{nodes[row]}."
            )
        parts.append(nodes)
    try:
        return Split.of(*parts)
    except ValueError as error:
        raise ValueError(f"`{folder}` must hold a split. {error}") from None


def _column(path: Path) -> np.ndarray:
    """A file with one integer per line; −1 for a blank line."""
    return read_csv(path, {"value": pl.Int64})["value"].fill_null(-1).to_numpy()


def _features(path: Path) -> np.ndarray:
    with (
        refusing(path, "a gzip file of text", "Download the original files again."),
        OPENERS[".gz"](path, "rb") as file,
    ):
        width = file.readline(_LONGEST_LINE).count(b",") + 1
    table = read_csv(path, {f"feature_{k}": pl.Float32 for k in range(width)})
    return np.ascontiguousarray(table.to_numpy())


def _ragged(path: Path) -> np.ndarray:
    """A file with up to five integers per line, as an int64 array padded with −1."""
    # No line contains the separator, so each line is read as one column.
    lines = read_csv(path, {"line": pl.String}, separator="\x01")["line"]
    cells = lines.str.strip_chars().str.split(",")
    ranks = [cells.list.get(k, null_on_oob=True) for k in range(_N_GUESSES)]
    try:
        columns = [rank.cast(pl.Int64).fill_null(-1).to_numpy() for rank in ranks]
    except pl.exceptions.PolarsError as error:
        reason = str(error).strip().split("\n")[0]
        raise ValueError(f"`{path}` must hold integers; got: {reason}.") from None
    return np.stack(columns, axis=1)


def _class_names(mapping: Path) -> list[str] | None:
    """The class names of ``labelidx2….csv.gz``, whose columns are class and name."""
    found = sorted(mapping.glob("labelidx2*.csv.gz"))
    if not found:
        return None
    table = read_csv(found[0])
    if table.width < 2:
        raise ValueError(f"`{found[0]}` must have two columns, class and name; it has one.")
    table = table.sort(table.columns[0])
    if table[table.columns[0]].to_list() != list(range(table.height)):
        raise ValueError(f"`{found[0]}` must name the classes 0…{table.height - 1}, each once.")
    return [str(name) for name in table[table.columns[1]]]
