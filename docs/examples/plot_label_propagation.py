"""
Plain and trained label propagation
===================================

Label propagation predicts a node from the labels around it. It needs edges and some labels, but
no features. This example first shows what it does on a picture, then how the number that steers
it is chosen without a validation set, and last how *trained* label propagation learns what the
labels around a node imply.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.neighbors import kneighbors_graph

from labeltrick import Graph, LabelPropagation, TrainableLabelPropagation, datasets

BLUE, RED, GRAY = "#0071bc", "#c1272d", "#333333"

# %%
# Six labels are enough
# ---------------------
# Each point is joined to its six nearest points, and three points of each moon have a label. The
# labels flow along the edges, so they follow the shape of the moons.

points, moon = make_moons(400, noise=0.07, random_state=0)
graph = Graph.from_edges(*kneighbors_graph(points, 6).nonzero())
y = np.full(400, -1)  # −1: not labeled
for k in (0, 1):
    y[np.flatnonzero(moon == k)[:3]] = k
model = LabelPropagation(damping=0.99, calibrate=False).fit(None, y, graph=graph)
share = model.predict_proba()[:, 1]
print(f"right: {np.mean(model.predict() == moon):.1%} of all points, from six labels")

figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.4), layout="constrained", sharey=True)
known = y >= 0
axes[0].scatter(*points[~known].T, s=12, color="#c8ced6")
axes[0].scatter(*points[known].T, s=70, c=np.where(y[known] == 1, RED, BLUE), edgecolor="black")
axes[0].set_title("known labels", fontsize=11)
axes[1].scatter(*points.T, s=16, c=share, cmap="coolwarm", vmin=0, vmax=1)
axes[1].set_title("share of red among the labels that arrive", fontsize=11)
for axis in axes:
    axis.set(xticks=[], yticks=[])
plt.show()

# %%
# How far labels travel
# ---------------------
# ``damping`` says how far. On images of digits with 10 % labels, each joined to the most similar
# ones, each value is scored in two ways: on the labeled images, each predicted *without its own
# label* (``oof_score_``), and on the hidden ones. The first needs no hidden labels.

problem = datasets.make_digits(label_share=0.1)
dampings = [0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99]
left_out, hidden = [], []
for damping in dampings:
    model = LabelPropagation(damping, calibrate=False).fit(None, problem.known, graph=problem.graph)
    left_out.append(model.oof_score_)
    hidden.append(np.mean((model.predict() == problem.y)[problem.test]))
best = int(np.argmax(left_out))
print(f"chosen without hidden labels: {dampings[best]}, accuracy {hidden[best]:.3f}")
print(f"best on hidden labels:        {dampings[int(np.argmax(hidden))]}, {max(hidden):.3f}")

# %%
# Trained weights
# ---------------
# Plain label propagation assumes that neighbors are alike. In a network of three roles, authors
# mostly write to editors, editors to authors and some reviewers, and reviewers to one another.
# The trained form learns one matrix of weights per hop, from labels that exclude the node's own.

rng = np.random.default_rng(0)
role = rng.integers(0, 3, 900)
ties = np.array([[0.1, 1.0, 0.1], [1.0, 0.1, 0.4], [0.1, 0.4, 0.9]])
a, b = rng.integers(0, 900, (2, 9000))
written = rng.random(9000) < ties[role[a], role[b]]
mails = Graph.from_edges(a[written], b[written], n_nodes=900)
y = np.where(rng.random(900) < 0.3, role, -1)

plain = LabelPropagation(0.9).fit(None, y, graph=mails)
trained = TrainableLabelPropagation(0.9, weights="per_hop").fit(None, y, graph=mails)
unlabeled = y < 0
for name, model in (("plain", plain), ("trained", trained)):
    accuracy = np.mean((model.predict() == role)[unlabeled])
    print(f"{name:>8}: {accuracy:.3f} on hidden nodes, {model.oof_score_:.3f} left out")

# %%
# The rows of the first matrix say what a label one step away implies: an editor nearby speaks for
# an author, and an author nearby for an editor.

figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.4), layout="constrained")
axes[0].plot(dampings, left_out, "o-", color=BLUE, label="labeled images, own label left out")
axes[0].plot(dampings, hidden, "o:", color=GRAY, label="hidden images")
axes[0].set(xlabel="damping", ylabel="accuracy", title="digits")
axes[0].set_ylim(min(left_out) - 0.015, None)
axes[0].legend(frameon=False, loc="lower right")
axes[0].spines[["top", "right"]].set_visible(False)
first_hop = trained.coef_labels_[:3]
limit = np.abs(first_hop).max()
image = axes[1].imshow(first_hop, cmap="coolwarm", vmin=-limit, vmax=limit)
roles = ["author", "editor", "reviewer"]
axes[1].set_xticks(range(3), roles)
axes[1].set_yticks(range(3), roles)
axes[1].set(xlabel="speaks for", ylabel="label one step away", title="trained weights, first hop")
figure.colorbar(image, ax=axes[1])
plt.show()
