"""Small valid inputs, made by the library's own writers where it has them.

Each is a folder ``FORMAT/VARIANT`` that a target reads: run as a program, this file makes those of
the formats that it is given, so that nothing heavy is imported where cases are counted.
"""

from __future__ import annotations

import gzip
import os
import pickle
import shutil
import sys
from pathlib import Path

import numpy as np
import polars as pl
import scipy.sparse as sp

N = 14  # nodes of the tables


# -- tables ------------------------------------------------------------------------------------
def tables(ids: str = "names", task: str = "classes") -> tuple[pl.DataFrame, pl.DataFrame]:
    """(edges, nodes) with weights, gaps, dates, texts, a target and a split."""
    rng = np.random.default_rng(3)
    group = np.arange(N) % 2
    names = {
        "names": [f"node {chr(97 + k)}" for k in range(N)],
        "numbers": [10 + 7 * k for k in range(N)],
        "zeros": [f"{k:03d}" for k in range(N)],
    }[ids]
    a, b = rng.integers(0, N, (2, 30))
    edges = pl.DataFrame(
        {
            "src": [names[k] for k in a],
            "dst": [names[k] for k in b],
            "weight": (rng.integers(1, 9, 30) / 2).tolist(),
        }
    )
    height = (group + rng.normal(size=N)).round(3).tolist()
    label = ["red", "blue"] if task == "classes" else [1.5, 2.25]
    nodes = pl.DataFrame(
        {
            "id": names,
            "height": [None if k == 4 else height[k] for k in range(N)],
            "town": [["Ulm", "Köln", 'The "Hague"', "a, b"][k % 4] for k in range(N)],
            "born": [f"19{60 + k}-0{1 + k % 9}-11" for k in range(N)],
            "member": [k % 3 == 0 for k in range(N)],
            "label": [
                None if k == 6 else label[g] + (k if task == "numbers" else type(label[g])())
                for k, g in enumerate(group)
            ],
            "split": [["train", "train", "val", "test", ""][k % 5] or None for k in range(N)],
        },
        strict=False,
    )
    return edges, nodes


def write_table(frame: pl.DataFrame, path: Path) -> None:
    kind = path.suffix
    if kind == ".parquet":
        frame.write_parquet(path)
    elif kind == ".jsonl":
        frame.write_ndjson(path)
    elif kind == ".xlsx":
        frame.write_excel(path)
    else:
        frame.write_csv(path, separator="\t" if kind == ".tsv" else ",")


def make_tables(kind: str, folder: Path) -> None:
    for name, options in {
        "names": {},
        "numbers": {"ids": "numbers", "task": "numbers"},
        "zeros": {"ids": "zeros"},
    }.items():
        place = folder / name
        place.mkdir(parents=True)
        for part, frame in zip(("edges", "nodes"), tables(**options), strict=True):
            write_table(frame, place / f"{part}.{kind}")


def make_written(folder: Path, encoding: str, separator: str, decimal_comma: bool) -> None:
    """Text tables as spreadsheets in other countries export them."""
    for name, options in {"names": {}, "numbers": {"ids": "numbers", "task": "numbers"}}.items():
        place = folder / name
        place.mkdir(parents=True)
        for part, frame in zip(("edges", "nodes"), tables(**options), strict=True):
            text = frame.write_csv(separator=separator, decimal_comma=decimal_comma)
            (place / f"{part}.csv").write_bytes(text.encode(encoding))


def make_databases(kind: str, folder: Path) -> None:
    for name, options in {"names": {}, "numbers": {"ids": "numbers", "task": "numbers"}}.items():
        (folder / name).mkdir(parents=True)
        parts = dict(zip(("edges", "nodes"), tables(**options), strict=True))
        write_database(kind, folder / name / "data.db", parts)


