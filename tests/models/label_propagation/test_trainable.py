import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone

from labeltrick import Graph, LabelPropagation, Resolvent, TrainableLabelPropagation, audit_leakage
from labeltrick.evaluation.splits import split_nodes
from labeltrick.io import datasets
from labeltrick.models.base.folds import draw_folds
from tests import reference
from tests.support.estimator_checks import run_scikit_learns_checks
from tests.support.graphs import heterophilous, random_graph

QUICK = {"max_epochs": 4, "patience": 4, "hidden": 16, "n_members": 2}
WAYS = {
    "convex": {},
    "convex raw": {"normalize": False},
    "theorem": {"loss": "squared"},
    "ridge": {"loss": "squared", "normalize": True},
    "per hop": {"weights": "per_hop", "n_hops": 3},
    "two norms": {"weights": "per_hop", "n_hops": 2, "norm": ("row", "col")},
    "gate": {"gate": True},
    "stochastic": {"label_trick": "stochastic", "split_rate": 0.5, "max_epochs": 30},
    "stochastic squared": {
        "label_trick": "stochastic",
        "split_rate": 0.5,
        "loss": "squared",
        "max_epochs": 30,
    },
    "mlp": {"weights": "mlp", **QUICK},
    "mlp stochastic": {"weights": "mlp", "label_trick": "stochastic", **QUICK},
}
EVERY_WAY = pytest.mark.parametrize("options", WAYS.values(), ids=WAYS.keys())


# -- every way ---------------------------------------------------------------------------------
@EVERY_WAY
def test_probabilities_repeatability_and_new_labels(options):
    graph, _truth, y = heterophilous(n=120)
    model = TrainableLabelPropagation(**options).fit(None, y, graph=graph)
    proba = model.predict_proba()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-6)
    assert (proba >= 0).all()
    again = TrainableLabelPropagation(**options).fit(None, y, graph=graph)
    np.testing.assert_allclose(again.predict_proba(), proba, atol=1e-9)
    np.testing.assert_array_equal(model.predict(), model.classes_[proba.argmax(axis=1)])
    assert model.oof_proba_.shape == (len(model.labeled_), 3)
    assert 0 <= model.oof_score_ <= 1
    # other labels and another graph, without training again
    other = np.roll(y, 7)
    assert model.predict(y=other).shape == (120,)
    larger = Graph.from_edges([0, 120], [120, 121], n_nodes=122, directed=True)
    assert model.predict(y=np.append(y, [-1, -1]), graph=larger).shape == (122,)
    np.testing.assert_allclose(model.predict_proba(), proba, atol=1e-12)


@EVERY_WAY
def test_no_prediction_moves_with_its_own_label(options):
    _, graph = random_graph(0, n=60, n_edges=160)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    y[rng.random(60) < 0.3] = -1
    model = TrainableLabelPropagation(**options).fit(None, y, graph=graph)

    def predict(labels):
        return model.predict_proba(y=labels)

    assert not audit_leakage(predict, y, y >= 0, n_samples=20).leaks


@EVERY_WAY
def test_validation_labels_are_never_inputs(options):
    graph, truth, y = heterophilous(n=120)
    validation = np.flatnonzero(y >= 0)[:15]
    model = TrainableLabelPropagation(**options).fit(None, y, graph=graph, validation=validation)
    assert not np.isin(model.labeled_, validation).any()
    assert not model.targets_.labeled[validation].any()
    hidden = y.copy()
    hidden[validation] = -1
    np.testing.assert_allclose(model.predict_proba(y=hidden), model.predict_proba(), atol=1e-9)
    assert truth.shape == model.predict().shape


