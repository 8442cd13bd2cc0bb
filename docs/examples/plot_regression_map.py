"""
Regression with intervals, drawn as a map
=========================================

The rent is known in some towns, and each town has a few columns and a road to its nearest
neighbors. Boosted trees predict the other rents from the columns and from the rents around, and
give an interval for each of them.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.neighbors import kneighbors_graph

from labeltrick import Graph, GraphBoosting

BLUE, RED, GRAY = "#0071bc", "#c1272d", "#333333"

# %%
# Towns and roads
# ---------------
# Rents vary smoothly over the map and also depend on the size of a town and on the coast. The map
# itself is not a column: only the roads say which towns are near.


def make_towns(seed, n=900):
    rng = np.random.default_rng(seed)
    place = rng.random((n, 2))
    graph = Graph.from_edges(*kneighbors_graph(place, 5).nonzero())
    size, coast = rng.lognormal(9, 1, n).round(), place[:, 0] < 0.15
    surface = 4 * np.sin(5 * place[:, 1]) + 3 * np.cos(4 * place[:, 0])
    rent = 12 + surface + 2 * coast + np.log(size / 8000) + rng.normal(0, 0.6, n)
    towns = pd.DataFrame({"size": size, "coast": np.where(coast, "yes", "no")})
    return place, graph, towns, rent, rng.random(n) < 0.3


place, graph, towns, rent, known = make_towns(0)
y = np.where(known, rent, np.nan)  # NaN: not known
print(f"{len(rent)} towns, {known.sum()} known rents, {graph.n_edges} roads")

# %%
# Predictions and intervals
# -------------------------
# ``oof_score_`` is the R² of predictions of the known rents, each made without the town's own
# rent. The interval comes from the same predictions, so no rents have to be set aside for it.

model = GraphBoosting(progress=False).fit(towns, y, graph=graph)
alone = GraphBoosting(neighbor_hops=0, label_hops=0, damping=None, progress=False)
alone.fit(towns, y, graph=graph)
prediction = model.predict()
low, high = model.predict_interval(coverage=0.9).T
inside = (low <= rent) & (rent <= high)


def r2(predicted):
    error = np.mean((predicted - rent)[~known] ** 2)
    return 1 - error / rent[~known].var()


print(f"R² on unknown rents, columns alone: {r2(alone.predict()):.2f}")
print(f"R² on unknown rents, with roads:    {r2(prediction):.2f}")
print(f"R² promised by oof_score_:          {model.oof_score_:.2f}")
print(f"unknown rents inside the interval:  {inside[~known].mean():.1%} (asked for: 90%)")

# %%
# The map
# -------
# On the right, each town whose rent was not known is marked by whether the true rent lies in its
# interval.

links = graph.to_scipy().tocoo()
ends = np.stack([place[links.row], place[links.col]], axis=1)[links.row < links.col]
figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.8), layout="constrained")
for axis in axes:
    axis.plot(*ends.transpose(2, 1, 0), color="#d9dee5", linewidth=0.6, zorder=0)
    axis.set(xticks=[], yticks=[], aspect="equal")
    axis.spines[:].set_visible(False)
colors = {"cmap": "viridis", "vmin": rent.min(), "vmax": rent.max(), "s": 16}
axes[0].scatter(*place[known].T, c=rent[known], **colors)
axes[0].set_title("known rents", fontsize=11)
image = axes[1].scatter(*place.T, c=prediction, **colors)
axes[1].set_title("predicted rents", fontsize=11)
figure.colorbar(image, ax=axes[1], shrink=0.8)
for mask, color, name in ((inside, "#9ecae1", "inside"), (~inside, RED, "outside")):
    nodes = mask & ~known
    axes[2].scatter(*place[nodes].T, color=color, s=16, label=f"{name} ({nodes.sum()})")
axes[2].set_title("true rent and 90% interval", fontsize=11)
axes[2].legend(loc="upper center", bbox_to_anchor=(0.5, 0.02), ncols=2, frameon=False)
plt.show()

# %%
# Any coverage
# ------------
# An interval can be asked for any coverage. Its coverage holds on average over random choices of
# the known rents; with a few hundred of them, a single map is off by some points in either
# direction. The thin lines are six maps of the same kind, and the thick line is their mean.

asked = np.linspace(0.1, 0.95, 18)
got = np.zeros((6, len(asked)))
for seed in range(6):
    _, graph, towns, rent, known = make_towns(seed)
    y = np.where(known, rent, np.nan)
    model = GraphBoosting(progress=False).fit(towns, y, graph=graph)
    for k, coverage in enumerate(asked):
        low, high = model.predict_interval(coverage=coverage).T
        got[seed, k] = np.mean(((low <= rent) & (rent <= high))[~known])
error = np.abs(got.mean(axis=0) - asked).max()
print(f"largest difference between the mean line and what was asked for: {100 * error:.1f} points")

figure, axis = plt.subplots(figsize=(4.6, 3.8), layout="constrained")
axis.plot([0, 100], [0, 100], ":", color=GRAY)
axis.plot(100 * asked, 100 * got.T, color=BLUE, linewidth=0.8, alpha=0.4)
axis.plot(100 * asked, 100 * got.mean(axis=0), color=BLUE, linewidth=2.5)
axis.set(xlabel="coverage asked for, %", ylabel="unknown rents inside, %")
axis.grid(alpha=0.3)
plt.show()
