"""Datasets in plain tables: County, California housing, Wikipedia, two larger ones of Cora."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..._utils.archives import refusing
from ..._utils.json_files import loads
from .arrays import class_labels, whole_numbers
from .dataset import Contents
from .files import read_csv, require_file, take_columns, undirected_graph

if TYPE_CHECKING:
    import scipy.sparse as sp

_MOST_WORDS = 10_000_000
_COUNTY_TARGET = "UnemploymentRate"
_HOUSE_COLUMNS = (
    "longitude", "latitude", "age", "rooms", "bedrooms", "population", "households", "income",
)  # fmt: skip


def read_county(folder: Path, key: str) -> Contents:
    """Read ``KEY.csv`` and ``edges.csv`` (pairs of row numbers from 0): neighboring US counties.

    The target is "UnemploymentRate". Features are all other numeric columns, including the votes
    "DEM" and "GOP", except "FIPS", the official number of the county. Blanks in features and target
    are NaN. There is no official split.
    """
    path = folder / f"{key}.csv"
    table = read_csv(path)
    numeric = [name for name, dtype in table.schema.items() if dtype.is_numeric()]
    if _COUNTY_TARGET not in numeric:
        raise ValueError(
            f"`{path}` must have a numeric column '{_COUNTY_TARGET}'; its numeric columns are "
            f"{', '.join(numeric)}."
        )
    names = [name for name in numeric if name not in ("FIPS", _COUNTY_TARGET)]
    # Column by column, so that missing integers become NaN.
    features = [table[name].to_numpy().astype(np.float64) for name in names]
    edges_path = folder / "edges.csv"
    source, target = take_columns(edges_path, read_csv(edges_path), "src", "dst")
    return Contents(
        path=folder,
        graph=undirected_graph(edges_path, source, target, table.height),
        X=np.stack(features, axis=1),
        y=table[_COUNTY_TARGET].to_numpy().astype(np.float64),
        feature_names=names,
    )


def read_house(folder: Path, key: str, n_neighbors: int = 5) -> Contents:
    """Read ``KEY.data``, with one line per block of houses; the target is value / 100,000.

    Features are the other eight columns, including the coordinates. The files hold no graph: each
    block is joined to its ``n_neighbors`` nearest blocks by longitude and latitude in degrees, in
    both directions. There is no official split.
    """
    import polars as pl

    path = folder / f"{key}.data"
    table = read_csv(path, dict.fromkeys((*_HOUSE_COLUMNS, "value"), pl.Float64))
    values = table.to_numpy()
    X, y = np.ascontiguousarray(values[:, :-1]), values[:, -1] / 100_000
    if not np.isfinite(X[:, :2]).all():
        row = int(np.argmin(np.isfinite(X[:, :2]).all(axis=1)))
        raise ValueError(f"`{path}` must have coordinates on each line; line {row + 1} has none.")
    if n_neighbors >= len(X):
        raise ValueError(
            f"`n_neighbors` must be below the number of rows ({len(X)}); got {n_neighbors}."
        )
    target = _nearest(X[:, :2], n_neighbors)
    source = np.repeat(np.arange(len(X)), n_neighbors)
    graph = undirected_graph(path, source, target.ravel(), len(X))
    return Contents(path=folder, graph=graph, X=X, y=y, feature_names=list(_HOUSE_COLUMNS))


def _nearest(points: np.ndarray, k: int) -> np.ndarray:
    """The k nearest other points of each point, of shape (n, k); ties go to the lower number.

    Coordinates are rounded, so ties are common, and which of them a search tree returns depends on
    its version. Taking all candidates up to the next larger distance makes the graph reproducible.
    """
    from sklearn.neighbors import NearestNeighbors

    n = len(points)
    index = NearestNeighbors(algorithm="kd_tree").fit(points)
    width = min(4 * k, n - 1)
    while True:
        # Without points as an argument, a point is never its own neighbor.
        distance, candidate = index.kneighbors(n_neighbors=width)
        distance = distance.round(9)
        if width == n - 1 or (distance[:, k - 1] < distance[:, -1]).all():
            break
        width = min(2 * width, n - 1)
    order = np.lexsort((candidate, distance), axis=1)[:, :k]
    return np.take_along_axis(candidate, order, axis=1)


def read_wikipedia(folder: Path, key: str) -> Contents:
    """Read ``edges.csv``, ``target.csv`` and ``features.json`` (from pages to word ids).

    The target is the natural logarithm of the average monthly traffic of a page. ``X`` has a 1 for
    each word of a page. Repeated links are merged, and self-loops are kept. There is no official
    split.
    """
    path = folder / "target.csv"
    page, traffic = take_columns(path, read_csv(path), "id", "target")
    n_nodes = len(page)
    if not np.array_equal(np.sort(page), np.arange(n_nodes)):
        raise ValueError(f"`id` in '{path}' must number the pages 0…{n_nodes - 1}, each once.")
    if not (traffic > 0).all():
        row = int(np.argmin(traffic > 0))
        raise ValueError(
            f"`{path}`, row {row + 2}, column 'target' must be above 0; got {traffic[row]}."
        )
    y = np.empty(n_nodes)
    y[page] = np.log(traffic)
    edges_path = folder / "edges.csv"
    source, target = take_columns(edges_path, read_csv(edges_path), "id1", "id2")
    graph = undirected_graph(edges_path, source, target, n_nodes, self_loops=True)
    X = _bag_of_words(folder / "features.json", n_nodes)
    return Contents(path=folder, graph=graph, X=X, y=y)


def _bag_of_words(path: Path, n_nodes: int) -> sp.csr_array:
    import scipy.sparse as sp

    advice = "Fetch the original file again."
    with refusing(path, f"a map of the pages 0…{n_nodes - 1} to lists of word ids", advice):
        words = loads(require_file(path).read_text(encoding="utf-8"))
        if not isinstance(words, dict) or not all(isinstance(w, list) for w in words.values()):
            raise ValueError("something else")
        pages = np.array([int(node) for node in words], np.int64)
        page = np.repeat(pages, [len(ids) for ids in words.values()] or 0)
        word = whole_numbers("the word ids", [w for ids in words.values() for w in ids])
        if len(word) and not 0 <= word.min() <= word.max() < _MOST_WORDS:
            raise ValueError(f"word ids from {word.min()} to {word.max()}")
        if not set(pages.tolist()) <= set(range(n_nodes)):
            raise ValueError("another page")
        shape = (n_nodes, int(word.max(initial=-1)) + 1)
        X = sp.csr_array((np.ones(len(word), np.float32), (page, word)), shape)
    # A word may be listed twice.
    X.data[:] = 1
    return X


def read_subelj(folder: Path, key: str) -> Contents:
    """Read ``KEY.edges`` (pairs) and ``KEY.clusters`` (node, class), with nodes counted from 1.

    There are no features and no official split.
    """
    import polars as pl

    path = folder / f"{key}.clusters"
    table = read_csv(path, {"node": pl.Int64, "class": pl.Int64}, separator="\t")
    node, label = table["node"].to_numpy(), table["class"].fill_null(-1).to_numpy()
    if not np.array_equal(np.sort(node), np.arange(1, len(node) + 1)):
        raise ValueError(f"`{path}` must number the nodes 1…{len(node)}, each once.")
    y = np.empty(len(node), np.int64)
    y[node - 1] = label
    path = folder / f"{key}.edges"
    table = read_csv(path, {"source": pl.Int64, "target": pl.Int64}, separator="\t")
    source, target = (table[name].to_numpy() - 1 for name in ("source", "target"))
    graph = undirected_graph(path, source, target, len(node))
    return Contents(path=folder, graph=graph, X=None, y=y)


def read_labels(folder: Path, key: str) -> Contents:
    """Read ``KEY.edge.gz`` (pairs) and ``KEY.label`` (one class per line), with nodes from 0.

    Edges may be given in both directions and more than once. There are no features and no official
    split.
    """
    import polars as pl

    path = folder / f"{key}.label"
    label = read_csv(path, {"class": pl.Int64})["class"].fill_null(-1).to_numpy()
    n_nodes = len(label)
    y = class_labels(f"`{path}`", label, n_nodes)
    path = folder / f"{key}.edge.gz"
    table = read_csv(path, {"source": pl.Int64, "target": pl.Int64}, separator="\t")
    graph = undirected_graph(path, table["source"], table["target"], n_nodes)
    return Contents(path=folder, graph=graph, X=None, y=y)
