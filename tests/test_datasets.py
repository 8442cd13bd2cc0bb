"""Readers of the public datasets: on tiny files in each layout, and on the real ones if there."""

from __future__ import annotations

import dataclasses
import gzip
import json
import os
import pickle
import re
import struct
import subprocess
import sys
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from labeltrick import Graph, datasets
from labeltrick.datasets import _registry
from labeltrick.datasets._dataset import Dataset, Split
from labeltrick.datasets._npz import read_benchmark, read_heterophilous
from labeltrick.datasets._ogb import read_ogb
from labeltrick.datasets._planetoid import read_planetoid
from labeltrick.datasets._tables import (
    _nearest,
    read_county,
    read_house,
    read_subelj,
    read_wikipedia,
)
from labeltrick.datasets._unpickle import read_pickle


def edges_of(graph: Graph) -> set[tuple[int, int]]:
    return {(u, v) for u, v in graph.to_edge_index().T.tolist() if u <= v}


# -- the real files ---------------------------------------------------------------------------
@dataclasses.dataclass(frozen=True)
class Facts:
    """Nodes, edges without loops, stored entries, classes, features, split, splits."""

    nodes: int
    edges: int
    nnz: int
    classes: int
    features: int
    split: tuple[int, int, int] | None = None
    n_splits: int = 0
    metric: str = "accuracy"


FACTS = {
    "cora": Facts(2708, 5278, 10556, 7, 1433, (140, 500, 1000), 1),
    "citeseer": Facts(3327, 4552, 9104, 6, 3703, (120, 500, 1000), 1),
    "pubmed": Facts(19717, 44324, 88648, 3, 500, (60, 500, 1000), 1),
    "ogbn-arxiv": Facts(169343, 1157799, 2315598, 40, 128, (90941, 29799, 48603), 1),
    "coauthor-cs": Facts(18333, 81894, 163788, 15, 6805),
    "amazon-photo": Facts(7650, 119081, 238162, 8, 745),
    "cora-ml": Facts(2995, 8158, 16316, 7, 2879),
    "cora-subelj": Facts(23166, 89157, 178314, 70, 0),
    "county-2012": Facts(3217, 9467, 18934, 0, 7, metric="rmse"),
    "county-2016": Facts(3217, 9467, 18934, 0, 7, metric="rmse"),
    "house": Facts(20640, 71012, 142024, 0, 8, metric="rmse"),
    "chameleon": Facts(2277, 31371, 2 * 31371 + 50, 0, 3132, metric="rmse"),
    "minesweeper": Facts(10000, 39402, 78804, 2, 7, (5000, 2500, 2500), 10, "roc_auc"),
}


def load_or_skip(name: str, data_dir: Path, **options: Any) -> Dataset:
    folder = data_dir / _registry.ENTRIES[name].folder
    if not folder.is_dir():
        pytest.skip(f"'{folder}' is not there; put the files of '{name}' into it")
    return datasets.load(name, data_dir, **options)


def test_every_name_has_its_facts_here() -> None:
    assert datasets.names() == list(FACTS)


@pytest.mark.parametrize("name", FACTS)
def test_real_counts_types_and_split(name: str, data_dir: Path) -> None:
    facts = FACTS[name]
    data = load_or_skip(name, data_dir)
    graph = data.graph
    assert data.name == name
    assert not graph.directed
    assert not graph.weighted
    assert graph.n_nodes == facts.nodes
    assert graph.n_edges - graph.n_self_loops == facts.edges
    assert graph.nnz == facts.nnz
    assert data.metric == facts.metric
    assert data.n_splits == facts.n_splits

    assert data.y.shape == (facts.nodes,)
    if facts.classes:
        assert data.task == "classification"
        assert data.y.dtype == np.int64
        assert set(np.unique(data.y)) - {-1} == set(range(facts.classes))
    else:
        assert data.task == "regression"
        assert data.y.dtype == np.float64
        assert np.isfinite(data.y).all()

    if data.X is None:
        assert name in ("ogbn-arxiv", "cora-subelj")
    else:
        assert data.X.shape == (facts.nodes, facts.features)
        assert data.X.dtype in (np.float32, np.float64)
        if sp.issparse(data.X):
            assert isinstance(data.X, sp.csr_array)
            assert data.X.dtype == np.float32
    if data.feature_names is not None:
        assert len(data.feature_names) == facts.features
    if data.class_names is not None:
        assert len(data.class_names) == facts.classes

    if facts.split is None:
        assert data.split is None
    else:
        assert data.split is not None
        parts = (data.split.train, data.split.val, data.split.test)
        assert tuple(map(len, parts)) == facts.split
        together = np.concatenate(parts)
        assert len(np.unique(together)) == len(together)
        assert together.min() >= 0
        assert together.max() < facts.nodes
        assert (data.y[together] >= 0).all()
        for part in parts:
            assert part.dtype == np.int64
            assert (np.diff(part) > 0).all()


