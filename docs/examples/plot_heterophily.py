"""
Neighbors that differ (heterophily)
===================================

Plain label propagation assumes that neighbors have the same class. In many graphs they do not:
buyers trade with sellers, predators eat prey. The labels around a node are still informative, but
something must learn what they mean. This example varies how alike neighbors are, from never to
always.
"""

import matplotlib.pyplot as plt
import numpy as np

from labeltrick import Graph, LabelPropagation, TrainableLabelPropagation

COLORS = {"plain": "#c1272d", "trained, shared": "#f0a202", "trained, per hop": "#0071bc"}

# %%
# Graphs from heterophily to homophily
# ------------------------------------
# Four classes stand in a circle. An edge joins two nodes of the same class with probability
# ``alike``, and otherwise a node and one of the next class in the circle.


def make_circle(alike, seed, n=800):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 4)
    members = [np.flatnonzero(y == k) for k in range(4)]
    a = rng.integers(0, n, 4 * n)
    wanted = (y[a] + (rng.random(4 * n) >= alike)) % 4
    b = np.array([rng.choice(members[k]) for k in wanted])
    known = np.where(rng.random(n) < 0.3, y, -1)
    return Graph.from_edges(a, b, n_nodes=n), y, known


# %%
# Plain, trained, and trained per hop
# -----------------------------------
# Trained weights are learned from labels that exclude the node's own. ``weights="per_hop"`` has a
# matrix of weights for labels one step away, another one for two steps, and so on.

models = {
    "plain": LabelPropagation(0.8, calibrate=False),
    "trained, shared": TrainableLabelPropagation(0.8, calibrate=False),
    "trained, per hop": TrainableLabelPropagation(0.8, weights="per_hop", calibrate=False),
}
levels = np.linspace(0, 1, 9)
accuracy = {name: np.zeros((len(levels), 3)) for name in models}
for j, alike in enumerate(levels):
    for seed in range(3):
        graph, y, known = make_circle(alike, seed)
        for name, model in models.items():
            model.fit(None, known, graph=graph)
            accuracy[name][j, seed] = np.mean((model.predict() == y)[known < 0])

for name, values in accuracy.items():
    print(f"{name:>17}: " + " ".join(f"{100 * value:4.0f}" for value in values.mean(axis=1)))

# %%
# What one and two steps mean
# ---------------------------
# With neighbors that are never alike, the weights of the first hop point to the classes beside
# the label's own in the circle, and those of the second hop to the label's own class and the one
# across.

graph, y, known = make_circle(0.0, seed=0)
model = models["trained, per hop"].fit(None, known, graph=graph)

figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.5), layout="constrained", width_ratios=(2, 1, 1))
for name, values in accuracy.items():
    mean, spread = 100 * values.mean(axis=1), 100 * values.std(axis=1)
    axes[0].plot(levels, mean, "o-", color=COLORS[name], label=name)
    axes[0].fill_between(levels, mean - spread, mean + spread, color=COLORS[name], alpha=0.12)
axes[0].axhline(25, color="#333333", linestyle=":", linewidth=1)
axes[0].text(1, 26, "chance", ha="right", color="#333333")
axes[0].set(xlabel="share of edges within a class", ylabel="accuracy on hidden nodes, %")
axes[0].grid(alpha=0.3)
axes[0].legend(frameon=False)
for hop, axis in enumerate(axes[1:]):
    weights = model.coef_labels_[4 * hop : 4 * hop + 4]
    limit = np.abs(weights).max()
    axis.imshow(weights, cmap="coolwarm", vmin=-limit, vmax=limit)
    axis.set(xticks=range(4), yticks=range(4), xlabel="class it speaks for")
    axis.set_title(f"weights, {hop + 1} step{'s' * hop} away", fontsize=11)
axes[1].set_ylabel("class of the label")
plt.show()
