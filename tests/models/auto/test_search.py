"""A search within a budget, with a clock that learners advance."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from labeltrick._utils.allowance import steps
from labeltrick._utils.progress import ProgressBar
from labeltrick._utils.targets import encode_targets
from labeltrick.models.auto.attempts import plan_of
from labeltrick.models.auto.budget import Budget, finish_early, running
from labeltrick.models.auto.crew import Here
from labeltrick.models.auto.journal import Journal
from labeltrick.models.auto.learners.protocol import Learner, Member, Sizes
from labeltrick.models.auto.looks import Look
from labeltrick.models.auto.search import Search
from labeltrick.propagation.engine.cluster.connection import ClusterError

SIZES = Sizes(10, 20, 10, 2, 1, 1, 1, 1)


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@dataclass(frozen=True)
class Fake(Learner):
    """Takes ``length`` steps of one second and predicts the truth with some skill."""

    length: int = 10
    skill: float = 0.5
    estimate: float | None = None
    storable: ClassVar[bool] = False

    def cost(self, sizes, n_folds):
        return n_folds * (self.length if self.estimate is None else self.estimate)

    def shortened(self, share):
        if "length" not in self.options:
            return self
        return replace(self, options={"length": max(1, int(share * self.options["length"]))})


@dataclass(frozen=True)
class Deeper(Fake):
    follows: ClassVar[str | None] = "shallow"


@dataclass(frozen=True)
class Whole(Fake):
    whole_fit: ClassVar[float] = 2.0

    def for_all_labels(self):
        return replace(self, length=2 * self.length)


@pytest.mark.parametrize("skill", [0.4, 0.9])
def test_a_learner_that_follows_another_is_tried_if_that_one_is_best(skill):
    learners = [Deeper("deep", length=2, skill=0.9), Fake("other", skill=0.7)]
    run = search(None, Clock())
    deep, *_ = run.run([*learners, Fake("shallow", length=30, skill=skill)], SIZES)
    if skill < 0.7:
        assert deep.why == "not run: shallow was not the best"
        assert not deep.parts
    else:
        assert not deep.why
        assert [name for name, _, _ in run.fitter.fits][:3] == ["other", "shallow", "deep"]
    alone, *_ = search(None, Clock()).run(learners, SIZES)
    assert len(alone.parts) == 3


class Fitter:
    n_folds = 3

    def __init__(self, clock, known):
        self.clock, self.known, self.fits = clock, known, []

    def fit_member(self, learner, k):
        another, taken = steps(), 0
        learner = learner.for_all_labels() if k == self.n_folds else learner
        while taken < learner.options.get("length", learner.length):
            self.clock.now += 1
            taken += 1
            if not another():
                break
        self.fits.append((learner.name, k, taken))
        return Member(taken, None, None)

    def prepare(self, learners):
        self.clock.now += 1

    def look(self, fitted, nodes):
        rng = np.random.default_rng(len(fitted.name))
        truth = self.known.Y[nodes]
        right = rng.random(len(truth)) < fitted.learner.skill
        return np.where(right[:, None], 0.8 * truth + 0.1, 0.5)


class TwoWorkers(Here):
    """Two workers, one after the other: a second of theirs takes half a second."""

    n_workers = 2

    def fit(self, fitter, job, budget, seconds, recorded=None):
        found = super().fit(fitter, job, budget, seconds / 2, recorded)
        return found._replace(seconds=2 * found.seconds)


class SideBySide(Here):
    """Workers that are threads of this process."""

    n_workers = 3

    def __init__(self, clock):
        super().__init__(clock)
        self.pool = ThreadPoolExecutor(self.n_workers)

    def start(self, make):
        return self.pool.submit(make).result


def search(budget, clock, plan=None, n=400, crew=Here):
    known = encode_targets(np.arange(n) % 2, n, "classification")
    fitter = Fitter(clock, known)
    budget = Budget(budget, clock)
    look = Look(np.arange(n), known)
    bar = ProgressBar(100, "", False)
    return Search(fitter, Journal(None, ""), budget, look, bar, plan, crew(clock))


def names_of(attempts):
    return {each.name: each.why for each in attempts}


@pytest.mark.parametrize("budget", [None, 60, 400])
@pytest.mark.parametrize("crew", [Here, SideBySide])
def test_a_fit_on_all_labels_follows_those_of_the_folds(budget, crew):
    clock, learners = Clock(), [Whole("good", length=9, skill=0.9), Fake("other", length=5)]
    run = search(budget, clock, crew=crew)
    found = run.run(learners, SIZES)
    assert budget is None or clock.now <= 0.75 * budget + 10
    fits = sorted(k for name, k, _ in run.fitter.fits if name == "good")
    good = found[0]
    assert good.why or fits == [0, 1, 2, 3]
    assert len(good.parts) == (1 if good.why else 4)
    if budget is None:
        assert [part.member.learned for part in good.parts] == [9, 9, 9, 18]
    plan = plan_of(found)
    again = search(None, Clock(), plan, crew=crew).run(learners, SIZES)
    assert [part.member for part in again[0].parts] == [
        part.member for part in good.parts if not good.why
    ]


def test_all_learners_are_run_if_there_is_time():
    clock = Clock()
    found = search(None, clock).run([Fake("slow", length=9), Fake("quick", length=2)], SIZES)
    assert names_of(found) == {"slow": "", "quick": ""}
    assert clock.now == 34
    assert plan_of(found).steps == {}


@pytest.mark.parametrize("budget", [60, 100, 400, 1000])
@pytest.mark.parametrize("lengths", [(10, 10, 10), (1, 300, 1000), (500, 500, 500), (2000,)])
@pytest.mark.parametrize("crew", [Here, TwoWorkers])
def test_learning_keeps_to_its_share_of_the_budget(budget, lengths, crew):
    clock = Clock()
    learners = [Fake("x" * (k + 1), length=length) for k, length in enumerate(lengths)]
    found = search(budget, clock, crew=crew).run(learners, SIZES)
    assert clock.now <= 0.75 * budget + 2 * len(lengths) * Fitter.n_folds
    done = [each for each in found if not each.why]
    assert done
    assert all(len(each.parts) == 3 for each in done)


def test_fits_side_by_side_come_to_the_same_end():
    learners = [Deeper("deep", length=4, skill=0.9), Fake("other", length=2, skill=0.7),
                Fake("shallow", length=3, skill=0.8), Fake("blind", skill=0.0)]  # fmt: skip
    here = search(None, Clock()).run(learners, SIZES)
    side_by_side = search(None, Clock(), crew=SideBySide)
    found = side_by_side.run(learners, SIZES)
    assert plan_of(found) == plan_of(here)
    assert names_of(found) == names_of(here)
    for one, other in zip(found, here, strict=True):
        assert [part.member for part in one.parts] == [part.member for part in other.parts]
    plan = plan_of(here)
    again = search(None, Clock(), plan, crew=SideBySide).run(learners, SIZES)
    assert plan_of(again) == plan


def test_an_error_in_a_fit_of_ones_own_leaves_it_out_and_lost_workers_end_the_search():
    def broken(learner, k):
        if learner.name == "bad" and k == 1:
            raise error
        return Member(1, None, None)

    for crew in (Here, SideBySide):
        find = search(None, Clock(), crew=crew)
        find.fitter.fit_member = broken
        error = ValueError("no")
        with pytest.warns(UserWarning, match="'bad' was left out: ValueError: no"):
            found = find.run([Fake("bad"), Fake("good")], SIZES)
        assert plan_of(found).learners == ("good",)
        error = ClusterError("all workers are gone")
        with pytest.raises(ClusterError):
            find.run([Fake("bad"), Fake("good")], SIZES)


def test_estimates_that_are_wrong_do_not_matter():
    clock = Clock()
    learners = [Fake("a", length=10_000, estimate=1.0), Fake("bb", length=3, estimate=50.0)]
    found = search(200, clock).run(learners, SIZES)
    assert clock.now <= 160
    assert plan_of(found).steps or names_of(found)["a"]


def test_cheap_learners_come_first_and_hopeless_ones_stop():
    clock = Clock()
    find = search(1000, clock)
    found = find.run([Fake("blind", length=5, skill=0.0), Fake("good", length=9, skill=0.9)], SIZES)
    assert [fit[:2] for fit in find.fitter.fits[:2]] == [("blind", 0), ("good", 0)]
    assert "stopped after one of 3 folds" in names_of(found)["blind"]
    assert plan_of(found).learners == ("good",)


@pytest.mark.parametrize("length", [5, 60, 150])
def test_learners_that_gain_nothing_get_a_fifth_of_the_budget(length):
    names = ("one", "two", "six", "ten", "red", "sky")  # names of a length predict the same
    learners = [Fake(name, length=length, skill=0.8) for name in names]
    best, *others = search(1000, Clock()).run(learners, SIZES)
    assert len(best.parts) == 3
    assert sum(each.seconds for each in others) <= 200
    done = [len(each.parts) == 3 for each in others]
    assert all(done) == (length == 5)
    if length == 60:
        assert "no gain was seen" in others[-1].why
    late = Fake("better", length=150, skill=0.95)
    *_, better = search(1000, Clock()).run([*learners, late], SIZES)
    assert len(better.parts) == 3 or length == 150


def test_the_plan_repeats_the_parts_without_a_clock():
    clock = Clock()
    learners = [Fake("a", length=80, skill=0.9), Fake("bb", length=5)]
    first = search(100, clock)
    plan = plan_of(first.run(learners, SIZES))
    assert plan.steps
    again = search(100, Clock(), plan)
    again.budget._clock = pytest.fail
    assert plan_of(again.run(learners, SIZES)) == plan
    wanted = sorted(fit for fit in first.fitter.fits if fit[0] in plan.learners)
    assert sorted(again.fitter.fits) == wanted


def test_a_learner_is_shortened_where_it_can_be():
    clock = Clock()
    learners = [Fake("graph", length=300, options={"length": 300}, skill=0.9),
                Fake("b", length=1)]  # fmt: skip
    found = search(400, clock).run(learners, SIZES)
    plan = plan_of(found)
    assert plan.options["graph"]["length"] < 300
    assert clock.now <= 310


def test_who_is_asked_to_finish_completes_one_learner():
    clock = Clock()
    find = search(None, clock)
    fit = find.fitter.fit_member

    def fit_and_ask(learner, k):
        found = fit(learner, k)
        if (learner.name, k) == ("bb", 1):
            assert finish_early()
            assert not finish_early()  # the second time it stops
        return found

    find.fitter.fit_member = fit_and_ask
    with running(find.budget):
        found = find.run([Fake("a", length=30), Fake("bb", length=4)], SIZES)
    assert plan_of(found).learners == ("bb",)
    assert "asked to finish" in names_of(found)["a"]
    assert not finish_early()  # no fit is running


@pytest.mark.parametrize("seconds", [1, 20, 80])
def test_slow_preparation_leaves_more_time_for_choices(seconds):
    """Choices compute the like of what is prepared: up to half of the budget is kept for them."""
    clock = Clock()
    find = search(100, clock)

    def prepare(learners):
        clock.now += seconds

    find.fitter.prepare = prepare
    seen = []
    find._first_looks = lambda attempts: seen.append(find.budget.left_for_learning)
    find._rest = lambda attempts: []
    find.run([Fake("a", length=2)], SIZES)
    kept = min(max(2 * seconds, 25), 50)
    assert seen == [pytest.approx(100 - kept - seconds)]


def test_the_bar_is_told_what_is_tried_the_best_so_far_and_the_time_left():
    clock = Clock()
    find = search(100, clock)
    told = []
    find.bar.advance = lambda amount=1, note="", state=None: told.append((amount, note, state))
    find.run([Fake("a", length=3, skill=0.9), Fake("bb", length=5, skill=0.2)], SIZES)
    states = [state for _, _, state in told if state]
    assert states[0] == {"trying": "a", "fold": 1, "seconds_left": 99}
    assert (states[1]["trying"], states[1]["best"], states[1]["metric"]) == ("bb", "a", "accuracy")
    assert states[1]["score"] > 0.9
    assert states[1]["seconds_left"] == 96
    assert "bb, fold 1; best so far: a (accuracy 0.9" in told[2][1]
    assert told[2][1].endswith("; 1:36 of the budget left")
    assert sum(amount for amount, _, _ in told) == 2 * Fitter.n_folds


class Remembering:
    """A journal in memory that stops the search before its n-th new part."""

    def __init__(self, most):
        self.parts, self.left = {}, most

    def get(self, key, make):
        if key not in self.parts:
            if not self.left:
                raise KeyboardInterrupt
            self.left -= 1
            self.parts[key] = make()
        return self.parts[key]


@dataclass(frozen=True)
class Stored(Fake):
    storable: ClassVar[bool] = True


@pytest.mark.parametrize("budget", [None, 60, 200])
def test_a_search_that_is_interrupted_anywhere_resumes_to_the_same_end(budget):
    learners = [Stored("a", length=30, skill=0.9), Stored("bb", length=4, skill=0.6),
                Stored("ccc", length=9, skill=0.0)]  # fmt: skip
    whole = search(budget, Clock())
    expected = whole.run(learners, SIZES)
    n_parts = len(whole.fitter.fits)
    for stop in range(n_parts):
        journal, clock = Remembering(stop), Clock()
        first = search(budget, clock)
        first.journal = journal
        with pytest.raises(KeyboardInterrupt):
            first.run(learners, SIZES)
        journal.left = n_parts
        again = search(budget, Clock())  # another process: time that was spent is in the parts
        again.journal = journal
        found = again.run(learners, SIZES)
        assert plan_of(found) == plan_of(expected), stop
        assert names_of(found) == names_of(expected), stop
        assert len(first.fitter.fits) + len(again.fitter.fits) == n_parts
