"""Files that hold a whole graph: graph folders, archives of SciPy and gnn-benchmark, GraphML, OGB,
Planetoid; and PyG's ``Data``."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ..._utils.archives import ArrayArchive, refusing
from ..._utils.sparse_checks import sparse_from_arrays
from ...graph.graph import Graph
from ...graph.stored import open_graph
from ..graphml import Element, read_graphml
from .kinds import listed, shown_name

_MASKS = ("train_mask", "val_mask", "test_mask")


@dataclass(frozen=True)
class GraphFile:
    """The contents of a graph file. If node columns have names, they are in ``nodes``; otherwise
    features and labels are in ``X`` and ``y``."""

    graph: Graph
    ids: pl.Series
    X: Any = None
    y: Any = None
    split: dict[str, np.ndarray] = field(default_factory=dict)
    nodes: pl.DataFrame | None = None
    notes: list[str] = field(default_factory=list)

    def notes_on_unused(self, path: Path) -> list[str]:
        """A sentence about contents that a table of nodes replaces."""
        why = f"in {path.name} are not used, because there is --nodes"
        if self.nodes is not None and self.nodes.width > 1:
            names = [shown_name(name) for name in self.nodes.columns if name != "id"]
            return [f"node data {why}: {listed(names)}"]
        held = {"features": self.X is not None, "labels": self.y is not None,
                "split": bool(self.split)}  # fmt: skip
        names = [name for name, is_there in held.items() if is_there]
        return [f"{listed(names, 'and')} {why}"] if names else []


def is_graph_file(path: Path) -> bool:
    """Whether the path is a graph folder or has the name of a graph file."""
    if path.is_dir():
        return (path / "raw" / "edge.csv.gz").is_file() or _is_graph_folder(path)
    return path.suffix.lower() in (".npz", ".graphml") or path.name.startswith("ind.")


def read_graph_file(path: Path) -> GraphFile:
    """Read a graph file of any format."""
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
    """From the contents of a public dataset."""
    split, notes = {}, []
    if contents.splits:
        first = contents.splits[0]
        if len(contents.splits) > 1:
            notes.append(f"only the first of the {len(contents.splits)} splits in the file is used")
        split = vars(first)
    y = contents.y
    if (names := contents.class_names) and y.dtype.kind == "i":
        y = [None if code < 0 else names[code] for code in y.tolist()]
    graph = contents.graph
    return GraphFile(graph, _numbered(graph.n_nodes), contents.X, y, split, notes=notes)


# -- archives ----------------------------------------------------------------------------------
def _read_npz(path: Path) -> GraphFile:
    from ..datasets import npz

    archive = ArrayArchive(path, "Save it again with scipy.sparse.save_npz.")
    names = set(archive.names)
    if {"adj_data", "attr_data", "labels"} <= names:
        return _of_contents(npz.read_benchmark(path.parent, path.stem))
    if {"node_features", "node_labels", "edges"} <= names:
        return _of_contents(npz.read_heterophilous(path.parent, path.stem))
    if {"format", "shape", "data"} <= names:
        arrays = archive.read_all()
        _require_real_size(path, arrays)
        with refusing(path, "a square adjacency", "Save it again with scipy.sparse.save_npz."):
            try:
                graph = Graph.from_scipy(sparse_from_arrays("adjacency", arrays))
            except TypeError as error:
                raise ValueError(str(error)) from None
        return GraphFile(graph, _numbered(graph.n_nodes))
    raise ValueError(
        f"`{path}` must hold a SciPy sparse matrix or the arrays of gnn-benchmark (adj_*, attr_*, "
        f"labels); it holds {', '.join(sorted(names)) or 'nothing'}."
    )


def _require_real_size(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """Refuse a matrix with far more rows than entries: empty rows take memory too."""
    shape, n_entries = arrays["shape"], arrays["data"].size
    if shape.dtype.kind not in "iu" or shape.shape != (2,):
        raise ValueError(f"`shape` in '{path}' must be two whole numbers; got {shape.tolist()}.")
    n_rows = int(shape.max())
    if n_rows > 10_000_000 and n_rows > 1000 * n_entries:
        raise ValueError(
            f"`{path}` must hold a matrix with entries; got {n_entries:,} of them in {n_rows:,} "
            "rows. Number the nodes 0…n−1 and save it again."
        )


def _read_ogb(path: Path) -> GraphFile:
    from ..datasets.ogb import read_ogb

    splits = sorted(p.name for p in (path / "split").glob("*")) if (path / "split").is_dir() else []
    if not splits:
        raise ValueError(f"`{path}` must hold split/NAME/train.csv.gz as OGB's folders do.")
    found = _of_contents(read_ogb(path, splits[0]))
    if len(splits) > 1:
        found.notes.append(f"the split '{splits[0]}' is used, not {', '.join(splits[1:])}")
    return found


def _read_planetoid(path: Path) -> GraphFile:
    from ..datasets.planetoid import read_planetoid

    parts = path.name.split(".")
    if len(parts) < 3:
        raise ValueError(f"`{path}` must be named ind.NAME.graph as Planetoid's files are.")
    return _of_contents(read_planetoid(path.parent, parts[1]))


# -- GraphML -----------------------------------------------------------------------------------
def _read_graphml(path: Path) -> GraphFile:
    found = read_graphml(path)
    number = {node.id: k for k, node in enumerate(found.nodes)}
    if not found.nodes or len(number) < len(found.nodes) or None in number:
        raise ValueError(
            f"`{path}` must hold nodes with different ids; an id is missing or repeated, or there "
            "are no nodes. Export it again."
        )
    ends = np.empty((len(found.edges), 2), np.int64)
    for k, edge in enumerate(found.edges):
        for side, end in enumerate(edge.ends or ()):
            if end not in number:
                raise ValueError(
                    f"`{path}`, edge {k + 1} must join two nodes; {end!r} is not a node."
                )
            ends[k, side] = number[end]
    weight = _weights(path, found.edges)
    with refusing(path, "a graph", "Export it again."):
        graph = Graph.from_edges(
            *ends.T, weight=weight, n_nodes=len(found.nodes), directed=found.directed
        )
    own = any("id" in node.data for node in found.nodes)
    notes = _notes_on_edge_data(found.edges, weight is not None)
    notes += ["the node data 'id' are left out: 'id' is the column of node ids"] if own else []
    columns = list(dict.fromkeys(["id", *(name for node in found.nodes for name in node.data)]))
    values = {name: [node.data.get(name) for node in found.nodes] for name in columns}
    values["id"] = [node.id for node in found.nodes]
    frame = pl.DataFrame(values, schema=dict.fromkeys(columns, pl.String))
    return GraphFile(graph, frame["id"], nodes=frame, notes=notes)


def _notes_on_edge_data(edges: list[Element], weighted: bool) -> list[str]:
    """A sentence that says which data of the edges are used."""
    others = dict.fromkeys(name for edge in edges for name in edge.data if name != "weight")
    said = ["weight weight"] if weighted else []
    said += [f"not used: {listed(map(shown_name, others))}"] if others else []
    return [f"edges: {'; '.join(said)}"] if said else []


def _weights(path: Path, edges: list[Element]) -> np.ndarray | None:
    """The edge weights; None if no edge has one. All edges must have a weight, or none."""
    if not any("weight" in edge.data for edge in edges):
        return None
    weights = np.empty(len(edges))
    for k, edge in enumerate(edges):
        text = edge.data.get("weight")
        try:
            weights[k] = float(text or "nan")
        except ValueError:
            weights[k] = np.nan
        if not 0 <= weights[k] < np.inf:
            raise ValueError(
                f"`{path}`, edge {k + 1} must have a weight ≥ 0, as other edges do; got {text!r}. "
                "Give all edges a weight, or none."
            )
    return weights


# -- PyG ---------------------------------------------------------------------------------------
def from_pyg_data(data: Any) -> GraphFile:
    """The contents of a ``Data`` object."""
    graph = Graph.from_pyg(data)
    n_nodes = graph.n_nodes
    values: dict[str, Any] = {}
    for name in ("x", "y", *_MASKS):
        found = getattr(data, name, None)
        if found is not None:
            values[name] = found.detach().cpu().numpy()
            if name in ("x", "y") and len(found) != n_nodes:
                raise ValueError(
                    f"`{name}` of Data must have one row per node ({n_nodes}); got {len(found)}."
                )
    x, y = values.pop("x", None), values.pop("y", None)
    if y is not None and y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    several = any(mask.ndim == 2 and mask.shape[1] > 1 for mask in values.values())
    notes = ["only the first of the splits in the masks is used"] if several else []
    split = _split_of_masks(values, n_nodes) if values else {}
    return GraphFile(graph, _numbered(n_nodes), x, y, split, notes=notes)


def _split_of_masks(masks: dict[str, np.ndarray], n_nodes: int) -> dict[str, np.ndarray]:
    """The nodes of each part, from the first column of each mask."""
    from ..datasets.arrays import nodes_of_mask
    from ..datasets.dataset import Split

    if "train_mask" not in masks:
        raise ValueError("`train_mask` of Data must be present if other masks are; it is missing.")
    parts = []
    for name in _MASKS:
        mask = masks.get(name, np.zeros(n_nodes, bool))
        mask = mask[:, 0] if mask.ndim == 2 else mask
        parts.append(nodes_of_mask(f"`{name}` of Data", mask, n_nodes))
    return vars(Split.of(*parts))  # checks that no node is in two parts
