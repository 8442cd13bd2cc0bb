"""Out-of-fold rows of few labels, by choices that know nothing of their fold.

The predictions by which shares are chosen come from learners that have seen the labels of the other
folds. With many labels, one of them hardly moves a choice. With few, it can, and a node's score
would follow its own label. The choice for a fold is then made by learners fitted without this fold:
one more fit of each learner for each pair of folds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from ..._utils.allowance import add_steps
from ..._utils.progress import Progress, ProgressBar
from ..base.weights import tidy
from .attempts import Attempt
from .blend import mixed
from .budget import Budget
from .choosing import Candidate, Chooser
from .crew import Crew, Here, Job, Trained
from .crossfit import CrossFitter, FittedLearner
from .learners.protocol import Learner, Member
from .learners.registry import is_built_in
from .plan import FitPlan

_Pair = tuple[str, int, int]  # a learner and the two folds that it is fitted without

MOST_LABELS = 300
FEWEST_FOLDS = 3  # of two folds, nothing would be left to learn from


@dataclass
class NestedChoice:
    """Chooses for each fold by learners that were fitted without it.

    ``fitted`` are the learners of ``chooser``, as fitted by ``fitter``.
    """

    fitter: CrossFitter
    fitted: Sequence[FittedLearner]
    chooser: Chooser
    progress: Progress = None
    crew: Crew = field(default_factory=Here)
    seconds: float = math.inf  # that each fit may take
    _started: dict[_Pair, Callable[[], Trained]] = field(default_factory=dict, init=False)
    _pairs: dict[_Pair, Member] = field(default_factory=dict, init=False)

    def is_run(self, attempts: Sequence[Attempt], budget: Budget, plan: FitPlan | None) -> bool:
        """Whether labels are few enough, and there is time. Learners of the user are fitted no more
        often than is said."""
        n_folds, n_labeled = self.fitter.n_folds, len(self.fitter.fold)
        own = all(is_built_in(each.learner) for each in self.fitted)
        if n_labeled > MOST_LABELS or n_folds < FEWEST_FOLDS or not own:
            return False
        if plan is not None:
            return plan.nested
        tried = [each for each in attempts if not each.learner.baseline]
        more = (n_folds - 1) / 2
        if budget.seconds is not None and not budget.by_clock:  # sizes decide what is run
            return sum(each.cost for each in tried) * (1 + more) <= budget.seconds
        seconds = sum(each.seconds for each in tried)
        seconds_needed = seconds * more / self.crew.n_workers
        return not budget.hurried and seconds_needed <= budget.left_for_learning

    @property
    def n_fits(self) -> int:
        n_folds = self.fitter.n_folds
        return len(self.fitted) * n_folds * (n_folds - 1) // 2

    def oof(self) -> np.ndarray:
        """Rows of the labeled nodes; no choice for a fold has seen a label of it."""
        known = self.fitter.inputs.targets
        rows = np.empty((int(known.labeled.sum()), known.Y.shape[1]))
        self._start()
        with ProgressBar(self.n_fits, "scoring", self.progress) as bar:
            for k in range(self.fitter.n_folds):
                rows[self.fitter.fold == k] = self._rows_of_fold(k, bar)
        return rows

    def _rows_of_fold(self, k: int, bar: ProgressBar) -> np.ndarray:
        chooser, known = self.chooser, self.fitter.inputs.targets
        mine = np.flatnonzero(known.labeled)[self.fitter.fold == k]
        inner = self.fitter.without(k)
        candidates = [self._candidate(each, k, inner, bar) for each in self.fitted]
        blind = replace(chooser, inputs=inner.inputs, candidates=candidates)
        choice = blind.choose(inner.inputs.targets)
        at, every = chooser.places(mine), chooser.candidates_at(choice.damping)
        used = [each for each in every if each.name in choice.shares]
        parts = [choice.calibrations[each.name].apply(each.oof[at], known.task) for each in used]
        found = tidy(mixed(parts, list(choice.shares.values())), known.task)
        if choice.correction is None:
            return found
        # Residuals of the other folds, as predicted without this one.
        views = chooser.residual_views(choice.correction.damping)
        return choice.correction.apply(found, inner.inputs, views, mine)

    def _candidate(
        self, each: FittedLearner, k: int, inner: CrossFitter, bar: ProgressBar
    ) -> Candidate:
        others = [j for j in range(self.fitter.n_folds) if j != k]
        members = [self._pair(each.learner, k, j, bar) for j in others]
        rows, oof = inner.predict(FittedLearner(each.learner, members))
        left_out = rows.copy()
        labeled = np.flatnonzero(inner.inputs.targets.labeled)
        left_out[np.searchsorted(inner.nodes, labeled)] = oof
        return Candidate(each.name, rows, left_out)

    def _start(self) -> None:
        """Start the fits, in the order in which they are asked for."""
        for k in range(self.fitter.n_folds):
            for each in self.fitted:
                for j in range(k + 1, self.fitter.n_folds):
                    job = Job(each.learner, j - 1, unknown=k)
                    self._started[each.name, k, j] = self.crew.start(partial(self._fit, job))

    def _fit(self, job: Job) -> Trained:
        return self.crew.fit_inside(self.fitter, job, self.seconds)

    def _pair(self, learner: Learner, k: int, j: int, bar: ProgressBar) -> Member:
        """The member fitted without two folds."""
        key = (learner.name, min(k, j), max(k, j))
        if key not in self._pairs:
            found = self._started[key]()
            add_steps(found.steps)
            self._pairs[key] = found.member
            bar.advance(note=learner.name)
        return self._pairs[key]
