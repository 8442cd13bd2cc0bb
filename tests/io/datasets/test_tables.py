"""Datasets that come as tables: counties, houses, articles, citations."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from labeltrick.io.datasets.tables import (
    _nearest,
    read_county,
    read_house,
    read_labels,
    read_subelj,
    read_wikipedia,
)
from tests.support.graphs import edges_of


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
