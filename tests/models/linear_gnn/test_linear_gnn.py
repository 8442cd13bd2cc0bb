"""SGC, SIGN, TWIRLS and the regression against dense formulas; honesty; bad input."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from labeltrick import SGC, SIGN, TWIRLS, Graph, LabelFeatureRegression, audit_leakage, label_matrix
from labeltrick.models.base.folds import draw_folds
from labeltrick.propagation.polynomials import Iteration
from labeltrick.self_exclusion import objective
from tests import reference
from tests.support.graphs import blocks, random_graph
from tests.support.linear_models import EVERY, EVERY_WAY, TRAINED, with_epochs

torch = pytest.importorskip("torch")

TRICK = pytest.mark.parametrize("trick", [None, "deterministic", "stochastic"])


# -- against dense formulas ----------------------------------------------------------------------
@pytest.mark.parametrize("hops", [None, "sum", "concat"])
def test_rows_are_those_of_the_formula(hops):
    A, graph = random_graph(3, n=20, n_edges=45)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 4)), np.where(rng.random(20) < 0.6, rng.integers(0, 3, 20), -1)
    model = SGC(3) if hops is None else SIGN(3, hops=hops, hidden=4)
    model.set_params(scale=False, max_epochs=1).fit(X, y, graph=graph)
    S = reference.normalized(A + np.diag(1.0 - (np.diag(A) > 0)), "sym")
    powers = [np.linalg.matrix_power(S, k) for k in range(4)]
    Y = label_matrix(y, n_classes=3)
    kinds = {None: [powers[3]], "sum": [sum(powers)], "concat": powers}[hops]
    features = np.concatenate([P @ X for P in kinds], axis=1)
    views = [P @ Y - np.diag(P)[:, None] * Y for P in kinds]
    views = np.concatenate(views[1:] if hops == "concat" else views, axis=1)
    inputs = model.fitted_inputs
    np.testing.assert_allclose(model._rows.features(inputs), features, atol=1e-5)
    np.testing.assert_allclose(model._rows.labels(inputs), views, atol=1e-6)
    table = model._table(inputs, model.network_.label_size)[:]
    size = np.sqrt((views**2).mean())
    np.testing.assert_allclose(table[:, features.shape[1] :], views / size, atol=1e-4)
    with torch.no_grad():
        scores = model.network_(torch.from_numpy(table)).softmax(1).numpy()
    np.testing.assert_allclose(model.set_params(calibrate=False).predict_proba(), scores, atol=1e-6)


def test_twirls_is_one_versus_all_in_value_and_gradient():
    """Row i of the network is h₁ of row i of P·h₀([X, Y − Y_i]) (paper, eq. 13)."""
    from labeltrick import Unfolded
    from labeltrick.nn.twirls import TwirlsNet

    _, graph = random_graph(1, n=12, n_edges=25)
    P = Unfolded(graph, 2)
    dense = torch.from_numpy(P @ np.eye(12))
    rng = np.random.default_rng(0)
    X, Y = torch.from_numpy(rng.normal(size=(12, 4))), torch.zeros(12, 3, dtype=torch.float64)
    train = torch.tensor([0, 2, 3, 7, 8])
    Y[train, torch.tensor([0, 1, 2, 1, 0])] = 1
    torch.manual_seed(0)
    net = TwirlsNet(4, 3, 3, hidden=8, n_before=2, n_after=2, dropout=0.0).double()

    def literal():
        def before(Y):
            return net.before(net.from_features(X) + net.from_labels(Y))

        rows = []
        for i in range(12):
            others = Y.clone()
            others[i] = 0
            rows.append(net.after((dense @ before(others))[i : i + 1]))
        return torch.cat(rows)

    C = torch.from_numpy(P.self_weight(train.numpy(), tol=1e-12).value)
    found = net(P, X, Y, train, C)
    torch.testing.assert_close(found, literal(), atol=1e-9, rtol=0)
    weights = torch.randn(12, 3, dtype=torch.float64)
    gradients = [
        torch.autograd.grad((scores * weights).sum(), list(net.parameters()))
        for scores in (found, literal())
    ]
    for ours, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-9, rtol=0)


@pytest.mark.parametrize("trick", [None, "deterministic", "stochastic"])
def test_twirls_with_a_linear_start_propagates_its_inputs_once(trick):
    from labeltrick.models.linear_gnn.twirls import GraphInputs, PropagatedInputs

    graph, X, _, y = blocks(0, n=60)
    # Without dropout: it is drawn for the rows that are computed, which are fewer.
    options = {"hidden": 16, "max_epochs": 30, "dropout": 0.0, "calibrate": False}
    model = TWIRLS(label_trick=trick, **options)
    once = clone(model).fit(X, y, graph=graph)
    assert isinstance(once._tensors_of(once.fitted_inputs), PropagatedInputs)
    each_time = AtEachStep(**model.get_params()).fit(X, y, graph=graph)
    assert isinstance(each_time._tensors_of(each_time.fitted_inputs), GraphInputs)
    np.testing.assert_allclose(once.predict_proba(), each_time.predict_proba(), atol=2e-3)
    np.testing.assert_allclose(once.history_[0], each_time.history_[0], rtol=1e-4)
    # What was fitted stays as it was fitted.
    rows = once.predict_proba()
    np.testing.assert_array_equal(rows, once.set_params(n_before=2).predict_proba())


class AtEachStep(TWIRLS):
    """Propagates in each epoch, whatever h₀ is."""

    _propagates_once = property(lambda self: False, lambda self, value: None)


def test_stochastic_twirls_reports_its_epochs_alone():
    graph, X, _, y = blocks(0, n=60)
    told = []
    model = TWIRLS(hidden=8, max_epochs=4, label_trick="stochastic", calibrate=False)
    model.set_params(progress=lambda done, total: told.append((done, total))).fit(X, y, graph=graph)
    epochs = [k for k, (_, total) in enumerate(told) if total == 4]
    assert [told[k] for k in epochs] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert epochs == list(range(epochs[0], epochs[0] + 4))


def test_regression_minimises_the_corollary():
    graph, X, _, y = blocks(1, n=60)
    options = {"scale": False, "ridge": 0.5, "split_rate": 0.3}
    model = LabelFeatureRegression(0.8, 5, calibrate=False, **options).fit(X, y, graph=graph)
    train = np.flatnonzero(y >= 0)
    P = Iteration(graph, 0.8, 5, self_loops=True)
    ones = np.concatenate([P @ X, np.ones((60, 1))], axis=1)
    problem = objective.label_trick_problem(P, label_matrix(y, n_classes=3), train, tol=1e-9)
    problem = objective.LabelTrickProblem(
        problem.target, problem.label_inputs, ones[train], problem.penalty
    )
    ridge = np.array([0.5] * 3 + [1e-9] + [0.5] * 3)
    (found,) = objective.minimize(problem, 0.3, ridge=ridge)
    np.testing.assert_allclose(model.coef_features_, found.features[:3], atol=1e-5)
    np.testing.assert_allclose(model.intercept_, found.features[3], atol=1e-5)
    np.testing.assert_allclose(model.coef_labels_, found.labels, atol=1e-5)


def test_random_splits_come_to_the_closed_form():
    graph, X, _, y = blocks(2, n=60, share=0.8)
    options = {"split_rate": 0.5, "calibrate": False}
    exact = LabelFeatureRegression(0.8, 5, **options).fit(X, y, graph=graph)
    far = LabelFeatureRegression(0.8, 5, label_trick=None, **options).fit(X, y, graph=graph)
    drawn = LabelFeatureRegression(0.8, 5, label_trick="stochastic", n_splits=2000, **options)
    drawn.fit(X, y, graph=graph)
    error = np.abs(drawn.predict_proba() - exact.predict_proba()).mean()
    assert error < 0.1 * np.abs(far.predict_proba() - exact.predict_proba()).mean()


def test_a_drawn_penalty_is_near_the_exact_one(monkeypatch):
    """On large graphs the penalty's sums are drawn; made to here."""
    from labeltrick.models.linear_gnn import regression

    graph, X, _, y = blocks(2, n=300)
    options = {"split_rate": 0.2, "calibrate": False}
    exact = LabelFeatureRegression(0.9, 9, **options).fit(X, y, graph=graph)
    monkeypatch.setattr(regression, "_MOST_COLUMN_ENTRIES", 0)
    monkeypatch.setattr(objective, "_RARE", 0)  # energies of classes this small would be exact
    drawn = LabelFeatureRegression(0.9, 9, **options).fit(X, y, graph=graph)
    options["split_rate"] = 1.0
    free = LabelFeatureRegression(0.9, 9, **options).fit(X, y, graph=graph)
    far = np.abs(free.coef_labels_ - exact.coef_labels_).max()
    near = np.abs(drawn.coef_labels_ - exact.coef_labels_).max()
    assert 0 < near < 0.1 * far
    np.testing.assert_allclose(drawn.oof_proba_, exact.oof_proba_, atol=0.02)


