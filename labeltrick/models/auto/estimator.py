"""`AutoModel`: tries the learners that suit the data, and blends those that predict best."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from ..._utils.allowance import allowing
from ..._utils.checks import check_choice, check_count, check_number
from ..._utils.progress import Progress, ProgressBar
from ..._utils.targets import TargetScale
from ...evaluation import metrics
from ...graph.graph import Graph
from ..base.folds import draw_folds
from ..base.learning import TableEstimator
from .attempts import CHOICE, Attempt, fail, plan_of
from .baselines import Baselines
from .blend import in_words
from .blended import BlendedRows
from .budget import Budget, running
from .choosing import LABELS_ALONE, Candidate, Chooser
from .columns import AutoColumns, Signal
from .crew import Crew, Here
from .crossfit import CrossFitter, FittedLearner, RowMaker
from .journal import Journal, signature
from .label_dropout import LabelDropout, check_label_dropout
from .leaderboard import Leaderboard
from .learners.protocol import Learner, Problem, Sizes
from .learners.registry import check_learners, is_built_in, suited
from .looks import Look
from .nested import NestedChoice
from .new_nodes import NewNodePredictions
from .on_dask import crew_for, on_this_machine
from .plan import FitPlan
from .search import Search
from .trials import Trial, check_folds, folds_for, plan


class AutoModel(NewNodePredictions, BlendedRows, Leaderboard, Baselines, TableEstimator):
    """A blend of the learners that suit the data, without settings to tune.

    Trees, networks (if torch is installed) and a linear model learn from the same columns: a node's
    own, means of its neighbors', and the labels of nearby nodes. A graph network learns from a
    node's own columns and random parts of the labels. If columns are words, another network uses
    the words of nearby nodes beside their labels. Each learner is fitted without one fold of the
    labels in turn, which gives every labeled node a prediction that did not see its label. These
    predictions, and the validation nodes, choose the blend of all learners and label propagation,
    and whether residuals of nearby nodes are added. Shares are equal unless others are clearly
    better. For ``oof_score_``, each fold is predicted by a blend that the other folds chose. With
    up to 300 labels, the learners are fitted once more for each pair of folds for this, so that a
    label has no influence on its own prediction.

    With ``graph.on(address=...)``, the workers of that Dask cluster fit the learners, side by side,
    and the model is the same.

    Parameters
    ----------
    budget : float or None, default=None
        Seconds to spend, by the clock: learners that cannot win, or for which there is no time, are
        not fitted on all folds, and trainings are cut short where they must be; see ``plan_``.
        Up to 10 seconds, only estimates from sizes decide what is run. None means no limit.
    learners : list or None, default=None
        The learners to try: names ("trees", "network", "deep network", "words nearby", "graph
        network", "deep graph network", "linear"), classifiers or regressors of scikit-learn, and
        learners of your own. None tries all that suit the data. An estimator of scikit-learn gets
        the same columns as the networks, without missing values and without a node's own label. A
        model with such estimators cannot be saved, because files hold no foreign objects.
    exclude : list of str, default=()
        Names of learners that are not tried.
    n_folds : int or "auto", default="auto"
        Number of folds of the labels. "auto" means 5, and 2 for more than 20,000 labels.
    label_dropout : float, default=0.0
        Share of the labels that predictions will lack: 0.9 prepares for a graph with a tenth as
        many labels, 1 for one without any. Each labeled node is then learned from three times: with
        the other labels that are left, with a fifth of these, and without any.
        Scores, calibration and the blend are those of predictions with that share of the labels
        hidden at random. A model with 1 does not use other labels at all, even if there are some.
    metric : str or None, default=None
        Metric of ``trials_``, one of ``metrics.NAMES``; None means accuracy or RMSE. Shares of the
        blend are chosen by log loss or squared error. Where "roc_auc", "average_precision",
        "f1_macro", "f1_micro" or "mae" is asked for and clearly gains, they are chosen by it.
    plan : FitPlan, dict or None, default=None
        The ``plan_`` of another fit: its learners are fitted again as far as they went there. With
        the same data and settings this gives the same model on any machine. No clock is used.
    categorical : "auto" or list of str or int, default="auto"
        Names or positions of the categorical columns. "auto" chooses them by type; strings with few
        different values are categorical. Other strings become words or dates; see `TableEncoder`.
    unseen_categories : {"missing", "error"}, default="missing"
        Whether categories that did not occur in the fit count as missing, or are an error.
    resume_from : path or None, default=None
        Folder for finished parts, so that an interrupted fit can resume: a new or empty folder, or
        that of the same fit. None stores nothing.
    class_weight : None, "balanced" or dict of class to weight, default=None
        Weight of each class in training. "balanced" makes all classes count alike.
    calibrate : bool, default=True
        Whether `predict_proba` is calibrated, on the validation nodes if there are any, else on
        the out-of-fold predictions.
    task : {"auto", "classification", "multilabel", "regression"}, default="auto"
        Kind of target; "auto" infers it from ``y``.
    random_state : int, default=0
        Seed of all random choices.
    progress : bool, callable or None, default=None
        None shows a bar on a terminal after a second; True or False always or never shows one; a
        function is called as ``f(done, total)``.

    Attributes
    ----------
    trials_ : list of Trial
        Everything that was tried, with its score.
    plan_ : FitPlan
        The learners of the blend, and the steps of trainings that the budget has cut short.
    chosen_ : str
        The chosen blend in words.
    shares_ : dict of str to float
        Share of each learner in the blend.
    damping_curve_ : list of (float, float)
        λ of label propagation without features, and its accuracy or R² on the same nodes.
    oof_proba_, oof_prediction_, oof_score_ : arrays and float
        Predictions of the labeled nodes by learners that did not see their label, and their score.
        They are made from the labels that ``label_dropout`` leaves: with 1, from no labels at all.
    labeled_, validation_ : arrays of nodes
        The nodes whose labels are trained on, and the validation nodes.
    classes_ : array
        Classes in ascending order.
    prior_ : array of shape (c,)
        Class shares, or the mean target, of the labeled nodes.
    calibration_ : Calibration
        Temperature, and the calibration error before and after.
    graph_ : Graph
        The graph of the fit.

    See Also
    --------
    GraphBoosting : Boosted trees that use the graph.
    TrainableLabelPropagation : Labels and edges alone, with trained weights.
    GraphSearch : Search over the parameters of an estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from labeltrick import AutoModel, Graph
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1, 2], 60)
    >>> src, dst = rng.integers(0, 180, (2, 3000))
    >>> near = (y[src] == y[dst]) | (rng.random(3000) < 0.1)
    >>> graph = Graph.from_edges(src[near], dst[near], n_nodes=180)
    >>> X = y[:, None] + rng.normal(size=(180, 3))
    >>> known = np.where(rng.random(180) < 0.4, y, -1)
    >>> model = AutoModel(learners=["trees", "linear"], progress=False).fit(X, known, graph=graph)
    >>> float(model.score(None, np.where(known < 0, y, -1))) > 0.9
    True
    """

    def __init__(
        self,
        *,
        budget: float | None = None,
        learners: Any = None,
        exclude: Any = (),
        n_folds: int | str = "auto",
        label_dropout: float = 0.0,
        metric: str | None = None,
        plan: Any = None,
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
        self.learners = learners
        self.exclude = exclude
        self.n_folds = n_folds
        self.label_dropout = label_dropout
        self.metric = metric
        self.plan = plan
        self.categorical = categorical
        self.unseen_categories = unseen_categories
        self.resume_from = resume_from
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.task = task
        self.random_state = random_state
        self.progress = progress

    def _check_parameters(self) -> None:
        if self.budget is not None:
            check_number("budget", self.budget, 0.0, np.inf)
        check_learners(self.learners, self.exclude)
        check_folds(self.n_folds)
        if self.plan is not None:
            FitPlan.of(self.plan)
        check_label_dropout(self.label_dropout)
        check_count("random_state", self.random_state)
        check_choice("unseen_categories", self.unseen_categories, ("error", "missing"))
        if self.metric is not None:
            check_choice("metric", self.metric, metrics.NAMES)

    _settle = _check_parameters

    def _without_features(self) -> None:
        if self.label_dropout == 1:
            raise ValueError(
                "`label_dropout` must be below 1 if X is None; got 1. Without features and without "
                "labels as inputs there is nothing to learn from."
            )

    # -- learning -------------------------------------------------------------------------
    def _fit(self, X: Any, y: Any, graph: Graph | None, *more: Any) -> None:
        """Workers of a cluster fit the members; what is small beside them is computed here, so that
        the result is the same for any number of workers."""
        self._asked = None if graph is None else graph.compute
        try:
            super()._fit(X, y, on_this_machine(graph), *more)
        finally:
            del self._asked

    def _learn_all(self) -> None:
        budget = Budget(self.budget)
        with running(budget), crew_for(self.graph_, self._asked) as crew:
            self._learn_within(budget, crew)

    def _learn_within(self, budget: Budget, crew: Crew) -> None:
        inputs, seed = self.fitted_inputs, self.random_state
        learners, columns, unsuited = self._prepared()
        self._dropout = dropout = LabelDropout(float(self.label_dropout), seed)
        sizes = Sizes.of(inputs, columns, dropout.n_views)
        n_folds = folds_for(self.n_folds, sizes.n_labeled)
        by_estimate = None if budget.by_clock or self.plan is not None else self.budget
        planned, left = plan(learners, sizes, n_folds, by_estimate)
        if self.learners is not None:
            left |= dict.fromkeys(unsuited, "not run: does not suit these data")
        label_hops = max((each.recipe.label_hops for each in learners), default=0)
        self._maker = RowMaker(columns, TargetScale.of(self.targets_), seed, label_hops)
        fold = draw_folds(self.targets_, self.labeled_, n_folds, seed)
        fitter = CrossFitter(self._maker, inputs, self.validation_targets_, fold, seed, dropout)
        given = None if self.plan is None else FitPlan.of(self.plan)
        settings = (planned, n_folds, seed, dropout, self.budget, given)
        marks = signature(inputs, self.validation_targets_, settings)
        journal = Journal(self.resume_from and Path(self.resume_from), marks)
        look = self._look(fold)
        n_fits = sum(n_folds + (each.whole_fit > 0) for each in planned)
        with ProgressBar(n_fits, "learning", self.progress) as bar:
            attempts = Search(fitter, journal, budget, look, bar, given, crew).run(planned, sizes)
        candidates = self._take(attempts, fitter, look)
        chooser = Chooser(inputs, self.validation_targets_, candidates, dropout, self.metric)
        recorded = None if given is None else given.steps.get(CHOICE, [])
        seconds = budget.left_for_choosing if given is None else np.inf
        # Where a recorded choice was cut short, which fits took how many steps is not known.
        scorer = NestedChoice(
            fitter, self._taking_part, chooser, self.progress, Here() if recorded else crew, seconds
        )
        nested = scorer.is_run(attempts, budget, given)
        with allowing(budget.part(seconds, recorded)) as allowance:
            self._choose(chooser, scorer if nested else None, fold)
        if columns.only(self.graph_) is not None:
            self._maker.forget()
        self.plan_ = plan_of(attempts, allowance, nested)
        self.trials_ += [Trial(name, np.nan, np.nan, 0.0, why) for name, why in left.items()]

    def _prepared(self) -> tuple[list[Learner], AutoColumns, list[str]]:
        """The learners that suit the data, their columns, and the names of the other learners."""
        inputs = self.fitted_inputs
        signal = None if self.features_ is None else Signal.of(self.features_, self.random_state)
        asked, _ = check_learners(self.learners, self.exclude)
        fitting, unsuited = suited(asked, Problem(signal, inputs.graph, self.targets_.task))
        hops = sorted({each.recipe.n_hops for each in fitting if each.recipe.n_hops is not None})
        return fitting, self._columns(signal, hops), unsuited

    def _columns(self, signal: Signal | None, hops: list[int]) -> AutoColumns:
        nodes, seed = self._choosing_nodes, self.random_state
        return AutoColumns.of(signal, self.fitted_inputs, hops, nodes, seed)

    def _look(self, fold: np.ndarray) -> Look:
        if len(self.validation_):
            return Look(self.validation_, self.validation_targets_)
        return Look(self.labeled_[fold == 0], self.targets_)

    def _take(self, attempts: list[Attempt], fitter: CrossFitter, look: Look) -> list[Candidate]:
        """The candidates for the blend, and the trials of everything that was tried."""
        self._learners: list[FittedLearner] = []
        self._oof_of_baselines: dict[str, np.ndarray] = {}
        self.trials_: list[Trial] = []
        name = "mean" if self.targets_.task == "regression" else "majority"
        self._add_trial(name, np.repeat(self.prior_[None], len(fitter.nodes), axis=0), 0.0)
        found = [self._candidate(each, fitter, look) for each in attempts]
        candidates = [each for each in found if each is not None]
        if not candidates:
            raise ValueError(
                "`learners` must hold at least one that can be fitted; all of them failed. The "
                "warnings above say why."
            )
        return candidates

    def _candidate(self, each: Attempt, fitter: CrossFitter, look: Look) -> Candidate | None:
        begin = time.perf_counter()
        if not each.why:
            try:
                rows, oof = fitter.predict(each.fitted)
            except Exception as error:
                if is_built_in(each.learner):
                    raise
                fail(each, error)
        if each.why:
            self.trials_.append(self._dropped(each, look))
            return None
        self._learners.append(each.fitted)
        found = Candidate(each.name, rows, self._with_oof(rows, oof))
        seconds = each.seconds + time.perf_counter() - begin
        note = "cut short by the budget" if any(part.steps for part in each.parts) else ""
        self._add_candidate(found, seconds, note)
        if each.learner.baseline:
            self._oof_of_baselines[each.name] = oof
            return None
        return found

    def _add_candidate(self, found: Candidate, seconds: float, note: str = "") -> None:
        chooser = Chooser(self.fitted_inputs, self.validation_targets_, ())
        rows = chooser.honest(found)
        calibration = chooser.calibration(rows, self.targets_)
        self._add_trial(found.name, calibration.apply(rows, self.targets_.task), seconds, note)

    def _with_oof(self, rows: np.ndarray, oof: np.ndarray) -> np.ndarray:
        rows = rows.copy()
        rows[np.searchsorted(self._choosing_nodes, self.labeled_)] = oof
        return rows

    # -- choosing -------------------------------------------------------------------------
    @property
    def _taking_part(self) -> list[FittedLearner]:
        """The learners that take part in the blend."""
        return [each for each in self._learners if not each.learner.baseline]

    def _choose(self, chooser: Chooser, scorer: NestedChoice | None, fold: np.ndarray) -> None:
        begin, known = time.perf_counter(), self.targets_
        choice = chooser.choose(known)
        self._damping, self._calibrations = choice.damping, choice.calibrations
        self.shares_, self._correction = choice.shares, choice.correction
        self.damping_curve_ = choice.damping_curve
        self._oof_rows = scorer.oof() if scorer else chooser.oof(fold, choice)
        seconds = time.perf_counter() - begin
        if chooser.has_labels:
            labels = chooser.propagated(choice.damping, known)
            self._oof_of_baselines[LABELS_ALONE] = labels.oof[chooser.places(self.labeled_)]
            self._add_candidate(labels, 0.0, f"λ = {choice.damping:g}")
            self.trials_.insert(1, self.trials_.pop())  # beside the other baseline
        self.chosen_ = in_words(self.shares_)
        if (correction := choice.correction) is not None:
            size, damping = correction.size, correction.damping
            self.chosen_ += f", plus {size:.0%} of nearby residuals, λ = {damping:g}"
            self._cache["residual views"] = chooser.residual_views(damping)
        if len(self.shares_) > 1 or correction is not None:
            # Without validation nodes: out of fold, with what was chosen by the other folds.
            rows = choice.rows
            if not len(self.validation_):
                rows = self._with_oof(rows, self._oof_rows)
            self._add_trial("blend", rows, seconds, self.chosen_)
