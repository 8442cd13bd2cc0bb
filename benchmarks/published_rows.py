"""The sets, splits and published figures of `published.py`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from labeltrick.evaluation.splits import NodeSplit, split_nodes
from labeltrick.io import datasets

TUNED_GNNS = "Classic GNNs are strong baselines (NeurIPS 2024)"
PRETRAINED = "Turning tabular foundation models into graph foundation models (2025)"
PAPER = "Why propagate alone? (ICLR 2022), Table 1"


@dataclass(frozen=True)
class Row:
    """A set with a protocol, and the figure to beat; None means the best peer tuned here."""

    name: str
    dataset: str
    protocol: str
    n_splits: int
    method: str = ""
    published: float | None = None
    spread: float = 0.0
    source: str = ""
    guesses: bool = False  # ranked guesses of the class as features
    is_error: bool = False  # lower is better

    def problem(self, number: int, data_dir: str | None) -> tuple[Any, Any, NodeSplit]:
        """(the dataset, X, its split of that number)."""
        official = "official" in self.protocol
        data = datasets.load(self.dataset, data_dir, split=number if official else 0)
        X = data.X
        if self.guesses:
            X = datasets.rank_features(data.extra["llm_ranked_classes"], data.n_classes)
        elif self.dataset == "ogbn-arxiv":
            X = None
        if official:
            return data, X, data.split
        if self.protocol == "split file":
            return data, X, split_of_file(self.dataset, data_dir)
        shares = (0.1, 0.1, 0.8) if self.protocol.startswith("10/10/80") else (0.6, 0.2, 0.2)
        few = shares[0] < 0.5
        return data, X, split_nodes(data.y, shares, random_state=number, stratify=few)


def split_of_file(name: str, data_dir: str | None) -> NodeSplit:
    """The split in the folder "splits" of the data."""
    folder = Path(data_dir or os.environ.get("LABELTRICK_DATA", "."))
    with np.load(folder / "splits" / f"{name}.npz") as file:
        return NodeSplit(file["train"], file["valid"], file["test"])


SIX = "6:2:2, random"
ROWS = (
    Row("amazon-photo", "amazon-photo", "split file", 5, "GraphSAGE", 96.78, 0.23, TUNED_GNNS),
    Row("coauthor-cs", "coauthor-cs", "split file", 5, "GraphSAGE", 96.38, 0.11, TUNED_GNNS),
    Row("minesweeper", "minesweeper", "official splits", 10, "GCN", 97.86, 0.24, TUNED_GNNS),
    Row("pubmed, few labels", "pubmed", "10/10/80, stratified", 10, "G2T-FM, fine-tuned", 90.46,
        0.11, PRETRAINED),
    Row("pubmed", "pubmed", SIX, 3),
    Row("cora-ml", "cora-ml", SIX, 3),
    Row("county-2016", "county-2016", SIX, 3, is_error=True),
    Row("house", "house", SIX, 3, is_error=True),
    Row("chameleon", "chameleon", SIX, 3, is_error=True),
    Row("ogbn-arxiv, labels", "ogbn-arxiv", "official split", 1, "trainable label propagation",
        68.42, 0.01, PAPER),
    Row("ogbn-arxiv, guesses", "ogbn-arxiv", "official split", 1, guesses=True),
)  # fmt: skip