@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed"])
def test_real_planetoid_trains_on_twenty_a_class(name: str, data_dir: Path) -> None:
    data = load_or_skip(name, data_dir)
    assert data.split is not None
    assert set(np.bincount(data.y[data.split.train])) == {20}


def test_real_citeseer_nodes_outside_the_index(data_dir: Path) -> None:
    data = load_or_skip("citeseer", data_dir)
    missing = np.flatnonzero(data.y == -1)
    assert len(missing) == 15
    assert data.X[missing].nnz == 0
    # Often called isolated, but each of them is cited; the 48 isolated nodes are others.
    assert (data.graph.degrees[missing] > 0).all()
    assert len(data.graph.isolated) == 48


def test_real_arxiv_extras(data_dir: Path) -> None:
    data = load_or_skip("ogbn-arxiv", data_dir)
    assert data.class_names is not None
    assert data.class_names[16] == "arxiv cs cv"
    assert data.split is not None
    if "node_year" in data.extra:
        year = data.extra["node_year"]
        assert year[data.split.train].max() <= 2017
        assert (year[data.split.val] == 2018).all()
        assert year[data.split.test].min() >= 2019
    if "llm_ranked_classes" in data.extra:
        guesses = data.extra["llm_ranked_classes"]
        assert guesses.shape == (169343, 5)
        assert guesses.min() == -1
        assert guesses.max() == 39
        test = data.split.test
        assert (guesses[test, 0] == data.y[test]).mean() == pytest.approx(0.744, abs=5e-4)


def test_real_county_keeps_missing_values(data_dir: Path) -> None:
    data = load_or_skip("county-2016", data_dir)
    assert data.feature_names == [
        "DEM",
        "GOP",
        "MedianIncome",
        "MigraRate",
        "BirthRate",
        "DeathRate",
        "BachelorRate",
    ]
    assert np.isnan(data.X).sum(axis=0).tolist() == [106, 106, 78, 78, 78, 78, 0]
    assert datasets.load("county", data_dir).name == "county-2016"
    assert not np.array_equal(data.y, datasets.load("county-2012", data_dir).y)


def test_real_minesweeper_splits_differ(data_dir: Path) -> None:
    first, last = (load_or_skip("minesweeper", data_dir, split=k).split for k in (0, 9))
    assert not np.array_equal(first.train, last.train)
    with pytest.raises(ValueError, match=r"`split` must be below 10 for 'minesweeper'.*got 10"):
        datasets.load("minesweeper", data_dir, split=10)


def test_real_house_with_other_neighbours(data_dir: Path) -> None:
    data = load_or_skip("house", data_dir, n_neighbors=1)
    assert data.graph.n_edges < FACTS["house"].edges
    assert data.graph.degrees.min() == 1
    assert data.y.max() == pytest.approx(5.00001)


# -- names, folders, files --------------------------------------------------------------------
def test_unknown_name_suggests_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"'cora', 'citeseer'.*got 'coar'. Did you mean 'cora'\?"):
        datasets.load("coar", tmp_path)
    with pytest.raises(ValueError, match=r"got 'qqqqqq'\.$"):
        datasets.load("qqqqqq", tmp_path)
    with pytest.raises(TypeError, match="`name` must be a string; got 3"):
        datasets.load(3, tmp_path)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "found"),
    [("Cora", "cora"), ("amazon_photo", "amazon-photo"), ("county", "county-2016")],
)
def test_names_are_found_in_other_spellings(given: str, found: str) -> None:
    assert _registry.find(given).name == found


