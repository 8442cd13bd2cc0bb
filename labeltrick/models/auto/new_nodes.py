"""Predictions of a few new nodes by `AutoModel`, from their neighborhoods."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..._utils.progress import Progress
from ...graph.graph import Graph
from ...propagation.base import Propagation
from ...propagation.hops import Hops
from ...propagation.nearby import Nearby, Spread
from ...propagation.resolvent import Resolvent
from ...self_exclusion.label_views import LabelViews, label_columns
from ...self_exclusion.rounding import is_small
from ..base.new_nodes import NewNodes
from ..base.node_inputs import NodeInputs, labels_at
from ..base.weights import tidy
from .choosing import LABELS_ALONE
from .columns import AutoColumns
from .crossfit import RowMaker
from .learners.protocol import Learner

_MOST = 64  # new nodes; for more, the whole graph is hardly slower


class NewNodePredictions:
    """Base of `AutoModel`, which predicts new nodes from what their neighborhoods change."""

    def _scores_of_new(self: Any, new: NewNodes, keep: bool = True) -> np.ndarray | None:
        in_memory = new.graph.compute.engine in ("auto", "memory")
        if len(new) > _MOST or not in_memory or self._dropout.share:
            return None
        used = {each.name: each for each in self._learners if each.name in self.shares_}
        if not all(each.learner.by_row for each in used.values()):
            return None
        return _AtNewNodes(self, new, keep).rows(used)

    def _label_columns(self: Any, what: str) -> np.ndarray:
        """The columns that are propagated: labels for learners, for label propagation, or
        residuals; with zeros for nodes that may follow."""
        known, correction = self._known_targets, self._correction
        nodes = np.flatnonzero(known.labeled)
        if what == "columns":
            Y = self._maker.label_scale.to(known.Y[nodes])
            rows = label_columns(Y, np.ones(len(nodes)))
        elif what == LABELS_ALONE:
            rows = label_columns(known.Y[nodes], known.weight[nodes])
        else:
            nodes = correction.nodes
            rows = label_columns(correction.Y - correction.oof, np.ones(len(nodes)))
        found = np.zeros((len(known.Y) + _MOST, rows.shape[1]))
        found[nodes] = rows
        return found


@dataclass(frozen=True)
class _RowsOfNew(RowMaker):
    """A maker of rows for new nodes, whose label columns are known."""

    found: np.ndarray | None = None

    def labels(self, learner: Learner, known: Any, graph: Graph) -> np.ndarray:
        hops = learner.recipe.label_hops
        if not hops:
            return np.zeros((graph.n_nodes, 0))
        assert self.found is not None
        return self.found[:, self._columns.places(hops, known.Y.shape[1])]


@dataclass(frozen=True)
class _AtNewNodes:
    model: Any
    new: NewNodes
    keep: bool
    _near: Nearby = field(init=False)

    def __post_init__(self) -> None:
        near = Nearby(self.new.graph, self.model.graph_.degrees, self.new.changed)
        object.__setattr__(self, "_near", near)

    def rows(self, used: dict[str, Any]) -> np.ndarray:
        """Rows of the new nodes; ``used`` are the learners of the blend by name."""
        model, task = self.model, self.model.targets_.task
        found = self._by_learners(used)
        if LABELS_ALONE in model.shares_:
            views = self._views(LABELS_ALONE, model._damping, tol=1e-6)
            found[LABELS_ALONE] = tidy(self._seen(views, LABELS_ALONE, model.prior_), task)
        rows = np.zeros((len(self.new), model.targets_.Y.shape[1]))
        for name, share in model.shares_.items():
            rows += share * model._calibrations[name].apply(found[name], task)
        rows = tidy(rows, task)
        correction = model._correction
        if correction is None:
            return rows
        views = self._views("residuals", correction.damping, tol=1e-8)
        nearby = self._seen(views, "residuals", np.zeros(rows.shape[1]))
        return tidy(rows + correction.size * nearby, task)

    def _by_learners(self, used: dict[str, Any]) -> dict[str, np.ndarray]:
        if not used:
            return {}
        model, n = self.model, len(self.new)
        hops = max((each.learner.recipe.label_hops for each in used.values()), default=0)
        bare = Graph.from_edges([], [], n_nodes=n)
        targets = labels_at(model.targets_, np.full(n, -1))
        inputs = NodeInputs(targets, bare, self.new.X)
        columns = self._columns(used, inputs)
        args = (columns, model._maker.label_scale, model._maker.seed, model._maker.label_hops)
        maker = _RowsOfNew(*args, self._label_rows() if hops else None)
        return {name: maker.rows(each, inputs) for name, each in used.items()}

    # -- labels ------------------------------------------------------------------------------
    def _label_rows(self) -> np.ndarray:
        model, graph = self.model, self.new.graph
        maker: RowMaker = model._maker
        views = self._views("columns", maker._columns.damping, tol=1e-8, n_hops=maker.label_hops)
        found = views.inputs(self._given("columns"), self.new.nodes, progress=False)
        small = is_small(graph.n_nodes, len(model.labeled_))
        degrees = graph.degrees[self.new.nodes]
        return maker._columns.of_views(found, maker.label_scale, small, degrees, scaled=False)

    def _given(self, what: str) -> np.ndarray:
        known = self.model._once(f"new nodes: {what}", lambda: self.model._label_columns(what))
        return known[: self.new.graph.n_nodes]

    def _views(self, what: str, damping: Any, *, tol: float, n_hops: int = 0) -> LabelViews:
        graph = self.new.graph
        kinds: list[Propagation] = [Hops(graph, n_hops, norm="row")] if n_hops else []
        if damping is not None:
            kinds.append(Resolvent(graph, damping, norm="row", tol=tol))
        return _NearbyViews(kinds, self._near, self._before(what, damping))

    def _before(self, what: str, damping: Any) -> Spread | None:
        if not self.keep or damping is None:
            return None
        model, n = self.model, self.new.n_old

        def make() -> Spread:
            found = Spread.of(model.graph_, damping, self._given(what)[:n])
            return replace(found, columns=self._given(what)[:n])

        return model._once(f"new nodes: spread {what}", make)

    def _seen(self, views: LabelViews, what: str, blank: np.ndarray) -> np.ndarray:
        given = self._given(what)
        return views.inputs(given, self.new.nodes, blank=blank, progress=False).values[:, 0]

    # -- features ----------------------------------------------------------------------------
    def _columns(self, used: dict[str, Any], inputs: NodeInputs) -> AutoColumns:
        """The columns of the fit with the means around the new nodes."""
        fitted: AutoColumns = self.model._maker.columns
        columns = AutoColumns(fitted.signal, fitted.scales, fitted.few_scale, fitted.word_scale)
        if fitted.signal is None:
            return columns
        wanted = {each.learner.recipe.n_hops for each in used.values()} - {None}
        own = fitted.signal.values(inputs.X)
        rows = [self._near.hop_rows(int(v), max(wanted, default=0)) for v in self.new.nodes]
        means = [
            np.stack([self._mean(*row[hop], own) for row in rows])
            for hop in range(max(wanted, default=0) + 1)
        ]
        for n_hops in {0, *wanted}:
            spread = np.concatenate(means[: n_hops + 1], axis=1).astype(own.dtype)
            columns._kept[n_hops] = ((inputs.X, inputs.graph), spread)
        return columns

    def _mean(self, nodes: np.ndarray, shares: np.ndarray, own: np.ndarray) -> np.ndarray:
        old = nodes < self.new.n_old
        total = shares[~old] @ own[nodes[~old] - self.new.n_old]
        return total + shares[old] @ self._signal_at(nodes[old])

    def _signal_at(self, nodes: np.ndarray) -> np.ndarray:
        model, table = self.model, self.model.features_
        signal = model._maker.columns.signal
        if self.keep:
            return model._once("new nodes: signal", lambda: signal.values(table))[nodes]
        return signal.values(replace(table, values=table.values[nodes]))


class _NearbyViews(LabelViews):
    """Views at new nodes, from their neighborhoods. ``before`` is the solution of the resolvent on
    the graph before, or None to take the whole graph."""

    def __init__(self, kinds: Any, near: Nearby, before: Spread | None) -> None:
        super().__init__(kinds)
        self.near, self.before = near, before

    def _spread_at(
        self, kind: Propagation, columns: np.ndarray, nodes: np.ndarray, progress: Progress
    ) -> np.ndarray:
        if isinstance(kind, Hops):
            rows = [self.near.hop_rows(int(v), kind.n_steps) for v in nodes]
            return np.stack([[shares @ columns[at] for at, shares in row] for row in rows])
        assert isinstance(kind, Resolvent)
        if self.before is not None:
            return self.near.resolvent_at(nodes, self.before)[:, None]
        rows = [self.near.row(int(v), kind.damping) @ columns for v in nodes]
        return np.stack(rows)[:, None]
