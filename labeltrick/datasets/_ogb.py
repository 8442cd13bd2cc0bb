"""The raw folder of an Open Graph Benchmark node dataset."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np

from ._dataset import Contents, Split
from ._files import read_csv, take_columns, undirected_graph

_PARTS = ("train", "valid", "test")
_N_GUESSES = 5


def read_ogb(folder: Path, key: str) -> Contents:
    """Read ``raw/``, ``split/KEY/`` and ``mapping/``; the files have no header and no ids.

    The directed edges become an undirected, unweighted graph. ``X`` is None where
    ``raw/node-feat.csv.gz`` is missing. ``extra`` gets, where the files are there, "node_year"
    (n,) and "llm_ranked_classes" (n, 5): classes that a language model guessed from each
    paper's text, best first, −1 behind the last guess (`rank_features` makes columns of them).
    """
    raw = folder / "raw"
    n_nodes = int(_column(raw / "num-node-list.csv.gz").sum())
    source, target = _integers(raw / "edge.csv.gz", "source", "target")
    features = raw / "node-feat.csv.gz"
    extra = {}
    if (years := raw / "node_year.csv.gz").is_file():
        extra["node_year"] = _column(years)
    if (guesses := raw / "llm-ranked-classes.csv.gz").is_file():
        extra["llm_ranked_classes"] = _ragged(guesses)
    parts = (_column(folder / "split" / key / f"{part}.csv.gz") for part in _PARTS)
    return Contents(
        graph=undirected_graph(raw / "edge.csv.gz", source, target, n_nodes),
        X=_features(features) if features.is_file() else None,
        y=_column(raw / "node-label.csv.gz"),
        splits=[Split.of(*parts)],
        class_names=_class_names(folder / "mapping"),
        extra=extra,
    )


def _integers(path: Path, *names: str) -> list[np.ndarray]:
    import polars as pl

    return take_columns(path, read_csv(path, dict.fromkeys(names, pl.Int64)), *names)


def _column(path: Path) -> np.ndarray:
    """A file of one integer a line; −1 for a blank one."""
    import polars as pl

    return read_csv(path, {"value": pl.Int64})["value"].fill_null(-1).to_numpy()


def _features(path: Path) -> np.ndarray:
    import polars as pl

    try:
        with gzip.open(path, "rt") as file:
            width = file.readline().count(",") + 1
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise ValueError(f"`{path}` must be a gzip file of text; got: {error}.") from None
    table = read_csv(path, {f"feature_{k}": pl.Float32 for k in range(width)})
    return np.ascontiguousarray(table.to_numpy())


def _ragged(path: Path) -> np.ndarray:
    """Lines of up to five integers, as an int64 array padded with −1."""
    import polars as pl

    # No line holds the separator, so that each is read whole, however many commas it has.
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
    """Names by class from ``labelidx2….csv.gz``, whose columns are class and name."""
    found = sorted(mapping.glob("labelidx2*.csv.gz"))
    if not found:
        return None
    table = read_csv(found[0])
    table = table.sort(table.columns[0])
    return [str(name) for name in table[table.columns[1]]]
