"""
Train on one graph, predict another
===================================

A model fitted on one city predicts the people of the next, where few labels are known, or none. A
model that has learned to rely on the labels of neighbors misses them there. ``label_dropout``
prepares for that: in training, a part of the labels is hidden from the inputs.
"""

import matplotlib.pyplot as plt
import numpy as np

from labeltrick import AutoModel, Graph

BLUE, RED = "#0071bc", "#c1272d"

# %%
# Two cities
# ----------
# Three kinds of people mostly know their own kind, and their columns tell a little. The first
# city is labeled.


def make_city(seed, n=400):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    a, b = rng.integers(0, n, (2, 12 * n))
    kept = (y[a] == y[b]) | (rng.random(12 * n) < 0.1)
    X = 0.8 * np.eye(3)[y] + rng.normal(size=(n, 3))
    return Graph.from_edges(a[kept], b[kept], n_nodes=n), X, y


graph, X, y = make_city(0)
other_graph, other_X, other_y = make_city(1)

# %%
# Two models
# ----------
# The budget is small so that this page is built quickly.

quick = {"budget": 0.1, "n_folds": 2, "progress": False}
models = {
    "AutoModel()": AutoModel(**quick),
    "AutoModel(label_dropout=0.9)": AutoModel(label_dropout=0.9, **quick),
}
for model in models.values():
    model.fit(X, y, graph=graph)

# %%
# The second city, with more and more labels
# ------------------------------------------
# Labels that are known there are given as ``y``; all others are −1.

shares = [0, 0.02, 0.05, 0.1, 0.2, 0.5]
accuracy = {name: [] for name in models}
order = np.random.default_rng(0).permutation(len(other_y))
scored = order[len(order) // 2 :]  # the same people for all shares; never labeled
for share in shares:
    known = np.full(len(other_y), -1)
    labeled = order[: round(share * len(order))]
    known[labeled] = other_y[labeled]
    for name, model in models.items():
        predicted = model.predict(other_X, known, graph=other_graph)
        accuracy[name].append(100 * np.mean((predicted == other_y)[scored]))

print("labels known there, %:         " + " ".join(f"{100 * share:5.0f}" for share in shares))
for name, values in accuracy.items():
    print(f"{name:>30}:" + " ".join(f"{value:5.1f}" for value in values))
for name, model in models.items():
    print(f"{name:>30}: oof_score_ {100 * model.oof_score_:.1f}")
assert accuracy["AutoModel(label_dropout=0.9)"][0] > accuracy["AutoModel()"][0]

# %%
# Dotted lines are the scores that each model promised before it saw the second city. That of the
# usual model holds for a city with as many labels as the first, and that of the prepared one for
# a tenth of them.

figure, axis = plt.subplots(figsize=(6.4, 4), layout="constrained")
for (name, values), color in zip(accuracy.items(), (RED, BLUE), strict=True):
    axis.plot(range(len(shares)), values, "o-", color=color, label=name)
    axis.axhline(100 * models[name].oof_score_, linestyle=":", color=color)
axis.set_xticks(range(len(shares)), [f"{100 * share:g}" for share in shares])
axis.set(xlabel="labels known in the second city, %", ylabel="accuracy there, %")
axis.grid(alpha=0.3)
axis.legend(frameon=False, loc="lower right")
plt.show()
