"""Files of graph folders that were changed after they were written."""

import json

import numpy as np
import polars as pl
import pytest

from labeltrick import open_graph
from labeltrick.graph.stored import meta
from labeltrick.io.tables import build_graph_folder
from tests.support.people import run_command


def weighted_graph(tmp_path):
    """A folder with every kind of file."""
    rng = np.random.default_rng(0)
    source, target = rng.integers(0, 40, (2, 300)) * 3
    frame = pl.DataFrame({"src": source, "dst": target, "weight": rng.random(300)})
    frame.write_parquet(tmp_path / "e.parquet")
    build_graph_folder(tmp_path / "e.parquet", tmp_path / "g.lt", directed=True)
    return tmp_path / "g.lt"


def flip_a_bit(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


def test_a_changed_bit_is_found_in_every_file(tmp_path):
    folder = weighted_graph(tmp_path)
    open_graph(folder, verify=True)
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) == 13
    for path in files:
        for place in (60, path.stat().st_size - 3):  # in a header, and in the numbers
            flip_a_bit(path, place)
            with pytest.raises(ValueError, match=path.name) as caught:
                open_graph(folder)
            assert "\n" not in str(caught.value)
            flip_a_bit(path, place)
    open_graph(folder, verify=True)


def test_large_arrays_are_read_only_to_verify_them(tmp_path, monkeypatch):
    folder = weighted_graph(tmp_path)
    monkeypatch.setattr(meta, "_SMALL", 0)
    for name in ("weights.npy", "reversed/strengths.npy", "ids.parquet"):
        flip_a_bit(folder / name, (folder / name).stat().st_size // 2)
        graph = open_graph(folder)
        with pytest.raises(ValueError, match=f"{name}` must be as it was written"):
            open_graph(folder, verify=True)
        if name == "ids.parquet":
            with pytest.raises(ValueError, match=f"{name}` must be as it was written"):
                graph.ids()
        flip_a_bit(folder / name, (folder / name).stat().st_size // 2)
    assert len(open_graph(folder, verify=True).ids()) == 40


def test_the_command_verifies(tmp_path):
    folder = weighted_graph(tmp_path)
    done = run_command("graph", "info", folder, "--verify", "--json")
    assert json.loads(done.stdout)["verified"] is True
    flip_a_bit(folder / "weights.npy", 500)
    done = run_command("graph", "info", folder, "--verify")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "weights.npy` must be as it was written" in done.stderr
