"""Checksums of the original files."""

import pytest

from labeltrick._utils.whole_files import checksum
from labeltrick.io.datasets import registry


@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed", "minesweeper"])
def test_checksums_are_those_of_the_original_files(name, data_dir):
    entry = registry.find(name)
    for remote in entry.files:
        assert checksum(data_dir / entry.folder / remote.path) == remote.sha256
