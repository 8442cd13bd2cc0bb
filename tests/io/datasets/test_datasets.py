"""Public datasets: the real files where they are there, names, folders, what `load` returns."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from labeltrick.io import datasets
from labeltrick.io.datasets import registry
from labeltrick.io.datasets.dataset import Dataset


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
    "ogbn-products": Facts(2449029, None, None, 47, 100, (196615, 39323, 2213091), 1),
    "cora-full": Facts(19793, 63421, 126842, 70, 8710),
    "coauthor-cs": Facts(18333, 81894, 163788, 15, 6805),
    "coauthor-physics": Facts(34493, 247962, 495924, 5, 8415),
    "amazon-computers": Facts(13752, 245861, 491722, 10, 767),
    "amazon-photo": Facts(7650, 119081, 238162, 8, 745),
    "cora-ml": Facts(2995, 8158, 16316, 7, 2879),
    "cora-subelj": Facts(23166, 89157, 178314, 70, 0),
    "county-2012": Facts(3217, 9467, 18934, 0, 7, metric="rmse"),
    "county-2016": Facts(3217, 9467, 18934, 0, 7, metric="rmse"),
    "house": Facts(20640, 71012, 142024, 0, 8, metric="rmse"),
    "vk": Facts(54028, None, None, 0, 14, metric="rmse"),
    "avazu": Facts(1297, None, None, 0, 9, metric="rmse"),
    "chameleon": Facts(2277, 31371, 2 * 31371 + 50, 0, 3132, metric="rmse"),
    "minesweeper": Facts(10000, 39402, 78804, 2, 7, (5000, 2500, 2500), 10, "roc_auc"),
}


def load_or_skip(name: str, data_dir: Path, **options: Any) -> Dataset:
    entry = registry.ENTRIES[name].found_in(data_dir)
    folder = data_dir / entry.folder
    files = [remote.path for remote in entry.files if not remote.unpack]
    if not folder.is_dir() or not all((folder / path).is_file() for path in files):
        pytest.skip(f"'{folder}' is not there; put the files of '{name}' into it")
    return datasets.load(name, data_dir, **options)


def test_other_forms_of_a_dataset(tmp_path: Path) -> None:
    full, house = registry.ENTRIES["cora-full"], registry.ENTRIES["house"]
    assert full.found_in(tmp_path) is full
    (tmp_path / "cora-full").mkdir()
    (tmp_path / "cora-full" / "cora-full.label").touch()
    assert full.found_in(tmp_path).folder == "cora-full"
    about = datasets.info("cora-full", tmp_path)
    assert (about["here"], about["features_here"], about["edges_here"]) == (True, False, True)
    assert about["files"]  # the features can still be downloaded
    (tmp_path / "npz").mkdir()
    (tmp_path / "npz" / "cora_full.npz").touch()
    assert full.found_in(tmp_path) is full  # with the features
    (tmp_path / "house").mkdir()
    (tmp_path / "house" / "cal_housing.data").touch()
    assert not datasets.info("house", tmp_path)["edges_here"]
    (tmp_path / "house" / "graph.graphml").touch()
    assert house.found_in(tmp_path).reader == "tabular:read_tabular"  # with the edges
    assert datasets.info("house", tmp_path)["edges_here"]
    with pytest.raises(ValueError, match="`n_neighbors` must be None for 'house'"):
        datasets.load("house", tmp_path, n_neighbors=3)


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
        assert name in ("ogbn-arxiv", "cora-full", "cora-subelj")
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


def test_real_house_with_other_neighbors(data_dir: Path) -> None:
    data = load_or_skip("house", data_dir, n_neighbors=1)
    assert data.graph.n_edges < FACTS["house"].edges
    assert data.graph.degrees.min() == 1
    assert data.y.max() == pytest.approx(5.00001)


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
    folder = tmp_path / registry.ENTRIES[name].folder
    with pytest.raises(FileNotFoundError, match=re.escape(str(folder) + os.sep)) as caught:
        datasets.load(name, tmp_path)
    assert "Put the original files of the dataset into" in str(caught.value)


def test_import_is_light() -> None:
    code = (
        "import sys, labeltrick.io.datasets; "
        "print([m for m in ('numba', 'polars', 'scipy', 'sklearn', 'torch') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
