"""`SGC`: simplified graph convolution with labels as inputs."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from ..._utils.progress import Progress
from ...graph.graph import Graph
from ...propagation.base import Propagation
from ...propagation.polynomials import Power
from .row_wise import RowWise


@dataclass(eq=False, repr=False)
class SGC(RowWise):
    """Simplified graph convolution with labels beside the features (paper, section 4.2).

    One linear layer on rows [S^K X, (S^K − C) Y_tr] with C = diag(S^K): each node sees the labels
    of its neighbors, never its own.

    Parameters
    ----------
    n_steps : int, default=3
        K, the number of propagation steps.
    norm : {"sym", "row", "col"}, default="sym"
        Normalization of the adjacency matrix; see `Graph.normalized`.
    self_loops : bool, default=True
        Whether to add a self-loop to each node that has none.
    label_trick : {"deterministic", "stochastic", None}, default="deterministic"
        "deterministic" uses self-excluded labels as inputs. "stochastic" uses a fresh random part
        of the labels, scaled by 1/α, in each epoch, and the others as targets. None uses features
        only.
    split_rate : float, default=0.5
        α, the share of the labels that are inputs with the stochastic label trick.
    scale : {"auto", "columns", "global", False}, default="auto"
        Scaling of the propagated features. "columns" gives each column mean 0 and standard
        deviation 1, "global" divides all of them by one number, and False leaves them as they are.
        "auto" is "global" for sparse and "columns" for dense features.
    learning_rate : float, default=0.01
        Learning rate of Adam.
    weight_decay : float, default=1e-4
        L2 penalty of Adam.
    max_epochs : int, default=100
        Largest number of epochs.
    patience : int, default=20
        Number of epochs without a better score after which training ends.
    batch_size : int or None, default=None
        Rows per batch. None uses a twentieth of the targets, from 32 to 1024.
    validation_fraction : float, default=0.1
        Share of the labeled nodes that choose the best epoch if `fit` gets no validation nodes.
        Their labels are not targets, but predictions use them as inputs.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class; "balanced" weighs classes by the inverse of their frequency.
    calibrate : bool, default=True
        Whether `predict_proba` is calibrated on validation nodes or, without any, on out-of-fold
        predictions. The calibration is fitted on first use; `predict` does not depend on it.
    task : {"auto", "classification", "multilabel", "regression"}, default="auto"
        The kind of labels. "auto" infers it from the type and shape of ``y``; floats with a
        fractional part mean regression.
    random_state : int, numpy.random.Generator or None, default=0
        Seed of all random draws.
    progress : bool, callable or None, default=None
        None shows a progress bar on a terminal, True always and False never; a function is called
        with (done, total).

    Attributes
    ----------
    network_ : nn.Module
        The trained network.
    history_ : list of (int, float, float)
        Epoch, loss and validation score of each epoch.
    best_epoch_ : int
        The epoch whose weights were kept.
    n_iter_ : int
        Number of epochs run.
    oof_proba_ : ndarray of shape (m, c)
        Probabilities of the labeled nodes, in the order of ``labeled_``, made without their own
        labels; not calibrated.
    oof_prediction_ : ndarray of shape (m,) or (m, c)
        Predictions of the labeled nodes made without their own labels.
    oof_score_ : float
        Accuracy, or R² for regression, of these predictions.
    labeled_ : ndarray of int
        Numbers of the labeled nodes whose labels are inputs.
    validation_ : ndarray of int
        Numbers of the validation nodes.
    classes_ : ndarray
        Classes in ascending order; only for classification.
    prior_ : ndarray of shape (c,)
        Class shares or mean target of the labeled nodes.
    calibration_ : Calibration
        How probabilities are calibrated, with the calibration error before and after.

    See Also
    --------
    SIGN : A perceptron on several hops.
    LabelFeatureRegression : Linear weights in closed form, without torch.

    Notes
    -----
    Needs torch. Propagation takes O(K·edges·columns) once, an epoch O(n·columns). The weights are
    averaged over an epoch. Out-of-fold predictions take five more trainings, on first use: each
    fifth of the labeled nodes is predicted by a network that was not trained on its labels.

    Examples
    --------
    >>> import numpy as np
    >>> from labeltrick import SGC, Graph
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 100)
    >>> src, dst = rng.integers(0, 200, (2, 4000))
    >>> same = y[src] == y[dst]
    >>> graph = Graph.from_edges(src[same], dst[same])
    >>> X = y[:, None] + rng.normal(size=(200, 5))
    >>> model = SGC(n_steps=2).fit(X, np.where(rng.random(200) < 0.3, y, -1), graph=graph)
    >>> float(model.oof_score_) > 0.95
    True
    """

    n_steps: int = 3
    _: KW_ONLY
    norm: str = "sym"
    self_loops: bool = True
    label_trick: str | None = "deterministic"
    split_rate: float = 0.5
    scale: str | bool = "auto"
    learning_rate: float = 0.01
    weight_decay: float = 1e-4
    max_epochs: int = 100
    patience: int = 20
    batch_size: int | None = None
    validation_fraction: float = 0.1
    class_weight: Any = None
    calibrate: bool = True
    task: str = "auto"
    random_state: Any = 0
    progress: Progress = None

    def _propagation(self, graph: Graph) -> Propagation:
        return Power(graph, self.n_steps, norm=self.norm, self_loops=self.self_loops)

    def _head(self) -> dict[str, Any]:
        return {"n_layers": 1}