def test_inner_folds_share_a_drawn_penalty(monkeypatch):
    """The choice of a rate draws the penalty of the other labels once, not for each inner fold."""
    from labeltrick.models.linear_gnn import regression

    graph, X, _, y = blocks(2, n=120)
    monkeypatch.setattr(regression, "_MOST_COLUMN_ENTRIES", 0)
    model = LabelFeatureRegression(0.9, 9, split_rate=(0.2, 0.8)).fit(X, y, graph=graph)
    drawn, whole = [], regression.probed_penalty

    def counted(P, Y, nodes, **options):
        drawn.append(len(nodes))
        return whole(P, Y, nodes, **options)

    monkeypatch.setattr(regression, "probed_penalty", counted)
    assert model.oof_score_ > 0.5
    assert len(drawn) == 10
    assert min(drawn) > 0.75 * len(model.labeled_)


def test_out_of_fold_rows_have_the_rate_of_their_fold():
    graph, X, _, y = blocks(5, n=150, signal=0.2)
    rates = (0.05, 0.5, 1.0)
    model = LabelFeatureRegression(0.8, 5, split_rate=rates).fit(X, y, graph=graph)
    at_rate = [
        clone(model).set_params(split_rate=rate).fit(X, y, graph=graph).oof_proba_ for rate in rates
    ]
    scores = [(rows.argmax(axis=1) == y[model.labeled_]).mean() for rows in at_rate]
    assert list(model.split_rate_scores_.values()) == pytest.approx(scores)
    assert model.split_rate_ == rates[int(np.argmax(scores))]
    fold = draw_folds(model.targets_, model.labeled_, 5, 0)
    for k in range(5):
        here = model.oof_proba_[fold == k]
        assert any(np.array_equal(here, rows[fold == k]) for rows in at_rate)


