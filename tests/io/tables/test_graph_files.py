"""Files that hold a whole graph."""

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

from labeltrick import Graph
from labeltrick.io.tables import (
    Roles,
    from_pyg,
    read_problem,
)
from tests.support.dataset_files import heterophilous_arrays


def test_a_shape_without_entries(tmp_path):
    path = tmp_path / "a.npz"
    arrays = {"row": [0], "col": [1], "data": [1.0], "shape": [10**12, 10**12], "format": b"coo"}
    np.savez(path, **{name: np.array(value) for name, value in arrays.items()})
    with pytest.raises(ValueError, match=r"a\.npz` must hold a matrix with entries; got 1 of them"):
        read_problem(path)
    np.savez(path, data=np.ones(3), format=b"csr", shape=[3, 3])
    with pytest.raises(ValueError, match=r"a\.npz` must be a square adjacency"):
        read_problem(path)
    for shape in (["3", "3"], [3.0, 3.0], [3], []):
        np.savez(path, data=np.ones(3), format=b"csr", shape=shape)
        with pytest.raises(ValueError, match=r"`shape` in '.*a\.npz' must be two whole numbers"):
            read_problem(path)
    np.savez(path, data=np.ones(3), format=b"xyz", shape=[3, 3])
    with pytest.raises(ValueError, match=r"a\.npz` must be a square adjacency"):
        read_problem(path)


def test_a_file_of_several_splits_says_which_is_used(tmp_path):
    np.savez(tmp_path / "g.npz", **heterophilous_arrays())
    problem = read_problem(tmp_path / "g.npz")
    assert problem.notes == ["only the first of the 2 splits in the file is used"]
    assert problem.split["train"].tolist() == [0]


def test_scipy_archives(tmp_path):
    A = sp.random_array((20, 20), density=0.2, rng=0)
    A = (A + A.T).tocsr()
    sp.save_npz(tmp_path / "a.npz", A)
    problem = read_problem(tmp_path / "a.npz")
    assert problem.graph == Graph.from_scipy(A)
    frame = pl.DataFrame({"id": list(range(19, -1, -1)), "y": ["a", "b"] * 10})
    frame.write_csv(tmp_path / "n.csv")
    joined = read_problem(tmp_path / "a.npz", tmp_path / "n.csv", Roles(target="y"))
    assert joined.labels.values.tolist() == frame["y"].to_list()[::-1]
    np.savez(tmp_path / "other.npz", x=np.ones(3))
    with pytest.raises(ValueError, match="it holds x"):
        read_problem(tmp_path / "other.npz")
    np.savez(tmp_path / "objects.npz", data=np.array([{}, 1], dtype=object))
    with pytest.raises(ValueError, match=r"objects.npz"):
        read_problem(tmp_path / "objects.npz")


def test_graphml(tmp_path):
    networkx = pytest.importorskip("networkx")
    G = networkx.karate_club_graph()
    networkx.write_graphml(G, tmp_path / "karate.graphml")
    problem = read_problem(tmp_path / "karate.graphml", roles=Roles(target="club"))
    assert problem.graph == Graph.from_networkx(G)
    assert set(problem.labels.values) == {"Mr. Hi", "Officer"}
    (tmp_path / "cut.graphml").write_text("<graphml><graph><node id='1'/>")
    with pytest.raises(ValueError, match="must be GraphML"):
        read_problem(tmp_path / "cut.graphml")


def test_graphml_says_which_data_are_used(tmp_path):
    networkx = pytest.importorskip("networkx")
    G = networkx.karate_club_graph()
    for k, (_, _, data) in enumerate(G.edges(data=True)):
        data |= {"kind": "ab"[k % 2], "since": 2000 + k}
    networkx.write_graphml(G, tmp_path / "k.graphml")
    problem = read_problem(tmp_path / "k.graphml", roles=Roles(target="club"))
    assert problem.notes[0] == "edges: weight weight; not used: kind, since"
    pl.DataFrame({"id": [str(k) for k in G], "y": ["a", "b"] * 17}).write_csv(tmp_path / "n.csv")
    other = read_problem(tmp_path / "k.graphml", tmp_path / "n.csv", Roles(target="y"))
    assert "node data in k.graphml are not used, because there is --nodes: club" in other.notes


def test_columns_of_an_archive_are_replaced_by_a_table_and_said(tmp_path):
    arrays = heterophilous_arrays()
    np.savez(tmp_path / "a.npz", **arrays)
    n = len(arrays["node_features"])
    pl.DataFrame({"id": range(n), "y": ["a", "b"] * (n // 2) + ["a"] * (n % 2)}).write_csv(
        tmp_path / "n.csv"
    )
    problem = read_problem(tmp_path / "a.npz", tmp_path / "n.csv", Roles(target="y"))
    said = "in a.npz are not used, because there is --nodes"
    assert f"features, labels and split {said}" in problem.notes


def test_pyg_data():
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data").Data(
        x=torch.ones(3, 2),
        y=torch.tensor([0, 1, 0]),
        edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]),
        train_mask=torch.tensor([True, False, False]),
    )
    problem = from_pyg(data)
    assert problem.graph == Graph.from_edges([0, 1], [1, 2])
    assert problem.split["train"].tolist() == [0]
    assert problem.labels.values.tolist() == ["0", "1", "0"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"train_mask": [True, False]},
            r"`train_mask` of Data must have one entry per node \(3,\)",
        ),
        ({"val_mask": [True, False, False, True]}, r"`val_mask` of Data must have one entry"),
        ({"test_mask": [0.5, 0.0, 0.0]}, "`test_mask` of Data must hold true and false"),
        ({"train_mask": [2, 0, 1]}, "`train_mask` of Data must hold true and false"),
        ({"val_mask": [True, True, False]}, "each node in at most one part; got node 0"),
        ({"train_mask": None}, "`train_mask` of Data must be present"),
        ({"y": [0, 1]}, r"`y` of Data must have one row per node \(3\); got 2"),
        ({"x": [[1.0], [2.0]]}, r"`x` of Data must have one row per node \(3\); got 2"),
    ],
)
def test_pyg_data_that_does_not_fit(changed, message):
    torch = pytest.importorskip("torch")
    values = {
        "x": [[1.0], [2.0], [3.0]],
        "y": [0, 1, 0],
        "train_mask": [True, False, False],
        "val_mask": [False, True, False],
        "test_mask": [False, False, True],
        **changed,
    }
    tensors = {name: torch.tensor(v) for name, v in values.items() if v is not None}
    edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    data = pytest.importorskip("torch_geometric.data").Data(
        edge_index=edges, num_nodes=3, **tensors
    )
    with pytest.raises(ValueError, match=message):
        from_pyg(data)


def test_the_first_of_several_masks_is_used_and_said():
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data").Data(
        edge_index=torch.tensor([[0, 1], [1, 0]]),
        num_nodes=2,
        train_mask=torch.tensor([[True, False], [False, True]]),
    )
    problem = from_pyg(data)
    assert problem.split["train"].tolist() == [0]
    assert problem.notes == ["only the first of the splits in the masks is used"]