def test_without_a_folder_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LABELTRICK_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match="set the environment variable LABELTRICK_DATA"):
        datasets.load("cora")


def test_folder_that_does_not_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = tmp_path / "nowhere"
    with pytest.raises(FileNotFoundError, match=rf"`data_dir` must .*{re.escape(str(nowhere))}"):
        datasets.load("cora", nowhere)
    monkeypatch.setenv("LABELTRICK_DATA", str(nowhere))
    with pytest.raises(FileNotFoundError, match="`LABELTRICK_DATA` must name an existing folder"):
        datasets.load("cora")


@pytest.mark.parametrize("name", FACTS)
def test_missing_file_is_named_in_full(name: str, tmp_path: Path) -> None:
    folder = tmp_path / _registry.ENTRIES[name].folder
    with pytest.raises(FileNotFoundError, match=re.escape(str(folder) + os.sep)) as caught:
        datasets.load(name, tmp_path)
    assert "Put the dataset's original files into" in str(caught.value)


def test_import_is_light() -> None:
    code = (
        "import sys, labeltrick.datasets; "
        "print([m for m in ('numba', 'polars', 'scipy', 'sklearn', 'torch') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


# -- Dataset and Split ------------------------------------------------------------------------
def tiny_dataset(**changes: Any) -> Dataset:
    values: dict[str, Any] = {
        "name": "tiny",
        "graph": Graph.from_edges([0, 1], [1, 2]),
        "X": np.ones((3, 4)),
        "y": np.array([0, 1, -1]),
        "split": Split.of([1], [0], []),
        "task": "classification",
        "metric": "accuracy",
    }
    return Dataset(**{**values, **changes})


def test_repr_is_one_short_line() -> None:
    assert (
        repr(tiny_dataset())
        == "Dataset('tiny', 3 nodes, 2 edges, 4 features, 2 classes, split 1/1/0)"
    )
    numbers = tiny_dataset(X=None, y=np.zeros(3), split=None, task="regression", metric="rmse")
    assert repr(numbers) == "Dataset('tiny', 3 nodes, 2 edges, no features, regression)"
    assert repr(Split.of([2, 0], [1], [])) == "Split(train=2, val=1, test=0)"


def test_dataset_is_frozen_and_consistent() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        tiny_dataset().name = "other"  # type: ignore[misc]
    with pytest.raises(ValueError, match=r"`X` of 'tiny' must have one row a node \(3\); got 2"):
        tiny_dataset(X=np.ones((2, 4)))
    with pytest.raises(ValueError, match="`year` of 'tiny' must have one row a node"):
        tiny_dataset(extra={"year": np.zeros(5)})
    with pytest.raises(ValueError, match="`split` of 'tiny' must hold nodes below 3; got 7"):
        tiny_dataset(split=Split.of([7], [], []))


def test_split_is_sorted_and_disjoint() -> None:
    split = Split.of([5, 1], np.array([2, 0], np.int32), [])
    assert split.train.tolist() == [1, 5]
    assert split.val.dtype == np.int64
    with pytest.raises(ValueError, match="each node in one part at most; got node 1 2 times"):
        Split.of([1, 2], [1], [])


# -- planetoid and its pickles ----------------------------------------------------------------
class Python2Pickler(pickle._Pickler):  # type: ignore[name-defined]
    """Writes bytes as Python 2 did: a plain string, which latin-1 turns into text."""

    dispatch = dict(pickle._Pickler.dispatch)  # type: ignore[attr-defined]

    def save_bytes(self, value: bytes) -> None:
        self.write(b"T" + struct.pack("<i", len(value)) + value)
        self.memoize(value)

    dispatch[bytes] = save_bytes


def dump(value: Any, path: Path, era: str = "python3") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if era == "python3":
        path.write_bytes(pickle.dumps(value, protocol=2))
        return
    with path.open("wb") as file:
        Python2Pickler(file, protocol=2).dump(value)
    old = path.read_bytes()
    old = old.replace(b"cnumpy._core.multiarray\n", b"cnumpy.core.multiarray\n")
    path.write_bytes(old.replace(b"cscipy.sparse._csr\n", b"cscipy.sparse.csr\n"))


def one_hot(classes: list[int], n_classes: int = 2) -> np.ndarray:
    return np.eye(n_classes, dtype=np.int32)[classes]


ALLX = np.array([[1, 0, 2], [0, 1, 0], [0, 0, 3], [4, 0, 0]], np.float32)
TX = np.array([[0, 5, 0], [6, 0, 0], [0, 7, 7]], np.float32)


def write_planetoid(folder: Path, key: str, era: str = "python3") -> None:
    """Seven known nodes of eight: 0…3, then 7, 4, 6 in the order of the index; 5 is missing."""
    graph = defaultdict(list, {0: [1, 1, 7], 1: [0], 2: [2, 3], 3: [2], 4: [6], 7: [0], 6: [4]})
    graph[5] = []
    parts = {
        "x": sp.csr_matrix(ALLX[:2]),
        "y": one_hot([0, 1]),
        "allx": sp.csr_matrix(ALLX),
        "ally": one_hot([0, 1, 1, 0]),
        "tx": sp.csr_matrix(TX),
        "ty": one_hot([1, 0, 1]),
        "graph": graph,
    }
    for part, value in parts.items():
        dump(value, folder / f"ind.{key}.{part}", era)
    (folder / f"ind.{key}.test.index").write_text("7\n4\n6\n")


@pytest.mark.parametrize("era", ["python2", "python3"])
def test_planetoid(tmp_path: Path, era: str) -> None:
    write_planetoid(tmp_path, "tiny", era)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        contents = read_planetoid(tmp_path, "tiny")
    assert edges_of(contents.graph) == {(0, 1), (0, 7), (2, 3), (4, 6)}
    assert contents.graph.n_nodes == 8
    assert contents.y.tolist() == [0, 1, 1, 0, 0, -1, 1, 1]
    wanted = np.zeros((8, 3), np.float32)
    wanted[[0, 1, 2, 3]] = ALLX
    wanted[[7, 4, 6]] = TX
    np.testing.assert_array_equal(contents.X.toarray(), wanted)
    assert contents.X.dtype == np.float32
    (split,) = contents.splits
    assert split.train.tolist() == [0, 1]
    assert split.val.tolist() == [2, 3]
    assert split.test.tolist() == [4, 6, 7]


def test_planetoid_through_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_planetoid(tmp_path / "planetoid", "cora")
    with pytest.raises(ValueError, match="must hold 'cora' with 2,708 nodes") as caught:
        datasets.load("cora", tmp_path)
    message = str(caught.value)
    assert str(tmp_path / "planetoid") in message
    assert "5,278 edges" in message
    assert "got 8 nodes, 2 classes, 4 edges, 3 features" in message

    counts = _registry.Counts(8, 4, 2, 3)
    entry = dataclasses.replace(_registry.ENTRIES["cora"], counts=counts)
    monkeypatch.setitem(_registry.ENTRIES, "cora", entry)
    monkeypatch.setenv("LABELTRICK_DATA", str(tmp_path))
    data = datasets.load("cora")
    assert repr(data) == "Dataset('cora', 8 nodes, 4 edges, 3 features, 2 classes, split 2/2/3)"
    assert (data.task, data.metric, data.n_splits) == ("classification", "accuracy", 1)
    with pytest.raises(ValueError, match=r"below 1 for 'cora', which has 1 official split; got 1"):
        datasets.load("cora", split=1)
    with pytest.raises(ValueError, match="`split` must be at least 0; got -1"):
        datasets.load("cora", split=-1)
    with pytest.raises(ValueError, match="`n_neighbors` must be None for 'cora'; got 3"):
        datasets.load("cora", n_neighbors=3)


@pytest.mark.parametrize("lines", ["7\n4\n", "7\n4\n4\n", "7\n4\n3\n", ""])
def test_planetoid_index_that_does_not_fit(tmp_path: Path, lines: str) -> None:
    write_planetoid(tmp_path, "tiny")
    (tmp_path / "ind.tiny.test.index").write_text(lines)
    with pytest.raises(ValueError, match=r"test\.index` must hold 3 different nodes from 4 on"):
        read_planetoid(tmp_path, "tiny")


def test_planetoid_files_that_do_not_fit(tmp_path: Path) -> None:
    write_planetoid(tmp_path, "tiny")
    dump(sp.csr_matrix(ALLX[:3]), tmp_path / "ind.tiny.allx")
    with pytest.raises(ValueError, match=r"as many rows as `ally` and `ty` \(7\); got 6"):
        read_planetoid(tmp_path, "tiny")
    dump(sp.csr_matrix(ALLX), tmp_path / "ind.tiny.allx")
    dump({0: "ab"}, tmp_path / "ind.tiny.graph")
    with pytest.raises(ValueError, match=r"ind\.tiny\.graph` must be a dict of lists of nodes"):
        read_planetoid(tmp_path, "tiny")


@pytest.mark.parametrize("era", ["python2", "python3"])
@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=">i4").reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.array([[True, False]]),
        np.array([200, 128, 0], np.uint8),
    ],
    ids=["big-endian", "fortran", "bool", "high-bytes"],
)
def test_pickled_arrays_come_back(tmp_path: Path, array: np.ndarray, era: str) -> None:
    dump(array, tmp_path / "array", era)
    found = read_pickle(tmp_path / "array")
    np.testing.assert_array_equal(found, array)
    assert found.dtype == array.dtype.newbyteorder("=")


