"""A graph network with labels as inputs, stored as plain arrays after the fit.

Each layer combines a node's values with the mean of its neighbors. By the stochastic label trick, a
random part of the labels is input in each epoch, and the rest are targets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...._utils.extras import is_installed
from ...._utils.progress import ProgressBar
from ...._utils.targets import Targets
from ...._utils.threads import run_blocks
from ....graph.graph import Graph
from ....propagation.polynomials import Power
from ...base.node_inputs import NodeInputs
from ...base.weights import apply_link
from ..label_dropout import LabelDropout
from .by_fold import FoldLearner
from .graph_parts import MOST_UNDIVIDED, MOST_WHOLE, in_parts_of, n_parts_of, whole
from .graph_steps import GraphSteps, with_labels
from .protocol import Learner, Member, Problem, Sizes
from .rows import MemberLabels

if TYPE_CHECKING:
    from ..columns import AutoColumns
    from ..crossfit import RowMaker

# Graph networks need few epochs and layers on words, more on numbers, where batch norm helps.
ON_WORDS = {"n_layers": 2, "dropout": 0.5, "hidden": 64, "max_epochs": 60}
ON_NUMBERS = {"n_layers": 4, "dropout": 0.2, "hidden": 48, "max_epochs": 200, "batch_norm": True}
# With depth, a network reasons from known labels to far ones; batch norm lets it learn.
DEEP = {"n_layers": 12, "dropout": 0.2, "hidden": 64, "max_epochs": 300, "learning_rate": 0.01,
        "weight_decay": 0.0, "batch_norm": True, "shown": (0.5, 0.5)}  # fmt: skip
_SPEED = 2e10  # operations per second of a typical core
_LAYER_STEP = 1.2e-3  # least seconds per step of a layer
_SHOWN = (0.35, 0.95)  # usual range of the share of labels that are inputs in an epoch
_WITHOUT_VALIDATION = 60  # epochs
_FEWEST_EPOCHS = 30


@dataclass(frozen=True)
class GraphNetworkLearner(FoldLearner):
    """A graph network on a node's own columns and random parts of the labels."""

    def suits(self, problem: Problem) -> bool:
        can_step = problem.n_nodes <= MOST_UNDIVIDED or problem.has_parts
        return is_installed("torch") and problem.has_edges and can_step

    def usual_options(self, problem: Problem) -> dict[str, Any]:
        return ON_WORDS if problem.wide else ON_NUMBERS

    def prepared(self, problem: Problem) -> Learner:
        options = {**self.usual_options(problem), **self.options}
        if problem.n_nodes > MOST_WHOLE and problem.has_parts:
            options["in_parts"] = True
        return replace(self, recipe=problem.recipe(0, 0), options=options)

    def cost(self, sizes: Sizes, n_folds: int) -> float:
        hidden, n_layers = self.options["hidden"], self.options["n_layers"]
        n_parts = n_parts_of(sizes.n_nodes) if self.options.get("in_parts") else 1
        width = 2 * (sizes.n_for_trees + sizes.n_outputs + 1 + hidden * (n_layers - 1))
        steps = sizes.n_edges * hidden * n_layers * 1e-9
        flops = sizes.n_nodes * 6 * hidden * width
        epoch = (flops / _SPEED + steps) / n_parts + n_layers * _LAYER_STEP
        return (n_folds + self.whole_fit) * max(self.options["max_epochs"], n_parts) * epoch

    def shortened(self, share: float) -> Learner:
        """See `Learner.shortened`. The learning rate falls to zero in fewer epochs."""
        epochs = max(_FEWEST_EPOCHS, int(share * self.options["max_epochs"]))
        return replace(self, options={**self.options, "max_epochs": epochs})

    def features(self, columns: AutoColumns, inputs: NodeInputs) -> np.ndarray:
        return columns.graph_features(inputs, self.recipe)

    def fit(
        self, maker: RowMaker, inputs: NodeInputs, mine: MemberLabels, dropout: LabelDropout
    ) -> Member:
        features = maker.features(inputs, self)
        network = fit_graph_network(features, inputs.graph, mine, dropout, **self.options)
        return Member(network, mine.scale, None)

    def predictor(
        self, member: Member, features: Any, inputs: NodeInputs
    ) -> Callable[[Targets], np.ndarray]:
        def rows_of(given: Targets) -> np.ndarray:
            X = with_labels(features, given, member.scale)
            return member.scale.back(member.learned.predict(X, inputs.graph))

        return rows_of


