"""The list of public datasets."""

from __future__ import annotations

from pathlib import Path

import pytest

from labeltrick.io import datasets
from labeltrick.io.datasets import registry
from tests.support.people import invoke


# -- names, folders, files --------------------------------------------------------------------
def test_unknown_name_suggests_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"'cora', 'citeseer'.*got 'coar'. Did you mean 'cora'\?"):
        datasets.load("coar", tmp_path)
    with pytest.raises(ValueError, match=r"got 'qqqqqq'\.$"):
        datasets.load("qqqqqq", tmp_path)
    with pytest.raises(TypeError, match="`name` must be a string; got 3"):
        datasets.load(3, tmp_path)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "found"),
    [("Cora", "cora"), ("amazon_photo", "amazon-photo"), ("county", "county-2016")],
)
def test_names_are_found_in_other_spellings(given: str, found: str) -> None:
    assert registry.find(given).name == found


def test_every_entry_says_where_it_comes_from():
    for name in datasets.names():
        known = datasets.info(name)
        assert known["home"].startswith("https://")
        assert known["license"]
        assert known["source"]
        for file in known["files"]:
            assert file["url"].startswith("https://")
            assert file["verified"] in ("SHA-256", "commit", "not verified")
            assert (file["sha256"] is not None) == (file["verified"] == "SHA-256")
    assert {"cora-full", "coauthor-physics", "amazon-computers", "ogbn-products"} <= set(
        datasets.names()
    )
    assert "19,717" in invoke("datasets", "list")
    said = " ".join(invoke("datasets", "info", "pubmed").split())
    assert "kimiyoung" in said
    assert said.count("verified by its SHA-256") == 8
    assert "from a fixed commit" in " ".join(invoke("datasets", "info", "amazon-photo").split())
    assert "not verified" in " ".join(invoke("datasets", "info", "ogbn-products").split())