class Call:
    """An object whose pickle asks for a function to be called."""

    def __init__(self, function: Any, *args: Any) -> None:
        self.call = (function, args)

    def __reduce__(self) -> Any:
        return self.call


@pytest.mark.parametrize("protocol", [0, 2, 4])
@pytest.mark.parametrize("inside", ["bare", "dict", "array"])
def test_malicious_pickle_runs_nothing(tmp_path: Path, inside: str, protocol: int) -> None:
    trace = tmp_path / "trace"
    # The name is refused when it is read, before the call.
    calls = [
        Call(os.mkdir, str(trace)),
        Call(eval, f"open({str(trace)!r}, 'w')"),
        Call(np.savetxt, str(trace), [1.0]),
        Call(getattr, [], "append"),
    ]
    for call in calls:
        value = {
            "bare": call,
            "dict": {0: [1, call]},
            "array": np.array([call], dtype=object),
        }[inside]
        path = tmp_path / "evil"
        path.write_bytes(pickle.dumps(value, protocol=protocol))
        with pytest.raises(ValueError, match="Nothing of it was run") as caught:
            read_pickle(path)
        assert str(path) in str(caught.value)
        assert not trace.exists()


def test_malicious_pickle_would_have_run(tmp_path: Path) -> None:
    # The control of the test above: an ordinary unpickler does make the call.
    trace = tmp_path / "trace"
    pickle.loads(pickle.dumps(Call(os.mkdir, str(trace)), protocol=2))
    assert trace.is_dir()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not a pickle",
        pickle.dumps(np.arange(100), protocol=2)[:-40],
        pickle.dumps("text", protocol=2),
        pickle.dumps(np.array(["a"]), protocol=2),
        pickle.dumps(np.array([None]), protocol=2),
    ],
    ids=["empty", "text", "cut", "string", "array of text", "array of objects"],
)
def test_damaged_pickle(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bad").write_bytes(content)
    with pytest.raises(ValueError, match=r"bad` must be a pickle of arrays, dicts and lists"):
        read_pickle(tmp_path / "bad")


# -- OGB --------------------------------------------------------------------------------------
def write_gzip(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()))


