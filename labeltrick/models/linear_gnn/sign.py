"""`SIGN`: a perceptron on several hops of features and labels."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from ..._utils.checks import check_choice, check_count, check_share
from ..._utils.progress import Progress
from ...graph.graph import Graph
from ...propagation.base import Propagation
from ...propagation.hops import Hops
from ...propagation.polynomials import HopSum
from .row_wise import RowWise


@dataclass(eq=False, repr=False)
class SIGN(RowWise):
    """SIGN with labels beside the features: a perceptron on hops of both (paper, section 4.2).

    Parameters
    ----------
    n_steps : int, default=5
        K; hops 0 to K are used.
    hops : {"sum", "concat"}, default="sum"
        "sum" adds the hops, Σ_k S^k, as in the paper. "concat" puts every hop in its own columns,
        as in the original SIGN, with self-exclusion for each hop.
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
    hidden : int, default=256
        Width of the hidden layers.
    n_layers : int, default=2
        Number of linear layers; 1 is a linear map.
    dropout : float, default=0.5
        Dropout rate of the hidden layers.
    hidden_norm : {"layer", "batch"}, default="layer"
        Normalization of the hidden layers. "batch" is not allowed with the deterministic label
        trick: the mean of a batch would carry a label past its exclusion.
    learning_rate : float, default=0.006
        Learning rate of Adam.
    weight_decay : float or None, default=None
        L2 penalty of Adam. None is 10 divided by the number of labels, at most 1e-3; the penalty of
        the summed loss is then the same for any number of labels.
    max_epochs : int or None, default=None
        Largest number of epochs. None is 20, or more if that is fewer than 400 steps.
    patience : int or None, default=None
        Number of epochs without a better score after which training ends. None is half of the
        epochs.
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
    SGC : One linear layer on one power of the adjacency matrix.

    Notes
    -----
    Needs torch. Propagation takes O(K·edges·columns) once, an epoch O(n·columns·hidden).
    Out-of-fold predictions take five more trainings, on first use.

    Examples
    --------
    >>> import numpy as np
    >>> from labeltrick import SIGN, Graph
    >>> graph = Graph.from_edges(range(59), range(1, 60))
    >>> y = np.repeat([0, 1, 2], 20)
    >>> X = np.random.default_rng(0).normal(size=(60, 4)) + y[:, None]
    >>> SIGN(2, hops="concat", max_epochs=20).fit(X, y, graph=graph).predict_proba().shape
    (60, 3)
    """

    n_steps: int = 5
    _: KW_ONLY
    hops: str = "sum"
    norm: str = "sym"
    self_loops: bool = True
    label_trick: str | None = "deterministic"
    split_rate: float = 0.5
    scale: str | bool = "auto"
    hidden: int = 256
    n_layers: int = 2
    dropout: float = 0.5
    hidden_norm: str = "layer"
    learning_rate: float = 0.006
    weight_decay: float | None = None
    max_epochs: int | None = None
    patience: int | None = None
    batch_size: int | None = None
    validation_fraction: float = 0.1
    class_weight: Any = None
    calibrate: bool = True
    task: str = "auto"
    random_state: Any = 0
    progress: Progress = None

    def _decay(self) -> float:
        if self.weight_decay is not None:
            return self.weight_decay
        return min(1e-3, 10 / len(self.labeled_))

    def _schedule(self) -> tuple[int, int]:
        from ...nn.training import n_batches

        steps = n_batches(len(self.labeled_), self.batch_size)
        epochs = max(20, 400 // steps)
        if self.max_epochs is not None:
            epochs = check_count("max_epochs", self.max_epochs, 1)
        patience = max(1, epochs // 2) if self.patience is None else self.patience
        return epochs, check_count("patience", patience, 1)

    def _propagation(self, graph: Graph) -> Propagation:
        check_choice("hops", self.hops, ("sum", "concat"))
        kind = HopSum if self.hops == "sum" else Hops
        return kind(graph, self.n_steps, norm=self.norm, self_loops=self.self_loops)

    def _head(self) -> dict[str, Any]:
        check_choice("hidden_norm", self.hidden_norm, ("layer", "batch"))
        if self.hidden_norm == "batch" and self.label_trick == "deterministic":
            raise ValueError(
                "`hidden_norm` must be 'layer' with the deterministic label trick; got 'batch', "
                "which would carry labels past their exclusion. Use 'layer'."
            )
        return {
            "norm": self.hidden_norm,
            "hidden": check_count("hidden", self.hidden, 1),
            "n_layers": check_count("n_layers", self.n_layers, 1),
            "dropout": check_share("dropout", self.dropout),
        }
