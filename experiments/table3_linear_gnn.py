"""Table 3: SGC, SIGN and TWIRLS with and without the deterministic label trick.

    python -m experiments.table3_linear_gnn --data-dir data              # all, 10 seeds
    python -m experiments.table3_linear_gnn --datasets pubmed --seeds 2
    python -m experiments.table3_linear_gnn --write                      # into docs

Splits are random, 6:2:2, with a new one for each seed; ogbn-arxiv has an official split, where
seeds only change the random choices. Steps and smoothness are the paper's. Other settings are the
same with and without labels, and validation nodes choose the epoch. If the features of ogbn-arxiv
are not available, ranked guesses of the class, made from the papers' texts, are used instead:
1/rank in the column of each guess.
"""

from __future__ import annotations

from typing import Any

from experiments.paper import printed
from experiments.record import (
    ROOT,
    append,
    arguments,
    chosen,
    done,
    fit_and_score,
    load,
    settings,
    stored,
    table,
    write_between_markers,
)
from labeltrick import SGC, SIGN, TWIRLS
from labeltrick.io import datasets

DATASETS = ("pubmed", "cora", "amazon-photo", "ogbn-arxiv", "coauthor-cs", "cora-full")
SETTINGS = settings("table3")
MODELS = {"SGC": SGC, "SIGN": SIGN, "TWIRLS": TWIRLS}
METHODS = [f"{model}{labels}" for model in MODELS for labels in ("", ", labels")]


def make(method: str, seed: int) -> Any:
    name, _, labels = method.partition(", ")
    trick = "deterministic" if labels else None
    return MODELS[name](label_trick=trick, random_state=seed, **SETTINGS[name])


def features(data: Any) -> tuple[Any, bool]:
    """(X, whether X are the dataset's own features)."""
    if data.X is not None:
        return data.X, True
    return datasets.rank_features(data.extra["llm_ranked_classes"], data.n_classes), False


def load_with_features(name: str, data_dir: str | None) -> tuple[Any, Any, bool] | None:
    """(the dataset, X, whether X are its own features), or None with a printed line if the dataset
    or its features are absent and nothing can be used instead."""
    data = load(name, data_dir)
    if data is None:
        return None
    if data.X is None and "llm_ranked_classes" not in data.extra:
        print(f"{name}: data absent (its features are not in '{data.path}')", flush=True)
        return None
    return data, *features(data)


def has_own_features(name: str, data_dir: str | None) -> bool:
    data = load(name, data_dir)
    return data is not None and data.X is not None


def main() -> None:
    options = arguments(__doc__, DATASETS, "table3.jsonl").parse_args()
    for name in options.datasets:
        found = load_with_features(name, options.data_dir)
        if found is None:
            continue
        data, X, _ = found
        known = set() if options.again else done(options.store, data)
        for seed in range(options.seeds):
            for method in chosen(METHODS, options):
                if (method, seed) not in known:
                    append(options.store, fit_and_score(make(method, seed), data, X, method, seed))

    known = stored(options.store)
    own = {name for name in {o.dataset for o in known} if has_own_features(name, options.data_dir)}

    def cell(name: str, method: str) -> str:
        """The paper's cell, unless other features were used."""
        return printed("table3", name, method) if name in own else ""

    text = table(known, DATASETS, METHODS, cell)
    print(text)
    if options.write:
        write_between_markers(ROOT / "docs" / "guides" / "features-and-labels.md", "table3", text)


if __name__ == "__main__":
    main()