def write_ogb(folder: Path) -> None:
    write_gzip(folder / "raw/num-node-list.csv.gz", "4\n")
    write_gzip(folder / "raw/edge.csv.gz", "0,1\n1,0\n2,1\n2,2\n")
    write_gzip(folder / "raw/node-label.csv.gz", "1\n0\n\n1\n")
    for part, nodes in {"train": "2\n0\n", "valid": "1\n", "test": "3\n"}.items():
        write_gzip(folder / f"split/time/{part}.csv.gz", nodes)


def test_ogb_with_only_what_is_needed(tmp_path: Path) -> None:
    write_ogb(tmp_path)
    contents = read_ogb(tmp_path, "time")
    assert edges_of(contents.graph) == {(0, 1), (1, 2)}
    assert contents.graph.n_nodes == 4
    assert contents.y.tolist() == [1, 0, -1, 1]
    assert contents.y.dtype == np.int64
    assert contents.splits[0].train.tolist() == [0, 2]
    assert (contents.X, contents.class_names, contents.extra) == (None, None, {})


def test_ogb_with_everything(tmp_path: Path) -> None:
    write_ogb(tmp_path)
    write_gzip(tmp_path / "raw/node-feat.csv.gz", "0,1\n0,1.5\n-2,1e-3\n4,5\n")
    write_gzip(tmp_path / "raw/node_year.csv.gz", "2013\n2014\n2015\n2016\n")
    ragged = "3\r\n1,0,2,4,5\r\n\r\n0,1\r\n"
    write_gzip(tmp_path / "raw/llm-ranked-classes.csv.gz", ragged)
    names = "label idx,arxiv category\n1,arxiv cs lg\n0,arxiv cs ai\n"
    write_gzip(tmp_path / "mapping/labelidx2arxivcategeory.csv.gz", names)
    contents = read_ogb(tmp_path, "time")
    assert contents.X.dtype == np.float32
    np.testing.assert_allclose(contents.X, [[0, 1], [0, 1.5], [-2, 1e-3], [4, 5]])
    assert contents.class_names == ["arxiv cs ai", "arxiv cs lg"]
    assert contents.extra["node_year"].tolist() == [2013, 2014, 2015, 2016]
    assert contents.extra["llm_ranked_classes"].tolist() == [
        [3, -1, -1, -1, -1],
        [1, 0, 2, 4, 5],
        [-1, -1, -1, -1, -1],
        [0, 1, -1, -1, -1],
    ]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("raw/edge.csv.gz", "0,1\n1,x\n"),
        ("raw/edge.csv.gz", "0,1\n1,9\n"),
        ("raw/edge.csv.gz", "0,1\n1,\n"),
        ("raw/node-label.csv.gz", "a\nb\n"),
        ("raw/llm-ranked-classes.csv.gz", "1\n2,x\n3\n4\n"),
        ("raw/node-feat.csv.gz", "1,2\n1,x\n"),
    ],
)
def test_ogb_bad_cell_names_the_file(tmp_path: Path, file: str, text: str) -> None:
    write_ogb(tmp_path)
    write_gzip(tmp_path / file, text)
    with pytest.raises(ValueError, match=re.escape(str(tmp_path / file))):
        read_ogb(tmp_path, "time")


