"""The base of estimators whose networks are trained by epochs on features and labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._utils.checks import check_choice, check_count, check_number
from ..._utils.extras import require
from ..._utils.feature_tables import SCALES
from ..._utils.progress import Progress, ProgressBar
from .feature_estimator import TRICKS, FeatureEstimator
from .node_inputs import NodeInputs, draw_validation
from .weights import link_of

if TYPE_CHECKING:
    from ...nn.epochs import EpochScore, Training
    from ...nn.training import TrainingOptions


class TrainedEstimator(FeatureEstimator):
    """Base whose `fit` trains a network on the targets of some nodes and validates it on others.

    Subclasses define `_prepare`, which collects what all trainings share, `_train(nodes,
    validation, seed, bar)`, which returns (network, training), and `_network_rows(network,
    inputs)`, which predicts.
    """

    label_trick: str | None
    split_rate: float
    scale: str | bool
    learning_rate: float
    weight_decay: Any
    max_epochs: int | None
    patience: int | None
    validation_fraction: float
    random_state: Any
    progress: Progress
    _tricks: tuple[str | None, ...] = TRICKS

    # -- defined by subclasses ------------------------------------------------------------
    def _prepare(self) -> None:
        raise TypeError(f"{type(self).__name__} must define _prepare.")

    def _train(
        self, nodes: np.ndarray, validation: np.ndarray, seed: int, bar: ProgressBar
    ) -> tuple[Any, Training]:
        raise TypeError(f"{type(self).__name__} must define _train.")

    def _network_rows(self, network: Any, inputs: NodeInputs) -> np.ndarray:
        raise TypeError(f"{type(self).__name__} must define _network_rows.")

    # -- fit ------------------------------------------------------------------------------
    def _fit(self, *data: Any) -> None:
        require("torch", type(self).__name__)
        self._start_feature_fit(*data)
        try:
            self._settle()
            self._prepare()
        except Exception:
            del self.targets_  # not fitted, neither by the old fit nor by the new one
            raise
        rng = np.random.default_rng(self.random_state)
        self._seeds = rng.integers(2**31, size=2)
        self.network_, training = self._fit_targets(self.labeled_, int(self._seeds[0]))
        self.history_, self.best_epoch_ = training.history, training.best_epoch
        self.n_iter_ = len(training.history)
        check_divergence(training, self.learning_rate)

    def _fit_targets(
        self, nodes: np.ndarray, seed: int, progress: Progress = None
    ) -> tuple[Any, Training]:
        """A network trained on the targets of some of the labeled nodes.

        The validation nodes choose the best epoch; without any, a share of ``nodes`` that is not
        trained on does. Labels that are not targets are not inputs of the training either: where
        nodes share their neighbors, weights could learn to read them off what others see.
        """
        validation = self.validation_
        rng = np.random.default_rng(seed)
        if not len(validation):
            nodes, validation = draw_validation(self.targets_, nodes, self.validation_fraction, rng)
        shown = self.progress if progress is None else progress
        with ProgressBar(self._schedule()[0], "training", shown) as bar:
            return self._train(nodes, validation, int(rng.integers(2**31)), bar)

    def _train_whole(
        self,
        build: Callable[[int], Any],
        draw: Callable[[Any], tuple[Any, np.ndarray]],
        n_computed: int,
        nodes: np.ndarray,
        validation: np.ndarray,
        validation_rows: Callable[[Any], np.ndarray],
        seed: int,
        bar: ProgressBar,
    ) -> tuple[Any, Training]:
        """Train the network ``build(n_outputs)`` with one step per epoch; see `nn.train_whole`.

        ``draw(network)`` returns the scores of targets, and which of ``nodes`` they are, as
        positions; ``validation_rows(network)`` predicts the nodes ``validation``.
        """
        import torch

        from ...nn.training import train_whole, validation_score

        Y, weight = self._target_rows(nodes)
        truth, importance = self._target_rows(validation)

        def validate(network: Any) -> EpochScore:
            return validation_score(validation_rows(network), truth, importance, self._link)

        with torch.random.fork_rng(devices=[]):  # keeps the caller's random state
            torch.manual_seed(seed)
            network = build(Y.shape[1])
            chooses = validate if len(validation) else None
            options = (self._link, self._training_options(), bar)
            return network, train_whole(network, draw, n_computed, Y, weight, chooses, *options)

    def _settle(self) -> None:
        """Check the parameters that all subclasses have, and set the link."""
        if self.label_trick == "deterministic" and "deterministic" not in self._tricks:
            raise ValueError(
                "`label_trick` must be None or 'stochastic' here; got 'deterministic', which needs "
                "linear propagation. Use SGC, SIGN or TWIRLS."
            )
        check_choice("label_trick", self.label_trick, self._tricks)
        check_number("split_rate", self.split_rate, 0.0, 1.0)
        check_choice("scale", self.scale, SCALES)
        check_number("learning_rate", self.learning_rate, 0.0, np.inf)
        check_number("weight_decay", self._decay(), -1e-300, np.inf)
        self._schedule()
        if self.validation_fraction:
            check_number("validation_fraction", self.validation_fraction, 0.0, 1.0)
        self._link = link_of(self.targets_.task)

    def _training_options(self, **more: Any) -> TrainingOptions:
        from ...nn.training import TrainingOptions

        return TrainingOptions(
            learning_rate=self.learning_rate,
            weight_decay=self._decay(),
            max_epochs=self._schedule()[0],
            patience=self._schedule()[1],
            **more,
        )

    def _schedule(self) -> tuple[int, int]:
        """Epochs and patience."""
        epochs, patience = self.max_epochs, self.patience
        return check_count("max_epochs", epochs, 1), check_count("patience", patience, 1)

    def _decay(self) -> float:
        return self.weight_decay

    def _target_rows(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(targets, weights) of labeled or validation nodes, in the units of training."""
        known, validated = self.targets_, self.validation_targets_  # no node is in both
        weight = known.only(nodes).weight[nodes] + validated.weight[nodes]
        return self._target_scale.to(known.Y[nodes] + validated.Y[nodes]), weight

    # -- predictions ----------------------------------------------------------------------
    def scores_of(self, inputs: NodeInputs) -> np.ndarray:
        return self._finish(self._network_rows(self.network_, inputs))

    @property
    def oof_rows_(self) -> np.ndarray:
        """Each fifth of the labeled nodes, predicted by a network trained on the others."""
        nodes = self.labeled_

        def predict_fold(inside: np.ndarray) -> np.ndarray:
            others = nodes[~inside]
            fold = self._without_fold(self.targets_.only(others))
            network, _ = fold._fit_targets(others, int(self._seeds[1]), False)
            return fold._finish(fold._network_rows(network, self.fitted_inputs))[nodes[inside]]

        return self._oof_by_folds(predict_fold, self.progress)


def check_divergence(training: Training, learning_rate: float) -> None:
    """Raise an error if a training diverged; called once the estimator holds its best epoch."""
    if training.diverged_at is not None:
        raise FloatingPointError(
            f"`learning_rate` must be lower: at {learning_rate:g} training diverged in epoch "
            f"{training.diverged_at}. The estimator keeps the weights of epoch "
            f"{training.best_epoch}."
        )
