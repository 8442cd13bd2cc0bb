"""The planetoid reader and its unpickler, on tiny files and on hostile ones."""

from __future__ import annotations

import dataclasses
import os
import pickle
import struct
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from labeltrick.io import datasets
from labeltrick.io.datasets import registry
from labeltrick.io.datasets.planetoid import read_planetoid
from labeltrick.io.datasets.unpickle import read_pickle
from tests.support.graphs import edges_of


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
        with pytest.raises(ValueError, match="Nothing in it was executed") as caught:
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


def test_a_memo_that_would_fill_the_memory(tmp_path: Path) -> None:
    (tmp_path / "bad").write_bytes(b"\x80\x02Nr" + struct.pack("<I", 2**31) + b".")
    with pytest.raises(ValueError, match=r"bad` must be a pickle.* memo index .* in 9 bytes"):
        read_pickle(tmp_path / "bad")


def test_one_list_under_many_names(tmp_path: Path) -> None:
    write_planetoid(tmp_path, "tiny")
    shared = [1] * 100_000
    dump(dict.fromkeys(range(1000), shared), tmp_path / "ind.tiny.graph")
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
