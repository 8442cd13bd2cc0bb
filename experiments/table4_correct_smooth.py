"""Table 4: a perceptron, Correct & Smooth on it, and trainable Correct & Smooth.

    python -m experiments.table4_correct_smooth --data-dir data              # all, 10 seeds
    python -m experiments.table4_correct_smooth --datasets pubmed --seeds 2
    python -m experiments.table4_correct_smooth --write                      # into docs

Random 6:2:2 splits, a new one for each seed; ogbn-arxiv has its official one. The base is one for
all methods of a seed: 3 layers of 256 on the node's own features. λ of both steps and the scale of
the correction are the best of a small grid on the validation nodes, for each method on its own;
split rates are the paper's, chosen there too. Seeds of an official split, which differ by random
choices alone, share what the first of them found. Correct & Smooth takes base predictions as they
are, as the original does; trainable ones are trained on out-of-fold predictions unless the name
says "in sample". Where ogbn-arxiv comes without its features, ranked guesses of the class stand in
for them, 1/rank in the column of each guess.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from experiments.paper import printed
from experiments.record import (
    OFFICIAL,
    ROOT,
    Outcome,
    append,
    arguments,
    chosen,
    done,
    fit_and_score,
    load,
    node_split,
    settings,
    stored,
    table,
    write_between_markers,
)
from experiments.table3_linear_gnn import features, has_own_features
from labeltrick import CorrectAndSmooth, TrainableCorrectAndSmooth
from labeltrick.models.search import GraphSearch

DATASETS = ("pubmed", "amazon-photo", "coauthor-cs", "ogbn-arxiv", "cora-full", "ogbn-products")
SETTINGS = settings("table4")
GRID = SETTINGS["steps"]
TRAINABLE = SETTINGS["trainable"]
METHODS = [
    "MLP",
    "C&S",
    "trainable C&S",
    "trainable C&S, in sample",
    "trainable C&S, deterministic",
    "trainable C&S, end to end",
]


class Bases:
    """Predictions of the base of one split, made once for all methods."""

    def __init__(self, data: Any, X: Any, seed: int) -> None:
        self.data, self.X, self.seed = data, X, seed
        self._known: dict[str, np.ndarray] = {}

    def __call__(self, how: str) -> np.ndarray:
        if how not in self._known:
            split, truth = node_split(self.data, self.seed), np.asarray(self.data.y)
            y = np.full(len(truth), -1)
            for part in (split.train, split.val):
                y[part] = truth[part]
            model = CorrectAndSmooth(
                **SETTINGS["base"], base_predictions=how, random_state=self.seed
            )
            model.fit(self.X, y, graph=self.data.graph, validation=split.val)
            self._known[how] = model.base_prediction_
        return self._known[how]


def run(
    method: str, bases: Bases, data: Any, X: Any, seed: int, known: dict[str, Any] | None
) -> Outcome:
    """One cell: one seed of one method. ``known`` are steps, scale and split rate to take; None to
    look for them."""

    def score(model: Any, inputs: Any = None) -> Outcome:
        return fit_and_score(model, data, inputs, method, seed)

    def searched(model: Any) -> Outcome:
        """Steps and scale by validation, unless they are known."""
        if known is not None:
            return replace(score(model.set_params(**known)), chosen=known)
        search = GraphSearch(model, GRID)
        return replace(score(search), chosen=search.best_params_)

    plain: dict[str, Any] = {"calibrate": False, "random_state": seed}
    if method == "MLP":
        return score(CorrectAndSmooth(bases("in_sample"), correct=None, smooth=None))
    if method == "C&S":
        return searched(CorrectAndSmooth(bases("in_sample"), calibrate=False))
    if method == "trainable C&S, end to end":
        return score(TrainableCorrectAndSmooth(**SETTINGS["base"], mode="end_to_end", **plain), X)
    how = "in_sample" if "in sample" in method else "out_of_fold"
    rest: dict[str, Any] = {"base_predictions": how, **plain}
    if "deterministic" in method:
        exact = {"label_trick": "deterministic", **rest}
        return searched(TrainableCorrectAndSmooth(bases(how), **exact))
    rest["n_splits"] = TRAINABLE["n_splits"]
    model = TrainableCorrectAndSmooth(bases(how), split_rate=TRAINABLE["search_rate"], **rest)
    if known is not None:
        return searched(model)
    # Split rates, which cost most, for the winner alone.
    best = searched(model).chosen or {}
    found = score(model.set_params(split_rate=TRAINABLE["split_rate"], **best))
    return replace(found, chosen={**best, "split_rate": found.split_rate})


def found_before(store: Path, data: Any, method: str) -> dict[str, Any] | None:
    """What an earlier seed of an official split found, on the same features."""
    if data.name not in OFFICIAL:
        return None
    features = "own" if data.X is not None else "guesses"
    wanted = (data.name, method, features)
    rows = [o for o in stored(store) if (o.dataset, o.method, o.features) == wanted]
    return next((o.chosen for o in rows if o.chosen), None)


def main() -> None:
    parser = arguments(__doc__, DATASETS, "table4.jsonl")
    options = parser.parse_args()
    for name in options.datasets:
        data = load(name, options.data_dir)
        if data is None:
            continue
        X, _ = features(data)
        known = done(options.store, data)
        for seed in range(options.seeds):
            bases = Bases(data, X, seed)
            for method in chosen(METHODS, options):
                if (method, seed) not in known:
                    given = found_before(options.store, data, method)
                    append(options.store, run(method, bases, data, X, seed, given))

    known = stored(options.store)
    own = {name for name in {o.dataset for o in known} if has_own_features(name, options.data_dir)}

    def cell(name: str, method: str) -> str:
        """The paper's cell, unless the features are others than the paper's."""
        return printed("table4", name, method) if name in own else ""

    text = table(known, DATASETS, METHODS, cell)
    print(text)
    if options.write:
        write_between_markers(ROOT / "docs" / "correct-and-smooth.md", "table4", text)


if __name__ == "__main__":
    main()
