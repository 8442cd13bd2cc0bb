"""Parquet files whose headers declare what is not so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from labeltrick import Graph
from labeltrick.io.tables import read_frame, read_problem
from labeltrick.io.tables.parquet_pages import check_pages

ROOM = 1 << 30
# 2^61 bytes were asked for where a bit of a page's number of values was flipped, and polars ended
# the process. The reading below runs in a process of its own, so that such an end is seen.
READ_ALL = """
import resource, sys
from pathlib import Path
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
from labeltrick.io.tables import read_frame
whole = Path(sys.argv[1]).read_bytes()
damaged = Path(sys.argv[2])
for place in range(4, len(whole) - 4, int(sys.argv[3])):
    for bit in (1, 64, 128):
        changed = bytearray(whole)
        changed[place] ^= bit
        damaged.write_bytes(changed)
        try:
            read_frame(damaged)
        except ValueError:
            pass
print("read them all")
"""


def make_frame(n_rows: int = 500) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "id": np.arange(n_rows),
            "kind": rng.choice(["a", "b", "c"], n_rows),
            "value": rng.normal(size=n_rows),
            "list": [[1, 2, 3][: k % 4] for k in range(n_rows)],
            "gap": [None if k % 3 else f"text {k}" for k in range(n_rows)],
            "flag": rng.random(n_rows) < 0.5,
        }
    )


@pytest.mark.parametrize("compression", ["zstd", "snappy", "uncompressed", "gzip", "lz4"])
@pytest.mark.parametrize("row_group_size", [None, 37])
def test_whole_files_pass(tmp_path: Path, compression: str, row_group_size: int | None) -> None:
    frame = make_frame()
    path = tmp_path / "whole.parquet"
    frame.write_parquet(
        path, compression=compression, row_group_size=row_group_size, data_page_size=512
    )
    check_pages(path, ROOM)
    assert read_frame(path).equals(frame)


def test_a_column_larger_than_the_room_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "whole.parquet"
    make_frame().write_parquet(path)
    with pytest.raises(ValueError, match="declares"):
        check_pages(path, 100)


@pytest.mark.parametrize("cut", [0, 3, 11, 40, 200])
def test_a_file_cut_short_is_refused(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "whole.parquet"
    make_frame().write_parquet(path)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(ValueError, match="cut|like Parquet|empty|footer"):
        check_pages(path, ROOM)


@pytest.mark.parametrize("compression", ["uncompressed", "zstd"])
def test_no_flipped_bit_ends_the_process(tmp_path: Path, compression: str) -> None:
    path = tmp_path / "whole.parquet"
    make_frame(20).write_parquet(path, compression=compression)
    step = "3" if compression == "zstd" else "5"
    command = [sys.executable, "-c", READ_ALL, path, tmp_path / "damaged.parquet", step]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == "read them all", done.stderr[-2000:]


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
