"""Search for the settings of an experiment, on validation nodes only.

    python -m experiments.tune --data-dir data --experiment table3 --method SGC --dataset pubmed
    python -m experiments.tune --experiment table3 --method "SIGN, labels" --n-trials 12

The search space is the section ``search`` of the experiment's settings. All settings are tried, or
``--n-trials`` of them at random. Splits use seeds from 1000 on, which no table reports (datasets
with an official split use that one), and their test labels are never read. As random splits are of
the same nodes, test nodes of a table may be validation nodes here. The results are printed, best
first, and entered into the settings by hand.
"""

from __future__ import annotations

import argparse
import itertools
import os
from typing import Any

import numpy as np

from experiments.record import markdown, node_split, settings
from experiments.table3_linear_gnn import METHODS, load_with_features, make

FIRST_SEED = 1000


def validation_accuracy(model: Any, data: Any, X: Any, seed: int) -> float:
    """Training labels are inputs, validation labels choose, and test labels are removed."""
    split = node_split(data, seed)
    y = np.full(data.n_nodes, -1)
    for part in (split.train, split.val):
        y[part] = data.y[part]
    model.fit(X, y, graph=data.graph, validation=split.val)
    return float(np.mean(model.predict()[split.val] == data.y[split.val]))


def candidates(space: dict[str, list[Any]], n_trials: int | None) -> list[dict[str, Any]]:
    every = [dict(zip(space, values, strict=True)) for values in itertools.product(*space.values())]
    if n_trials is None or n_trials >= len(every):
        return every
    some = np.random.default_rng(0).choice(len(every), n_trials, replace=False)
    return [every[k] for k in sorted(some)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", default=os.environ.get("LABELTRICK_DATA"))
    parser.add_argument("--experiment", default="table3", choices=["table3"])
    parser.add_argument("--method", default="SGC", choices=METHODS)
    parser.add_argument("--dataset", default="pubmed")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--n-trials", type=int)
    options = parser.parse_args()
    found = load_with_features(options.dataset, options.data_dir)
    if found is None:
        return
    data, X, _ = found
    rows = []
    for values in candidates(settings(options.experiment)["search"], options.n_trials):
        scores = [
            validation_accuracy(
                make(options.method, seed).set_params(progress=False, **values), data, X, seed
            )
            for seed in range(FIRST_SEED, FIRST_SEED + options.seeds)
        ]
        rows.append((100 * float(np.mean(scores)), values))
        print(f"{rows[-1][0]:.2f} {values}", flush=True)
    rows.sort(key=lambda row: -row[0])
    names = list(rows[0][1])
    print(markdown(["validation, %", *names],
                   [[f"{score:.2f}", *(f"{values[n]:g}" for n in names)]
                    for score, values in rows]))  # fmt: skip


if __name__ == "__main__":
    main()