# -- closed form -----------------------------------------------------------------------------
def test_squared_loss_is_theorem_ones_minimiser_at_every_rate():
    A, graph = random_graph(1, n=50, n_edges=120)
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 50)
    y[rng.random(50) < 0.4] = -1
    train = np.flatnonzero(y >= 0)
    Y = np.where((y >= 0)[:, None], np.eye(3)[np.maximum(y, 0)], 0.0)
    P = reference.resolvent(reference.normalized(A, "sym"), 0.6)
    for alpha in (0.05, 0.5, 0.95):
        model = TrainableLabelPropagation(loss="squared", split_rate=alpha, tol=1e-12)
        model.fit(None, y, graph=graph)

        def expected(w, alpha=alpha):
            return reference.theorem_one(P, Y, train, alpha, w.reshape(3, 3))

        best = minimize(expected, np.eye(3).ravel(), method="BFGS", options={"gtol": 1e-9})
        np.testing.assert_allclose(model.coef_labels_, best.x.reshape(3, 3), atol=2e-3)
        assert model.split_rate_ == alpha


def test_the_whole_grid_of_rates_costs_one_propagation(monkeypatch):
    _, graph = random_graph(2, n=60, n_edges=150)
    y = np.random.default_rng(2).integers(0, 3, 60)
    y[::3] = -1
    calls = []
    original = Resolvent.apply
    monkeypatch.setattr(
        Resolvent, "apply", lambda self, *a, **k: calls.append(1) or original(self, *a, **k)
    )
    model = TrainableLabelPropagation(loss="squared", calibrate=False)
    model.fit(None, y, graph=graph, validation=np.flatnonzero(y >= 0)[:10])
    assert len(calls) == 1
    model.fit(None, y, graph=graph)  # without validation nodes, one for each of five folds too
    assert len(calls) == 2 + 5
    assert len(model.split_rate_scores_) == 19
    assert model.split_rate_ in model.split_rate_scores_
    best = max(model.split_rate_scores_.values())
    assert model.split_rate_scores_[model.split_rate_] == best


@pytest.mark.parametrize(
    "options", [{}, {"weights": "per_hop"}, {"loss": "squared", "normalize": True}], ids=str
)
def test_out_of_fold_predictions_are_those_of_weights_that_know_nothing_of_the_fold(options):
    graph, _, y = heterophilous(n=100)
    model = TrainableLabelPropagation(**options, calibrate=False).fit(None, y, graph=graph)
    nodes = model.labeled_
    fold = draw_folds(model.targets_, nodes, 5, 0)
    for k in (0, 3):
        fewer = y.copy()
        fewer[nodes[fold == k]] = -1
        other = clone(model).fit(None, fewer, graph=graph)
        expected = other.predict_proba(y=y)[nodes[fold == k]]
        np.testing.assert_allclose(model.oof_proba_[fold == k], expected, atol=0.03)


def test_a_class_that_separates_still_converges():
    graph = Graph.from_edges([0, 2, 4, 6], [1, 3, 5, 7])
    model = TrainableLabelPropagation().fit(None, [0, 0, 0, 0, 1, 1, 1, -1], graph=graph)
    assert np.isfinite(model.coef_labels_).all()
    assert model.predict()[7] == 1


# -- what weights can learn ----------------------------------------------------------------------
def test_heterophily_is_learned():
    graph, truth, y = heterophilous(n=900)
    hidden = y < 0
    plain = LabelPropagation(0.6, norm="row").fit(None, y, graph=graph).predict()
    assert (plain == truth)[hidden].mean() < 0.5
    for options in ({"norm": "row"}, {"weights": "per_hop", "n_hops": 2, "norm": "row"}):
        model = TrainableLabelPropagation(**options).fit(None, y, graph=graph)
        assert (model.predict() == truth)[hidden].mean() > 0.8
    assert model.oof_score_ == pytest.approx((model.predict() == truth)[hidden].mean(), abs=0.08)


