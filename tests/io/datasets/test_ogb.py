"""Folders of OGB."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from labeltrick.io.datasets.ogb import read_ogb
from tests.support.dataset_files import write_gzip, write_ogb
from tests.support.graphs import edges_of


def test_ogb_with_only_what_is_needed(tmp_path: Path) -> None:
    write_ogb(tmp_path)
    contents = read_ogb(tmp_path, "time")
    assert edges_of(contents.graph) == {(0, 1), (1, 2)}
    assert contents.graph.n_nodes == 4
    assert contents.y.tolist() == [1, 0, -1, 1]
    assert contents.y.dtype == np.int64
    assert contents.splits[0].train.tolist() == [0, 2]
    assert (contents.X, contents.class_names, contents.extra) == (None, None, {})


def test_ogb_with_everything(tmp_path: Path) -> None:
    write_ogb(tmp_path)
    write_gzip(tmp_path / "raw/node-feat.csv.gz", "0,1\n0,1.5\n-2,1e-3\n4,5\n")
    write_gzip(tmp_path / "raw/node_year.csv.gz", "2013\n2014\n2015\n2016\n")
    ragged = "3\r\n1,0,2,4,5\r\n\r\n0,1\r\n"
    write_gzip(tmp_path / "raw/llm-ranked-classes.csv.gz", ragged)
    names = "label idx,arxiv category\n1,arxiv cs lg\n0,arxiv cs ai\n"
    write_gzip(tmp_path / "mapping/labelidx2arxivcategeory.csv.gz", names)
    contents = read_ogb(tmp_path, "time")
    assert contents.X.dtype == np.float32
    np.testing.assert_allclose(contents.X, [[0, 1], [0, 1.5], [-2, 1e-3], [4, 5]])
    assert contents.class_names == ["arxiv cs ai", "arxiv cs lg"]
    assert contents.extra["node_year"].tolist() == [2013, 2014, 2015, 2016]
    assert contents.extra["llm_ranked_classes"].tolist() == [
        [3, -1, -1, -1, -1],
        [1, 0, 2, 4, 5],
        [-1, -1, -1, -1, -1],
        [0, 1, -1, -1, -1],
    ]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("raw/edge.csv.gz", "0,1\n1,x\n"),
        ("raw/edge.csv.gz", "0,1\n1,9\n"),
        ("raw/edge.csv.gz", "0,1\n1,\n"),
        ("raw/node-label.csv.gz", "a\nb\n"),
        ("raw/llm-ranked-classes.csv.gz", "1\n2,x\n3\n4\n"),
        ("raw/node-feat.csv.gz", "1,2\n1,x\n"),
    ],
)
def test_ogb_bad_cell_names_the_file(tmp_path: Path, file: str, text: str) -> None:
    write_ogb(tmp_path)
    write_gzip(tmp_path / file, text)
    with pytest.raises(ValueError, match=re.escape(str(tmp_path / file))):
        read_ogb(tmp_path, "time")


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("split/time/train.csv.gz", "2\n4\n", r"line 2 must be a node from 0 to 3; got 4"),
        ("split/time/train.csv.gz", "2\n\n0\n", "line 2 must be a node from 0 to 3; got -1"),
        ("split/time/test.csv.gz", "3\n1\n", "each node in at most one part; got node 1 2 times"),
        ("split/time/test.csv.gz", "3\n3\n", "each node in at most one part; got node 3 2 times"),
        ("raw/node-label.csv.gz", "1\n0\n1\n", r"one entry per node \(4,\); got shape \(3,\)"),
        ("raw/node-label.csv.gz", "1\n0\n1\n-7\n", "or −1 for a missing one; got -7 at index 3"),
        ("raw/num-node-list.csv.gz", "1000000000000\n", r"one entry per node \(1000000000000,\)"),
        ("raw/num-node-list.csv.gz", "-4\n", r"the number of nodes of one graph; got \[-4\]"),
        ("raw/num-node-list.csv.gz", "2\n2\n", r"the number of nodes of one graph; got \[2, 2\]"),
        ("raw/node-feat.csv.gz", "1\n2\n3\n", r"one row of features per node \(4\); got 3 rows"),
        ("raw/node-feat.csv.gz", "1\n2\n3\ninf\n", "finite features; got infinity"),
        ("raw/node_year.csv.gz", "2013\n", r"one row of node_year per node \(4\); got 1 rows"),
        ("mapping/labelidx2x.csv.gz", "class,name\n0,a\n", "classes below 1.*got class 1"),
        ("mapping/labelidx2x.csv.gz", "class,name\n0,a\n2,b\n", "name the classes 0…1, each once"),
        ("mapping/labelidx2x.csv.gz", "class,name\n0,a\n1,a\n", "classes with different names"),
    ],
)
def test_ogb_parts_that_do_not_fit(tmp_path: Path, file: str, text: str, message: str) -> None:
    write_ogb(tmp_path)
    write_gzip(tmp_path / file, text)
    with pytest.raises(ValueError, match=message) as caught:
        read_ogb(tmp_path, "time")
    assert str(tmp_path) in str(caught.value)


def test_ogb_file_that_is_not_compressed(tmp_path: Path) -> None:
    write_ogb(tmp_path)
    (tmp_path / "raw/node-feat.csv.gz").write_bytes(b"1,2\n")
    with pytest.raises(ValueError, match=r"node-feat\.csv\.gz` must be a gzip file of text"):
        read_ogb(tmp_path, "time")
