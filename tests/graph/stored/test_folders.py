"""Graph folders as others may find them: incomplete, wrongly described, in the way of another; and
disks that are full."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import labeltrick.graph.stored.graph as stored_graph
from labeltrick import Graph, build_graph, open_graph, save_graph
from labeltrick._utils import temporary_folders
from labeltrick._utils.disk_full import no_space
from labeltrick._utils.json_files import sealed
from labeltrick._utils.whole_files import checksum
from labeltrick.graph.stored.files import ArrayWriter
from labeltrick.io.tables import build_graph_folder


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


def run_cli(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "labeltrick", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def with_ids(tmp_path):
    pl.DataFrame({"src": [10, 30], "dst": [20, 10]}).write_parquet(tmp_path / "e.parquet")
    build_graph_folder(tmp_path / "e.parquet", tmp_path / "g.lt")
    return tmp_path / "g.lt"


# -- incomplete --------------------------------------------------------------------------------
def test_a_folder_without_its_ids_is_told(tmp_path):
    folder = with_ids(tmp_path)
    assert open_graph(folder).ids().to_list() == [10, 20, 30]
    whole = (folder / "ids.parquet").read_bytes()
    (folder / "ids.parquet").write_bytes(whole[:-5])
    with pytest.raises(ValueError, match="ids.parquet` must have .* incomplete"):
        open_graph(folder)
    (folder / "ids.parquet").unlink()
    with pytest.raises(ValueError, match="ids.parquet` must have .* it has 0"):
        open_graph(folder)


def test_ids_of_another_graph_are_told(tmp_path):
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


@pytest.mark.parametrize("name", ["reversed", "g.lt"])
def test_a_directed_graph_may_have_any_name(tmp_path, name, monkeypatch):
    graph = random_graph(directed=True)
    save_graph(graph, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    stored = open_graph(name)
    assert stored.T == graph.T
    assert graph == open_graph(tmp_path / name / "reversed").T
    monkeypatch.chdir(tmp_path / name / "reversed")
    assert graph == open_graph(".").T


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
def test_wrong_descriptions_are_told(tmp_path, changes):
    folder = save_graph(random_graph(), tmp_path / "g.lt")
    change_meta(folder, **changes)
    with pytest.raises(ValueError, match="meta.json` must describe a graph; it "):
        open_graph(folder)


def test_the_command_tells_a_wrong_description_in_one_line(tmp_path):
    folder = save_graph(random_graph(), tmp_path / "g.lt")
    described = json.loads((folder / "meta.json").read_text())
    del described["files"]["indices.npy"]["dtype"]
    for files in ({}, described["files"]):
        change_meta(folder, files=files)
        done = run_cli("graph", "info", folder)
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1
        assert "must describe a graph; it lacks" in done.stderr


# -- in the way --------------------------------------------------------------------------------
def test_only_graph_folders_are_overwritten(tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    for text in ('{"name": "my site"}', "[1]", "{", '{"format": "another"}'):
        (site / "meta.json").write_text(text)
        (site / "mine.txt").write_text("keep")
        with pytest.raises(FileExistsError, match="something else"):
            save_graph(random_graph(), site, overwrite=True)
        assert (site / "mine.txt").read_text() == "keep"
    assert os.listdir(tmp_path) == ["site"]


def test_the_old_folder_is_there_until_the_new_one_is(tmp_path, monkeypatch):
    old, new = random_graph(), random_graph(seed=1)
    folder = save_graph(old, tmp_path / "g.lt")
    removed = []
    remove = shutil.rmtree

    def watched(path, **options):
        if path.name == "old":
            removed.append((open_graph(folder) == new, open_graph(path) == old))
        remove(path, **options)

    monkeypatch.setattr(temporary_folders.shutil, "rmtree", watched)
    save_graph(new, folder, overwrite=True)
    assert removed == [(True, True)]
    assert os.listdir(tmp_path) == ["g.lt"]


def test_the_old_folder_comes_back_if_the_new_one_cannot_take_its_place(tmp_path, monkeypatch):
    folder = save_graph(random_graph(), tmp_path / "g.lt")
    rename = Path.rename

    def broken(self, target):
        if target == folder and self.name == "new":
            raise OSError(errno.EIO, "the disk broke")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", broken)
    with pytest.raises(OSError, match="the disk broke"):
        save_graph(random_graph(seed=1), folder, overwrite=True)
    assert open_graph(folder) == random_graph()
    assert os.listdir(tmp_path) == ["g.lt"]


def test_a_link_to_a_graph_folder_stays_a_link(tmp_path):
    save_graph(random_graph(), tmp_path / "g.lt")
    (tmp_path / "link").symlink_to(tmp_path / "g.lt")
    save_graph(random_graph(seed=1), tmp_path / "link", overwrite=True)
    assert (tmp_path / "link").is_symlink()
    assert open_graph(tmp_path / "g.lt") == random_graph(seed=1)


def test_a_failed_build_leaves_no_folders_above_it(tmp_path):
    (tmp_path / "e.csv").write_text("src,dst\n0,1\n1,\n")
    (tmp_path / "there").mkdir()
    before = sorted(os.listdir(tmp_path))
    for deep in ("a/b/g.lt", "there/c/g.lt"):
        with pytest.raises(ValueError, match="row 3, column 'dst'"):
            build_graph_folder(tmp_path / "e.csv", tmp_path / deep)
        with pytest.raises(ValueError, match="node ids ≥ 0"):
            build_graph(lambda: [([0], [-1], None)], tmp_path / deep)
    assert sorted(os.listdir(tmp_path)) == before
    assert os.listdir(tmp_path / "there") == []


def test_a_taken_place_is_told_before_the_table_is_read(tmp_path):
    folder = save_graph(random_graph(), tmp_path / "g.lt")
    (tmp_path / "broken.csv.gz").write_bytes(b"no archive")
    with pytest.raises(FileExistsError, match="must be new"):
        build_graph_folder(tmp_path / "broken.csv.gz", folder)


# -- windows -----------------------------------------------------------------------------------
@pytest.mark.parametrize("at_once", [1, 7, 100, 1 << 16])
def test_cuts_hold_to_their_size_however_rows_are_read(tmp_path, monkeypatch, at_once):
    graph = random_graph(n=2000, m=9000)
    stored = open_graph(save_graph(graph, tmp_path / "g.lt"))
    monkeypatch.setattr(stored_graph, "_ROWS_AT_ONCE", at_once)
    for most in (10, 100, 1000, 5000, 10**9):
        cuts = stored.cuts(most)
        sizes = 4 * np.diff(graph.indptr[cuts]) + 8 * np.diff(cuts)
        assert (cuts[0], cuts[-1]) == (0, stored.n_nodes)
        assert ((sizes <= most) | (np.diff(cuts) == 1)).all()
        # nor smaller than they need be
        assert len(cuts) == 2 or ((sizes[:-1] + sizes[1:]) > most).all()


# -- full disks --------------------------------------------------------------------------------
def test_full_disks_have_one_wording():
    told = no_space(OSError(errno.ENOSPC, "No space left on device"), "/data", "a file", "pay")
    assert (told.errno, str(told).split("] ")[1]) == (
        errno.ENOSPC, "no space for a file in '/data' (No space left on device): pay",
    )  # fmt: skip
    other = OSError(errno.EIO, "broken")
    assert no_space(other, "/data") is other


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this system")
def test_writing_to_a_full_disk_says_so(tmp_path):
    (tmp_path / "a.npy").symlink_to("/dev/full")
    writer = ArrayWriter(tmp_path / "a.npy", np.int64)
    with pytest.raises(OSError, match="No space") as caught:
        writer.append(np.arange(10**5))
    assert caught.value.errno == errno.ENOSPC
    writer.abandon()
    with pytest.raises(pl.exceptions.PolarsError) as rust:
        pl.DataFrame({"id": range(1000)}).write_parquet("/dev/full")
    assert no_space(rust.value, "/data").errno == errno.ENOSPC


LIMITED = """
import resource, signal, sys
import numpy as np
from labeltrick import Graph, build_graph, save_graph
from labeltrick.io.tables import build_graph_folder
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
place, what = sys.argv[1:]
source, target = np.random.default_rng(0).integers(0, 5000, (2, 60_000))
make = {
    "build": lambda: build_graph(lambda: [(source, target, None)], place + "/deep/g.lt"),
    "save": lambda: save_graph(Graph.from_edges(source, target), place + "/deep/g.lt"),
    "unpack": lambda: build_graph_folder(place + "/e.csv.gz", place + "/deep/g.lt"),
    "convert": lambda: build_graph_folder(place + "/e.csv", place + "/deep/g.lt"),
    "ids": lambda: build_graph_folder(place + "/e.parquet", place + "/deep/g.lt"),
}[what]
Graph.from_edges(source, target)  # kernels are compiled, and stored, before
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
try:
    make()