def test_a_fold_of_numbers_is_predicted_by_a_fit_without_its_labels():
    """Without a penalty, whose energies are sums over all labeled rows, exactly so."""
    graph, X, truth, y = blocks(5, n=150)
    y = np.where(y < 0, np.nan, 10 + 3 * truth + X[:, 0])
    model = LabelFeatureRegression(0.8, 5, split_rate=1.0).fit(X, y, graph=graph)
    fold = draw_folds(model.targets_, model.labeled_, 5, 0)
    for k in range(5):
        nodes, others = model.labeled_[fold == k], y.copy()
        others[nodes] = np.nan
        without = clone(model).fit(X, others, graph=graph)
        np.testing.assert_allclose(
            model.oof_prediction_[fold == k], without.predict(y=y)[nodes], rtol=1e-6
        )


# -- what all of them do --------------------------------------------------------------------------
@EVERY
@TRICK
def test_labels_and_features_tell_more_than_chance(model, trick):
    graph, X, truth, y = blocks(0, signal=1.0)
    model = with_epochs(model, 80).set_params(label_trick=trick, calibrate=False)
    model.fit(X, y, graph=graph)
    np.testing.assert_allclose(model.predict_proba().sum(axis=1), 1)
    assert model.score(None, np.where(y < 0, truth, -1)) > 0.55


