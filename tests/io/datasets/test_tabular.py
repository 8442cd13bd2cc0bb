"""Folders of X.csv, y.csv, graph.graphml, masks.json and cat_features.txt."""

import json

import networkx as nx
import numpy as np
import pytest

from labeltrick.io.datasets.tabular import read_tabular


def edge_of(source, target):
    edge = f'<edge source="{source}" target="{target}"/>'
    return f'<graphml><graph edgedefault="undirected">{edge}</graph></graphml>'


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "X.csv").write_text("size,kind\n1.5,a\n,b\n2.5,\n3.5,a\n")
    (tmp_path / "y.csv").write_text("target\n1\n2.5\n3\n4\n")
    graph = nx.Graph([("0", "1"), ("1", "2"), ("2", "3"), ("3", "3")])
    nx.write_graphml(graph, tmp_path / "graph.graphml")
    (tmp_path / "cat_features.txt").write_text("kind\n")
    masks = {"0": {"train": [0, 1], "val": [2], "test": [3]}}
    masks["1"] = {
        "train": [True, False, False, False],
        "val": [False, True, True, False],
        "test": [False, False, False, True],
    }
    (tmp_path / "masks.json").write_text(json.dumps(masks))
    return tmp_path


def test_a_generated_folder(folder):
    found = read_tabular(folder, "vk")
    assert found.graph.n_nodes == 4
    assert found.graph.n_edges == 3  # without the loop
    np.testing.assert_array_equal(found.X, [[1.5, 0], [np.nan, 1], [2.5, np.nan], [3.5, 0]])
    assert found.y.tolist() == [1, 2.5, 3, 4]
    assert found.feature_names == ["size", "kind"]
    assert found.categorical == ["kind"]
    assert [len(found.splits), found.splits[0].train.tolist()] == [2, [0, 1]]
    assert found.splits[1].val.tolist() == [1, 2]


def test_places_of_categories_and_files_that_may_be_absent(folder):
    (folder / "cat_features.txt").write_text("1\n")
    (folder / "masks.json").unlink()
    found = read_tabular(folder, "vk")
    assert found.categorical == ["kind"]
    assert found.splits == []


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("cat_features.txt", "", "column 'kind'; got String. Name it in cat_features"),
        ("cat_features.txt", "color\n", "got 'color'"),
        ("y.csv", "target\n1\n2\n", "must have 4 rows"),
        ("y.csv", "target\na\nb\nc\nd\n", "must hold numbers in column 'target'"),
        ("graph.graphml", "<graphml><graph>", "must be GraphML"),
        ("graph.graphml", edge_of("0", "9"), "below 4.*got 9"),
        ("graph.graphml", edge_of("a", "b"), "node ids are numbers"),
        ("graph.graphml", edge_of("0", "-1"), "below 4.*got -1"),
        ("graph.graphml", edge_of("0", "9" * 30), "node ids are numbers"),
        ("graph.graphml", "<!DOCTYPE g [<!ENTITY a 'b'>]>" + edge_of("0", "1"), "without a DTD"),
        ("masks.json", '{"0": {"train": [0]}}', "train, val and test"),
        ("masks.json", '{"0": [1]}', "train, val and test"),
        ("masks.json", "[" * 100_000, "nested too deep"),
        (
            "masks.json",
            '{"0": {"train": [0.5], "val": [2], "test": [3]}}',
            "whole numbers; got 0.5",
        ),
        ("masks.json", '{"0": {"train": [-1], "val": [2], "test": [3]}}', "got -1"),
        ("masks.json", '{"0": {"train": [4], "val": [2], "test": [3]}}', "below 4; got node 4"),
        ("masks.json", '{"0": {"train": [2], "val": [2], "test": [3]}}', "node 2 2 times"),
        (
            "masks.json",
            '{"0": {"train": [true], "val": [false], "test": [false]}}',
            r"one entry per node \(4,\); got shape \(1,\)",
        ),
        ("X.csv", "size,size\n1,2\n1,2\n1,2\n1,2\n", "two columns 'size'"),
    ],
)
def test_errors_name_the_file(folder, name, text, message):
    (folder / name).write_text(text)
    with pytest.raises(ValueError, match=message) as caught:
        read_tabular(folder, "vk")
    assert str(folder) in str(caught.value)
