"""Files that hold a graph whole: graph folders, archives of SciPy and gnn-benchmark, GraphML, OGB,
Planetoid, PyG."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import polars as pl

from .._compressed import sparse_from_arrays
from ..graph import Graph
from ..stored import open_graph
from ._frames import require_path


@dataclass(frozen=True)
class GraphFile:
    """What was in it. ``nodes`` is a table of the nodes' columns, where they have names; else
    ``X`` and ``y`` are what there is."""

    graph: Graph
    ids: pl.Series
    X: Any = None
    y: Any = None
    split: dict[str, np.ndarray] = field(default_factory=dict)
    nodes: pl.DataFrame | None = None
    notes: list[str] = field(default_factory=list)


def is_graph_file(path: Path) -> bool:
    if path.is_dir():
        return (path / "raw" / "edge.csv.gz").is_file() or _is_graph_folder(path)
    return path.suffix.lower() in (".npz", ".graphml") or path.name.startswith("ind.")


def read_graph_file(path: Path) -> GraphFile:
    require_path(path)
    if _is_graph_folder(path):
        graph = open_graph(path)
        ids = graph.ids()
        return GraphFile(graph, _numbered(graph.n_nodes) if ids is None else ids)
    if path.is_dir():
        return _read_ogb(path)
    if path.suffix.lower() == ".graphml":
        return _read_graphml(path)
    if path.name.startswith("ind."):
        return _read_planetoid(path)
    return _read_npz(path)


def _is_graph_folder(path: Path) -> bool:
    return (path / "meta.json").is_file() and (path / "indptr.npy").is_file()


def _numbered(n: int) -> pl.Series:
    return pl.Series("id", np.arange(n))


def _of_contents(contents: Any) -> GraphFile:
    """From what the readers of public datasets give."""
    split = {}
    if contents.splits:
        first = contents.splits[0]
        split = {"train": first.train, "val": first.val, "test": first.test}
    y = contents.y
    if contents.class_names and y.dtype.kind == "i":
        names = contents.class_names
        y = [None if code < 0 else names[code] for code in y.tolist()]
    graph = contents.graph
    return GraphFile(graph, _numbered(graph.n_nodes), contents.X, y, split)


# -- archives ----------------------------------------------------------------------------------
def _read_npz(path: Path) -> GraphFile:
    try:
        with np.load(path, allow_pickle=False) as archive:
            names = set(archive.files)
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(
            f"`{path}` must be a NumPy archive without pickles; got: {error}. Save it again with "
            "scipy.sparse.save_npz."
        ) from None
    from ..datasets import _npz

    if {"adj_data", "attr_data", "labels"} <= names:
        return _of_contents(_npz.read_benchmark(path.parent, path.stem))
    if {"node_features", "node_labels", "edges"} <= names:
        return _of_contents(_npz.read_heterophilous(path.parent, path.stem))
    if {"format", "shape", "data"} <= names:
        try:
            with np.load(path, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in names}
            graph = Graph.from_scipy(sparse_from_arrays("adjacency", arrays))
        except (ValueError, TypeError) as error:
            raise ValueError(f"`{path}` must hold a square adjacency; got: {error}") from None
        return GraphFile(graph, _numbered(graph.n_nodes))
    raise ValueError(
        f"`{path}` must hold a SciPy sparse matrix or the arrays of gnn-benchmark (adj_*, attr_*, "
        f"labels); it holds {', '.join(sorted(names)) or 'nothing'}."
    )


def _read_ogb(path: Path) -> GraphFile:
    from ..datasets._ogb import read_ogb

    splits = sorted(p.name for p in (path / "split").glob("*")) if (path / "split").is_dir() else []
    if not splits:
        raise ValueError(f"`{path}` must hold split/NAME/train.csv.gz as OGB's folders do.")
    return _of_contents(read_ogb(path, splits[0]))


def _read_planetoid(path: Path) -> GraphFile:
    from ..datasets._planetoid import read_planetoid

    parts = path.name.split(".")
    if len(parts) < 3:
        raise ValueError(f"`{path}` must be named ind.NAME.graph as Planetoid's files are.")
    return _of_contents(read_planetoid(path.parent, parts[1]))


# -- GraphML -----------------------------------------------------------------------------------
def _local(tag: str) -> str:
    return tag.rsplit("}", 1)[-1]


def _read_graphml(path: Path) -> GraphFile:
    """Nodes, edges and their data. Documents with a DTD are refused: entities can grow without
    bound."""
    with path.open("rb") as file:
        if b"<!DOCTYPE" in file.read(65_536):
            raise ValueError(f"`{path}` must be GraphML without a DTD; it has one. Export it anew.")
    try:
        root = ElementTree.parse(path).getroot()
    except (ElementTree.ParseError, OSError, UnicodeDecodeError) as error:
        raise ValueError(f"`{path}` must be GraphML; got: {error}.") from None
    if _local(root.tag) != "graphml":
        raise ValueError(f"`{path}` must be GraphML; its root is '{_local(root.tag)}'.")
    names = {
        key.get("id"): key.get("attr.name") or key.get("id")
        for key in root
        if _local(key.tag) == "key"
    }
    graphs = [part for part in root if _local(part.tag) == "graph"]
    if len(graphs) != 1:
        raise ValueError(f"`{path}` must hold one graph; it holds {len(graphs)}.")
    rows, ends, weights = [], [], []
    for part in graphs[0]:
        kind = _local(part.tag)
        data = {
            str(names.get(entry.get("key"), entry.get("key"))): entry.text
            for entry in part
            if _local(entry.tag) == "data"
        }
        if kind == "node":
            rows.append({**{k: v for k, v in data.items() if k != "id"}, "id": part.get("id")})
        elif kind == "edge":
            ends.append((part.get("source"), part.get("target")))
            weights.append(data.get("weight"))
    return _from_parts(path, rows, ends, weights, graphs[0].get("edgedefault") == "directed")


def _from_parts(
    path: Path, rows: list[dict[str, Any]], ends: list[Any], weights: list[Any], directed: bool
) -> GraphFile:
    number = {row["id"]: k for k, row in enumerate(rows)}
    if not rows or len(number) < len(rows) or None in number:
        raise ValueError(f"`{path}` must hold nodes with ids of their own; some have none, or the "
                         "same.")  # fmt: skip
    for k, pair in enumerate(ends):
        for end in pair:
            if end not in number:
                raise ValueError(f"`{path}`, edge {k + 1}, must join nodes; {end!r} is none.")
    weight = None
    if weights and all(w is not None for w in weights):
        try:
            weight = np.array([float(w) for w in weights])
        except ValueError:
            raise ValueError(f"`{path}` must hold numbers as weights of edges.") from None
    source = [number[a] for a, _ in ends]
    target = [number[b] for _, b in ends]
    graph = Graph.from_edges(source, target, weight=weight, n_nodes=len(rows), directed=directed)
    columns = list(dict.fromkeys(["id", *(name for row in rows for name in row)]))
    frame = pl.DataFrame(
        {name: [row.get(name) for row in rows] for name in columns},
        schema=dict.fromkeys(columns, pl.String),
    )
    return GraphFile(graph, frame["id"], nodes=frame)


# -- PyG ---------------------------------------------------------------------------------------
def from_pyg_data(data: Any) -> GraphFile:
    graph = Graph.from_pyg(data)
    values = {}
    for name in ("x", "y", "train_mask", "val_mask", "test_mask"):
        found = getattr(data, name, None)
        values[name] = None if found is None else found.detach().cpu().numpy()
    split = {}
    if values["train_mask"] is not None:
        for part in ("train", "val", "test"):
            mask = values[f"{part}_mask"]
            mask = np.zeros(graph.n_nodes, bool) if mask is None else mask
            split[part] = np.flatnonzero(mask if mask.ndim == 1 else mask[:, 0])
    y = values["y"]
    if y is not None and y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    return GraphFile(graph, _numbered(graph.n_nodes), values["x"], y, split)
