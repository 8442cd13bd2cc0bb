"""What a dataset holds."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labeltrick import Graph
from labeltrick.io.datasets.dataset import Dataset, Split


# -- Dataset and Split ------------------------------------------------------------------------
def tiny_dataset(**changes: Any) -> Dataset:
    values: dict[str, Any] = {
        "name": "tiny",
        "path": Path("tiny"),
        "graph": Graph.from_edges([0, 1], [1, 2]),
        "X": np.ones((3, 4)),
        "y": np.array([0, 1, -1]),
        "split": Split.of([1], [0], []),
        "task": "classification",
        "metric": "accuracy",
    }
    return Dataset(**{**values, **changes})


def test_repr_is_one_short_line() -> None:
    assert (
        repr(tiny_dataset())
        == "Dataset('tiny', 3 nodes, 2 edges, 4 features, 2 classes, split 1/1/0)"
    )
    numbers = tiny_dataset(X=None, y=np.zeros(3), split=None, task="regression", metric="rmse")
    assert repr(numbers) == "Dataset('tiny', 3 nodes, 2 edges, no features, regression)"
    assert repr(Split.of([2, 0], [1], [])) == "Split(train=2, val=1, test=0)"


def test_dataset_is_frozen_and_consistent() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        tiny_dataset().name = "other"  # type: ignore[misc]
    with pytest.raises(ValueError, match=r"one row of features per node \(3\); got 2 rows"):
        tiny_dataset(X=np.ones((2, 4)))
    with pytest.raises(ValueError, match=r"tiny` must hold one row of year per node"):
        tiny_dataset(extra={"year": np.zeros(5)})
    with pytest.raises(ValueError, match="a split of nodes below 3; got node 7"):
        tiny_dataset(splits=[Split.of([7], [], [])])


def test_split_is_sorted_and_disjoint() -> None:
    split = Split.of([5, 1], np.array([2, 0], np.int32), [])
    assert split.train.tolist() == [1, 5]
    assert split.val.dtype == np.int64
    with pytest.raises(ValueError, match="each node in at most one part; got node 1 2 times"):
        Split.of([1, 2], [1], [])
