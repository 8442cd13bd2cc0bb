"""Files of graph folders that were changed after they were written."""

import json
import os
import shutil

import numpy as np
import polars as pl
import pytest

from labeltrick import Graph, open_graph, save_graph
from labeltrick._utils.json_files import sealed
from labeltrick._utils.whole_files import checksum
from labeltrick.graph.stored import meta
from labeltrick.io.tables import build_graph_folder
from tests.support.commands import run_command


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


def random_graph(directed=False, n=60, m=300, seed=0):
    source, target = np.random.default_rng(seed).integers(0, n, (2, m))
    return Graph.from_edges(source, target, n_nodes=n, directed=directed)


def change_meta(folder, **changes):
    described = json.loads((folder / "meta.json").read_text())
    for name, value in changes.items():
        if value is None:
            del described[name]
        else:
            described[name] = value
    described.pop("sha256")
    (folder / "meta.json").write_text(sealed(described))


def with_ids(tmp_path):
    pl.DataFrame({"src": [10, 30], "dst": [20, 10]}).write_parquet(tmp_path / "e.parquet")
    build_graph_folder(tmp_path / "e.parquet", tmp_path / "g.lt")
    return tmp_path / "g.lt"


# -- incomplete --------------------------------------------------------------------------------
def test_a_folder_without_its_ids_is_reported(tmp_path):
    folder = with_ids(tmp_path)
    assert open_graph(folder).ids().to_list() == [10, 20, 30]
    whole = (folder / "ids.parquet").read_bytes()
    (folder / "ids.parquet").write_bytes(whole[:-5])
    with pytest.raises(ValueError, match="ids.parquet` must have .* incomplete"):
        open_graph(folder)
    (folder / "ids.parquet").unlink()
    with pytest.raises(ValueError, match="ids.parquet` must have .* it has 0"):
        open_graph(folder)


def test_ids_of_another_graph_are_reported(tmp_path):
    folder = with_ids(tmp_path)
    pl.DataFrame({"id": [1, 2, 3, 4]}).write_parquet(folder / "ids.parquet")
    with pytest.raises(ValueError, match=r"ids.parquet` must have .* bytes"):
        open_graph(folder)
    described = {"bytes": (folder / "ids.parquet").stat().st_size, "sha256": "0" * 64}
    change_meta(folder, ids=described)
    with pytest.raises(ValueError, match=r"ids.parquet` must be as it was written"):
        open_graph(folder)
    change_meta(folder, ids={**described, "sha256": checksum(folder / "ids.parquet")})
    with pytest.raises(ValueError, match=r"one id per node \(3\); it has 4"):
        open_graph(folder).ids()


def test_reversed_edges_are_checked_when_opened(tmp_path):
    folder = save_graph(random_graph(directed=True), tmp_path / "g.lt")
    os.truncate(folder / "reversed" / "indices.npy", 300)
    with pytest.raises(ValueError, match=r"reversed/indices.npy` must have .* it has 300"):
        open_graph(folder)
    shutil.rmtree(folder / "reversed")
    with pytest.raises(ValueError, match="reversed` must hold the reversed edges .* missing"):
        open_graph(folder)
    other = save_graph(random_graph(directed=True, m=200), tmp_path / "other.lt")
    shutil.copytree(other / "reversed", folder / "reversed")
    with pytest.raises(ValueError, match="must hold the reversed edges of .* its nnz is"):
        open_graph(folder)
    shutil.rmtree(folder / "reversed")
    twin = save_graph(random_graph(directed=True), tmp_path / "twin.lt")
    shutil.copytree(twin, folder / "reversed")
    with pytest.raises(ValueError, match="it is a separate graph"):
        open_graph(folder)


@pytest.mark.parametrize("version", [1, 2, "3", None])
def test_folders_of_another_version_are_refused(tmp_path, version):
    folder = save_graph(random_graph(), tmp_path / "g.lt")
    change_meta(folder, version=version)
    with pytest.raises(ValueError, match=r"of version 3; got|it lacks 'version'") as refused:
        open_graph(folder)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"files": {}},
        {"files": []},
        {"files": None},
        {"files": {"indptr.npy": {"length": 61}}},
        {"n_nodes": None},
        {"n_nodes": 7},
        {"nnz": "many"},
        {"directed": None},
        {"ranges": {}},
        {"fingerprint": None},
        {"is_reverse": "no"},
        {"ids": {}},
    ],
)
def test_wrong_descriptions_are_reported(tmp_path, changes):
    folder = save_graph(random_graph(), tmp_path / "g.lt")
    change_meta(folder, **changes)
    with pytest.raises(ValueError, match="meta.json` must describe a graph; it "):
        open_graph(folder)


def test_the_command_reports_a_wrong_description_in_one_line(tmp_path):
    folder = save_graph(random_graph(), tmp_path / "g.lt")
    described = json.loads((folder / "meta.json").read_text())
    del described["files"]["indices.npy"]["dtype"]
    for files in ({}, described["files"]):
        change_meta(folder, files=files)
        done = run_command("graph", "info", folder)
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1
        assert "must describe a graph; it lacks" in done.stderr


def edges(n=50, m=300, seed=0, weighted=False):
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, m) / 2 if weighted else None
    return rng.integers(0, n, m), rng.integers(0, n, m), weights


def test_wrong_folders_are_reported(tmp_path):
    graph = Graph.from_edges(*edges()[:2])
    folder = save_graph(graph, tmp_path / "g.lt")
    with pytest.raises(FileNotFoundError, match="must be a graph folder; it does not exist"):
        open_graph(tmp_path / "none.lt")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="has no meta.json"):
        open_graph(tmp_path / "empty")
    os.truncate(folder / "indices.npy", 300)
    with pytest.raises(ValueError, match=r"indices.npy` must have .* it has 300: .* incomplete"):
        open_graph(folder)
    (folder / "indices.npy").unlink()
    with pytest.raises(ValueError, match="it has 0"):
        open_graph(folder)
    meta = json.loads((folder / "meta.json").read_text())
    (folder / "meta.json").write_text(json.dumps({**meta, "version": 99}))
    with pytest.raises(ValueError, match="version 99"):
        open_graph(folder)
    (folder / "meta.json").write_text("{")
    with pytest.raises(ValueError, match="cannot be read"):
        open_graph(folder)
