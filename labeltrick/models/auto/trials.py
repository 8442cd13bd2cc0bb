"""The learners of `AutoModel`: their columns and estimated cost, and the scores of trials."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from scipy.sparse import issparse

from ..base.node_inputs import NodeInputs
from .columns import AutoColumns, ColumnRecipe, Signal

# Operations per second of a typical core, for estimates of the cost.
_NETWORK_SPEED, _TREE_SPEED, _LINEAR_SPEED = 2e10, 1.0e8, 3e9
_STEP, _LAYER_STEP = 2e-3, 1.2e-3  # least seconds per step of a network, and of a graph layer
# Graph networks need few epochs and layers on words, more on numbers.
ON_WORDS = {"n_layers": 2, "dropout": 0.5, "hidden": 64, "max_epochs": 60}
ON_NUMBERS = {"n_layers": 4, "dropout": 0.2, "hidden": 48, "max_epochs": 200}
NEARBY = {"n_layers": 3, "dropout": 0.5, "hidden": 128, "words_dropout": 0.3, "patience": 4}
BASELINE = {"n_rounds": 75, "learning_rate": 0.16}  # trees of the blend take smaller steps
_EPOCHS, _ROUNDS, _ITERATIONS = 25, 200, 300


@dataclass(frozen=True)
class LearnerSpec:
    """A learner: its name, kind ("network", "graph", "trees", "linear" or "nearby"), columns and
    options."""

    name: str
    kind: str
    recipe: ColumnRecipe
    options: dict[str, Any]


@dataclass(frozen=True)
class Sizes:
    """The sizes from which costs are estimated."""

    n_nodes: int
    n_edges: int
    n_labeled: int
    n_outputs: int
    n_signal: int  # columns for networks
    n_table: int  # numeric columns of the table
    n_for_trees: int  # columns for trees, of the neighbors' means and of the node itself
    n_own_for_trees: int
    n_dense: int = 0  # numeric columns of a table that is not sparse
    n_views: int = 1  # training rows per labeled node where labels are columns

    @classmethod
    def of(cls, inputs: NodeInputs, columns: AutoColumns, n_views: int = 1) -> Sizes:
        known, graph, signal = inputs.targets, inputs.graph, columns.signal
        sizes = (graph.n_nodes, graph.nnz, int(known.labeled.sum()), known.Y.shape[1])
        if signal is None:
            return cls(*sizes, 0, 0, 0, 0, n_views=n_views)
        n_table, for_trees = len(signal.numeric), (signal.n_for_trees, signal.n_own_for_trees)
        n_dense = 0 if issparse(inputs.X.values) else n_table
        return cls(*sizes, len(signal.names), n_table, *for_trees, n_dense, n_views)


@dataclass(frozen=True)
class Trial:
    """Result of one learner, blend or baseline that `AutoModel` tried.

    Attributes
    ----------
    name : str
        Name of the learner, blend or baseline.
    score : float
        Value of ``metric`` on the validation nodes if there are any, else on the labeled nodes out
        of fold. NaN if it was not run.
    loss : float
        Log loss or mean squared error on the same nodes, on which the choice is based.
    seconds : float
        Time taken.
    note : str, default=""
        Why it was not run, or what it consists of.
    """

    name: str
    score: float
    loss: float
    seconds: float
    note: str = ""


def learners(signal: Signal | None, n_edges: int, task: str) -> list[LearnerSpec]:
    """All learners that suit the data, the most useful first. Networks need torch; some need edges.

    If columns are words, predictions from the words of nearby nodes replace the means of their
    words, which cost more and are less informative.
    """
    has_features, words = signal is not None, signal is not None and signal.wide
    label_hops = 2 if n_edges else 0
    near = ColumnRecipe(2 if has_features else None, label_hops)
    far = ColumnRecipe(4 if has_features else None, label_hops and 3)
    own = ColumnRecipe(0 if has_features else None, 0)
    found = [LearnerSpec("trees", "trees", near, {})]
    if find_spec("torch") is not None:
        found.append(LearnerSpec("network", "network", near, {"n_layers": 2, "dropout": 0.5}))
        if n_edges:
            deep = LearnerSpec("deep network", "network", far, {"n_layers": 3, "dropout": 0.3})
            if words and signal is not None and not signal.shares and task != "regression":
                deep = LearnerSpec("words nearby", "nearby", own, NEARBY)
            options = ON_WORDS if words else ON_NUMBERS
            found += [deep, LearnerSpec("graph network", "graph", own, options)]
    found.append(LearnerSpec("linear", "linear", near, {}))
    if has_features:
        found.append(LearnerSpec("features alone", "trees", own, BASELINE))
    return found


def estimate_seconds(spec: LearnerSpec, sizes: Sizes, n_folds: int) -> float:
    """Estimated cost of a learner for all folds. It depends only on sizes, so that the same data
    always gets the same plan."""
    hops = 0 if spec.recipe.n_hops is None else spec.recipe.n_hops + 1
    labels = (spec.recipe.label_hops + 1) * (sizes.n_outputs + 1) if spec.recipe.label_hops else 0
    rows, c = sizes.n_labeled * (sizes.n_views if labels else 1), sizes.n_outputs
    width = hops * sizes.n_signal + labels
    spread = sizes.n_edges * (hops * sizes.n_signal + 4 * labels) * 2e-9
    if spec.kind == "network":
        hidden = 256
        per_row = 6 * hidden * (width + hidden * (spec.options["n_layers"] - 2) + c)
        # Few rows make short epochs, but more of them.
        n_steps = max(rows // 1024, min(rows // 32, 20), 1) * max(_EPOCHS, 6000 // max(rows, 1))
        epochs = rows * per_row * _EPOCHS / _NETWORK_SPEED
        return spread + n_folds * (epochs + n_steps * _STEP)
    if spec.kind == "nearby":  # a step of three networks costs in proportion to all weights
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
    """(learners to run, reason for each learner not run). The first one always runs."""
    kept: list[LearnerSpec] = []
    left: dict[str, str] = {}
    spent = 0.0
    for spec in specs:
        seconds = estimate_seconds(spec, sizes, n_folds)
        if kept and budget is not None and spent + seconds > budget:
            left[spec.name] = f"not run: about {seconds:.0f} s would exceed the budget"
            continue
        kept.append(spec)
        spent += seconds
    return kept, left