@EVERY
def test_the_same_seed_gives_the_same_numbers(model):
    graph, X, _, y = blocks(0)
    first, second = (clone(model).fit(X, y, graph=graph) for _ in range(2))
    np.testing.assert_array_equal(first.predict_proba(), second.predict_proba())
    np.testing.assert_array_equal(first.oof_proba_, second.oof_proba_)
    assert first.oof_proba_.shape == ((y >= 0).sum(), 3)
    assert first.calibration_.temperature > 0
    if hasattr(model, "max_epochs"):
        torch.manual_seed(5)  # what others drew before does not matter, nor is it touched
        before = torch.random.get_rng_state()
        third = clone(model).set_params(random_state=1).fit(X, y, graph=graph)
        assert torch.equal(torch.random.get_rng_state(), before)
        assert not np.allclose(first.predict_proba(), third.predict_proba())
        assert len(first.history_) == first.n_iter_ >= first.best_epoch_ >= 1


@EVERY_WAY
@pytest.mark.parametrize("trick", ["deterministic", "stochastic"])
def test_no_prediction_moves_with_its_own_label(model, trick):
    graph, X, _, y = blocks(3, n=80)
    model = clone(model).set_params(label_trick=trick, calibrate=False).fit(X, y, graph=graph)
    report = audit_leakage(lambda y: model.predict_proba(y=y), y, y >= 0, n_samples=15)
    assert not report.leaks


@EVERY_WAY
def test_labels_at_random_score_at_chance(model):
    scores = []
    for seed in range(3):
        _, graph = random_graph(seed, n=200, n_edges=600)
        rng = np.random.default_rng(seed)
        y, X = rng.integers(0, 3, 200), rng.normal(size=(200, 5))
        scores.append(clone(model).fit(X, y, graph=graph).oof_score_)
    assert np.mean(scores) < 0.42  # chance is 1/3; the spread of the mean is 0.02


@EVERY_WAY
@pytest.mark.parametrize("trick", ["deterministic", "stochastic"])
def test_nothing_is_learned_from_the_rounding_of_an_own_label(model, trick):
    """One labeled node a component: no node sees another label, only what is left of its own."""
    pairs = [(6 * k + a, 6 * k + b) for k in range(60) for a, b in ((0, 1), (1, 2), (0, 2), (2, 3))]
    graph = Graph.from_edges(*np.array(pairs).T, n_nodes=360)
    rng = np.random.default_rng(0)
    y, X = np.full(360, -1), rng.normal(size=(360, 3))
    y[::6] = rng.integers(0, 2, 60)
    model = with_epochs(model, 60).set_params(label_trick=trick, calibrate=False)
    model.fit(X, y, graph=graph)
    if trick == "deterministic":
        assert model.oof_score_ < 0.75
        if isinstance(model, LabelFeatureRegression):
            assert model.set_params(ridge=0, n_steps=None).fit(X, y, graph=graph).oof_score_ < 0.75
    assert (model.predict() == y)[::6].mean() < 0.9


@pytest.mark.parametrize(
    "model",
    [
        SGC(1, learning_rate=0.1, max_epochs=200, validation_fraction=0.0),
        SGC(2, norm="row", self_loops=False, learning_rate=0.1, max_epochs=100),
        SIGN(1, hidden=32, max_epochs=60),
        TWIRLS(hidden=16, max_epochs=60),
        LabelFeatureRegression(0.8, 2, ridge=1e-3),
    ],
    ids=["sgc", "sgc by rows", "sign", "twirls", "regression"],
)
def test_labels_cannot_be_read_off_a_sum_that_all_share(model):
    """In a clique every node sees the total less its own: out-of-fold scores must not profit."""
    src, dst = np.triu_indices(40, 1)
    graph = Graph.from_edges(src, dst)
    rng = np.random.default_rng(1)
    y, X = rng.normal(size=40), rng.normal(size=(40, 3))
    assert model.fit(X, y, graph=graph).oof_score_ < 0.2


