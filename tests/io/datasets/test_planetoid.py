"""The planetoid reader and its unpickler, on tiny files and on hostile ones."""

from __future__ import annotations

import dataclasses
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from labeltrick.io import datasets
from labeltrick.io.datasets import registry
from labeltrick.io.datasets.planetoid import read_planetoid
from tests.support.dataset_files import ALLX, TX, dump, one_hot, write_planetoid
from tests.support.graphs import edges_of


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

    counts = registry.Counts(8, 4, 2, 3)
    entry = dataclasses.replace(registry.ENTRIES["cora"], counts=counts)
    monkeypatch.setitem(registry.ENTRIES, "cora", entry)
    monkeypatch.setenv("LABELTRICK_DATA", str(tmp_path))
    data = datasets.load("cora")
    assert repr(data) == "Dataset('cora', 8 nodes, 4 edges, 3 features, 2 classes, split 2/2/3)"
    assert (data.task, data.metric, data.n_splits) == ("classification", "accuracy", 1)
    with pytest.raises(ValueError, match=r"below 1 for 'cora', which has 1 official split; got 1"):
        datasets.load("cora", split=1)
    with pytest.raises(ValueError, match="`split` must be at least 0; got -1"):
        datasets.load("cora", split=-1)
    with pytest.raises(ValueError, match="`n_neighbors` must be None for 'cora', .* got 3"):
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


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("ally", np.full((4, 2), 1), r"ind\.tiny\.ally` must be a matrix with a single 1"),
        ("ty", np.array([[0, np.nan]] * 3), r"ind\.tiny\.ty` must be a matrix with a single 1"),
        ("ally", {0: 1}, r"ind\.tiny\.ally` must be a matrix with a single 1"),
        ("y", [1, 2], r"ind\.tiny\.y` must be a matrix with a single 1"),
        ("ty", one_hot([1, 0, 1], 3), "must have the same classes; got 2 and 3"),
        ("tx", sp.csr_matrix(TX[:, :2]), "must be matrices with the same columns; `tx` is not"),
        ("allx", {0: [1]}, "must be matrices with the same columns; `allx` is not"),
        ("tx", sp.csr_matrix(TX * np.nan), "finite features; got NaN or infinity"),
        ("y", one_hot([0] * 9), r"ind\.tiny\.y` must have no more rows than `ally` \(4\); got 9"),
        ("graph", {0: [10**30]}, r"ind\.tiny\.graph` must be a dict of lists of nodes"),
        ("graph", {0: [-1]}, r"ind\.tiny\.graph` must hold pairs of nodes"),
        ("graph", {0: [99]}, r"ind\.tiny\.graph` must hold pairs of nodes"),
    ],
)
def test_planetoid_parts_that_are_wrong(
    tmp_path: Path, part: str, value: Any, message: str
) -> None:
    write_planetoid(tmp_path, "tiny")
    dump(value, tmp_path / f"ind.tiny.{part}")
    with pytest.raises(ValueError, match=message) as caught:
        read_planetoid(tmp_path, "tiny")
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize("lines", ["7\n4\n1000000000000\n", "7\n4\n" + "9" * 30, "7\n4\né\n"])
def test_planetoid_index_of_absurd_nodes(tmp_path: Path, lines: str) -> None:
    write_planetoid(tmp_path, "tiny")
    (tmp_path / "ind.tiny.test.index").write_text(lines, encoding="utf-8")
    with pytest.raises(ValueError, match=r"ind\.tiny\.test\.index` must"):
        read_planetoid(tmp_path, "tiny")
