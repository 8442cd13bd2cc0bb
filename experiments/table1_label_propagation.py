"""Table 1: label propagation and trainable label propagation, from labels and edges only.

    python -m experiments.table1_label_propagation --data-dir data             # all, 10 seeds
    python -m experiments.table1_label_propagation --datasets pubmed --seeds 2
    python -m experiments.table1_label_propagation --write                     # into docs

Splits are random, 6:2:2, with a new one for each seed; ogbn-arxiv and ogbn-products have official
splits, where seeds only change the random choices of a method. As in the paper, λ = 0.6 with
self-loops, symmetric normalization and 50 steps (trained weights use the limit, which differs by
less than 1e-11). Split rate, ridge and epoch are chosen on the validation nodes, whose labels are
never inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from experiments.paper import printed
from experiments.paper_recipes import PaperLabelPropagation, Schedule
from experiments.record import (
    OFFICIAL,
    ROOT,
    append,
    arguments,
    chosen,
    fit_and_score,
    load,
    settings,
    stored,
    table,
    write_between_markers,
)
from labeltrick import LabelPropagation, TrainableLabelPropagation
from labeltrick.models.search import GraphSearch

DATASETS = ("pubmed", "ogbn-arxiv", "cora-subelj", "cora-full", "ogbn-products")
SETTINGS = settings("table1")
COMMON: dict[str, Any] = SETTINGS["shared"]
SPLIT_RATES: list[float] = SETTINGS["stochastic"].pop("split_rate")


def trainable(**options: Any) -> TrainableLabelPropagation:
    return TrainableLabelPropagation(**{**COMMON, "norm": SETTINGS["trainable"]["norm"], **options})


def by_ridge(**options: Any) -> GraphSearch:
    """Choose the ridge on the validation nodes."""
    return GraphSearch(trainable(**options), {"ridge": SETTINGS["trainable"]["ridge"]})


def random_splits(seed: int, rate: float | None) -> TrainableLabelPropagation:
    """Train on random splits at every rate of the paper's grid, or at one chosen before."""
    rates: Any = SPLIT_RATES if rate is None else rate
    schedule = SETTINGS["stochastic"]
    return trainable(label_trick="stochastic", split_rate=rates, random_state=seed, **schedule)


def literal(seed: int, rate: float | None) -> PaperLabelPropagation:
    """The paper's predictor, trained by the authors' recipe."""
    given = {key: value for key, value in SETTINGS["paper"].items() if key != "tol"}
    rates = tuple(SPLIT_RATES) if rate is None else (rate,)
    how = {"norm": SETTINGS["trainable"]["norm"], "tol": SETTINGS["paper"]["tol"], **COMMON}
    return PaperLabelPropagation(Schedule(**{**given, "split_rate": rates}), seed, **how)


@dataclass(frozen=True)
class Method:
    """A row of the table. ``paper`` is the name of the paper's method."""

    name: str
    paper: str
    make: Callable[[int, float | None], Any]
    takes_validation: bool = True
    seeded: bool = False


METHODS = [
    Method(
        "LP",
        "LP",
        lambda seed, rate: LabelPropagation(**SETTINGS["label_propagation"], **COMMON),
        False,
    ),
    Method("trainable, paper's recipe", "trainable, paper's recipe", literal, seeded=True),
    Method("trainable, deterministic", "trainable, paper's recipe", lambda seed, rate: by_ridge()),
    Method("trainable, stochastic", "trainable, paper's recipe", random_splits, seeded=True),
    Method(
        "trainable, squared loss",
        "trainable, paper's recipe",
        lambda seed, rate: trainable(loss="squared"),
    ),
    Method("per hop", "", lambda seed, rate: by_ridge(weights="per_hop")),
    Method(
        "networks (mlp)",
        "",
        lambda seed, rate: trainable(
            weights="mlp",
            label_trick="stochastic",
            norm="auto",
            self_loops=False,
            random_state=seed,
        ),
        seeded=True,
    ),
]


def run_dataset(name: str, options: Any, methods: list[Method]) -> None:
    data = load(name, options.data_dir)
    if data is None:
        return
    found = [o for o in stored(options.store) if o.dataset == name and not options.again]
    official = name in OFFICIAL
    for method in methods:
        once = official and not method.seeded
        for seed in range(1 if once else options.seeds):
            if any(o.method == method.name and o.seed == seed for o in found):
                continue
            first = [o for o in found if o.method == method.name and o.seed == 0]
            # On one and the same split the rate is chosen once, by the first seed.
            rate = first[0].split_rate if official and first else None
            model = method.make(seed, rate)
            fitted = {"takes_validation": method.takes_validation}
            outcome = fit_and_score(model, data, None, method.name, seed, **fitted)
            if method.make is literal:
                before = first[0].chosen if official and first else None
                outcome = replace(outcome, chosen=before or {"split_rates": list(SPLIT_RATES)})
            found.append(outcome)
            append(options.store, found[-1])


def main() -> None:
    parser = arguments(__doc__, DATASETS, "table1.jsonl")
    parser.add_argument(
        "--split-rates",
        nargs="+",
        type=float,
        help="split rates to choose from; default: the paper's 19",
    )
    options = parser.parse_args()
    if options.split_rates:
        SPLIT_RATES[:] = options.split_rates
    wanted = chosen([m.name for m in METHODS], options)
    for name in options.datasets:
        run_dataset(name, options, [m for m in METHODS if m.name in wanted])
    column = {m.name: m.paper for m in METHODS}
    text = table(
        stored(options.store),
        DATASETS,
        column,
        lambda name, method: printed("table1", name, column[method]),
    )
    print(text)
    if options.write:
        write_between_markers(ROOT / "docs" / "guides" / "label-propagation.md", "table1", text)


if __name__ == "__main__":
    main()
