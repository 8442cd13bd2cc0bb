"""Files that were cut short or changed are read correctly or refused, in every format."""

import bz2
import gzip
import lzma
import struct
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from labeltrick._utils.archives import ArrayArchive
from labeltrick.io.tables import read_problem
from tests.support.commands import run_command
from tests.support.dataset_files import (
    benchmark_arrays,
    heterophilous_arrays,
    write_ogb,
    write_planetoid,
)


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
