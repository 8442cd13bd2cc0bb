"""Trainable Correct & Smooth: against its formula, in every mode, and no label seen twice."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression

from labeltrick import CorrectAndSmooth, Graph, Spread, TrainableCorrectAndSmooth, audit_leakage
from labeltrick.models.correct_smooth.views import SideBySide, StepViews, round_trips, rows_by_fold
from tests import reference
from tests.models.correct_smooth.test_classic import accuracy, given
from tests.support.estimator_checks import run_scikit_learns_checks
from tests.support.graphs import blocks

MODES = {
    "splits": {
        "base": LogisticRegression(),
        "split_rate": 0.5,
        "n_splits": 4,
        "max_epochs": 30,
    },
    "deterministic": {"base": LogisticRegression(), "label_trick": "deterministic"},
    "exact": {"base": LogisticRegression(), "label_trick": "deterministic", "scale": 1.0},
    "end to end": {"base": "linear", "mode": "end_to_end", "max_epochs": 30},
}
EVERY = pytest.mark.parametrize("mode", MODES)


def model_of(mode, **more):
    if mode == "end to end":
        pytest.importorskip("torch")
    return TrainableCorrectAndSmooth(**{**MODES[mode], **more})


def dense(graph, spread):
    S = reference.normalized(graph.to_scipy().toarray(), spread.norm)
    if spread.n_steps is None:
        return reference.resolvent(S, spread.damping)
    return reference.iteration(S, spread.damping, spread.n_steps, np.eye(len(S)))


def scale_of(kind, residual, train):
    """γ as the formula has it."""
    if kind != "auto":
        return lambda rows: kind * rows
    sigma = np.abs(residual[train]).sum() / train.sum()

    def gamma(rows):
        size = np.abs(rows).sum(axis=1)
        factor = np.where((size > 0) & (size * 1000 >= sigma), sigma / np.maximum(size, 1e-300), 1)
        return factor[:, None] * rows

    return gamma


STEPS = [
    (Spread(0.9, None, clamp=False), Spread(0.6, None)),
    (Spread(0.8, 3, norm="row", clamp=False), Spread(0.7, 4, norm="col")),
    (Spread(0.7, None, clamp=False), Spread(0.7, None)),
]


# -- against formulas ----------------------------------------------------------------------------
@pytest.mark.parametrize("steps", STEPS, ids=["limits", "few steps", "the same"])
@pytest.mark.parametrize("scale", ["auto", 2.0])
def test_views_are_those_of_the_paper(steps, scale):
    graph, _, base, Y, train = given(0)
    rng = np.random.default_rng(0)
    W_s, W_c = rng.normal(size=(2, 3, 3))
    P_c, P_s = (dense(graph, step) for step in steps)
    in_mask = train & (rng.random(60) < 0.5)
    gamma = scale_of(scale, np.where(in_mask[:, None], Y - base, 0), in_mask)
    args = (P_c, P_s, base, Y, in_mask, gamma, W_s, W_c)
    expected = reference.trainable_correct_smooth(*args)
    views = StepViews(graph, *steps, scale, normalize=False)
    found = views.rows(base, Y, in_mask) @ np.concatenate([W_s, W_c])
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("steps", STEPS, ids=["limits", "few steps", "the same"])
def test_self_exclusion_is_leaving_one_out(steps):
    graph, _, base, Y, train = given(1)
    views = StepViews(graph, *steps, 1.5)
    found = views.excluded_rows(base, Y, train)
    for row, i in zip(found, np.flatnonzero(train), strict=True):
        others = train.copy()
        others[i] = False
        np.testing.assert_allclose(row, views.rows(base, Y, others)[i], atol=1e-5)


def test_folds_leave_the_own_label_out():
    graph, _, base, Y, train = given(2)
    views = StepViews(graph, *STEPS[0], "auto")
    nodes = np.flatnonzero(train)
    fold = np.arange(len(nodes)) % 10
    found = views.oof_rows(base, Y, train, fold)
    for place in (0, 3, len(nodes) - 1):
        other = Y.copy()
        other[nodes[place]] = np.roll(other[nodes[place]], 1)
        again = views.oof_rows(base, other, train, fold)
        np.testing.assert_array_equal(again[place], found[place])
        assert np.abs(again - found).max() > 1e-3


def test_round_trips():
    graph, _, _, _, train = given(3)
    for steps in STEPS:
        P_c, P_s = (dense(graph, step) for step in steps)
        expected = (P_s[:, ~train] @ P_c[~train])[train][:, train].diagonal()
        operators = (step.linear(graph) for step in steps)
        C, S = operators
        found = round_trips(S, C, np.flatnonzero(train), ~train)
        np.testing.assert_allclose(found, expected, atol=1e-5)
    assert not round_trips(S, C, np.flatnonzero(train), np.zeros(60, bool)).any()


@pytest.mark.parametrize("label_trick", ["stochastic", "deterministic"])
def test_weights_of_one_are_the_untrained_formula(label_trick):
    graph, X, _, y = blocks(4)
    steps = {"correct": Spread(0.9, None, clamp=False), "smooth": Spread(0.8, None, clamp=False)}
    options = {"base": LogisticRegression(), "scale": 1.0, "calibrate": False, **steps}
    model = TrainableCorrectAndSmooth(
        label_trick=label_trick, split_rate=0.5, base_predictions="in_sample", **options
    )
    model.fit(X, y, graph=graph)
    model.model_.fit.weights[:] = np.concatenate([np.eye(3)] * 2)
    plain = CorrectAndSmooth(**options).fit(X, y, graph=graph)
    scores = np.log(model.predict_proba())
    shares = plain.predict_proba()
    expected = shares - np.log(np.exp(shares).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(scores, expected, atol=2e-2)  # tidied to shares in the plain one
    assert (model.predict() == plain.predict()).all()


def test_end_to_end_is_the_formula_and_its_gradient():
    torch = pytest.importorskip("torch")
    from labeltrick.nn.correct_smooth import CorrectSmoothNet

    graph, _, _, Y, train = given(5, n=12)
    rng = np.random.default_rng(5)
    X = torch.from_numpy(rng.normal(size=(12, 4)))
    in_mask = train & (np.arange(12) % 2 == 0)
    in_mask[0] = True
    for scale in ("auto", "mean", 1.5):
        net = CorrectSmoothNet(torch.nn.Linear(4, 3), 3, "softmax", scale).double()
        P_c, P_s = (step.linear(graph, tol=1e-13) for step in STEPS[0])
        mass = torch.ones(12, dtype=torch.float64)
        rest = (torch.from_numpy(Y), torch.from_numpy(in_mask), P_c, P_s, mass)
        base = net.base(X).softmax(dim=1).detach().numpy()
        residual = np.where(in_mask[:, None], Y - base, 0)
        gamma = scale_of(scale, residual, in_mask)
        if scale == "mean":
            received = dense(graph, STEPS[0][0]) @ in_mask.astype(float)

            def gamma(rows, received=received):
                some = received[:, None] > 1e-6
                return np.where(some, rows / np.maximum(received[:, None], 1e-6), 0)

        weights = (net.smooth_weight.detach().numpy(), net.correct_weight.detach().numpy())
        operators = [dense(graph, step) for step in STEPS[0]]
        expected = reference.trainable_correct_smooth(*operators, base, Y, in_mask, gamma, *weights)
        np.testing.assert_allclose(net(X, *rest).detach().numpy(), expected, atol=1e-9)

        names = [name for name, _ in net.named_parameters()]

        def run(*values, net=net, names=names, rest=rest):
            state = dict(zip(names, values, strict=True))
            return torch.func.functional_call(net, state, (X, *rest))

        values = tuple(value.detach().clone().requires_grad_() for value in net.parameters())
        assert torch.autograd.gradcheck(run, values, atol=1e-6)


# -- as estimators -------------------------------------------------------------------------------
@EVERY
def test_it_learns(mode):
    graph, X, truth, y = blocks(6)
    more = {"max_epochs": 150, "calibrate": False} if mode == "end to end" else {}
    model = model_of(mode, **more).fit(X, y, graph=graph)
    alone = model.base_prediction_.argmax(axis=1)
    assert accuracy(model, truth, y) > (alone == truth)[y < 0].mean() + 0.05
    np.testing.assert_allclose(model.predict_proba().sum(axis=1), 1)
    assert model.coef_smooth_.shape == model.coef_correct_.shape == (3, 3)
    assert model.split_rate_ > 0
    if mode != "end to end":  # six more trainings
        assert 0.5 < model.oof_score_ <= 1


@EVERY
def test_the_same_seed_gives_the_same_numbers(mode):
    graph, X, _, y = blocks(7, n=60)
    found = [model_of(mode, random_state=3).fit(X, y, graph=graph).predict_proba() for _ in "ab"]
    np.testing.assert_array_equal(*found)


@EVERY
def test_left_out_predictions_pass_the_audit(mode):
    graph, X, truth, y = blocks(8, n=60)
    train = np.flatnonzero(y >= 0)
    model = model_of(mode)

    def predict(labels):
        full = np.full((60, 3), 1 / 3)
        known = np.where(np.isin(np.arange(60), train), labels, -1)
        full[train] = clone(model).fit(X, known, graph=graph).oof_proba_
        return full

    report = audit_leakage(predict, truth, train, n_samples=3)
    assert not report.leaks, str(report)


@EVERY
def test_new_labels_and_weights(mode):
    graph, X, truth, y = blocks(9)
    model = model_of(mode).fit(X, y, graph=graph, sample_weight=np.linspace(1, 2, 150))
    assert (model.predict(None, truth) == truth).mean() > (model.predict() == truth).mean()
    balanced = model_of(mode, class_weight="balanced").fit(X, y, graph=graph)
    assert np.isfinite(balanced.predict_proba()).all()


@EVERY
def test_numbers(mode):
    rng = np.random.default_rng(10)
    n = 300
    graph = Graph.from_edges(range(n - 1), range(1, n))
    X, wave = rng.normal(size=(n, 2)), np.sin(np.arange(n) / 15)
    Y = 1000 + 50 * np.column_stack([X[:, 0] + 2 * wave, X[:, 1] - 2 * wave])
    known = rng.random(n) < 0.5
    y = np.where(known[:, None], Y, np.nan)
    # Weights after the smoothing cannot undo it: little of it for targets that features tell.
    more = {"base": LinearRegression(), "correct": 0.9, "smooth": 0.05}
    if mode == "end to end":
        more |= {"base": "linear", "max_epochs": 600}
    model = model_of(mode, **more).fit(X, y, graph=graph)
    error = np.abs(model.predict() - Y)[~known].mean()
    assert error < 0.7 * np.abs(LinearRegression().fit(X[known], Y[known]).predict(X) - Y).mean()
    if mode != "end to end":
        assert model.oof_score_ > 0.3


def test_the_split_rate_is_chosen_by_validation():
    graph, X, truth, y = blocks(11)
    held = np.flatnonzero(y < 0)[:40]
    y[held] = truth[held]
    model = TrainableCorrectAndSmooth(LogisticRegression(), max_epochs=20)
    model.fit(X, y, graph=graph, validation=held)
    assert set(model.split_rate_scores_) == {round(0.1 * k, 1) for k in range(1, 10)}
    assert model.split_rate_scores_[model.split_rate_] == max(model.split_rate_scores_.values())


def test_without_a_correction():
    graph, X, truth, y = blocks(12)
    plain = CorrectAndSmooth(LogisticRegression(), correct=None).fit(X, y, graph=graph)
    for trick in ("stochastic", "deterministic"):
        model = TrainableCorrectAndSmooth(
            LogisticRegression(), correct=None, label_trick=trick, split_rate=0.5
        ).fit(X, y, graph=graph)
        assert accuracy(model, truth, y) > accuracy(plain, truth, y)
        assert model.coef_correct_.shape == (0, 3)


def test_what_was_fitted_outside_has_no_honest_score_unless_said_so():
    rng = np.random.default_rng(15)
    X, y = rng.normal(size=(80, 100)), rng.integers(0, 2, 80)  # learnt by heart
    graph = Graph.from_edges(rng.integers(0, 80, 160), rng.integers(0, 80, 160), n_nodes=80)
    base = LogisticRegression(C=1e6, max_iter=2000).fit(X, y)
    for given_base in (base, base.predict_proba(X)):
        model = TrainableCorrectAndSmooth(given_base, label_trick="deterministic")
        model.fit(X, y, graph=graph)
        with pytest.raises(AttributeError, match="base_predictions='out_of_fold'"):
            model.oof_score_
    model = TrainableCorrectAndSmooth(clone(base), label_trick="deterministic")
    assert model.fit(X, y, graph=graph).oof_score_ < 0.7


# -- bad input -----------------------------------------------------------------------------------
def test_bad_parameters():
    pytest.importorskip("torch")
    graph, X, _, y = blocks(13, n=40)

    def fit(base=None, **options):
        base = LogisticRegression() if base is None else base
        return TrainableCorrectAndSmooth(base, **options).fit(X, y, graph=graph)

    with pytest.raises(ValueError, match="for mode='end_to_end', which trains it; got Logis"):
        fit(mode="end_to_end")
    with pytest.raises(ValueError, match="needs label_trick='stochastic' and a correction"):
        fit("mlp", mode="end_to_end", label_trick="deterministic")
    with pytest.raises(ValueError, match="`smooth` must be a damping or a Spread; got None"):
        fit(smooth=None)
    with pytest.raises(ValueError, match="`split_rate` must be strictly between"):
        fit(split_rate=1.0)
    with pytest.raises(ValueError, match="`mode` must be one of"):
        fit(mode="three")
    model = TrainableCorrectAndSmooth("linear", mode="end_to_end", learning_rate=1e30)
    with pytest.raises(FloatingPointError, match="`learning_rate` must be lower"):
        model.fit(X, y, graph=graph)
    assert np.isfinite(model.set_params(calibrate=False).predict_proba()).all()


def test_labels_at_random_are_predicted_no_better_than_chance():
    rng = np.random.default_rng(14)
    X, y = rng.normal(size=(300, 5)), rng.integers(0, 2, 300)
    cliques = np.repeat(np.arange(60), 5)
    src, dst = np.nonzero(cliques[:, None] == cliques)
    graph = Graph.from_edges(src[src < dst], dst[src < dst])
    for scale in ("auto", 1.0):
        model = TrainableCorrectAndSmooth(
            LogisticRegression(), label_trick="deterministic", scale=scale
        )
        assert abs(model.fit(X, y, graph=graph).oof_score_ - 0.5) < 0.1


def test_scikit_learns_checks():
    by_contract = {
        "check_classifiers_classes": "−1 marks a missing label",
        "check_estimators_nan_inf": "whether NaN is welcome is for the base to say",
        "check_class_weight_classifiers": "rows of the fit are its nodes, and have their labels",
    }
    options = {"label_trick": "deterministic", "base_predictions": "in_sample", "calibrate": False}
    model = TrainableCorrectAndSmooth(LogisticRegression(), **options)
    run_scikit_learns_checks(model, by_contract, uses_features=True)


def test_rows_by_fold_are_those_of_unlabeled_nodes():
    """Each fold's rows: a base that does not know its labels, and they are no inputs."""
    graph, _, _, y = blocks(20, n=60)
    labeled, Y = y >= 0, np.eye(3)[np.maximum(y, 0)]
    nodes = np.flatnonzero(labeled)
    folds = [nodes[::2], nodes[1::2]]
    rng = np.random.default_rng(0)
    bases = [rng.dirichlet(np.ones(3), 60) for _ in folds]
    steps = [Spread(lam, None, clamp=False) for lam in (0.8, 0.3)]
    views = SideBySide((StepViews(graph, *steps, "auto"), StepViews(graph, *steps[::-1], "mean")))
    found = rows_by_fold(views, zip(folds, bases, strict=True), Y, labeled)
    for fold, base in zip(folds, bases, strict=True):
        without = labeled.copy()
        without[fold] = False
        each = [view.rows(base, Y, without)[fold] for view in views.each]
        np.testing.assert_allclose(found[np.isin(nodes, fold)], np.concatenate(each, axis=1))
    moved = Y.copy()
    moved[nodes[0]] = np.roll(moved[nodes[0]], 1)
    again = rows_by_fold(views, zip(folds, bases, strict=True), moved, labeled)
    np.testing.assert_array_equal(found[0], again[0])