def write_database(kind: str, path: Path, parts: dict[str, pl.DataFrame]) -> None:
    """A new database with these tables."""
    if kind == "duckdb":
        import duckdb as library
    else:
        import sqlite3 as library
    path.unlink(missing_ok=True)
    connection = library.connect(str(path))
    for name, frame in parts.items():
        types = ["double" if dtype.is_float() else "bigint" if dtype.is_integer() else "varchar"
                 for dtype in frame.dtypes]  # fmt: skip
        columns = [f'"{column}" {kind}' for column, kind in zip(frame.columns, types, strict=True)]
        connection.execute(f"create table {name} ({', '.join(columns)})")
        texts = frame.with_columns(pl.col(pl.Boolean).cast(pl.String))
        marks = ", ".join("?" * frame.width)
        if frame.height:
            connection.executemany(f"insert into {name} values ({marks})", texts.rows())
    connection.commit()
    connection.close()


# -- files that hold a graph whole -------------------------------------------------------------
GRAPHML = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="node" attr.name="height" attr.type="double"/>
  <key id="d1" for="node" attr.name="label" attr.type="string"/>
  <key id="d2" for="edge" attr.name="weight" attr.type="double"/>
  <graph id="G" edgedefault="{default}">
{body}
  </graph>
</graphml>
"""


def make_graphml(folder: Path) -> None:
    edges, nodes = tables()
    body = [
        f'    <node id="{row["id"]}"><data key="d0">{row["height"] or 0.5}</data>'
        f'<data key="d1">{row["label"] or "red"}</data></node>'
        for row in nodes.to_dicts()
    ] + [
        f'    <edge source="{row["src"]}" target="{row["dst"]}"><data key="d2">{row["weight"]}'
        "</data></edge>"
        for row in edges.to_dicts()
    ]
    for default in ("undirected", "directed"):
        place = folder / default
        place.mkdir(parents=True)
        text = GRAPHML.format(default=default, body="\n".join(body))
        (place / "graph.graphml").write_text(text, encoding="utf-8")


def adjacency(n: int = 12, weighted: bool = False) -> sp.csr_array:
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, n, (2, 3 * n))
    values = rng.integers(1, 9, 3 * n) / 2.0 if weighted else np.ones(3 * n)
    found = sp.csr_array((values, (a, b)), shape=(n, n))
    found = found + found.T
    if not weighted:
        found.data[:] = 1
    return found


def make_scipy_npz(folder: Path) -> None:
    for kind, weighted in (("csr", False), ("csc", True), ("coo", True)):
        (folder / kind).mkdir(parents=True)
        sp.save_npz(folder / kind / "graph.npz", adjacency(weighted=weighted).asformat(kind))


def make_benchmark_npz(folder: Path) -> None:
    A, n = adjacency(), 12
    X = sp.random_array((n, 5), density=0.4, format="csr", rng=np.random.default_rng(0))
    arrays = {}
    for part, matrix in (("adj", A), ("attr", X)):
        for field in ("data", "indices", "indptr", "shape"):
            arrays[f"{part}_{field}"] = np.asarray(getattr(matrix, field))
    arrays["labels"] = np.arange(n) % 3
    for name, more in {"plain": {}, "named": {"class_names": np.array(["a", "b", "c"])}}.items():
        (folder / name).mkdir(parents=True)
        np.savez(folder / name / "graph.npz", **arrays, **more)


def make_heterophilous_npz(folder: Path) -> None:
    n = 12
    masks = np.arange(n) % 3
    (folder / "plain").mkdir(parents=True)
    np.savez(
        folder / "plain" / "graph.npz",
        node_features=np.random.default_rng(0).random((n, 4)).astype(np.float32),
        node_labels=np.arange(n) % 2,
        edges=np.array(sp.triu(adjacency()).nonzero()).T,
        **{
            f"{part}_masks": np.stack([masks == k, masks == (k + 1) % 3])
            for k, part in enumerate(("train", "val", "test"))
        },
    )


def make_planetoid(folder: Path) -> None:
    n, tested = 16, 6
    A = adjacency(n)
    X = sp.csr_matrix((np.random.default_rng(0).random((n, 4)) < 0.5).astype(np.float32))
    Y = np.eye(3, dtype=np.int32)[np.arange(n) % 3]
    known = n - tested
    order = np.random.default_rng(1).permutation(np.arange(known, n))
    parts = {
        "x": X[:4], "y": Y[:4], "allx": X[:known], "ally": Y[:known],
        "tx": X[order], "ty": Y[order],
        "graph": {k: A.indices[A.indptr[k] : A.indptr[k + 1]].tolist() for k in range(n)},
    }  # fmt: skip
    for protocol in (2, 4):
        place = folder / f"protocol-{protocol}"
        place.mkdir(parents=True)
        for name, value in parts.items():
            (place / f"ind.toy.{name}").write_bytes(pickle.dumps(value, protocol))
        (place / "ind.toy.test.index").write_text("\n".join(map(str, order)) + "\n")


def make_ogb(folder: Path) -> None:
    n = 12
    place = folder / "plain"
    rng = np.random.default_rng(0)
    files = {
        "raw/num-node-list.csv.gz": [[n]],
        "raw/num-edge-list.csv.gz": [[30]],
        "raw/edge.csv.gz": rng.integers(0, n, (30, 2)).tolist(),
        "raw/node-feat.csv.gz": rng.random((n, 3)).round(4).tolist(),
        "raw/node-label.csv.gz": [[k % 3] for k in range(n)],
        "raw/node_year.csv.gz": [[2000 + k] for k in range(n)],
        "split/time/train.csv.gz": [[k] for k in range(6)],
        "split/time/valid.csv.gz": [[k] for k in range(6, 9)],
        "split/time/test.csv.gz": [[k] for k in range(9, n)],
        "mapping/labelidx2name.csv.gz": [["label idx", "name"], [0, "x"], [1, "y"], [2, "z"]],
    }
    for name, rows in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress("".join(_csv_line(row) for row in rows).encode(), mtime=0))


def _csv_line(row: list) -> str:
    return ",".join(map(str, row)) + "\n"


# -- folders of our own ------------------------------------------------------------------------
def make_graph_folders(folder: Path) -> None:
    from labeltrick import Graph, save_graph
    from labeltrick.io.tables import build_graph_folder

    A = adjacency(weighted=True).tocoo()
    folder.mkdir(parents=True)
    for name, options in {
        "plain": {},
        "weighted": {"weight": A.data},
        "directed": {"weight": A.data, "directed": True},
    }.items():
        (folder / name).mkdir()
        save_graph(
            Graph.from_edges(A.row, A.col, n_nodes=A.shape[0], **options),
            folder / name / "graph.lt",
        )
    (folder / "named").mkdir()
    edges = folder / "edges.csv"
    tables()[0].write_csv(edges)
    build_graph_folder(edges, folder / "named" / "graph.lt")
    edges.unlink()


def make_models(folder: Path) -> None:
    """Estimators of every kind: labels alone, linear, trees, networks, blends."""
    from labeltrick import save_model
    from tests.support.graphs import blocks, wavy

    for name, (task, make) in estimators().items():
        if task == "table":
            graph, X, _, y = wavy(1, n=40)
        else:
            graph, X, _, y = blocks(1, n=40)
            y = np.where(y >= 0, X[:, 0] + 0.37 * y, np.nan) if task == "numbers" else y
        model = make()
        options = {"progress": False, "random_state": 0}
        known = model.get_params()
        model.set_params(**{key: value for key, value in options.items() if key in known})
        fitted = model.fit(None if task == "labels" else X, y, graph=graph)
        save_model(fitted, folder / name / "model")


def estimators() -> dict:
    from labeltrick import (
        GNN,
        SGC,
        TWIRLS,
        AutoModel,
        CorrectAndSmooth,
        GraphBoosting,
        LabelFeatureRegression,
        LabelPropagation,
        TrainableLabelPropagation,
    )

    few = {"n_rounds": 4}
    return {
        "labels": ("labels", LabelPropagation),
        "trainable": ("labels", TrainableLabelPropagation),
        "regression": ("numbers", LabelFeatureRegression),
        "trees": ("table", lambda: GraphBoosting("features", **few)),
        "trees-two-stage": ("table", lambda: GraphBoosting("two_stage", **few)),
        "trees-end-to-end": ("classes", lambda: GraphBoosting("end_to_end", **few)),
        "sgc": ("classes", lambda: SGC(max_epochs=2)),
        "twirls": ("numbers", lambda: TWIRLS(max_epochs=2, hidden=4)),
        "gnn": ("classes", lambda: GNN("sage", max_epochs=2, hidden=4)),
        "correct": ("classes", lambda: CorrectAndSmooth(SGC(0, max_epochs=2), calibrate=False)),
        "auto": ("labels", lambda: AutoModel(budget=1, n_folds=2)),
    }


def make_runs(folder: Path) -> None:
    from tests.support.people import fit_arguments, invoke, write_files

    for name, task, split, model in (
        ("classes", "classes", True, ["label-propagation"]),
        ("trees", "numbers", False, ["boosting", "--set", "n_rounds=5"]),
    ):
        data = write_files(folder / "data" / name, n=60, task=task, split=split)
        run = folder / name / "run"
        more = ["--split-column", "split"] if split else []
        invoke(*fit_arguments(data, run, "--model", *model, *more))
        shutil.copyfile(data / "truth.csv", run.parent / "truth.csv")


def make_configs(folder: Path) -> None:
    from labeltrick.app.runs.settings import FitSettings

    data = folder / "data"
    data.mkdir(parents=True)
    edges, nodes = tables()
    edges.write_csv(data / "edges.csv")
    nodes.write_csv(data / "nodes.csv")
    both = {"edges": str(data / "edges.csv"), "nodes": str(data / "nodes.csv"), "target": "label"}
    for name, more in {
        "short": {},
        "long": {
            "id": "id", "weight": "weight", "ignore": ("town", "born"), "split_column": "split",
            "model": "boosting", "set": {"n_rounds": 3, "damping": 0.5, "mode": "features"},
            "budget": "2m", "metric": "accuracy", "seed": 4,
        },
    }.items():  # fmt: skip
        (folder / name).mkdir()
        (folder / name / "config.toml").write_text(FitSettings(**both, **more).to_toml())


MAKERS = {
    "csv": lambda folder: make_tables("csv", folder),
    "tsv": lambda folder: make_tables("tsv", folder),
    "parquet": lambda folder: make_tables("parquet", folder),
    "jsonl": lambda folder: make_tables("jsonl", folder),
    "semicolon": lambda folder: make_written(folder, "cp1252", ";", decimal_comma=True),
    "utf-16": lambda folder: make_written(folder, "utf-16", ",", decimal_comma=False),
    "xlsx": lambda folder: make_tables("xlsx", folder),
    "duckdb": lambda folder: make_databases("duckdb", folder),
    "sqlite": lambda folder: make_databases("sqlite", folder),
    "graphml": make_graphml,
    "npz-scipy": make_scipy_npz,
    "npz-benchmark": make_benchmark_npz,
    "npz-heterophilous": make_heterophilous_npz,
    "planetoid": make_planetoid,
    "ogb": make_ogb,
    "graph": make_graph_folders,
    "model": make_models,
    "run": make_runs,
    "config": make_configs,
}


def make_seeds(folder: Path, formats: list[str]) -> None:
    for name in formats:
        MAKERS[name](folder / name)


def variants(folder: Path) -> list[Path]:
    return sorted(p for p in folder.iterdir() if p.is_dir() and p.name != "data")


def copy(variant: Path, place: Path) -> Path:
    return Path(shutil.copytree(variant, place, copy_function=_copy_file))


def _copy_file(source: str, target: str) -> None:
    """Large files are linked: `mutations.write` puts a new file in the place of a link."""
    if os.path.getsize(source) > 1_000_000:
        os.link(source, target)
    else:
        shutil.copyfile(source, target)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    make_seeds(Path(sys.argv[1]), sys.argv[2:])
