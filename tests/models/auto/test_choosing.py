"""What AutoModel chooses by labels, and that a fold's labels do not choose for it."""

from dataclasses import replace

import numpy as np
import pytest

from labeltrick import Graph
from labeltrick._utils.allowance import Allowance, allowing
from labeltrick._utils.targets import encode_targets
from labeltrick.models.auto import choosing
from labeltrick.models.auto.blend import choose_shares, is_gain
from labeltrick.models.auto.choosing import DAMPINGS, Candidate, Chooser
from labeltrick.models.auto.label_dropout import NO_DROPOUT, LabelDropout
from labeltrick.models.base.folds import draw_folds
from labeltrick.models.base.node_inputs import NodeInputs

N = 120


def problem(task, seed=0, quality=(0.2, 1.5), dropout=NO_DROPOUT):
    """A chooser with learners of different quality, and the folds of its labeled nodes."""
    rng = np.random.default_rng(seed)
    graph = Graph.from_edges(*rng.integers(0, N, (2, 3 * N)), n_nodes=N)
    labeled = rng.random(N) < 0.7
    if task == "regression":
        truth = rng.normal(size=N)
        y, signal = np.where(labeled, truth, np.nan), truth[:, None]
    else:
        truth = rng.integers(0, 2, N)
        y, signal = np.where(labeled, truth, -1), np.eye(2)[truth]
    known = encode_targets(y, N, task)
    candidates = []
    for k, noise in enumerate(quality):
        rows = signal + noise * rng.normal(size=signal.shape)
        if task == "classification":
            rows = np.exp(2 * rows) / np.exp(2 * rows).sum(axis=1, keepdims=True)
        rows = rows[labeled]
        candidates.append(Candidate(f"learner {k}", rows, rows))
    none = known.only(np.zeros(0, int))
    chooser = Chooser(NodeInputs(known, graph), none, candidates, dropout)
    return chooser, draw_folds(known, np.flatnonzero(known.labeled), 5, 0)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_better_learner_gets_the_larger_share(task):
    chooser, _ = problem(task)
    shares = chooser.choose(chooser.inputs.targets).shares
    assert shares["learner 0"] > 0.5
    assert sum(shares.values()) == pytest.approx(1)


@pytest.mark.parametrize("dropout", [0.0, 0.7, 1.0])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_labels_of_a_fold_do_not_choose_for_it(task, dropout):
    """With the same learners, other labels in a fold move the rows of others only."""
    dropout = LabelDropout(dropout)
    chooser, fold = problem(task, quality=(0.8, 0.9, 1.0), dropout=dropout)
    known = chooser.inputs.targets
    nodes = np.flatnonzero(known.labeled)
    rows = chooser.oof(fold, chooser.choose(known))
    mine = nodes[fold == 2]
    Y = known.Y.copy()
    Y[mine] = -5 * Y[mine] if task == "regression" else 1 - Y[mine]
    inputs = replace(chooser.inputs, targets=replace(known, Y=Y))
    other = Chooser(inputs, chooser.validation, chooser.candidates, dropout)
    without = [each.choose(each.inputs.targets.only(nodes[fold != 2])) for each in (chooser, other)]
    assert without[0].shares == without[1].shares
    assert without[0].damping == without[1].damping
    # As text: since Python 3.13, two data classes that hold the same NaN differ.
    assert repr(without[0].calibrations) == repr(without[1].calibrations)
    np.testing.assert_array_equal(without[0].rows, without[1].rows)
    # A single node: its own row stays, because nothing that it takes part in chose for it.
    alone = known.Y.copy()
    alone[nodes[7]] = alone[nodes[7]] + 9 if task == "regression" else 1 - alone[nodes[7]]
    single = Chooser(
        replace(chooser.inputs, targets=replace(known, Y=alone)),
        chooser.validation,
        chooser.candidates,
        dropout,
    )
    moved = single.oof(fold, single.choose(single.inputs.targets))
    np.testing.assert_allclose(moved[7], rows[7], atol=1e-9)
    if dropout.share < 1:  # labels that are no inputs only choose, and one may change nothing
        assert np.abs(moved - rows).max() > 1e-6


def test_choices_end_with_their_time_and_are_repeated_by_steps():
    chooser, _ = problem("classification")
    known = chooser.inputs.targets
    with allowing(Allowance(lambda: True)) as cut:
        short = chooser.choose(known)
    assert [damping for damping, _ in short.damping_curve] == [0.8]
    assert cut.steps == [1, 1]
    assert short.correction is None
    with allowing(Allowance(lambda: False, cut.steps)) as again:
        repeated = chooser.choose(known)
    np.testing.assert_array_equal(repeated.rows, short.rows)
    assert again.steps == cut.steps
    assert len(chooser.choose(known).damping_curve) == len(DAMPINGS)


def test_equal_shares_unless_a_gain_is_clear():
    rng = np.random.default_rng(0)
    Y = np.eye(2)[rng.integers(0, 2, 30)]
    rows = [np.full((30, 2), 0.5) + 0.1 * rng.normal(size=(30, 1)) * [1, -1] for _ in range(3)]
    assert choose_shares(rows, Y, np.ones(30), "classification") == (1 / 3,) * 3
    good = 0.9 * Y + 0.05
    shares = choose_shares([good, *rows], Y, np.ones(30), "classification")
    assert shares[0] == 1.0


def test_gains_are_clear_above_twice_their_standard_error():
    assert is_gain(np.ones(3))
    assert not is_gain(np.zeros(5))
    assert not is_gain(np.array([1.0, -1.0, 1.0, -0.9]))


def test_many_labels_do_not_choose_again_for_each_fold(monkeypatch):
    chooser, fold = problem("classification", quality=(0.8, 0.9, 1.0))
    choice = chooser.choose(chooser.inputs.targets)
    monkeypatch.setattr(choosing, "MANY_LABELS", 10)
    np.testing.assert_array_equal(chooser.oof(fold, choice), chooser.oof_by(choice))


def test_many_validation_nodes_choose_shares_alone(monkeypatch):
    """Out of fold, learners lack labels that they have elsewhere: these rows would mislead."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, N)
    labeled = np.arange(N) < N // 2
    known = encode_targets(np.where(labeled, truth, -1), N, "classification")
    validation = encode_targets(np.where(labeled, -1, truth), N, "classification")
    good, blind = 0.8 * np.eye(2)[truth] + 0.1, np.full((N, 2), 0.5)
    poor = np.where(labeled[:, None], blind, good)
    candidates = [Candidate("poor out of fold", good, poor), Candidate("even", blind, good)]
    edges = Graph.from_edges(*rng.integers(0, N, (2, N)), n_nodes=N)
    chooser = Chooser(NodeInputs(known, edges), validation, candidates)
    assert chooser.choose(known).shares.get("even", 0) > 0
    monkeypatch.setattr(choosing, "MANY_LABELS", 10)
    monkeypatch.setattr(choosing, "_ENOUGH", 10)
    assert chooser.choose(known).shares == {"poor out of fold": 1.0}
