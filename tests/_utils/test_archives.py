"""Packed files from outside: damaged, cut, hostile. One `ValueError` that names the file."""

import bz2
import gzip
import io
import lzma
import struct
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from labeltrick import Graph
from labeltrick._utils.archives import ArrayArchive, unpack
from labeltrick.io.tables import read_problem
from tests.io.datasets.test_planetoid import write_planetoid
from tests.io.datasets.test_readers import benchmark_arrays, heterophilous_arrays, write_ogb
from tests.support.people import run_command


def npy(array):
    made = io.BytesIO()
    np.save(made, array)
    return made.getvalue()


def header_of(shape, descr="<f8"):
    """The beginning of an array file that claims this shape."""
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def write_zip(path, members, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, body in members:
            archive.writestr(name, body)
    return path


def archive(path, **options):
    return ArrayArchive(path, "Do it again.", **options)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6, dtype=">i4").reshape(2, 3)),
        np.array([True, False]),
        np.array(["a", "bé"]),
        np.array([b"ab", b"c"]),
        np.array(7),
        np.zeros((0, 3)),
    ],
)
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays_come_back(tmp_path, array, save):
    save(tmp_path / "a.npz", x=array)
    found = archive(tmp_path / "a.npz").read("x")
    np.testing.assert_array_equal(found, array)
    assert found.dtype == array.dtype.newbyteorder("=")
    assert found.shape == array.shape


