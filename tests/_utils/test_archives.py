"""Packed files from outside: damaged, cut, hostile. One `ValueError` that names the file."""

import bz2
import gzip
import io
import lzma
import struct
import zipfile

import numpy as np
import pytest

from labeltrick._utils.archives import ArrayArchive, unpack
from labeltrick.io.tables import read_problem


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
