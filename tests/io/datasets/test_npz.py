"""Archives of arrays in each layout."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from labeltrick.io.datasets.npz import read_benchmark, read_heterophilous
from tests.support.dataset_files import benchmark_arrays, heterophilous_arrays
from tests.support.graphs import edges_of


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
    # Names stored as objects would need unpickling: they are not used.
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