HOSTILE = {
    "many rows": ([("x.npy", header_of((10**18,)))], "claims the shape"),
    "more than int64": ([("x.npy", header_of((10**30, 10**30)))], "claims the shape"),
    "negative": ([("x.npy", header_of((-8,)))], "claims the shape"),
    "too short": ([("x.npy", header_of((3,)) + b"\0" * 16)], "claims the shape"),
    "too long": ([("x.npy", header_of((3,)) + b"\0" * 32)], "claims the shape"),
    "objects": ([("x.npy", npy(np.array([None, {}], object)))], "unpickled"),
    "dates": ([("x.npy", npy(np.array(["2020-01-01"], "M8[D]")))], "neither numbers nor text"),
    "records": ([("x.npy", npy(np.zeros(2, [("a", "f4")])))], "neither numbers nor text"),
    "other format": ([("x.npy", b"\x93NUMPY\x09\x00" + b"\0" * 99)], "got"),
    "no array": ([("x.npy", b"hello")], "got"),
    "no header": ([("x.npy", b"\x93NUMPY\x01\x00\xff\xff{")], "got"),
    "header of brackets": ([("x.npy", b"\x93NUMPY\x01\x00\x00\x20" + b"(" * 8192)], "got"),
    "twice": ([("x.npy", npy(np.ones(2)))] * 2, "two members"),
    "a program": ([("x.npy", npy(np.ones(2))), ("run.sh", b"rm")], "not an array"),
    "many members": ([(f"{k}.npy", b"") for k in range(10_001)], "members"),
    "odd booleans": ([("x.npy", header_of((2,), "|b1") + b"\x01\x02")], "true and false"),
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_archives(tmp_path, case):
    members, message = HOSTILE[case]
    path = write_zip(tmp_path / "a.npz", members)
    with pytest.raises(ValueError, match=message) as caught:
        archive(path).read("x")
    assert str(path) in str(caught.value)


def test_unpacked_size_is_capped(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", x=np.zeros(10**6), y=np.zeros(10))
    assert archive(tmp_path / "a.npz", max_bytes=9 * 10**6).read("y").size == 10
    with pytest.raises(ValueError, match=r"a\.npz` must be .* more than the 8 MB allowed"):
        archive(tmp_path / "a.npz", max_bytes=8 * 10**6)


def test_a_size_that_lies_gives_no_more_than_it_says(tmp_path):
    """The directory says 200 bytes, the stream inflates to 8 MB."""
    path = write_zip(tmp_path / "a.npz", [("x.npy", npy(np.zeros(10**6)))])
    raw = path.read_bytes()
    real = struct.pack("<I", 8_000_128)
    assert raw.count(real) == 2
    path.write_bytes(raw.replace(real, struct.pack("<I", 208)))
    with pytest.raises(ValueError, match=r"a\.npz"):
        archive(path, max_bytes=1000).read("x")


def test_encrypted_and_unknown_compression(tmp_path):
    path = write_zip(tmp_path / "a.npz", [("x.npy", npy(np.ones(3)))], zipfile.ZIP_STORED)
    raw = bytearray(path.read_bytes())
    directory = raw.index(b"PK\x01\x02")
    locked = bytearray(raw)
    locked[6] |= 1
    locked[directory + 8] |= 1
    path.write_bytes(locked)
    with pytest.raises(ValueError, match=r"a\.npz` must be .* encrypted"):
        archive(path)
    odd = bytearray(raw)
    odd[8] = odd[directory + 10] = 97  # the number of another way to compress
    path.write_bytes(odd)
    with pytest.raises(ValueError, match=r"a\.npz` must be .* compression"):
        archive(path).read("x")


@pytest.mark.parametrize(
    ("ending", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)]
)
def test_text_is_unpacked_up_to_a_cap(tmp_path, ending, pack):
    path = tmp_path / f"a.csv.{ending}"
    path.write_bytes(pack(b"0" * 3_000_000))
    assert len(unpack(path, 3_000_000)) == 3_000_000
    with pytest.raises(ValueError, match=rf"a\.csv\.{ending}` must be .* more than 2 MB"):
        unpack(path, 2_000_000)
    path.write_bytes(pack(b"src,dst\n" + b"1,2\n" * 1000)[:-6])
    with pytest.raises(ValueError, match=rf"a\.csv\.{ending}` must be"):
        read_problem(path)


# -- every reader, its files cut short and changed ----------------------------------------------
GRAPHML = """<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="node" attr.name="kind" attr.type="string"/>
<graph edgedefault="undirected"><node id="a"><data key="d0">x</data></node><node id="b"/>
<edge source="a" target="b"/></graph></graphml>
"""


def write_csv(folder, ending, pack):
    path = folder / f"e.csv{ending}"
    path.write_bytes(
        pack(b"src,dst,weight\n" + b"".join(b"%d,%d,1\n" % (k, k + 1) for k in range(40)))
    )
    return path, path


def write_npz(folder, kind):
    path = folder / "g.npz"
    if kind == "scipy":
        sp.save_npz(path, sp.eye_array(12, format="csr"))
    elif kind == "benchmark":
        np.savez_compressed(path, **benchmark_arrays())
    else:
        np.savez(path, **heterophilous_arrays())
    return path, path


def write_graphml(folder):
    path = folder / "g.graphml"
    path.write_text(GRAPHML)
    return path, path


def write_parquet(folder):
    import polars as pl

    path = folder / "e.parquet"
    pl.DataFrame({"src": range(40), "dst": range(1, 41)}).write_parquet(path)
    return path, path


def write_jsonl(folder):
    path = folder / "e.jsonl"
    path.write_text("".join(f'{{"src": {k}, "dst": {k + 1}}}\n' for k in range(20)))
    return path, path


def write_pickles(folder, part):
    write_planetoid(folder, "tiny")
    return folder / "ind.tiny.graph", folder / f"ind.tiny.{part}"


def write_ogb_folder(folder, part):
    write_ogb(folder)
    return folder, folder / part


KINDS = {
    "csv": lambda f: write_csv(f, "", bytes),
    "csv.gz": lambda f: write_csv(f, ".gz", gzip.compress),
    "csv.bz2": lambda f: write_csv(f, ".bz2", bz2.compress),
    "csv.xz": lambda f: write_csv(f, ".xz", lzma.compress),
    "jsonl": write_jsonl,
    "parquet": write_parquet,
    "graphml": write_graphml,
    **{f"npz {kind}": lambda f, k=kind: write_npz(f, k)
       for kind in ("scipy", "benchmark", "masks")},
    **{f"planetoid {part}": lambda f, p=part: write_pickles(f, p)
       for part in ("graph", "allx", "ally", "ty", "test.index")},
    **{f"ogb {part}": lambda f, p=part: write_ogb_folder(f, p)
       for part in ("raw/edge.csv.gz", "raw/node-label.csv.gz", "raw/num-node-list.csv.gz",
                    "split/time/train.csv.gz")},
}  # fmt: skip


def read_or_refuse(path, damaged):
    """Read, or one line that names the file (or its folder); whether it was read."""
    try:
        return read_problem(path).n_nodes > 0
    except ValueError as error:
        message = str(error)
    assert str(path.parent) in message, f"{damaged} is not named: {message}"
    return False


@pytest.mark.parametrize("kind", KINDS)
def test_files_cut_short(tmp_path, kind):
    path, damaged = KINDS[kind](tmp_path)
    whole = damaged.read_bytes()
    assert read_or_refuse(path, damaged)
    for length in {*range(0, len(whole), max(1, len(whole) // 60)), len(whole) - 1}:
        damaged.write_bytes(whole[:length])
        was_read = read_or_refuse(path, damaged)
        if damaged.suffix in (".gz", ".bz2", ".xz", ".npz", ".parquet", ".graphml"):
            last = kind == "graphml" and length == len(whole) - 1  # the last newline
            assert last or not was_read, f"cut at {length} of {len(whole)}"


@pytest.mark.parametrize("kind", KINDS)
def test_files_with_a_changed_byte(tmp_path, kind):
    path, damaged = KINDS[kind](tmp_path)
    whole = damaged.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(120):
        raw = bytearray(whole)
        raw[rng.integers(len(raw))] ^= int(rng.integers(1, 256))
        damaged.write_bytes(raw)
        read_or_refuse(path, damaged)


def test_the_command_line_says_one_line(tmp_path):
    path = write_zip(tmp_path / "a.npz", [("x.npy", header_of((10**18,)))])
    path.write_bytes(path.read_bytes()[:-30])
    done = run_command("inspect", "--edges", path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert str(path) in done.stderr


def test_a_parquet_file_of_a_single_value(tmp_path):
    """Rows that fit into no memory, in a file of a few kilobytes."""
    import polars as pl

    path = tmp_path / "e.parquet"
    frame = pl.DataFrame({"src": np.zeros(10**6, np.int64), "dst": np.ones(10**6, np.int64)})
    frame.write_parquet(path)
    assert path.stat().st_size < 100_000
    assert read_problem(path).graph == Graph.from_edges([0], [1])


def test_a_parquet_file_is_refused_beyond_the_memory_allowed(tmp_path, monkeypatch):
    import polars as pl

    path = tmp_path / "e.parquet"
    pl.DataFrame({"src": np.zeros(10**6, np.int64), "dst": np.ones(10**6, np.int64)}).write_parquet(
        path
    )
    monkeypatch.setenv("LABELTRICK_MAX_MEMORY", "1MB")
    with pytest.raises(ValueError, match=r"e\.parquet` must be .* 2,000,000 values"):
        read_problem(path)


def test_nested_json_lines(tmp_path):
    path = tmp_path / "e.jsonl"
    path.write_text('{"src": 1, "dst": ' + "[" * 100_000 + "]" * 100_000 + "}\n")
    with pytest.raises(ValueError, match=r"e\.jsonl` must"):
        read_problem(path)


def test_a_shape_without_entries(tmp_path):
    path = tmp_path / "a.npz"
    arrays = {"row": [0], "col": [1], "data": [1.0], "shape": [10**12, 10**12], "format": b"coo"}
    np.savez(path, **{name: np.array(value) for name, value in arrays.items()})
    with pytest.raises(ValueError, match=r"a\.npz` must hold a matrix with entries; got 1 of them"):
        read_problem(path)
    np.savez(path, data=np.ones(3), format=b"csr", shape=[3, 3])
    with pytest.raises(ValueError, match=r"a\.npz` must be a square adjacency"):
        read_problem(path)
    for shape in (["3", "3"], [3.0, 3.0], [3], []):
        np.savez(path, data=np.ones(3), format=b"csr", shape=shape)
        with pytest.raises(ValueError, match=r"`shape` in '.*a\.npz' must be two whole numbers"):
            read_problem(path)
    np.savez(path, data=np.ones(3), format=b"xyz", shape=[3, 3])
    with pytest.raises(ValueError, match=r"a\.npz` must be a square adjacency"):
        read_problem(path)


def test_a_file_of_several_splits_says_which_is_used(tmp_path):
    np.savez(tmp_path / "g.npz", **heterophilous_arrays())
    problem = read_problem(tmp_path / "g.npz")
    assert problem.notes == ["only the first of the 2 splits in the file is used"]
    assert problem.split["train"].tolist() == [0]