@EVERY
def test_numbers_and_several_labels(model):
    graph, X, truth, y = blocks(4)
    values = np.where(y < 0, np.nan, truth * 10.0 + 0.5)
    model = with_epochs(model, 80)
    found = model.fit(X, values, graph=graph)
    assert found.score(None, truth * 10.0 + 0.5) > 0.3
    both = np.stack([values, -values], axis=1)
    assert model.fit(X, both, graph=graph).predict().shape == (150, 2)
    several = np.eye(3)[truth]
    several[y < 0] = np.nan
    model.fit(X, several, graph=graph)
    assert ((model.predict_proba() >= 0) & (model.predict_proba() <= 1)).all()
    assert (model.predict() == np.eye(3)[truth]).mean() > 0.7


@EVERY
def test_sparse_features_are_dense_ones(model):
    graph, X, _, y = blocks(5)
    X = np.where(X > 0.5, X, 0.0)
    model = clone(model).set_params(scale=False, calibrate=False)
    dense = model.fit(X, y, graph=graph).predict_proba()
    for kind in (sp.csr_matrix, sp.csc_array, sp.coo_array):
        found = model.fit(kind(X), y, graph=graph).predict_proba()
        np.testing.assert_allclose(found, dense, atol=1e-3)


@EVERY
def test_new_labels_nodes_and_features_without_training_again(model):
    graph, X, _, y = blocks(6)
    model = clone(model).set_params(calibrate=False).fit(X, y, graph=graph)
    plain = model.predict_proba()
    assert not np.allclose(model.predict_proba(y=np.where(y < 0, -1, (y + 1) % 3)), plain)
    np.testing.assert_allclose(model.predict_proba(X, y, graph=graph), plain, atol=1e-6)
    src, dst = graph.to_edge_index()
    larger = Graph.from_edges([*src, 0], [*dst, 150], n_nodes=151)
    with pytest.raises(ValueError, match="`X` must be given for a graph of 151 nodes"):
        model.predict(graph=larger)
    assert model.predict(np.vstack([X, X[:1]]), graph=larger).shape == (151,)
    assert not np.allclose(model.predict_proba(X[::-1]), plain)


@TRAINED
def test_validation_labels_are_never_inputs(model):
    graph, X, _, y = blocks(7)
    held = np.flatnonzero(y >= 0)[:20]
    model = clone(model).set_params(max_epochs=1, calibrate=False)
    flipped = y.copy()
    flipped[held] = (flipped[held] + 1) % 3
    rows = [
        model.fit(X, labels, graph=graph, validation=held).predict_proba()
        for labels in (y, flipped)
    ]
    np.testing.assert_array_equal(*rows)
    assert not model.targets_.labeled[held].any()


@EVERY
def test_weights_of_samples_and_classes(model):
    graph, X, _, y = blocks(8)
    model = with_epochs(model, 60).set_params(calibrate=False)
    weight = np.where(np.arange(150) % 3 == 0, 0.0, 1.0)
    found = model.fit(X, y, graph=graph, sample_weight=weight).predict_proba()
    oof = model.fit(X, np.where(weight > 0, y, -1), graph=graph).predict_proba()
    np.testing.assert_allclose(found, oof, atol=1e-6)
    balanced = model.set_params(class_weight={0: 50.0}).fit(X, y, graph=graph)
    assert (balanced.predict() == 0).mean() > (oof.argmax(axis=1) == 0).mean()


@EVERY
def test_few_labels_and_odd_columns(model):
    graph, X, _, _ = blocks(9, n=30)
    X = np.concatenate([X, np.full((30, 1), 7.0), np.zeros((30, 1))], axis=1)
    for n_labels in (1, 2, 3, 4):
        y = np.full(30, -1)
        y[[0, 9, 18, 27][:n_labels]] = [0, 1, 0, 1][:n_labels]
        model = clone(model).fit(X, y, graph=graph)
        assert np.isfinite(model.predict_proba()).all()
    only_constant = clone(model).fit(X[:, 3:], np.arange(30) % 2, graph=graph)
    assert np.isfinite(only_constant.predict_proba()).all()


@EVERY
def test_a_class_that_only_validation_has(model):
    graph, X, truth, _ = blocks(10)
    held = np.concatenate([np.flatnonzero(truth == 2), np.flatnonzero(truth == 0)[:5]])
    model = clone(model).fit(X, truth, graph=graph, validation=held)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict_proba().shape == (150, 3)