def test_edge_types_get_weights_of_their_own():
    """One relation joins equals, the other opposites: mixed up, they cancel."""
    rng = np.random.default_rng(0)
    n = 600
    truth = rng.integers(0, 2, n)
    pools = [np.flatnonzero(truth == k) for k in (0, 1)]
    src = rng.integers(0, n, 4 * n)
    kind = np.array(["likes", "hates"])[rng.integers(0, 2, len(src))]
    dst = np.array(
        [rng.choice(pools[k]) for k in np.where(kind == "likes", truth[src], 1 - truth[src])]
    )
    graph = Graph.from_edges(src, dst, n_nodes=n, edge_type=kind)
    y = np.where(rng.random(n) < 0.5, truth, -1)
    hidden = y < 0
    scores = {}
    for types in ("auto", False):
        model = TrainableLabelPropagation(types=types).fit(None, y, graph=graph)
        scores[types] = (model.predict() == truth)[hidden].mean()
    assert scores["auto"] > 0.95 > 0.75 > scores[False]
    other = Graph.from_edges([0], [1], n_nodes=n, edge_type=["eats"])
    model = TrainableLabelPropagation().fit(None, y, graph=graph)
    with pytest.raises(
        ValueError, match=r"edge types of the fit \(\['hates', 'likes'\]\); got 'eats'"
    ):
        model.predict(y=y, graph=other)


def test_node_types_get_weights_of_their_own():
    """Nodes of type "echo" take their neighbors' class, nodes of type "anti" the other one."""
    rng = np.random.default_rng(1)
    n = 800
    hub = np.arange(n) < 400
    base = rng.integers(0, 2, 400)
    src = np.repeat(np.arange(400, n), 3)
    anchor = rng.integers(0, 2, 400)
    pools = [np.flatnonzero(base == k) for k in (0, 1)]
    dst = np.array([rng.choice(pools[anchor[i - 400]]) for i in src])
    types = np.where(hub, "hub", np.where(rng.random(n) < 0.5, "echo", "anti"))
    truth = np.empty(n, int)
    truth[:400] = base
    truth[400:] = np.where(types[400:] == "echo", anchor, 1 - anchor)
    graph = Graph.from_edges(src, dst, n_nodes=n, node_type=types)
    y = np.where(hub | (rng.random(n) < 0.5), truth, -1)
    hidden = y < 0
    scores = {}
    for use in ("auto", False):
        options = {"weights": "per_hop", "n_hops": 1, "types": use}
        model = TrainableLabelPropagation(**options).fit(None, y, graph=graph)
        scores[use] = (model.predict() == truth)[hidden].mean()
    assert scores["auto"] > 0.95
    assert scores[False] < 0.7


