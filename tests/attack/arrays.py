"""Changes to .npy and .npz files: other types, shapes and values, and broken containers."""

from __future__ import annotations

import io
import random
import warnings
import zipfile
from typing import Any

import numpy as np

from .mutations import change_bytes

Members = dict[str, bytes]


def npy(array: Any) -> bytes:
    """A .npy file; arrays of objects are pickled, as foreign files may be."""
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asanyarray(array), allow_pickle=True)
    return out.getvalue()


def unpack(data: bytes) -> Members:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def pack(members: Members, method: int = zipfile.ZIP_STORED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, compress_type=method)
    return out.getvalue()


def change_archive(rng: random.Random, data: bytes) -> tuple[bytes, str]:
    """One member or the container changed."""
    members = unpack(data)
    name = rng.choice(list(members))
    kind = rng.choice(("values",) * 5 + ("header", "header", "bytes", "container", "container"))
    if kind == "container":
        return _change_container(rng, data, members, name)
    if kind == "values":
        array = np.load(io.BytesIO(members[name]), allow_pickle=False)
        members[name], what = change_array(rng, array)
    elif kind == "header":
        members[name], what = change_header(rng, members[name])
    else:
        members[name], what = change_bytes(rng, members[name])
    return pack(members, rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))), f"{name}: {what}"


def change_array(rng: random.Random, array: np.ndarray) -> tuple[bytes, str]:
    """Another array in its place."""
    kind = rng.choice(list(ARRAYS))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return npy(ARRAYS[kind](rng, array)), kind
        except (ValueError, TypeError, OverflowError, IndexError):  # not for this type
            return npy(np.zeros(rng.choice((0, 1, 3)))), "other zeros"


def _one_value(rng: random.Random, array: np.ndarray) -> np.ndarray:
    if array.dtype.kind in "OSU" or not array.size:
        return np.array(["x"] * max(1, array.size))
    found = array.copy()
    limits = np.iinfo(array.dtype) if array.dtype.kind in "iu" else None
    values: tuple[Any, ...] = (-1, 0, 1, array.size, array.size + 1, 10**6)
    values += (limits.min, limits.max) if limits else (np.nan, np.inf, -np.inf, 1e308, 0.5)
    for _ in range(rng.choice((1, 1, 3))):
        found.flat[rng.randrange(found.size)] = rng.choice(values)
    return found


def _other_type(rng: random.Random, array: np.ndarray) -> np.ndarray:
    types = ("i1", "i2", "u4", "i8", "u8", "f2", "f4", "f8", "c16", "?", "S3", "U5", "O", "M8[s]")
    return array.astype(rng.choice(types))


def _other_shape(rng: random.Random, array: np.ndarray) -> np.ndarray:
    shapes = ((-1, 1), (1, -1), (), (0,), (1, 1, -1), (-1,))
    shape = rng.choice(shapes)
    flat = array.ravel()
    if shape == ():
        return flat[0] if flat.size else np.float64(0)
    return flat[:0] if shape == (0,) else flat.reshape(shape)


def _resized(rng: random.Random, array: np.ndarray) -> np.ndarray:
    length = len(array) + rng.choice((-1, 1, -len(array), len(array)))
    return np.resize(array, (max(0, length), *array.shape[1:]))


ARRAYS = {
    "other values": _one_value,
    "another type": _other_type,
    "another shape": _other_shape,
    "another length": _resized,
    "shuffled": lambda rng, a: np.random.default_rng(rng.getrandbits(32)).permutation(a),
    "reversed": lambda rng, a: a[::-1],
    "negative": lambda rng, a: -a - 1,
    "twice as large": lambda rng, a: a * 2 + 1,
    "fractions": lambda rng, a: a.astype(float) + 0.5,
    "missing values": lambda rng, a: np.full(a.shape, np.nan),
    "records": lambda rng, a: np.zeros(max(1, a.size), [("a", "i8"), ("b", "f4")]),
    "objects": lambda rng, a: np.array([None, {}, "x"], dtype=object),
}


def change_header(rng: random.Random, data: bytes) -> tuple[bytes, str]:
    """A .npy file whose header promises something else."""
    if data[:6] != b"\x93NUMPY" or len(data) < 128:
        return change_bytes(rng, data)
    length = int.from_bytes(data[8:10], "little")
    text, rest = data[10 : 10 + length], data[10 + length :]
    old, new = rng.choice(HEADERS)
    found = text.replace(old, new, 1)
    if found == text:
        return change_bytes(rng, data)
    body = found.rstrip().ljust(length - 1) + b"\n" if len(found.rstrip()) < length else found
    start = data[:8] + len(body).to_bytes(2, "little")
    return start + body + rest, f"header: {old.decode()} is {new.decode()[:30]}"


HEADERS = (
    (b"(", b"(1000000000000,"),
    (b"(", b"(-1,"),
    (b"(", b"(99999999999999999999999,"),
    (b"False", b"True"),
    (b"<", b">"),
    (b"<f8", b"|O"),
    (b"<f8", b"<f4"),
    (b"<i4", b"<i8"),
    (b"<i8", b"<i4"),
    (b"<i", b"<u"),
    (b"<", b"<V"),
    (b"'descr'", b"'other'"),
    (b"{", b"{{"),
    (b"{", b"__import__('os').system('true') or {"),
    (b"(", b"(" * 90),
)


def _change_container(
    rng: random.Random, data: bytes, members: Members, name: str
) -> tuple[bytes, str]:
    kind = rng.choice(("missing", "renamed", "swapped", "doubled", "more", "bytes", "bytes"))
    if kind == "missing":
        del members[name]
    elif kind == "renamed":
        members[rng.choice(("x.npy", "../x.npy", "", name[:-4], "é.npy"))] = members.pop(name)
    elif kind == "swapped":
        other = rng.choice(list(members))
        members[name], members[other] = members[other], members[name]
    elif kind == "doubled":
        return pack(members)[:-22] + pack(members), "two archives in one"
    elif kind == "more":
        members[rng.choice(("more.npy", "more", "labels.npy"))] = rng.choice((b"", npy([1, 2])))
    else:
        found, what = change_bytes(rng, data)
        return found, f"container: {what}"
    return pack(members), f"{name}: {kind}"


def same_archive(rng: random.Random, data: bytes) -> tuple[bytes, str]:
    """The same arrays, stored in another way."""
    members = unpack(data)
    kind = rng.choice(("compressed", "another order", "another byte order", "wider"))
    if kind == "compressed":
        return pack(members, rng.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2))), kind
    if kind == "another order":
        names = rng.sample(list(members), len(members))
        return pack({name: members[name] for name in names}), kind
    for name, member in members.items():
        array = np.load(io.BytesIO(member), allow_pickle=False)
        if array.dtype.kind not in "iuf":
            continue
        if kind == "wider":
            array = array.astype({"i": "i8", "u": "i8", "f": "f8"}[array.dtype.kind])
        else:
            array = array.astype(array.dtype.newbyteorder(">"))
        members[name] = npy(array)
    return pack(members), kind
