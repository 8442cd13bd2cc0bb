"""
Why leakage fools you
=====================

The labels of a node's neighbors are often its best features. But when labels are propagated, a
labeled node also receives its *own* label. A model that is trained on such inputs learns to copy,
looks perfect on its training nodes, and fails where the label is not known. The label trick takes
each node's own label out of its inputs. This example trains the same small model both ways.
"""

import matplotlib.pyplot as plt
import numpy as np

from labeltrick import Graph, Resolvent, label_matrix, self_excluded

BLUE, RED, GRAY = "#0071bc", "#c1272d", "#333333"

# %%
# A graph with three classes
# --------------------------
# People of three trades mostly do business with people of the other two, so the labels around a
# node say much about it, and three noisy features tell something too. Two fifths of the nodes
# have labels; the others are the test nodes.


def make_problem(seed, n=1500):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    a, b = rng.integers(0, n, (2, 8 * n))
    kept = (y[a] != y[b]) | (rng.random(8 * n) < 0.2)
    X = 1.5 * np.eye(3)[y] + rng.normal(size=(n, 3))
    train = rng.random(n) < 0.4
    return Graph.from_edges(a[kept], b[kept], n_nodes=n), X, y, train


graph, X, y, train = make_problem(0)

# %%
# Two kinds of inputs
# -------------------
# ``P @ Y`` propagates the known labels. ``self_excluded`` is the same, minus the part of each
# node's own label. On test nodes, both are equal: there is no own label to remove.

P = Resolvent(graph, damping=0.6)
Y = label_matrix(y, train, n_classes=3)
with_own = P @ Y
without_own = self_excluded(P, Y, train)
assert np.array_equal(with_own[~train], without_own[~train])
share = (P.self_weight(np.flatnonzero(train)).value / with_own[train].sum(axis=1)).mean()
print(f"a training node's own label is {share:.0%} of the labels it receives, on average")

# %%
# The same model, trained twice
# -----------------------------
# The model is a softmax regression on features and propagated labels, trained by gradient
# descent. After each step, the accuracy on training nodes and on test nodes is noted.


def train_softmax(inputs, y, train, n_steps=300, rate=1.0):
    inputs = (inputs - inputs[train].mean(axis=0)) / inputs[train].std(axis=0)
    inputs = np.column_stack([inputs, np.ones(len(inputs))])
    W, target, history = np.zeros((inputs.shape[1], 3)), np.eye(3)[y[train]], []
    for _ in range(n_steps):
        scores = inputs @ W
        history.append([np.mean((scores.argmax(1) == y)[mask]) for mask in (train, ~train)])
        proba = np.exp(scores[train] - scores[train].max(axis=1, keepdims=True))
        proba /= proba.sum(axis=1, keepdims=True)
        W -= rate * inputs[train].T @ (proba - target) / train.sum()
    return np.array(history)


curves = {
    "own label among the inputs": train_softmax(np.hstack([X, with_own]), y, train),
    "own label excluded": train_softmax(np.hstack([X, without_own]), y, train),
}
for name, curve in curves.items():
    print(f"{name:>26}: training {curve[-1, 0]:.3f}, test {curve[-1, 1]:.3f}")

leaky, honest = (curve[-1] for curve in curves.values())
assert leaky[0] > 0.99 > leaky[1] + 0.2, "the leak does not show"
assert honest[1] > leaky[1] + 0.05, "excluding the own label does not help"

# %%
# On the left, the curve that you see while training says that everything is right. The curve that
# matters lies far below it. On the right, both say the same, and the test accuracy is higher.
#
# The false score on training nodes always appears. The loss on test nodes appears only in some
# graphs; the data of this example were chosen to show it.

figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.6), layout="constrained", sharey=True)
for axis, (name, curve), color in zip(axes, curves.items(), (RED, BLUE), strict=True):
    axis.plot(100 * curve[1:, 0], color=color, linewidth=2.5, label="training nodes")
    axis.plot(100 * curve[1:, 1], color=GRAY, linewidth=2.5, linestyle=":", label="test nodes")
    axis.set_title(name, fontsize=12, color=color)
    axis.set_xlabel("step")
    axis.grid(alpha=0.3)
    axis.legend(frameon=False, loc="center right")
axes[0].set(ylabel="accuracy, %", ylim=(30, 102))
plt.show()

# %%
# The score you would report
# --------------------------
# The same on twenty random graphs: what the training nodes promise, against what the test nodes
# give. Points on the dotted line are honest.

promised, given = {name: [] for name in curves}, {name: [] for name in curves}
for seed in range(20):
    graph, X, y, train = make_problem(seed)
    P, Y = Resolvent(graph, 0.6), label_matrix(y, train, n_classes=3)
    for name, labels in zip(curves, (P @ Y, self_excluded(P, Y, train)), strict=True):
        last = train_softmax(np.hstack([X, labels]), y, train)[-1]
        promised[name].append(100 * last[0])
        given[name].append(100 * last[1])

figure, axis = plt.subplots(figsize=(5.4, 4.2), layout="constrained")
axis.plot([45, 100], [45, 100], ":", color=GRAY)
for name, color in zip(curves, (RED, BLUE), strict=True):
    axis.scatter(promised[name], given[name], color=color, label=name, alpha=0.8)
    gap = np.mean(np.subtract(promised[name], given[name]))
    print(f"{name:>26}: promised − given = {gap:.1f} points on average")
axis.set(xlabel="accuracy on training nodes, %", ylabel="accuracy on test nodes, %")
axis.legend(frameon=False, loc="upper left")
axis.grid(alpha=0.3)
plt.show()