def test_a_gate_distinguishes_nodes_by_degree():
    """Leaves follow their neighbor, nodes of high degree oppose theirs."""
    rng = np.random.default_rng(2)
    n_hubs, leaves = 150, 8
    hub_class = rng.integers(0, 2, n_hubs)
    src = np.repeat(np.arange(n_hubs), leaves)
    dst = n_hubs + np.arange(n_hubs * leaves)
    truth = np.concatenate([hub_class, hub_class[src]])
    pairs = rng.permutation(n_hubs)[: n_hubs // 2 * 2].reshape(-1, 2)
    truth = truth.copy()
    graph = Graph.from_edges(np.concatenate([src, pairs[:, 0]]), np.concatenate([dst, pairs[:, 1]]))
    y = np.where(rng.random(len(truth)) < 0.5, truth, -1)
    model = TrainableLabelPropagation(gate=True).fit(None, y, graph=graph)
    assert model.coef_labels_.shape == (6, 2)  # constant, degree and mass times two classes
    hidden = (y < 0) & (np.arange(len(truth)) >= n_hubs)
    assert (model.predict() == truth)[hidden & model.reached_].mean() > 0.9


# -- tasks -----------------------------------------------------------------------------------
@pytest.mark.parametrize("options", [{}, {"weights": "per_hop"}, {"weights": "mlp", **QUICK}])
def test_regression(options):
    rng = np.random.default_rng(0)
    n = 400
    place = rng.random(n)
    order = np.argsort(place)
    graph = Graph.from_edges(
        np.concatenate([order[:-1], order[:-2]]), np.concatenate([order[1:], order[2:]])
    )
    value = 1000 + 50 * np.sin(6 * place)
    y = np.where(rng.random(n) < 0.5, value, np.nan)
    if "hidden" in options:
        options = {**options, "max_epochs": 60, "hidden": 64, "n_members": 3}
    model = TrainableLabelPropagation(**options).fit(None, y, graph=graph)
    hidden = np.isnan(y)
    assert model.score(None, np.where(hidden, value, np.nan)) > 0.9
    assert model.oof_score_ > 0.85
    assert model.oof_prediction_.shape == ((~hidden).sum(),)
    with pytest.raises(AttributeError, match="predict_proba"):
        model.predict_proba()
    two = np.column_stack([y, -2 * y])
    assert TrainableLabelPropagation(**options).fit(None, two, graph=graph).predict().shape == (
        n,
        2,
    )


@pytest.mark.parametrize("options", [{}, {"weights": "per_hop"}, {"weights": "mlp", **QUICK}])
def test_multilabel(options):
    graph, truth, y = heterophilous(n=150)
    Y = np.column_stack([truth == 0, truth <= 1]).astype(float)
    Y[y < 0] = np.nan
    model = TrainableLabelPropagation(**options).fit(None, Y, graph=graph)
    assert model.predict().shape == (150, 2)
    proba = model.predict_proba()
    assert ((proba >= 0) & (proba <= 1)).all()


def test_weights_of_samples_and_classes():
    graph, _, y = heterophilous(n=200)
    weight = np.ones(200)
    dropped = np.flatnonzero(y >= 0)[:40]
    weight[dropped] = 0
    hidden = y.copy()
    hidden[dropped] = -1
    a = TrainableLabelPropagation().fit(None, y, graph=graph, sample_weight=weight)
    b = TrainableLabelPropagation().fit(None, hidden, graph=graph)
    np.testing.assert_allclose(a.predict_proba(), b.predict_proba(), atol=1e-6)
    heavy = TrainableLabelPropagation(class_weight={0: 50, 1: 1, 2: 1}).fit(None, y, graph=graph)
    plain = TrainableLabelPropagation().fit(None, y, graph=graph)
    assert (heavy.predict() == 0).sum() > (plain.predict() == 0).sum()
    with pytest.raises(ValueError, match="`sample_weight` must be finite and ≥ 0; row 3"):
        bad = np.ones(200)
        bad[3] = -1
        TrainableLabelPropagation().fit(None, y, graph=graph, sample_weight=bad)
    with pytest.raises(ValueError, match="`class_weight` must be None for regression"):
        TrainableLabelPropagation(class_weight="balanced").fit(None, y + 0.5, graph=graph)


def test_random_splits_follow_the_seed_and_choose_the_rate():
    graph, _, y = heterophilous(n=150)
    options = {"label_trick": "stochastic", "split_rate": (0.3, 0.7), "max_epochs": 20}
    validation = np.flatnonzero(y >= 0)[::4]
    first = TrainableLabelPropagation(**options, random_state=1)
    first.fit(None, y, graph=graph, validation=validation)
    other = TrainableLabelPropagation(**options, random_state=2)
    other.fit(None, y, graph=graph, validation=validation)
    assert set(first.split_rate_scores_) == {0.3, 0.7}
    assert first.split_rate_ in (0.3, 0.7)
    assert first.history_ != other.history_
    assert len(first.history_) <= 20


def test_deterministic_and_stochastic_agree_with_enough_splits():
    graph, truth, y = heterophilous(n=600)
    hidden = y < 0
    fixed = TrainableLabelPropagation(norm="row", ridge=1e-3).fit(None, y, graph=graph)
    options = {"label_trick": "stochastic", "split_rate": 0.9, "learning_rate": 0.05, "norm": "row"}
    drawn = TrainableLabelPropagation(**options, max_epochs=300).fit(None, y, graph=graph)
    a, b = ((model.predict() == truth)[hidden].mean() for model in (fixed, drawn))
    assert a == pytest.approx(b, abs=0.05)


# -- bad input -------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "y",
    [[1, 1, -1, -1], [0, 1, 0, 1], ["x", None, None, None], [0, 1, 2, -1]],
    ids=["one class", "all labeled", "one label", "classes seen once"],
)
@pytest.mark.parametrize("options", [{}, {"loss": "squared"}, {"weights": "per_hop"}])
def test_sparse_labels_give_right_answers(y, options):
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3])
    model = TrainableLabelPropagation(**options).fit(None, y, graph=graph)
    assert np.isfinite(model.predict_proba()).all()
    assert np.isfinite(model.oof_proba_).all()
    assert set(model.predict()) <= set(model.classes_)