except OSError as error:
    print(error.errno, error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no limits of files on this system")
@pytest.mark.parametrize("what", ["build", "save", "unpack", "convert", "ids"])
def test_a_file_that_may_not_grow_is_told_wherever_it_is_written(tmp_path, what):
    ids = np.random.default_rng(0).integers(0, 10**15, (2, 60_000))
    frame = pl.DataFrame({"src": ids[0], "dst": ids[1]})
    frame.write_parquet(tmp_path / "e.parquet")
    frame.write_csv(tmp_path / "e.csv")
    subprocess.run(["gzip", "-k", str(tmp_path / "e.csv")], check=True)
    before = sorted(os.listdir(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path), what],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.startswith(f"{errno.EFBIG} [Errno {errno.EFBIG}] no space for "), done.stderr
    assert "deep" in done.stdout
    assert sorted(os.listdir(tmp_path)) == before


def test_a_disk_that_fills_up_is_told_by_the_command(tmp_path):
    """On a disk of one megabyte, where we may mount one."""
    place = tmp_path / "small"
    place.mkdir()
    mount = f"mount -t tmpfs -o size=1m tmpfs {place}"
    tried = ["unshare", "-rm", "sh", "-c", mount]
    if shutil.which("unshare") is None or subprocess.run(tried, capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")
    ids = np.random.default_rng(0).integers(0, 10**6, (2, 200_000))
    frame = pl.DataFrame({"src": ids[0], "dst": ids[1]})
    frame.write_csv(tmp_path / "e.csv")
    subprocess.run(["gzip", "-k", str(tmp_path / "e.csv")], check=True)
    frame.write_parquet(tmp_path / "e.parquet")
    for name in ("e.csv.gz", "e.csv", "e.parquet"):
        build = f"{sys.executable} -m labeltrick graph build {tmp_path / name} {place}/g.lt"
        done = subprocess.run(
            [
                "unshare",
                "-rm",
                "sh",
                "-c",
                f"{mount} && {build}; code=$?; ls -A {place}; exit $code",
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1, done.stderr
        assert done.stdout == ""  # nothing is left there
        # The first command on a machine tells that it compiles, whichever test that is.
        lines = [line for line in done.stderr.splitlines() if "compiling kernels" not in line]
        assert len(lines) == 1
        assert "no space for" in lines[0] or "building the graph takes about" in lines[0]


# -- the command -------------------------------------------------------------------------------
def test_node_numbers_beyond_the_given_count_are_told_by_file_and_row(tmp_path):
    (tmp_path / "e.csv").write_text("src,dst\n0,1\n1,7\n")
    with pytest.raises(ValueError, match=r"e.csv`, row 3, column 'dst' must be .* 0 to 4; got 7"):
        build_graph_folder(tmp_path / "e.csv", tmp_path / "g.lt", n_nodes=5)
    done = run_cli("graph", "build", tmp_path / "e.csv", tmp_path / "g.lt", "--n-nodes=-1")
    assert done.returncode == 2
    assert "`--n-nodes` must be at least 1; got -1" in done.stderr
    assert os.listdir(tmp_path) == ["e.csv"]


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGTERM on this system")
def test_sigterm_leaves_nothing_behind(tmp_path):
    ids = np.random.default_rng(0).integers(0, 10**5, (2, 2_000_000))
    pl.DataFrame({"src": ids[0], "dst": ids[1]}).write_csv(tmp_path / "e.csv")
    command = [sys.executable, "-m", "labeltrick", "graph", "build", "--max-memory", "10MB"]
    with subprocess.Popen(
        [*command, str(tmp_path / "e.csv"), str(tmp_path / "deep" / "g.lt")],
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        while not list((tmp_path / "deep").glob(".labeltrick-tmp-*")):
            assert running.poll() is None
            time.sleep(0.01)
        running.send_signal(signal.SIGTERM)
        _, told = running.communicate(timeout=60)
    assert running.returncode == 143
    assert "interrupted" in told
    assert os.listdir(tmp_path) == ["e.csv"]
