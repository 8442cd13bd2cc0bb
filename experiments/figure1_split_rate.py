"""Figure 1: validation accuracy by split rate α, for a linear model and a GCN.

    python -m experiments.figure1_split_rate --data-dir data              # all, 5 seeds
    python -m experiments.figure1_split_rate --datasets pubmed --models linear
    python -m experiments.figure1_split_rate --draw                       # only draw stored results

The paper's 17 values of α are used. Linear model: least squares on features and labels propagated
with λ = 0.9 and 9 steps, trained on random splits and by the closed form of Corollary 1, which
gives the whole curve at once. GCN: 3 layers. The two limits are drawn as lines: no labels (α → 0)
and, for the linear model, self-excluded labels (α → 1). If the features of ogbn-arxiv are not
available, ranked guesses of the class, made from the papers' texts, are used instead.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from experiments.record import (
    OFFICIAL,
    ROOT,
    arguments,
    commit,
    node_split,
    settings,
    write_line,
)
from experiments.rows import read_results
from experiments.table3_linear_gnn import load_with_features
from labeltrick import GNN, LabelFeatureRegression
from labeltrick.evaluation import metrics

SETTINGS = settings("figure1")
RATES = tuple(SETTINGS["rates"]["split_rate"])
LINEAR = SETTINGS["linear"]
NO_LABELS, SELF_EXCLUDED = 0.0, 1.0  # the limits, stored as rates
CLOSED, SPLITS, GCN = "linear, closed form", "linear, random splits", "GCN"
CURVES = {CLOSED: "#0071bc", SPLITS: "#d95f02", GCN: "#333333"}
PANELS = {"linear": (CLOSED, SPLITS), "GCN": (GCN,)}
MODELS = ("linear", "closed", "gcn")  # "closed" is the closed form of "linear" alone


def fitted(model: Any, data: Any, X: Any, split: Any, seed: int) -> Any:
    y = np.full(data.n_nodes, -1)
    for part in (split.train, split.val):
        y[part] = data.y[part]
    model.set_params(random_state=seed, calibrate=False)
    return model.fit(X, y, graph=data.graph, validation=split.val)


def held_accuracy(model: Any, data: Any, split: Any) -> float:
    rows = model.predict_proba()[split.val]
    truth = np.eye(len(model.classes_))[np.searchsorted(model.classes_, data.y[split.val])]
    return metrics.score("classification", truth, rows)


def closed_form(data: Any, X: Any, split: Any, seed: int) -> dict[float, float]:
    """Scores of the linear model by rate, with both limits."""
    closed = LabelFeatureRegression(split_rate=[*RATES, SELF_EXCLUDED], **LINEAR)
    found = dict(fitted(closed, data, X, split, seed).split_rate_scores_)
    plain = fitted(LabelFeatureRegression(label_trick=None, **LINEAR), data, X, split, seed)
    return {**found, NO_LABELS: held_accuracy(plain, data, split)}


def random_splits(data: Any, X: Any, split: Any, seed: int) -> dict[float, float]:
    """Scores of the linear model by rate, trained on random splits."""
    # The nearer to 1, the fewer targets a split has: more of them make up for it, where a split is
    # not dear. On a large graph all rates are one fit, which propagates the features once.
    several = [([rate], min(2000, max(20, round(10 / (1 - rate))))) for rate in RATES]
    found: dict[float, float] = {}
    for rates, n_splits in several if data.n_nodes < 50_000 else [(list(RATES), 40)]:
        options = {"label_trick": "stochastic", "split_rate": rates, "n_splits": n_splits}
        drawn = fitted(LabelFeatureRegression(**options, **LINEAR), data, X, split, seed)
        found |= drawn.split_rate_scores_
    return found


def run(name: str, options: Any, store: Path) -> None:
    found = load_with_features(name, options.data_dir)
    if found is None:
        return
    data, X, own = found
    more = {"features": "own" if own else "guesses"}
    for seed in range(options.seeds):
        split = node_split(data, seed)
        rows = [] if options.again else stored(store, name)
        done = {(r["curve"], r["rate"]) for r in rows if r["seed"] == seed and is_wide(r, options)}
        # The closed form has no random choices but the split.
        makers = [] if seed and data.name in OFFICIAL else [(CLOSED, closed_form)]
        if "linear" in options.models:
            makers.append((SPLITS, random_splits))
        elif "closed" not in options.models:
            makers = []
        for curve, make in makers:
            if (curve, RATES[-1]) not in done:
                for rate, score in make(data, X, split, seed).items():
                    keep(store, name, seed, curve, rate, score, **more)
        if "gcn" not in options.models:
            continue
        for rate in (NO_LABELS, *RATES):
            if ("GCN", rate) in done:
                continue
            trick = {"label_trick": None} if rate == NO_LABELS else {"split_rate": rate}
            size = {
                "n_layers": SETTINGS["GCN"]["n_layers"],
                "hidden": options.hidden,
                "max_epochs": options.epochs,
            }
            settings = {**size, **trick}
            model = fitted(GNN("gcn", **settings), data, X, split, seed)
            score = held_accuracy(model, data, split)
            shape = {"hidden": options.hidden, "max_epochs": options.epochs}
            keep(store, name, seed, "GCN", rate, score, **more, **shape)


def is_wide(row: dict[str, Any], options: Any) -> bool:
    """Whether a result has the width that is asked for."""
    return row.get("hidden", options.hidden) == options.hidden


def keep(
    store: Path, name: str, seed: int, curve: str, rate: float, score: float, **more: Any
) -> None:
    row = {"dataset": name, "seed": seed, "curve": curve, "rate": rate}
    row |= {"val": 100 * score, **more, "commit": commit()}
    write_line(store, row)
    print(f"{name:12} {curve:22} seed {seed} α {rate:g}: {100 * score:.2f}", flush=True)


def stored(store: Path, name: str) -> list[dict[str, Any]]:
    return [row for row in read_results(store) if row["dataset"] == name]


def draw(store: Path, names: list[str], path: Path) -> None:
    import matplotlib

    matplotlib.use("svg" if path.suffix == ".svg" else "agg")
    matplotlib.rcParams["svg.hashsalt"] = "labeltrick"  # the same picture, the same file
    import matplotlib.pyplot as plt

    names = [name for name in names if stored(store, name)]
    figure, axes = plt.subplots(
        len(names), 2, figsize=(9.0, 3.4 * len(names)), layout="constrained", squeeze=False
    )
    for line, name in zip(axes, names, strict=True):
        rows = stored(store, name)
        for axis, (title, curves) in zip(line, PANELS.items(), strict=True):
            for curve in curves:
                _draw_curve(axis, [row for row in rows if row["curve"] == curve], curve)
            axis.set(title=f"{name}, {title}", xlabel="split rate α", ylabel="validation, %")
            axis.set_xscale("logit")
            axis.set_xticks([0.01, 0.1, 0.5, 0.9, 0.99], ["0.01", "0.1", "0.5", "0.9", "0.99"])
            axis.minorticks_off()
            axis.grid(alpha=0.3)
            if axis.lines:
                axis.legend(frameon=False, fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, dpi=150)


def _draw_curve(axis: Any, rows: list[dict[str, Any]], curve: str) -> None:
    color = CURVES[curve]
    at = sorted({row["rate"] for row in rows})
    values = {rate: [row["val"] for row in rows if row["rate"] == rate] for rate in at}
    inner = [rate for rate in at if 0 < rate < 1]
    if inner:
        mean = np.array([np.mean(values[rate]) for rate in inner])
        spread = np.array([np.std(values[rate]) for rate in inner])
        axis.plot(inner, mean, "o-", color=color, label=curve, linewidth=1.5, markersize=3)
        axis.fill_between(inner, mean - spread, mean + spread, color=color, alpha=0.15)
    limits = {NO_LABELS: ("no labels (α → 0)", ":"), SELF_EXCLUDED: ("self-excluded (α → 1)", "--")}
    for rate, (label, style) in limits.items():
        if rate in values:
            axis.axhline(np.mean(values[rate]), color="#888888", linestyle=style, label=label)


def main() -> None:
    parser = arguments(__doc__, ("pubmed", "ogbn-arxiv"), "figure1.jsonl")
    default = ROOT / "docs" / "figures" / "split-rate.png"
    parser.add_argument("--models", nargs="+", default=["linear", "gcn"], choices=MODELS)
    parser.add_argument(
        "--epochs", type=int, default=SETTINGS["GCN"]["max_epochs"], help="epochs of the GCN"
    )
    parser.add_argument(
        "--hidden",
        type=int,
        default=SETTINGS["GCN"]["hidden"],
        help="units per layer of the GCN",
    )
    parser.add_argument("--out", type=Path, default=default, help="file to write")
    parser.add_argument("--draw", action="store_true", help="draw stored results; run nothing")
    parser.set_defaults(seeds=5)
    options = parser.parse_args()
    if not options.draw:
        for name in options.datasets:
            run(name, options, options.store)
    draw(options.store, options.datasets, options.out)
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
