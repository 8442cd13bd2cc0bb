"""What `AutoModel` asks of a learner, and what it says about the data."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.sparse import issparse

from ...._utils.feature_tables import FeatureScale
from ...._utils.targets import TargetScale
from ....graph.graph import Graph
from ...base.node_inputs import NodeInputs
from ..columns import AutoColumns, ColumnRecipe, Signal
from ..label_dropout import LabelDropout
from .graph_parts import has_parts
from .rows import MemberLabels

if TYPE_CHECKING:
    from ..crossfit import RowMaker

NO_COLUMNS = ColumnRecipe(None, 0)
STEP_SECONDS = 2e-3  # least time per step of a network


@dataclass(frozen=True)
class Problem:
    """What a learner may ask about the data before it is tried."""

    signal: Signal | None
    graph: Graph
    task: str

    @property
    def has_edges(self) -> bool:
        return self.graph.nnz > self.graph.n_self_loops

    @property
    def n_nodes(self) -> int:
        return self.graph.n_nodes

    @cached_property
    def has_parts(self) -> bool:
        """Whether the graph can be divided without losing most of its edges."""
        return has_parts(self.graph)

    @property
    def has_features(self) -> bool:
        return self.signal is not None

    @property
    def wide(self) -> bool:
        """Whether there are so many columns that they are treated like words."""
        return self.signal is not None and self.signal.wide

    @property
    def has_words(self) -> bool:
        """Whether columns are words that classes can be read from."""
        words = self.wide and self.signal is not None and not self.signal.shares
        return words and self.task != "regression"

    def recipe(self, n_hops: int, label_hops: int) -> ColumnRecipe:
        """The columns up to a number of hops, as far as there are features and edges."""
        return ColumnRecipe(
            n_hops if self.has_features else None, label_hops if self.has_edges else 0
        )


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
class Member:
    """One fit of a learner, without one fold of the labels or, if it is ``whole``, with all."""

    learned: Any
    scale: TargetScale
    label_scale: FeatureScale | None
    whole: bool = False


@dataclass(frozen=True)
class Learner:
    """Base of all learners. A learner is fitted once per fold, and never sees a label of its fold.

    Most learners take rows and derive from `RowLearner`; those that pass labels along edges derive
    from `FoldLearner`.

    Parameters
    ----------
    name : str
        Its name in ``trials_`` and in ``learners``.
    recipe : ColumnRecipe
        The columns that it learns from; `prepared` sets them.
    options : dict of str to Any
        Settings of its fits.
    baseline : bool, default=False
        Whether it is only reported for comparison, and not part of the blend.
    """

    name: str
    recipe: ColumnRecipe = NO_COLUMNS
    options: dict[str, Any] = field(default_factory=dict)
    baseline: bool = False

    # Whether its fits can be written to files.
    storable: ClassVar[bool] = True
    # A cheaper learner of the same kind: this one is tried if that one is the best.
    follows: ClassVar[str | None] = None
    # Whether the prediction of a node depends on its own row alone.
    by_row: ClassVar[bool] = False
    # How many times as long as that of a fold a further fit on all labels takes, which then
    # predicts the unlabeled nodes; 0: the members of the folds do.
    whole_fit: ClassVar[float] = 0.0

    def suits(self, problem: Problem) -> bool:
        """Whether it can be used on this kind of data."""
        return True

    def prepared(self, problem: Problem) -> Learner:
        """The learner with the columns and options for this data."""
        return self

    def cost(self, sizes: Sizes, n_folds: int) -> float:
        """Estimated seconds of all its fits. It depends on sizes alone, so that the same data
        always gets the same plan."""
        raise NotImplementedError

    def shortened(self, share: float) -> Learner:
        """The learner for a share, below 1, of the time that it needs. By default it is the same,
        and its training ends when time is over."""
        return self

    def for_all_labels(self) -> Learner:
        """The learner for the fit on all labels."""
        return self

    def features(self, columns: AutoColumns, inputs: NodeInputs) -> Any:
        """The feature columns that it takes."""
        raise NotImplementedError

    def fit(
        self, maker: RowMaker, inputs: NodeInputs, mine: MemberLabels, dropout: LabelDropout
    ) -> Member:
        """Fit the labels of one member."""
        raise NotImplementedError

    def predict(
        self,
        maker: RowMaker,
        members: list[Member],
        inputs: NodeInputs,
        folds: list[np.ndarray] | None,
    ) -> list[np.ndarray]:
        """Each member's predictions of all nodes, in the units of ``y``; no node sees its own
        label. ``folds`` are the nodes that each member has not learned from; by default, labeled
        nodes are divided as in the fit."""
        raise NotImplementedError

    def predict_at(
        self,
        maker: RowMaker,
        members: list[Member],
        inputs: NodeInputs,
        folds: list[np.ndarray] | None,
        nodes: np.ndarray,
    ) -> list[np.ndarray]:
        """`predict` of some nodes."""
        return [rows[nodes] for rows in self.predict(maker, members, inputs, folds)]

    def importances(
        self, maker: RowMaker, members: list[Member], inputs: NodeInputs
    ) -> list[tuple[str, str, float]]:
        """(name, group, share) of each column, largest first; empty if it cannot tell."""
        return []
