"""SGC, SIGN, GCN and APPNP compared with PyTorch Geometric's, in one run.

    python benchmarks/linear_gnn.py --data-dir data           # some minutes
    python benchmarks/linear_gnn.py --data-dir data --write   # docs/results/benchmarks.md

SGC and SIGN: seconds from features, edges and labels to the best validation accuracy of the worse
of the two, including propagation; labels are not inputs, because PyG's models do not support this.
GCN and APPNP: one forward and backward pass. Each time is the best of several runs.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from measure import ROOT, best_time, describe_machine, markdown, versions, write_between_markers
from torch_geometric.nn import APPNP as PygAppnp
from torch_geometric.nn import GCN, MLP
from training_peers import PEERS, Curve, layer_step

from labeltrick import SGC, SIGN
from labeltrick.evaluation.splits import split_nodes
from labeltrick.io import datasets
from labeltrick.nn.backbones import adjacency_for, build_backbone

MODELS = {"SGC": SGC, "SIGN": SIGN}


def load(name: str, data_dir: str | None) -> tuple[Any, np.ndarray, Any]:
    """(dataset, dense features, split); missing features are replaced by guesses of the class."""
    data = datasets.load(name, data_dir)
    if data.X is not None:
        X = np.asarray(data.X.todense() if hasattr(data.X, "todense") else data.X, np.float32)
    else:
        X = datasets.rank_features(data.extra["llm_ranked_classes"], data.n_classes)
    return data, X, data.split if name == "ogbn-arxiv" else split_nodes(data.y, random_state=0)


def ours(name: str, data: Any, X: Any, split: Any) -> Curve:
    """(seconds, accuracy) after each epoch, from the progress callback and the history."""
    y = np.full(data.n_nodes, -1)
    for part in (split.train, split.val):
        y[part] = data.y[part]
    times: list[float] = []
    stages: list[int] = []

    def note(done: int, total: int) -> None:
        times.append(time.perf_counter() - begin)
        stages.append(total)

    begin = time.perf_counter()
    model = MODELS[name](label_trick=None, calibrate=False, progress=note)
    model.fit(X, y, graph=data.graph, validation=split.val)
    ends = times[-len(model.history_) :]  # the last stage is the training
    return [(at, step[2]) for at, step in zip(ends, model.history_, strict=True)]


def seconds_to(curve: Curve, goal: float) -> float:
    return next(at for at, accuracy in curve if accuracy >= goal)


def compare_training(name: str, model: str, data_dir: str | None, repeats: int) -> list[str]:
    data, X, split = load(name, data_dir)
    edge_index = data.graph.to_edge_index("torch")
    features = data.X if data.X is not None else X
    ours(model, data, features, split)  # kernels are compiled before any clock runs
    mine = [ours(model, data, features, split) for _ in range(repeats)]
    theirs = [PEERS[model](X, edge_index, data.y, split.train, split.val) for _ in range(repeats)]
    top = [max(accuracy for _, accuracy in curves[0]) for curves in (mine, theirs)]
    goal = min(top)
    here, there = (min(seconds_to(c, goal) for c in curves) for curves in (mine, theirs))
    return [
        name,
        model,
        f"{100 * goal:.2f}",
        f"{here:.2f}",
        f"{there:.2f}",
        f"{there / here:.1f}×",
        f"{100 * top[0]:.2f}",
        f"{100 * top[1]:.2f}",
    ]


def compare_layers(name: str, data_dir: str | None) -> list[list[str]]:
    data, X, _ = load(name, data_dir)
    x, edges = torch.from_numpy(X), data.graph.to_edge_index("torch")
    c, hidden = int(data.y.max()) + 1, 256
    rows = []
    for backbone in ("gcn", "appnp"):
        options: dict[str, Any] = {"hidden": hidden, "n_layers": 3, "dropout": 0.0}
        mine = build_backbone(backbone, x.shape[1], c, **options)
        P = adjacency_for(backbone, data.graph, damping=0.9, n_steps=10)
        theirs: torch.nn.Module = GCN(x.shape[1], hidden, 3, c)
        if backbone == "appnp":
            theirs = _PygAppnpNet(x.shape[1], hidden, c)
        here = best_time(layer_step(mine, x, P))
        there = best_time(layer_step(theirs, x, edges))
        line = [name, backbone, f"{1000 * here:.0f}", f"{1000 * there:.0f}", f"{there / here:.1f}×"]
        rows.append(line)
        print(line, flush=True)
    return rows


class _PygAppnpNet(torch.nn.Module):
    def __init__(self, n_features: int, hidden: int, n_outputs: int) -> None:
        super().__init__()
        self.perceptron = MLP([n_features, hidden, hidden, n_outputs], norm=None)
        self.spread = PygAppnp(10, 0.1)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.spread(self.perceptron(x), edge_index)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", default=os.environ.get("LABELTRICK_DATA"))
    parser.add_argument("--datasets", nargs="+", default=["pubmed", "ogbn-arxiv"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="write the tables into the docs")
    options = parser.parse_args()
    fits, layers = [], []
    for name in options.datasets:
        for model in MODELS:
            fits.append(compare_training(name, model, options.data_dir, options.repeats))
            print(fits[-1], flush=True)
        layers += compare_layers(name, options.data_dir)
    text = (
        markdown(FIT_HEADER, fits)
        + "\n"
        + markdown(LAYER_HEADER, layers)
        + f"\nMeasured on: {describe_machine()}. "
        + f"Versions: {versions('numpy', 'torch', 'torch_geometric')}.\n"
    )
    print(text)
    if options.write:
        write_between_markers(Path(ROOT) / "docs" / "results" / "benchmarks.md", "linear-gnn", text)


FIT_HEADER = [
    "dataset",
    "model",
    "validation accuracy to reach, %",
    "labeltrick, s",
    "PyG, s",
    "ratio",
]
FIT_HEADER += ["best accuracy of labeltrick, %", "best accuracy of PyG, %"]
LAYER_HEADER = ["dataset", "network (one step)", "labeltrick, ms", "PyG, ms", "ratio"]

if __name__ == "__main__":
    main()
