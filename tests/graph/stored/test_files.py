"""Arrays in files."""

import errno
import os

import numpy as np
import polars as pl
import pytest

from labeltrick._utils.disk_full import no_space
from labeltrick.graph.stored.files import ArrayWriter


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
