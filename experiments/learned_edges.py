"""Label propagation with learned edge weights, compared with the weights of the graph.

    python -m experiments.learned_edges --data-dir data  # 5 splits
    python -m experiments.learned_edges --datasets cora --seeds 1
    python -m experiments.learned_edges --write  # docs/explanation/related-methods.md

Random 6:2:2 splits. The damping of every method is chosen on the validation nodes. Splits begin at
number 3: the constants and the form of the method were fixed on splits 0 to 2 of these datasets,
with a look at their test accuracies too. The last method uses the features as inputs, not only to
weigh edges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from experiments.record import (
    ROOT,
    Outcome,
    append,
    arguments,
    chosen,
    done,
    fit_and_score,
    load,
    markdown,
    stored,
    write_between_markers,
)
from labeltrick import SIGN, LabelPropagation, TrainableLabelPropagation

DATASETS = ("cora", "pubmed", "coauthor-cs")
DAMPINGS = (0.6, 0.8, 0.9)
FIRST_SPLIT = 3


def _trained(**options: Any) -> Callable[[float], Any]:
    return lambda damping: TrainableLabelPropagation(damping, progress=False, **options)


METHODS: dict[str, Callable[[float], Any]] = {
    "label propagation": lambda damping: LabelPropagation(damping),
    "trained weights": _trained(),
    "trained weights, learned edges": _trained(edge_weights="learned"),
    "weights per hop": _trained(weights="per_hop"),
    "weights per hop, learned edges": _trained(weights="per_hop", edge_weights="learned"),
}
REFERENCE = "SIGN, features and labels as inputs"


def best_of(method: str, data: Any, seed: int) -> Outcome:
    """The fit whose damping scores highest on the validation nodes; seconds are those of all."""
    X = data.X
    if method == REFERENCE:
        return fit_and_score(SIGN(progress=False), data, X, method, seed)
    found = []
    for damping in DAMPINGS:
        fit = fit_and_score(METHODS[method](damping), data, X, method, seed)
        found.append(replace(fit, chosen={"damping": damping}))
    best = max(found, key=lambda outcome: outcome.val)
    return replace(best, seconds=sum(outcome.seconds for outcome in found))


def table(outcomes: list[Outcome]) -> str:
    """Mean ± standard deviation of the test accuracy over the splits."""
    rows = []
    for method in [*METHODS, REFERENCE]:
        cells = [method]
        for name in DATASETS:
            some = [o for o in outcomes if (o.dataset, o.method) == (name, method)]
            test = np.array([o.test for o in some])
            spread = test.std(ddof=1) if len(test) > 1 else 0.0
            cells.append(f"{test.mean():.2f} ± {spread:.2f} ({len(test)})" if len(test) else "")
        rows.append(cells)
    return markdown(["method", *DATASETS], rows)


def main() -> None:
    parser = arguments(__doc__, DATASETS, "learned-edges.jsonl")
    parser.set_defaults(seeds=5)
    options = parser.parse_args()
    for name in options.datasets:
        data = load(name, options.data_dir)
        if data is None:
            continue
        finished = done(options.store, data)
        for seed in range(FIRST_SPLIT, FIRST_SPLIT + options.seeds):
            for method in chosen([*METHODS, REFERENCE], options):
                if (method, seed) not in finished:
                    append(options.store, best_of(method, data, seed))
    text = table(stored(options.store))
    print(text)
    if options.write:
        write_between_markers(
            ROOT / "docs" / "explanation" / "related-methods.md", "learned-edges", text
        )


if __name__ == "__main__":
    main()