def test_ogb_file_that_is_not_compressed(tmp_path: Path) -> None:
    write_ogb(tmp_path)
    (tmp_path / "raw/node-feat.csv.gz").write_bytes(b"1,2\n")
    with pytest.raises(ValueError, match=r"node-feat\.csv\.gz` must be a gzip file of text"):
        read_ogb(tmp_path, "time")


# -- npz --------------------------------------------------------------------------------------
def benchmark_arrays() -> dict[str, np.ndarray]:
    # 0→1, 1→0, 2→1, a loop at 2, and a stored zero 0→3.
    adjacency = sp.csr_array(
        (np.array([1, 0, 1, 1, 1.0]), np.array([1, 3, 0, 1, 2]), np.array([0, 2, 3, 5, 5])),
        shape=(4, 4),
    )
    features = sp.csr_array(np.array([[0, 2.0], [1, 0], [0, 0], [3, 4]]))
    arrays = {"labels": np.array([0, 1, 1, 0])}
    for part, matrix in (("adj", adjacency), ("attr", features)):
        arrays |= {f"{part}_{field}": getattr(matrix, field) for field in ("data", "indices")}
        arrays |= {f"{part}_indptr": matrix.indptr, f"{part}_shape": np.array(matrix.shape)}
    return arrays


def test_benchmark_npz(tmp_path: Path) -> None:
    names = {"class_names": np.array(["a", "b"]), "attr_names": np.array(["u", None], object)}
    np.savez(tmp_path / "tiny.npz", **benchmark_arrays(), **names)
    contents = read_benchmark(tmp_path, "tiny")
    assert edges_of(contents.graph) == {(0, 1), (1, 2)}
    assert contents.graph.n_nodes == 4
    assert isinstance(contents.X, sp.csr_array)
    assert contents.X.dtype == np.float32
    np.testing.assert_array_equal(contents.X.toarray(), [[0, 2], [1, 0], [0, 0], [3, 4]])
    assert contents.y.tolist() == [0, 1, 1, 0]
    assert contents.class_names == ["a", "b"]
    # Names stored as objects would need unpickling: they are left out.
    assert contents.feature_names is None
    assert contents.splits == []


