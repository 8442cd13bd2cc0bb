"""Labels of pure noise: the score out of fold must be that of nodes never seen, which is chance.

A choice that is made by the labels it is scored on (a damping, a share, a split rate) flatters, the
more the fewer labels there are.
"""

import numpy as np
import pytest

from labeltrick import (
    GNN,
    SGC,
    SIGN,
    TWIRLS,
    AutoModel,
    CorrectAndSmooth,
    Graph,
    GraphBoosting,
    GraphSearch,
    LabelFeatureRegression,
    LabelPropagation,
    TrainableCorrectAndSmooth,
    TrainableLabelPropagation,
)

N, SEEDS = 400, 40
TASKS = ("classification", "multilabel", "regression")
MODELS = {
    "propagation": lambda: LabelPropagation(0.8),
    "trainable": lambda: TrainableLabelPropagation(0.8),
    "squared": lambda: TrainableLabelPropagation(0.8, loss="squared", normalize=False),
    "per hop": lambda: TrainableLabelPropagation(0.8, weights="per_hop"),
    "regression": lambda: LabelFeatureRegression(0.8, 5),
    "boosting": lambda: GraphBoosting(n_rounds=20, progress=False),
    "correct and smooth": lambda: CorrectAndSmooth("linear"),
    "trainable correct and smooth": lambda: TrainableCorrectAndSmooth("linear"),
    "auto": lambda: AutoModel(progress=False),
    "sgc": lambda: SGC(2, max_epochs=10),
    "sign": lambda: SIGN(2, hidden=8, max_epochs=10),
    "twirls": lambda: TWIRLS(hidden=8, max_epochs=10),
    "gnn": lambda: GNN("gcn", hidden=8, max_epochs=10),
    "networks": lambda: TrainableLabelPropagation(
        0.8, weights="mlp", hidden=8, n_members=3, max_epochs=5
    ),
}
BY_TORCH = {"sgc", "sign", "twirls", "gnn", "networks", "correct and smooth"}


def noise(task, n_labeled, seed):
    """Graph, features, labels with gaps, all labels, nodes never seen."""
    rng = np.random.default_rng([seed, n_labeled])
    graph = Graph.from_edges(*rng.integers(0, N, (2, 3 * N)), n_nodes=N)
    X = rng.normal(size=(N, 4))
    truth = {
        "classification": lambda: rng.integers(0, 2, N),
        "multilabel": lambda: (rng.random((N, 2)) < 0.5).astype(float),
        "regression": lambda: rng.normal(size=N),
    }[task]()
    train = rng.choice(N, n_labeled, replace=False)
    y = np.full(truth.shape, -1 if task == "classification" else np.nan)
    y[train] = truth[train]
    return graph, X, y, truth, np.setdiff1d(np.arange(N), train)


def held_out_score(task, truth, prediction):
    if task == "regression":
        return 1 - np.mean((truth - prediction) ** 2) / truth.var()
    return float(np.mean(truth == prediction))


def gaps(make, task, n_labeled, seeds):
    """Score out of fold minus score on nodes never seen, for each seed."""
    found = []
    for seed in range(seeds):
        graph, X, y, truth, never_seen = noise(task, n_labeled, seed)
        model = make()
        if "random_state" in model.get_params():
            model.set_params(random_state=seed)
        model.set_params(task=task).fit(X, y, graph=graph)
        prediction = model.predict()[never_seen]
        found.append(model.oof_score_ - held_out_score(task, truth[never_seen], prediction))
    return np.array(found)


def check(make, task, n_labeled, seeds=SEEDS):
    found = gaps(make, task, n_labeled, seeds)
    error = found.std(ddof=1) / np.sqrt(len(found))
    assert found.mean() <= 2 * error, f"flatters by {found.mean():.3f} ± {error:.3f}"


@pytest.mark.slow
@pytest.mark.parametrize("n_labeled", [20, 30, 50, 200])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", MODELS)
def test_noise_scores_at_chance(name, task, n_labeled):
    if name in BY_TORCH:
        pytest.importorskip("torch")
    if name == "gnn":
        pytest.importorskip("torch_geometric")
    check(MODELS[name], task, n_labeled)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", ["propagation", "squared", "regression"])
def test_a_sample_of_noise_scores_at_chance(name, task):
    check(MODELS[name], task, 30, seeds=20)


def test_choosing_by_the_labels_that_are_scored_flatters():
    """The check can fail: a search reports the best of many out-of-fold scores."""

    def make():
        grid = {"damping": [0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.99], "norm": ["sym", "row"]}
        return GraphSearch(LabelPropagation(), grid, progress=False)

    found = []
    for seed in range(40):
        graph, _, y, _, _ = noise("classification", 30, seed)
        found.append(make().fit(None, y, graph=graph).best_score_ - 0.5)
    assert np.mean(found) > 2 * np.std(found) / np.sqrt(len(found))