@dataclass(frozen=True)
class DeepGraphNetworkLearner(GraphNetworkLearner):
    """The same with many layers and batch norm. On words, two layers are enough. With more labels
    and epochs it gets better for long, so that one fit has all labels and twice the epochs."""

    follows: ClassVar[str | None] = "graph network"
    whole_fit: ClassVar[float] = 2.0

    def for_all_labels(self) -> Learner:
        epochs = int(self.whole_fit * self.options["max_epochs"])
        return replace(self, options={**self.options, "max_epochs": epochs})

    def suits(self, problem: Problem) -> bool:
        return not problem.wide and super().suits(problem)

    def usual_options(self, problem: Problem) -> dict[str, Any]:
        return DEEP


@dataclass(frozen=True)
class GraphNetwork:
    """The weights of a network. It predicts without torch, with identical results on any number of
    threads.

    ``own`` and ``near`` are each layer's weights for the node and for the mean of its neighbors.
    """

    own: list[np.ndarray]
    near: list[np.ndarray]
    biases: list[np.ndarray]
    last: np.ndarray
    last_bias: np.ndarray
    link: str

    def predict(self, X: np.ndarray, graph: Graph) -> np.ndarray:
        mean = Power(graph, 1, norm="row")
        for own, near, bias in zip(self.own, self.near, self.biases, strict=True):
            nearby = mean.apply(_product(X, near), progress=False)
            X = np.maximum(_product(X, own) + nearby + bias, 0)
        return apply_link((_product(X, self.last) + self.last_bias).astype(np.float64), self.link)


def _product(X: np.ndarray, W: np.ndarray) -> np.ndarray:
    return run_blocks(lambda start, stop: X[start:stop] @ W, len(X))


def fit_graph_network(
    features: np.ndarray,
    graph: Graph,
    mine: MemberLabels,
    label_dropout: LabelDropout,
    *,
    n_layers: int,
    dropout: float,
    hidden: int,
    max_epochs: int,
    learning_rate: float = 0.02,
    weight_decay: float = 1e-4,
    batch_norm: bool = False,
    shown: tuple[float, float] = _SHOWN,
    in_parts: bool = False,
) -> GraphNetwork:
    """Train a network on the labels of a member; its validation nodes choose the best epoch, with
    the labels that ``label_dropout`` leaves as inputs. An epoch is one step, on the whole graph or
    on a part of it."""
    import torch

    from ....nn.sage import MeanNetwork
    from ....nn.training import TrainingOptions, train_whole

    known, few = mine.given, not len(mine.validation_nodes)
    divided = in_parts_of(graph) if in_parts else whole(graph, known)
    steps = GraphSteps(features, divided, mine, label_dropout, label_dropout.shares_shown(shown))
    most = min(max_epochs, _WITHOUT_VALIDATION) if few else max_epochs
    options = TrainingOptions(
        learning_rate=learning_rate,
        weight_decay=weight_decay,
        max_epochs=max(most, divided.n_parts),
        patience=max(max_epochs // 3, divided.n_parts),
        slowing=True,
        validate_every=max(2, divided.n_parts),  # validation takes a third of a step on each part
    )
    with torch.random.fork_rng(devices=[]), ProgressBar(1, "graph network", False) as bar:
        torch.manual_seed(mine.seed)
        network = MeanNetwork(*steps.sizes, hidden, n_layers, dropout, batch_norm)
        data = (graph.n_nodes // divided.n_parts, steps.Y, steps.weight)
        validate = None if few else steps.validate
        train_whole(network, steps.draw, *data, validate, steps.link, options, bar)
    return GraphNetwork(*network.arrays(), steps.link)
