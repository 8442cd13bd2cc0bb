"""
Audit of somebody else's model
==============================

``audit_leakage`` tests any model for leaks, whatever it is made of. It takes a function from
labels to predictions, changes one training label at a time, and checks whether the prediction of
*that node* moves. If it does, the model saw its own label, and its scores on labeled nodes mean
nothing.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.semi_supervised import LabelSpreading

from labeltrick import Graph, LabelPropagation, Power, audit_leakage, label_matrix, self_excluded

BLUE, RED, GRAY = "#0071bc", "#c1272d", "#333333"

# %%
# A problem without anything to learn
# -----------------------------------
# Labels are coin tosses, and so are the edges. No honest model can be right more than half of the
# time.

rng = np.random.default_rng(0)
n = 400
graph = Graph.from_edges(*rng.integers(0, n, (2, 3 * n)), n_nodes=n)
X = rng.normal(size=(n, 3))
y = rng.integers(0, 2, n)
train = np.arange(n)
P = Power(graph, 2)

# %%
# Four models
# -----------
# A function takes labels and returns the predictions that somebody would score. The first model
# is scikit-learn's label spreading, scored on the points it was fitted on. The second averages
# labels two steps away. That sounds harmless, but a walk of two steps may return to the node
# where it began. The third is the same with the own label excluded, and the fourth is
# an estimator of this package with its out-of-fold predictions.


def spreading(y):
    return LabelSpreading(kernel="knn", n_neighbors=7).fit(X, y).label_distributions_


def two_steps(y):
    return P @ label_matrix(y, train, n_classes=2)


def two_steps_excluded(y):
    return self_excluded(P, label_matrix(y, train, n_classes=2), train)


def estimator(y):
    return LabelPropagation(0.9, calibrate=False).fit(None, y, graph=graph).oof_proba_


models = {
    "label spreading": spreading,
    "two steps": two_steps,
    "two steps, own label excluded": two_steps_excluded,
    "LabelPropagation, out of fold": estimator,
}

# %%
# Scores and verdicts
# -------------------
# Two of the scores are too good for coin tosses. The audit names them without knowing that labels
# are random, so it works just as well on data where nobody knows how good a score may be.

accuracy, reports = {}, {}
for name, predict in models.items():
    accuracy[name] = np.mean(predict(y).argmax(axis=1) == y)
    reports[name] = audit_leakage(predict, y, train, n_samples=30, progress=False)
    print(f"{name}: accuracy {accuracy[name]:.3f}")
    print(f"    {reports[name]}")

assert [report.leaks for report in reports.values()] == [True, True, False, False]

# %%
# The ten predictions that moved most, for each model. Zero is drawn at the left edge.

figure, axes = plt.subplots(1, 2, figsize=(9.6, 3.4), layout="constrained", sharey=True)
colors = [RED if report.leaks else BLUE for report in reports.values()]
bars = axes[0].barh(list(models), [100 * value for value in accuracy.values()], color=colors)
axes[0].bar_label(bars, fmt="%.0f", padding=3)
axes[0].axvline(50, color=GRAY, linestyle=":")
axes[0].set(xlabel="accuracy on coin tosses, %", xlim=(0, 112))
axes[0].invert_yaxis()
for place, (report, color) in enumerate(zip(reports.values(), colors, strict=True)):
    moved = np.maximum(report.worst_changes, 1e-17)
    axes[1].scatter(moved, np.full(len(moved), place), color=color, s=40, alpha=0.6)
    axes[1].plot([report.threshold] * 2, [place - 0.3, place + 0.3], color=GRAY)
axes[1].set(
    xscale="log", xlim=(3e-18, 5), xlabel="change of a node's own prediction (bar: allowed)"
)
for axis in axes:
    axis.spines[["top", "right"]].set_visible(False)
plt.show()
