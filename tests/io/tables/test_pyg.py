"""PyTorch Geometric's Data as a problem."""

import pytest

from labeltrick import Graph
from labeltrick.io.tables import from_pyg


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