def test_benchmark_npz_that_is_wrong(tmp_path: Path) -> None:
    arrays = benchmark_arrays()
    path = tmp_path / "tiny.npz"
    np.savez(path, **{**arrays, "labels": np.array([0, None], object)})
    with pytest.raises(ValueError, match="must be a NumPy archive without pickles"):
        read_benchmark(tmp_path, "tiny")
    np.savez(path, **{**arrays, "adj_indices": np.array([1, 9, 0, 1, 2])})
    with pytest.raises(ValueError, match=r"`adj_\*` in '.*tiny\.npz' must be a CSR matrix"):
        read_benchmark(tmp_path, "tiny")
    np.savez(path, labels=arrays["labels"])
    with pytest.raises(ValueError, match=r"must hold the arrays adj_data.*it has no 'adj_data'"):
        read_benchmark(tmp_path, "tiny")
    path.write_bytes(b"PK\x03\x04 no archive")
    with pytest.raises(ValueError, match=r"tiny\.npz` must be a NumPy archive"):
        read_benchmark(tmp_path, "tiny")


def test_heterophilous_npz(tmp_path: Path) -> None:
    masks = np.eye(3, dtype=bool)
    arrays = {
        "node_features": np.array([[1, 0], [0, 1], [1, 1]], np.float64),
        "node_labels": np.array([0, 1, 0], np.int32),
        "edges": np.array([[0, 1], [2, 1]]),
        "train_masks": masks[:2],
        "val_masks": masks[1:],
        "test_masks": masks[[2, 0]],
    }
    np.savez(tmp_path / "tiny.npz", **arrays)
    contents = read_heterophilous(tmp_path, "tiny")
    assert edges_of(contents.graph) == {(0, 1), (1, 2)}
    assert contents.X.dtype == np.float32
    assert contents.y.dtype == np.int64
    parts = [(*s.train, *s.val, *s.test) for s in contents.splits]
    assert parts == [(0, 1, 2), (1, 2, 0)]
    np.savez(tmp_path / "tiny.npz", **{**arrays, "edges": arrays["edges"].T.ravel()})
    with pytest.raises(ValueError, match=r"`edges` in .* must have shape \(edges, 2\)"):
        read_heterophilous(tmp_path, "tiny")


# -- tables -----------------------------------------------------------------------------------
def test_county(tmp_path: Path) -> None:
    table = "FIPS,Name,DEM,Rate,UnemploymentRate\r\n1,a,5,,2.5\r\n2,b,,1.5,\r\n3,c,7,0.5,4\r\n"
    (tmp_path / "tiny.csv").write_text(table)
    (tmp_path / "edges.csv").write_text("src,dst\r\n0,2\r\n2,1\r\n")
    contents = read_county(tmp_path, "tiny")
    assert edges_of(contents.graph) == {(0, 2), (1, 2)}
    assert contents.feature_names == ["DEM", "Rate"]
    np.testing.assert_array_equal(contents.X, [[5, np.nan], [np.nan, 1.5], [7, 0.5]])
    np.testing.assert_array_equal(contents.y, [2.5, np.nan, 4])
    assert contents.X.dtype == contents.y.dtype == np.float64

    (tmp_path / "edges.csv").write_text("a,b\n0,2\n")
    with pytest.raises(ValueError, match=r"edges\.csv` must have a column 'src'; got a, b"):
        read_county(tmp_path, "tiny")
    (tmp_path / "tiny.csv").write_text(table.replace(",4\r", ",NA\r"))
    with pytest.raises(ValueError, match="must have a column 'UnemploymentRate' of numbers"):
        read_county(tmp_path, "tiny")


def write_house(folder: Path, points: np.ndarray) -> None:
    rest = np.arange(7 * len(points)).reshape(len(points), 7)
    np.savetxt(folder / "tiny.data", np.hstack([points, rest]), delimiter=",", fmt="%.6f")


