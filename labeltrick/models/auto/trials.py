"""What is tried: learners with their columns, what they may cost, and how they scored."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from scipy.sparse import issparse

from ..base.node_inputs import NodeInputs
from .columns import AutoColumns, ColumnRecipe, Signal

# Speeds of one common core, for estimates alone: multiplications of a network, splits of trees.
_NETWORK_SPEED, _TREE_SPEED, _LINEAR_SPEED = 2e10, 1.0e8, 3e9
_STEP, _LAYER_STEP = 2e-3, 1.2e-3  # seconds of a step however small: a network, a graph layer
# Graph networks: words tell a class after few epochs, two steps away; numbers may have to be
# counted.
ON_WORDS = {"n_layers": 2, "dropout": 0.5, "hidden": 64, "max_epochs": 60}
ON_NUMBERS = {"n_layers": 4, "dropout": 0.2, "hidden": 48, "max_epochs": 200}
NEARBY = {"n_layers": 3, "dropout": 0.5, "hidden": 128, "words_dropout": 0.3, "patience": 4}
BASELINE = {"n_rounds": 75, "learning_rate": 0.16}  # a blend's trees take smaller steps
_EPOCHS, _ROUNDS, _ITERATIONS = 25, 200, 300


@dataclass(frozen=True)
class LearnerSpec:
    """One learner: its name, kind ("network", "graph", "trees", "linear", "nearby"), columns and
    options."""

    name: str
    kind: str
    recipe: ColumnRecipe
    options: dict[str, Any]


@dataclass(frozen=True)
class Sizes:
    """What costs go by."""

    n_nodes: int
    n_edges: int
    n_labeled: int
    n_outputs: int
    n_signal: int  # columns of the table as networks see them
    n_table: int  # columns of numbers in the table itself, where a learner takes them all
    n_for_trees: int  # of them, as trees see the neighbors' means, and a node itself
    n_own_for_trees: int
    n_dense: int = 0  # columns of numbers of a table that is not sparse

    @classmethod
    def of(cls, inputs: NodeInputs, columns: AutoColumns) -> Sizes:
        known, signal = inputs.targets, columns.signal
        return cls(
            inputs.graph.n_nodes,
            inputs.graph.nnz,
            int(known.labeled.sum()),
            known.Y.shape[1],
            0 if signal is None else len(signal.names),
            0 if signal is None else len(signal.numeric),
            0 if signal is None else signal.n_for_trees,
            0 if signal is None else signal.n_own_for_trees,
            0 if signal is None or issparse(inputs.X.values) else len(signal.numeric),
        )


@dataclass(frozen=True)
class Trial:
    """One thing that was tried.

    Attributes
    ----------
    name : of the learner, blend or baseline.
    score : by the metric asked for, on the validation nodes, else on labeled nodes without their
        own label; NaN where it was not run.
    loss : log loss or mean squared error on the same nodes: what the choice goes by.
    seconds : that it took.
    note : why it was not run, or what it consists of.
    """

    name: str
    score: float
    loss: float
    seconds: float
    note: str = ""


def learners(signal: Signal | None, n_edges: int, task: str) -> list[LearnerSpec]:
    """All learners that suit the data, the most worthwhile first. Networks need torch."""
    has_features = signal is not None
    label_hops = 2 if n_edges else 0
    near = ColumnRecipe(2 if has_features else None, label_hops)
    far = ColumnRecipe(4 if has_features else None, label_hops and 3)
    found = [LearnerSpec("trees", "trees", near, {})]
    if find_spec("torch") is not None:
        small = {"n_layers": 2, "dropout": 0.5}
        found.append(LearnerSpec("network", "network", near, small))
        if n_edges:
            found += _on_edges(signal, far, task)
    found.append(LearnerSpec("linear", "linear", near, {}))
    if has_features:
        alone = ColumnRecipe(0, 0)
        found.append(LearnerSpec("features alone", "trees", alone, BASELINE))
    return found


def _on_edges(signal: Signal | None, far: ColumnRecipe, task: str) -> list[LearnerSpec]:
    """Networks that want edges. Where columns are words, what others' words say of their class
    takes the place of the means of all words far away, which cost more and tell less."""
    own = ColumnRecipe(None if signal is None else 0, 0)
    words = signal is not None and signal.wide
    if signal is not None and signal.wide and not signal.shares and task != "regression":
        far_away = LearnerSpec("words nearby", "nearby", own, NEARBY)
    else:
        deep = {"n_layers": 3, "dropout": 0.3}
        far_away = LearnerSpec("deep network", "network", far, deep)
    return [far_away, LearnerSpec("graph network", "graph", own, ON_WORDS if words else ON_NUMBERS)]


def estimate_seconds(spec: LearnerSpec, sizes: Sizes, n_folds: int) -> float:
    """What a learner may cost, all folds; from sizes alone, so that the same data always gets the
    same plan."""
    hops = 0 if spec.recipe.n_hops is None else spec.recipe.n_hops + 1
    labels = (spec.recipe.label_hops + 1) * (sizes.n_outputs + 1) if spec.recipe.label_hops else 0
    rows, c = sizes.n_labeled, sizes.n_outputs
    width = hops * sizes.n_signal + labels
    spread = sizes.n_edges * (hops * sizes.n_signal + 4 * labels) * 2e-9
    if spec.kind == "network":
        hidden = 256
        per_row = 6 * hidden * (width + hidden * (spec.options["n_layers"] - 2) + c)
        # Few rows make short epochs, and more of them.
        n_steps = max(rows // 1024, min(rows // 32, 20), 1) * max(_EPOCHS, 6000 // max(rows, 1))
        epochs = rows * per_row * _EPOCHS / _NETWORK_SPEED
        return spread + n_folds * (epochs + n_steps * _STEP)
    if spec.kind == "nearby":  # three networks in one step, which costs by the weights of all words
        hidden, n_steps = spec.options["hidden"], 20 if rows < 20_000 else rows // 1024
        step = 3 * sizes.n_table * hidden * 5e-9 + 2 * _STEP
        flops = 3 * rows * 6 * hidden * (hidden + sizes.n_dense)
        return n_folds * _EPOCHS * (n_steps * step + flops / _NETWORK_SPEED)
    if spec.kind == "graph":
        hidden, n_layers = spec.options["hidden"], spec.options["n_layers"]
        width = 2 * (sizes.n_for_trees + c + 1 + hidden * (n_layers - 1))
        steps = sizes.n_edges * hidden * n_layers * 1e-9
        flops = sizes.n_nodes * 6 * hidden * width
        epoch = flops / _NETWORK_SPEED + steps + n_layers * _LAYER_STEP
        return n_folds * spec.options["max_epochs"] * epoch
    if spec.kind == "trees":
        own = sizes.n_own_for_trees if hops else 0
        width = own + max(0, hops - 1) * sizes.n_for_trees + labels
        boosters = 1 if c == 2 else c
        rounds = min(spec.options.get("n_rounds", _ROUNDS), _ROUNDS)
        return spread + n_folds * (0.2 + rows * width * boosters * rounds / _TREE_SPEED / 4)
    return spread + n_folds * 3 * rows * width * c * _ITERATIONS / _LINEAR_SPEED


def plan(
    specs: list[LearnerSpec], sizes: Sizes, n_folds: int, budget: float | None
) -> tuple[list[LearnerSpec], dict[str, str]]:
    """(learners to run, why others are not). The first one always runs."""
    kept: list[LearnerSpec] = []
    left: dict[str, str] = {}
    spent = 0.0
    for spec in specs:
        seconds = estimate_seconds(spec, sizes, n_folds)
        if kept and budget is not None and spent + seconds > budget:
            left[spec.name] = f"would take about {seconds:.0f} s, past the budget"
            continue
        kept.append(spec)
        spent += seconds
    return kept, left
