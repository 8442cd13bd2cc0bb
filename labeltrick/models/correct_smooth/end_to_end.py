"""Base network and weights of trainable Correct & Smooth, trained together on random splits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._utils.feature_tables import FeatureScale, settle_scale
from ..._utils.progress import Progress, ProgressBar
from ..._utils.targets import Targets, TargetScale
from ..base.draws import draw_split
from ..base.node_inputs import NodeInputs
from ..base.weights import link_of
from .views import StepViews

if TYPE_CHECKING:
    from ...nn.epochs import Training
    from ...nn.training import TrainingOptions


@dataclass(frozen=True)
class EndToEnd:
    """A trained network, and the scaling of its features and targets."""

    network: Any
    views: StepViews
    target_scale: TargetScale
    feature_scale: FeatureScale
    training: Training
    split_rate: float

    def coefficients(self) -> tuple[np.ndarray, ...]:
        """W_s and Ŵ_c."""
        parts = self.network.smooth_weight, self.network.correct_weight
        return tuple(part.detach().numpy().astype(np.float64) for part in parts)

    def base_rows(self, inputs: NodeInputs) -> np.ndarray:
        from ...nn.sparse_rows import scaled_rows

        X = scaled_rows(inputs.X, self.feature_scale)
        return self._predict(lambda: self.network.base(X), inputs)

    def rows(self, inputs: NodeInputs) -> np.ndarray:
        scales = self.feature_scale, self.target_scale
        arguments = network_arguments(inputs, self.views, *scales)(inputs.targets.labeled)
        return self._predict(lambda: self.network(*arguments), inputs)

    def _predict(self, scores: Callable[[], Any], inputs: NodeInputs) -> np.ndarray:
        from ...nn.training import whole_rows

        found = whole_rows(self.network, scores, link_of(inputs.targets.task))
        return self.target_scale.back(found)


def network_arguments(
    inputs: NodeInputs, views: StepViews, features: FeatureScale, scale: TargetScale
) -> Callable[[np.ndarray], tuple[Any, ...]]:
    """Features, labels and operators in the form that the network takes, by the mask of the nodes
    whose labels are inputs."""
    import torch

    from ...nn.sparse_rows import scaled_rows

    graph = inputs.graph
    assert views.correct is not None
    P_c, P_s = views.correct.linear(graph), views.smooth.linear(graph)
    ones = np.ones(graph.n_nodes, np.float32)
    mass = torch.from_numpy(P_s @ ones if views.normalize else ones)
    X = scaled_rows(inputs.X, features)
    Y = torch.from_numpy(scale.inputs(inputs.targets).astype(np.float32))
    return lambda in_mask: (X, Y, torch.from_numpy(in_mask), P_c, P_s, mass)


def train_end_to_end(
    inputs: NodeInputs,
    validation: Targets | None,
    views: StepViews,
    scale: TargetScale,
    shape: dict[str, Any],
    options: TrainingOptions,
    split_rate: float,
    seed: int,
    progress: Progress,
) -> EndToEnd:
    """Train a base network of a given shape with one step per epoch, each on a new random split.
    The epoch with the best validation score is kept; the last one if there are no validation nodes.
    """
    import torch

    from ...nn.correct_smooth import CorrectSmoothNet
    from ...nn.mlp import MLP
    from ...nn.sparse_rows import SparseRows
    from ...nn.training import linked, train_whole, validation_score

    known = inputs.targets
    nodes, link = np.flatnonzero(known.labeled), link_of(known.task)
    rng = np.random.default_rng(seed)
    features = FeatureScale.of(inputs.X, settle_scale("auto", inputs.X))
    arguments = network_arguments(inputs, views, features, scale)

    def draw(model: Any) -> tuple[Any, np.ndarray]:
        split = draw_split(known, split_rate, rng)
        places = np.searchsorted(nodes, np.flatnonzero(split.out_mask))
        return model(*arguments(split.in_mask))[torch.from_numpy(nodes[places])], places

    validate = None
    if validation is not None and validation.labeled.any():
        at = np.flatnonzero(validation.labeled)
        truth, weight = scale.to(validation.Y[at]), validation.weight[at]

        def validate(model: Any) -> Any:
            with torch.no_grad():
                scores = linked(model(*arguments(known.labeled)), link)
            return validation_score(scores.numpy()[at].astype(np.float64), truth, weight, link)

    width = known.Y.shape[1]
    with (
        torch.random.fork_rng(devices=[]),
        ProgressBar(options.max_epochs, "end to end", progress) as bar,
    ):
        torch.manual_seed(int(rng.integers(2**31)))
        X = arguments(known.labeled)[0]
        base = MLP(X.shape[1], width, words=isinstance(X, SparseRows), **shape)
        network = CorrectSmoothNet(base, width, link, views.scale)
        data = inputs.graph.n_nodes, scale.to(known.Y[nodes]), known.weight[nodes]
        training = train_whole(network, draw, *data, validate, link, options, bar)
    return EndToEnd(network, views, scale, features, training, split_rate)