def test_house(tmp_path: Path) -> None:
    # Two far pairs: with one neighbour each, a graph of two edges.
    write_house(tmp_path, np.array([[0, 0], [9, 9], [0, 1], [9, 8.0]]))
    contents = read_house(tmp_path, "tiny", n_neighbors=1)
    assert edges_of(contents.graph) == {(0, 2), (1, 3)}
    assert contents.X.shape == (4, 8)
    assert contents.feature_names is not None
    assert contents.feature_names[:2] == ["longitude", "latitude"]
    np.testing.assert_allclose(contents.y, np.array([6, 13, 20, 27]) / 100_000)
    with pytest.raises(ValueError, match=r"`n_neighbors` must be below .* \(4\); got 5"):
        read_house(tmp_path, "tiny")
    write_house(tmp_path, np.array([[0, 0], [9, np.nan]]))
    with pytest.raises(ValueError, match="must have coordinates on each line; row 1 has none"):
        read_house(tmp_path, "tiny", n_neighbors=1)


@pytest.mark.parametrize("k", [1, 3, 5])
def test_nearest_among_equal_points(k: int) -> None:
    # Eighty points on sixteen places: nearly every distance is tied.
    places = np.random.default_rng(0).integers(0, 4, (80, 2))
    found = _nearest(places / 100, k)
    squared = ((places[:, None] - places[None]) ** 2).sum(axis=2)
    for point, row in enumerate(squared):
        others = [other for other in range(len(row)) if other != point]
        wanted = sorted(others, key=lambda other, row=row: (row[other], other))[:k]
        assert found[point].tolist() == wanted


def write_wikipedia(folder: Path, target: str = "1,100\n0,10\n2,1\n") -> None:
    (folder / "edges.csv").write_text("id1,id2\n0,1\n1,0\n0,1\n2,2\n")
    (folder / "target.csv").write_text("id,target\n" + target)
    words = {"2": [3], "0": [0, 2, 2], "1": []}
    (folder / "features.json").write_text(json.dumps(words))


def test_wikipedia(tmp_path: Path) -> None:
    write_wikipedia(tmp_path)
    contents = read_wikipedia(tmp_path, "chameleon")
    assert edges_of(contents.graph) == {(0, 1), (2, 2)}
    np.testing.assert_allclose(contents.y, np.log([10, 100, 1]))
    assert isinstance(contents.X, sp.csr_array)
    assert contents.X.dtype == np.float32
    np.testing.assert_array_equal(contents.X.toarray(), [[1, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 1]])


def test_wikipedia_that_is_wrong(tmp_path: Path) -> None:
    write_wikipedia(tmp_path, "0,1\n1,0\n2,5\n")
    with pytest.raises(ValueError, match=r"`target` in .* must be above 0; got 0 at row 1"):
        read_wikipedia(tmp_path, "chameleon")
    write_wikipedia(tmp_path, "0,1\n1,2\n3,5\n")
    with pytest.raises(ValueError, match=r"`id` in .* must number the pages 0…2, each once"):
        read_wikipedia(tmp_path, "chameleon")
    write_wikipedia(tmp_path)
    (tmp_path / "features.json").write_text('{"9": [1]}')
    with pytest.raises(ValueError, match=r"features\.json` must map the pages 0…2 to lists"):
        read_wikipedia(tmp_path, "chameleon")


def test_subelj(tmp_path: Path) -> None:
    (tmp_path / "cora.edges").write_text("1\t2\n3\t2\n")
    (tmp_path / "cora.clusters").write_text("2\t5\n1\t4\n3\t\n")
    contents = read_subelj(tmp_path, "cora")
    assert edges_of(contents.graph) == {(0, 1), (1, 2)}
    assert contents.y.tolist() == [4, 5, -1]
    assert contents.X is None
    (tmp_path / "cora.edges").write_text("0\t2\n")
    with pytest.raises(ValueError, match=r"cora\.edges` must hold pairs of nodes.*got -1"):
        read_subelj(tmp_path, "cora")
    (tmp_path / "cora.clusters").write_text("0\t5\n1\t4\n")
    with pytest.raises(ValueError, match=r"cora\.clusters` must number the nodes 1…2, each once"):
        read_subelj(tmp_path, "cora")