def test_bad_parameters():
    graph, _, y = heterophilous(n=60)

    def fit(**options):
        return TrainableLabelPropagation(**options).fit(None, y, graph=graph)

    for options, message in [
        ({"label_trick": "random"}, "`label_trick` must be one of 'deterministic', 'stochastic'"),
        ({"weights": "deep"}, "`weights` must be one of 'shared', 'per_hop', 'mlp'"),
        ({"loss": "hinge"}, "`loss` must be one of"),
        ({"norm": ("row", "both")}, "`norm` must be one of"),
        ({"split_rate": 0.5}, "`split_rate` must be 'auto' here; got 0.5"),
        ({"split_rate": 1.5, "loss": "squared"}, "`split_rate` must be strictly between 0 and 1"),
        ({"n_hops": 0, "weights": "per_hop"}, "`n_hops` must be at least 1"),
        ({"ridge": -1.0}, "`ridge` must be above"),
        ({"weights": "mlp", "loss": "squared"}, "`loss` must be 'cross_entropy' or 'auto'"),
    ]:
        with pytest.raises(ValueError, match=message.replace("(", r"\(")):
            fit(**options)
    with pytest.raises(ValueError, match="`loss` must be 'squared' or 'auto' for numbers"):
        model = TrainableLabelPropagation(loss="cross_entropy")
        model.fit(None, y + 0.5, graph=graph)
    with pytest.raises(ValueError, match="`validation` must hold labeled nodes"):
        TrainableLabelPropagation().fit(None, y, graph=graph, validation=np.arange(60))
    with pytest.raises(ValueError, match="must not hold all labeled nodes"):
        TrainableLabelPropagation().fit(None, y, graph=graph, validation=y >= 0)
    with pytest.raises(ValueError, match="at least one label"):
        TrainableLabelPropagation().fit(None, [-1] * 60, graph=graph)
    with pytest.raises(ValueError, match="`y` must be finite"):
        TrainableLabelPropagation().fit(None, np.where(y > 0, np.inf, 0.5), graph=graph)
    one = TrainableLabelPropagation(weights="mlp", **{**QUICK, "n_members": 1})
    with pytest.raises(AttributeError, match="n_members of two or more"):
        one.fit(None, y, graph=graph).oof_proba_


def test_parameters_clone_and_repr():
    model = TrainableLabelPropagation(0.8, weights="per_hop", norm=("row", "col"))
    assert clone(model).get_params() == model.get_params()
    assert "per_hop" in repr(model)


@pytest.mark.parametrize("options", [{}, {"loss": "squared"}, {"task": "regression"}])
def test_scikit_learns_checks(options):
    by_contract = {"check_classifiers_classes": "−1 marks a missing label"}
    run_scikit_learns_checks(TrainableLabelPropagation(**options), by_contract)


def test_chameleon_needs_weights_by_hop(data_dir):
    data = datasets.load("chameleon", data_dir)
    truth = np.digitize(data.y, np.quantile(data.y, [0.2, 0.4, 0.6, 0.8]))
    split = split_nodes(truth, random_state=0)
    y = np.full(len(truth), -1)
    y[split.train] = truth[split.train]
    scores = {}
    for weights in ("shared", "per_hop"):
        model = TrainableLabelPropagation(weights=weights).fit(None, y, graph=data.graph)
        scores[weights] = (model.predict() == truth)[split.test].mean()
    assert scores["per_hop"] > scores["shared"] + 0.1
