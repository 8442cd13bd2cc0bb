"""The other readers, on tiny files in each layout."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from graphs import edges_of

from labeltrick.datasets._npz import read_benchmark, read_heterophilous
from labeltrick.datasets._ogb import read_ogb
from labeltrick.datasets._tables import (
    _nearest,
    read_county,
    read_house,
    read_subelj,
    read_wikipedia,
)


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
    with pytest.raises(ValueError, match=r"features\.json` must be a map of the pages 0…2 to lists"):
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
