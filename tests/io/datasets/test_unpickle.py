"""Pickled files, read without running anything."""

from __future__ import annotations

import os
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labeltrick.io.datasets.planetoid import read_planetoid
from labeltrick.io.datasets.unpickle import read_pickle
from tests.support.dataset_files import dump, write_planetoid


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
