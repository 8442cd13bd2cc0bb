"""`AutoModel`: tries what suits the data, and blends what predicts labels it has not seen."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import _check_feature_names

from ..._utils.checks import check_choice, check_count, check_number
from ..._utils.progress import Progress, ProgressBar
from ..._utils.targets import TargetScale
from ...evaluation import metrics
from ...evaluation.calibration import Calibration, fit_calibration
from ...graph.graph import Graph
from ...self_exclusion.label_views import label_columns
from ..base.feature_estimator import FeatureEstimator
from ..base.folds import draw_folds
from ..base.node_inputs import NodeInputs
from ..base.tables import Table, read_again, read_table
from ..correct_smooth.base import with_gaps
from ..label_propagation.plain import LabelPropagation, tidy
from ..search import GraphSearch
from .blend import Correction, choose_correction, choose_shares, mixed, residual_views
from .columns import AutoColumns, Signal
from .crossfit import CrossFitter, Learner, RowMaker
from .journal import Journal, signature
from .learners import row_loss
from .trials import LearnerSpec, Sizes, Trial, learners, plan

_LABELS_ALONE = "label propagation"
_BASELINES = ("features alone",)  # told beside the others, no part of the blend
_DAMPINGS = (0.3, 0.6, 0.8, 0.9, 0.97)


class AutoModel(FeatureEstimator):
    """The best that this library has for the data, without a setting.

    Trees, networks (where torch is installed) and a linear model learn from the same columns: a
    node's own, means of its neighbors', and the labels that others have nearby; a graph network
    learns from the node's own and from random parts of the labels; where columns are words, what
    a network makes of the words of others stands beside their labels. Each is fitted without each
    fifth of the labels in turn, so that every labeled node has predictions that never saw its
    label; these and the validation nodes tell how to blend the learners and label propagation,
    and whether residuals of nearby nodes are added on top.

    Parameters
    ----------
    budget : seconds that may be spent, by an estimate from the sizes alone; learners past it are
        not run, and told of in ``trials_``. None: no limit.
    n_folds : folds of the labels.
    metric : of ``trials_``, a name in `metrics.NAMES`; None for accuracy or RMSE. The choice
        itself goes by log loss or squared error.
    categorical, unseen_categories : as for `GraphBoosting`.
    resume_from : folder in which finished parts are kept, so that an interrupted fit continues from
        there: a new or empty one, or the one of the same fit. Any other is refused and left
        untouched. None keeps nothing.
    class_weight, calibrate, task, random_state, progress : as for the other estimators.

    Attributes
    ----------
    trials_ : what was tried, with its score. chosen_ : what came of it, in words.
    shares_ : the part of each learner in the blend.
    damping_curve_ : (λ, accuracy or R²) of label propagation alone, on the same nodes.
    oof_proba_, oof_prediction_, oof_score_ : of labeled nodes by learners that did not see their
        label. How these are blended was settled on all labels: with a handful of shares, which
        flatters little.
    labeled_, classes_, targets_, graph_ : as for the other estimators.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1, 2], 60)
    >>> src, dst = rng.integers(0, 180, (2, 3000))
    >>> near = (y[src] == y[dst]) | (rng.random(3000) < 0.1)
    >>> graph = Graph.from_edges(src[near], dst[near], n_nodes=180)
    >>> X = y[:, None] + rng.normal(size=(180, 3))
    >>> known = np.where(rng.random(180) < 0.4, y, -1)
    >>> model = AutoModel(budget=5, progress=False).fit(X, known, graph=graph)
    >>> float(model.score(None, np.where(known < 0, y, -1))) > 0.9
    True
    """

    features_: Table | None

    def __init__(
        self,
        *,
        budget: float | None = None,
        n_folds: int = 5,
        metric: str | None = None,
        categorical: Any = "auto",
        unseen_categories: str = "missing",
        resume_from: Any = None,
        class_weight: Any = None,
        calibrate: bool = True,
        task: str = "auto",
        random_state: int = 0,
        progress: Progress = None,
    ) -> None:
        self.budget = budget
        self.n_folds = n_folds
        self.metric = metric
        self.categorical = categorical
        self.unseen_categories = unseen_categories
        self.resume_from = resume_from
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.task = task
        self.random_state = random_state
        self.progress = progress

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        graph: Graph | None = None,
        sample_weight: Any = None,
        validation: Any = None,
    ) -> AutoModel:
        """Try, choose, keep. ``X`` may be None, and may hold categories and gaps. ``validation``
        nodes (labeled in ``y``) tell when to stop and what to choose; their labels are never
        inputs."""
        self._check_parameters()
        self._start_feature_fit(X, y, graph, sample_weight, validation)
        try:
            self._learn()
        except BaseException:
            del self.targets_  # neither the old fit nor the new one: not fitted
            raise
        return self

    def _check_parameters(self) -> None:
        if self.budget is not None:
            check_number("budget", self.budget, 0.0, np.inf)
        check_count("n_folds", self.n_folds, 2)
        check_count("random_state", self.random_state)
        check_choice("unseen_categories", self.unseen_categories, ("error", "missing"))
        if self.metric is not None:
            check_choice("metric", self.metric, metrics.NAMES)

    def _check_features(self, X: Any, *, reset: bool) -> Table | None:
        if X is None:
            return None
        if not reset:
            if self.features_ is None:
                raise ValueError("`X` must be None as in fit, which had no features; got some.")
            return read_again(X, self.features_, self.unseen_categories)
        _check_feature_names(self, X, reset=True)
        return read_table(X, self.categorical)

    # -- learning -------------------------------------------------------------------------
    def _learn(self) -> None:
        inputs, seed = self.fitted_inputs, self.random_state
        has_edges = inputs.graph.nnz > inputs.graph.n_self_loops
        signal = None if self.features_ is None else Signal.of(self.features_, seed)
        specs = learners(signal, int(has_edges), self.targets_.task)
        hops = sorted({spec.recipe.n_hops for spec in specs if spec.recipe.n_hops is not None})
        columns = AutoColumns.of(signal, inputs, hops)
        specs, left = plan(specs, Sizes.of(inputs, columns), self.n_folds, self.budget)
        scale = TargetScale.of(self.targets_)
        self._maker = RowMaker(columns, scale, seed)
        fold = draw_folds(self.targets_, self.labeled_, self.n_folds, seed)
        fitter = CrossFitter(self._maker, inputs, self.validation_targets_, fold, seed)
        settings = (specs, self.n_folds, self.random_state)
        marks = signature(inputs, self.validation_targets_, settings)
        journal = Journal(self.resume_from and Path(self.resume_from), marks)
        self._learners: list[Learner] = []
        self._calibrations: dict[str, Calibration] = {}
        self._oof_of_baselines: dict[str, np.ndarray] = {}
        self.trials_: list[Trial] = [self._majority()]
        honest = [self._propagate(inputs)]
        with ProgressBar(len(specs) * fitter.n_folds, "learning", self.progress) as bar:
            for spec in specs:
                honest.append(self._run(spec, fitter, journal, bar))
        self.trials_ += [Trial(name, np.nan, np.nan, 0.0, why) for name, why in left.items()]
        self._choose(honest, inputs)

    def _run(
        self, spec: LearnerSpec, fitter: CrossFitter, journal: Journal, bar: ProgressBar
    ) -> np.ndarray:
        """Fit one learner; its honest rows (see `_honest`)."""
        begin = time.perf_counter()
        members = []
        for k in range(fitter.n_folds):
            make = partial(fitter.fit_member, spec, k)
            members.append(journal.get(f"{spec.name} {k}", make))
            bar.advance(note=spec.name)
        learner = Learner(spec, members)
        self._learners.append(learner)
        rows, oof = fitter.predict(learner)
        return self._finish_learner(spec.name, rows, oof, time.perf_counter() - begin)

    def _finish_learner(
        self, name: str, rows: np.ndarray, oof: np.ndarray, seconds: float, note: str = ""
    ) -> np.ndarray:
        """(rows to choose by, rows with labeled nodes left out), of calibrated probabilities:
        a learner that is too sure of itself would get too small a share of the blend."""
        task = self.targets_.task
        if name in (_LABELS_ALONE, *_BASELINES):
            self._oof_of_baselines[name] = oof
        honest = self._honest(rows, oof)
        calibration = Calibration()
        if task != "regression":
            nodes, Y, weight = self._chosen_by()
            keys = None if self.targets_.keys is None else self.targets_.keys[nodes]
            calibration = fit_calibration(honest[nodes], Y, task, weight, keys)
        self._calibrations[name] = calibration
        honest = calibration.apply(honest, task)
        self._add_trial(name, honest, seconds, note)
        every = calibration.apply(self._with_oof(rows, oof), task)
        return np.stack([honest, every])

    def _honest(self, rows: np.ndarray, oof: np.ndarray) -> np.ndarray:
        """Rows of all nodes; without validation nodes, labeled ones by what did not see them."""
        return rows if len(self.validation_) else self._with_oof(rows, oof)

    def _with_oof(self, rows: np.ndarray, oof: np.ndarray) -> np.ndarray:
        rows = rows.copy()
        rows[self.labeled_] = oof
        return rows

    def _chosen_by(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(nodes, labels, weights) that the choice goes by."""
        known, nodes = self.targets_, self.labeled_
        if len(self.validation_):
            known, nodes = self.validation_targets_, self.validation_
        return nodes, known.Y[nodes], known.weight[nodes]

    def _add_trial(self, name: str, rows: np.ndarray, seconds: float, note: str = "") -> None:
        nodes, Y, weight = self._chosen_by()
        task = self.targets_.task
        loss = row_loss(task, Y, rows[nodes], weight)
        score = metrics.measure(self.metric or metrics.default_metric(task), Y, rows[nodes])
        self.trials_.append(Trial(name, score, loss, seconds, note))

    def _majority(self) -> Trial:
        """What knowing the labels' shares alone gives."""
        nodes, Y, weight = self._chosen_by()
        task = self.targets_.task
        rows = np.repeat(self.prior_[None], len(nodes), axis=0)
        name = "mean" if task == "regression" else "majority"
        score = metrics.measure(self.metric or metrics.default_metric(task), Y, rows)
        return Trial(name, score, row_loss(task, Y, rows, weight), 0.0)

    def _propagate(self, inputs: NodeInputs) -> np.ndarray:
        begin = time.perf_counter()
        known = self.targets_
        search = GraphSearch(
            LabelPropagation(task=known.task, calibrate=False, class_weight=None, norm="row"),
            {"damping": list(_DAMPINGS)},
            progress=False,
        )
        y = with_gaps(known, self.validation_targets_)
        validation = self.validation_ if len(self.validation_) else None
        search.fit(None, y, graph=inputs.graph, validation=validation)
        self._propagation = search.best_estimator_
        self.damping_curve_ = [(trial.params["damping"], trial.score) for trial in search.trials_]
        oof = self._propagation.oof_rows_
        rows = self._propagation_rows(inputs)
        note = f"λ = {self._propagation.damping:g}"
        seconds = time.perf_counter() - begin
        return self._finish_learner(_LABELS_ALONE, rows, oof, seconds, note)

    def _propagation_rows(self, inputs: NodeInputs) -> np.ndarray:
        """Label propagation in which no node sees its own label, known or not."""
        known, model = inputs.targets, self._propagation
        views = model.views_of(inputs.graph)
        seen = views.inputs(label_columns(known.Y, known.weight), blank=self.prior_, progress=False)
        return tidy(seen.values[:, 0], known.task)

    # -- choosing -------------------------------------------------------------------------
    def _choose(self, honest: list[np.ndarray], inputs: NodeInputs) -> None:
        """``honest``: for each learner, label propagation first, (rows of all nodes for the
        validation nodes, the same with labeled nodes left out)."""
        begin = time.perf_counter()
        nodes, Y, weight = self._chosen_by()
        task = self.targets_.task
        names = [_LABELS_ALONE, *(learner.spec.name for learner in self._learners)]
        used = [k for k, name in enumerate(names) if name not in _BASELINES]
        rows = [honest[k][0] for k in used]
        shares = self._shares([honest[k] for k in used])
        self.shares_ = {names[k]: share for k, share in zip(used, shares, strict=True) if share}
        blend = tidy(mixed(rows, shares), task)
        note = " + ".join(f"{share:.0%} {name}" for name, share in self.shares_.items())
        if len(self.shares_) > 1:
            self._add_trial("blend", blend, time.perf_counter() - begin, note)
        oof = mixed([honest[k][1] for k in used], shares)[self.labeled_]
        oof = tidy(oof, task)
        begin = time.perf_counter()
        self._correction: Correction | None = None
        if inputs.graph.nnz:
            args = (blend, oof, inputs, (nodes, Y, weight))
            self._correction, rows_now, views = choose_correction(*args)
            if views is not None:
                self._cache["residual views"] = views
        self.chosen_ = note
        if self._correction is not None:
            correction = self._correction
            what = f"{correction.size:.0%} of nearby residuals, λ = {correction.damping:g}"
            self._add_trial("residuals of others", rows_now, time.perf_counter() - begin, what)
            self.chosen_ = f"{note}, plus {what}"
            oof = correction.apply(self._with_oof(blend, oof), inputs, views)
            oof = oof[self.labeled_]
        self._oof_rows = oof

    def _shares(self, honest: list[np.ndarray]) -> tuple[float, ...]:
        """By all labels: those of validation nodes, and of labeled nodes left out, for few nodes
        would leave the choice to chance."""
        at = [self.labeled_, self.validation_]
        parts = [self.targets_, self.validation_targets_]
        Y = np.concatenate([parts[k].Y[at[k]] for k in (0, 1)])
        weight = np.concatenate([parts[k].weight[at[k]] for k in (0, 1)])
        rows = [np.concatenate([every[at[0]], honest[at[1]]]) for honest, every in honest]
        keys = self.targets_.keys
        marks = None if keys is None else keys[np.concatenate(at)]
        return choose_shares(rows, Y, weight, self.targets_.task, marks)

    # -- predictions ----------------------------------------------------------------------
    def scores_of(self, inputs: NodeInputs) -> np.ndarray:
        task = inputs.targets.task
        parts = [self._calibrations[name].apply(self._rows_of(name, inputs), task)
                 for name in self.shares_]  # fmt: skip
        rows = tidy(mixed(parts, list(self.shares_.values())), task)
        if self._correction is None:
            return rows
        views = None
        if inputs.graph is self.graph_:  # self-weights are found once, by saved models too
            if "residual views" not in self._cache:
                damping = self._correction.damping
                self._cache["residual views"] = residual_views(inputs.graph, damping)
            views = self._cache["residual views"]
        return self._correction.apply(rows, inputs, views)

    @property
    def oof_rows_(self) -> np.ndarray:
        return self._oof_rows

    @property
    def baselines_(self) -> list[str]:
        """Names for `baseline`: the most frequent label (or the mean), labels alone, and
        features alone where there are any and they were run."""
        run = [learner.spec.name for learner in self._learners]
        return [self.trials_[0].name, _LABELS_ALONE, *(n for n in _BASELINES if n in run)]

    def baseline(self, name: str, oof: bool = False) -> np.ndarray:
        """Predictions of all nodes by one of ``baselines_``; ``oof``: those of labeled nodes
        by what did not see their label."""
        check_choice("name", name, self.baselines_)
        inputs = self.fitted_inputs
        if name == self.trials_[0].name:
            return np.repeat(self.prior_[None], inputs.graph.n_nodes, axis=0)
        rows = self._rows_of(name, inputs)
        return self._with_oof(rows, self._oof_of_baselines[name]) if oof else rows

    def _rows_of(self, name: str, inputs: NodeInputs) -> np.ndarray:
        if name == _LABELS_ALONE:
            return self._propagation_rows(inputs)
        found = [learner for learner in self._learners if learner.spec.name == name]
        if not found:
            raise ValueError(f"`name` must be of something that was run; got {name!r}.")
        return self._maker.rows(found[0], inputs)

    @property
    def column_importances_(self) -> list[tuple[str, str, float]]:
        """(name, group, share of what the trees gained), the largest first; empty without trees."""
        trees = [learner for learner in self._learners if learner.spec.name == "trees"]
        if not trees:
            return []
        gain = np.sum([member.learned.gain() for member in trees[0].members], axis=0)
        spec, inputs = trees[0].spec, self.fitted_inputs
        features = self._maker.features(inputs, spec)
        _, names = self._maker.labels(spec.recipe, inputs.targets, inputs.graph)
        total = gain.sum() or 1.0
        groups = [*features.groups, *["label"] * len(names)]
        found = zip([*features.names, *names], groups, (gain / total).tolist(), strict=True)
        return sorted(found, key=lambda entry: -entry[2])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
