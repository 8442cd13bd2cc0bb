"""Full disks and interruptions: what writes a folder leaves nothing behind, and says so."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest

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
def test_a_file_that_may_not_grow_is_reported_wherever_it_is_written(tmp_path, what):
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


def test_a_disk_that_fills_up_is_reported_by_the_command(tmp_path):
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
        _, reported = running.communicate(timeout=60)
    assert running.returncode == 143
    assert "interrupted" in reported
    assert os.listdir(tmp_path) == ["e.csv"]