def test_several_pairs_of_steps():
    graph, X, truth, y = blocks(21)
    model = model_of("deterministic", correct=[0.5, 0.9], smooth=[0.2, 0.6])
    model.fit(X, y, graph=graph)
    assert model.coef_smooth_.shape == model.coef_correct_.shape == (6, 3)
    assert accuracy(model, truth, y) > 0.6
    one = StepViews(graph, Spread(0.5, None), Spread(0.2, None), "auto")
    np.testing.assert_allclose(SideBySide((one, one)).unit(3).sum(axis=0), 2)
    for options, message in [
        ({"correct": [0.5, 0.9]}, "same number of steps; got 2 and 1"),
        ({"correct": [0.5], "smooth": [None]}, "`smooth` must be a damping"),
    ]:
        with pytest.raises(ValueError, match=message):
            model_of("deterministic", **options).fit(X, y, graph=graph)


def test_by_fold_needs_a_base_to_fit():
    graph, X, _, y = blocks(22, n=60)
    for options in ({"base": np.full((60, 3), 1 / 3)}, {"label_trick": "stochastic"}):
        model = model_of("deterministic", base_predictions="by_fold", **options)
        with pytest.raises(ValueError, match="base_predictions='by_fold' needs"):
            model.fit(X, y, graph=graph)


def test_numbers_find_their_own_zero():
    """A base that is off by a constant everywhere is put right by the constant column."""
    rng = np.random.default_rng(23)
    graph = Graph.from_edges(rng.integers(0, 200, 600), rng.integers(0, 200, 600), n_nodes=200)
    truth = rng.normal(size=200) ** 2 * 3
    y = np.where(rng.random(200) < 0.5, truth, np.nan)
    model = TrainableCorrectAndSmooth(
        truth + 50.0,
        label_trick="deterministic",
        correct=None,
        smooth=0.01,
        ridge=0.0,
        task="regression",
        base_predictions="out_of_fold",
    ).fit(None, y, graph=graph)
    hidden = np.isnan(y)
    assert np.abs(model.predict() - truth)[hidden].mean() < 1.0
