"""The other readers, on tiny files in each layout."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from labeltrick.io.datasets.npz import read_benchmark, read_heterophilous
from labeltrick.io.datasets.ogb import read_ogb
from labeltrick.io.datasets.tables import (
    _nearest,
    read_county,
    read_house,
    read_labels,
    read_subelj,
    read_wikipedia,
)
from tests.support.graphs import edges_of


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


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("split/time/train.csv.gz", "2\n4\n", r"line 2 must be a node from 0 to 3; got 4"),
        ("split/time/train.csv.gz", "2\n\n0\n", "line 2 must be a node from 0 to 3; got -1"),
        ("split/time/test.csv.gz", "3\n1\n", "each node in at most one part; got node 1 2 times"),
        ("split/time/test.csv.gz", "3\n3\n", "each node in at most one part; got node 3 2 times"),
        ("raw/node-label.csv.gz", "1\n0\n1\n", r"one entry per node \(4,\); got shape \(3,\)"),
        ("raw/node-label.csv.gz", "1\n0\n1\n-7\n", "or −1 for a missing one; got -7 at index 3"),
        ("raw/num-node-list.csv.gz", "1000000000000\n", r"one entry per node \(1000000000000,\)"),
        ("raw/num-node-list.csv.gz", "-4\n", r"the number of nodes of one graph; got \[-4\]"),
        ("raw/num-node-list.csv.gz", "2\n2\n", r"the number of nodes of one graph; got \[2, 2\]"),
        ("raw/node-feat.csv.gz", "1\n2\n3\n", r"one row of features per node \(4\); got 3 rows"),
        ("raw/node-feat.csv.gz", "1\n2\n3\ninf\n", "finite features; got infinity"),
        ("raw/node_year.csv.gz", "2013\n", r"one row of node_year per node \(4\); got 1 rows"),
        ("mapping/labelidx2x.csv.gz", "class,name\n0,a\n", "classes below 1.*got class 1"),
        ("mapping/labelidx2x.csv.gz", "class,name\n0,a\n2,b\n", "name the classes 0…1, each once"),
        ("mapping/labelidx2x.csv.gz", "class,name\n0,a\n1,a\n", "classes with different names"),
    ],
)
def test_ogb_parts_that_do_not_fit(tmp_path: Path, file: str, text: str, message: str) -> None:
    write_ogb(tmp_path)
    write_gzip(tmp_path / file, text)
    with pytest.raises(ValueError, match=message) as caught:
        read_ogb(tmp_path, "time")
    assert str(tmp_path) in str(caught.value)


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
    with pytest.raises(ValueError, match=r"tiny\.npz` must hold CSR matrices; got: `adj_\*`"):
        read_benchmark(tmp_path, "tiny")
    np.savez(path, labels=arrays["labels"])
    with pytest.raises(ValueError, match=r"must hold the arrays adj_data.*it has no 'adj_data'"):
        read_benchmark(tmp_path, "tiny")
    path.write_bytes(b"PK\x03\x04 no archive")
    with pytest.raises(ValueError, match=r"tiny\.npz` must be a NumPy archive"):
        read_benchmark(tmp_path, "tiny")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.array([0, np.nan, 1, 0]), "must hold whole numbers; got nan at index 1"),
        (np.array([0, 0.5, 1, 0]), "must hold whole numbers; got 0.5 at index 1"),
        (np.array([0, 1, np.inf, 0]), "must hold whole numbers; got inf at index 2"),
        (np.array([0, 1, 1]), r"one entry per node \(4,\); got shape \(3,\)"),
        (np.eye(4), r"one entry per node \(4,\); got shape \(4, 4\)"),
        (np.array(["a", "b", "a", "b"]), "must hold whole numbers; got <U1"),
        (np.array([0, -3, 1, 0]), "or −1 for a missing one; got -3 at index 1"),
        (np.array([0, 2**63, 1, 0], np.uint64), "must hold whole numbers; got 9223372036854775808"),
    ],
)
def test_benchmark_labels_are_not_cast(tmp_path: Path, labels: np.ndarray, message: str) -> None:
    np.savez(tmp_path / "tiny.npz", **{**benchmark_arrays(), "labels": labels})
    with pytest.raises(ValueError, match=r"`labels` in '.*tiny\.npz' " + ".*" + message):
        read_benchmark(tmp_path, "tiny")


def test_whole_numbers_in_other_types_are_labels(tmp_path: Path) -> None:
    for labels in (np.array([0.0, 1, -1, 0]), np.array([0, 1, -1, 0], np.int8)):
        np.savez(tmp_path / "tiny.npz", **{**benchmark_arrays(), "labels": labels})
        assert read_benchmark(tmp_path, "tiny").y.tolist() == [0, 1, -1, 0]


def test_benchmark_parts_that_do_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "tiny.npz"
    arrays = benchmark_arrays()
    for changed, message in (
        ({"class_names": np.array(["a"])}, "classes below 1.*got class 1"),
        ({"attr_data": np.array([1, np.nan, 1, 1])}, "finite features; got NaN or infinity"),
        ({"attr_data": np.array([1, 1e300, 1, 1])}, "finite features; got NaN or infinity"),
        ({"attr_indptr": np.array([0, 1, 2, 4]), "attr_shape": np.array([3, 2])}, "got 3 rows"),
    ):
        np.savez(path, **{**arrays, **changed})
        with pytest.raises(ValueError, match=message) as caught:
            read_benchmark(tmp_path, "tiny")
        assert str(path) in str(caught.value)


def heterophilous_arrays() -> dict[str, np.ndarray]:
    masks = np.eye(3, dtype=bool)
    return {
        "node_features": np.array([[1, 0], [0, 1], [1, 1]], np.float64),
        "node_labels": np.array([0, 1, 0], np.int32),
        "edges": np.array([[0, 1], [2, 1]]),
        "train_masks": masks[:2],
        "val_masks": masks[1:],
        "test_masks": masks[[2, 0]],
    }


def test_heterophilous_npz(tmp_path: Path) -> None:
    arrays = heterophilous_arrays()
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


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"train_masks": np.eye(4, dtype=bool)[:2]}, r"same shape \(splits, 3\).*got \(2, 4\)"),
        ({"val_masks": np.eye(3, dtype=bool)}, r"same shape \(splits, 3\).*\(3, 3\)"),
        ({"test_masks": np.array([True, False, True])}, r"same shape \(splits, 3\).*\(3,\)"),
        (
            {"train_masks": np.eye(3)[:2]},
            "`train_masks` in .* must hold true and false; got float64",
        ),
        ({"train_masks": np.array([[5, 0, 0], [1, 0, 0]])}, "must hold true and false; got int64"),
        ({"val_masks": np.eye(3, dtype=bool)[:2]}, "split 0 of .* got node 0 2 times"),
        ({"node_labels": np.array([0, np.nan, 1])}, "`node_labels` in .* got nan at index 1"),
        ({"node_labels": np.array([0, 1])}, r"`node_labels` in .* one entry per node \(3,\)"),
        ({"node_features": np.ones((2, 2))}, "must hold pairs of nodes"),
        ({"node_features": np.ones(3)}, "`node_features` in .* must have one row per node"),
        (
            {"node_features": np.full((3, 1), np.inf)},
            "`node_features` in .* row 0 .* holds infinity",
        ),
        (
            {"node_features": np.full((3, 1), 1e300)},
            "`node_features` in .* row 0 .* holds infinity",
        ),
        ({"node_features": np.array([["a"]] * 3)}, "`node_features` in .* must hold numbers"),
        ({"edges": np.array([[0, -1]])}, "must hold pairs of nodes.*got -1"),
        ({"edges": np.array([[0, 3]])}, "must hold pairs of nodes.*got 3"),
        (
            {"edges": np.array([[0, 1.5]])},
            "must hold pairs of nodes.*integer node ids; got float64",
        ),
    ],
)
def test_heterophilous_parts_that_do_not_fit(
    tmp_path: Path, changed: dict[str, np.ndarray], message: str
) -> None:
    np.savez(tmp_path / "tiny.npz", **{**heterophilous_arrays(), **changed})
    with pytest.raises(ValueError, match=message) as caught:
        read_heterophilous(tmp_path, "tiny")
    assert str(tmp_path / "tiny.npz") in str(caught.value)


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
    with pytest.raises(ValueError, match="must have a numeric column 'UnemploymentRate'"):
        read_county(tmp_path, "tiny")


def write_house(folder: Path, points: np.ndarray) -> None:
    rest = np.arange(7 * len(points)).reshape(len(points), 7)
    np.savetxt(folder / "tiny.data", np.hstack([points, rest]), delimiter=",", fmt="%.6f")


def test_house(tmp_path: Path) -> None:
    # Two far pairs: with one neighbor each, a graph of two edges.
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
    with pytest.raises(ValueError, match="must have coordinates on each line; line 2 has none"):
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
    with pytest.raises(
        ValueError, match=r"target.csv`, row 3, column 'target' must be above 0; got 0"
    ):
        read_wikipedia(tmp_path, "chameleon")
    write_wikipedia(tmp_path, "0,1\n1,2\n3,5\n")
    with pytest.raises(ValueError, match=r"`id` in .* must number the pages 0…2, each once"):
        read_wikipedia(tmp_path, "chameleon")
    write_wikipedia(tmp_path)
    (tmp_path / "features.json").write_text('{"9": [1]}')
    with pytest.raises(
        ValueError, match=r"features\.json` must be a map of the pages 0…2 to lists"
    ):
        read_wikipedia(tmp_path, "chameleon")


@pytest.mark.parametrize(
    "words",
    ['{"0": [0.5]}', '{"0": [-1]}', '{"0": [1e30]}', '{"0": 3}', "[" * 100_000, '{"a": [1]}'],
)
def test_wikipedia_words_that_are_wrong(tmp_path: Path, words: str) -> None:
    write_wikipedia(tmp_path)
    (tmp_path / "features.json").write_text(words)
    with pytest.raises(ValueError, match=r"features\.json` must be a map of the pages 0…2"):
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


def test_labels_and_edges(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "tiny.edge.gz", "wt") as file:
        file.write("0\t1\n1\t0\n0\t1\n2\t2\n1\t2\n")
    (tmp_path / "tiny.label").write_text("3\n0\n-1\n")
    contents = read_labels(tmp_path, "tiny")
    assert edges_of(contents.graph) == {(0, 1), (1, 2)}
    assert contents.y.tolist() == [3, 0, -1]
    assert contents.X is None
    (tmp_path / "tiny.label").write_text("3\n-2\n")
    with pytest.raises(ValueError, match=r"tiny\.label` must hold classes from 0 on.*got -2"):
        read_labels(tmp_path, "tiny")
    (tmp_path / "tiny.label").write_text("3\n1\n")
    with pytest.raises(ValueError, match=r"tiny\.edge\.gz` must hold pairs of nodes"):
        read_labels(tmp_path, "tiny")
