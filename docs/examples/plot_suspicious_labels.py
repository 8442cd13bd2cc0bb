"""
Labels that are contradicted by the others
==========================================

Labels made by people contain mistakes. A model that predicts each labeled node *without its own
label* can be compared with that label: where all other labels say something else, somebody should
look again. This example spoils some labels on purpose and finds them.
"""

import matplotlib.pyplot as plt
import numpy as np

from labeltrick import LabelPropagation, datasets

BLUE, RED, GRAY = "#0071bc", "#c1272d", "#9aa3ad"

# %%
# Spoil some labels
# -----------------
# Of the images of digits, 40 % are labeled, and one in twenty of these labels is replaced by a
# wrong one.

problem = datasets.make_digits(label_share=0.4)
rng = np.random.default_rng(0)
y = problem.known.copy()
spoiled = rng.choice(problem.train, len(problem.train) // 20, replace=False)
y[spoiled] = (y[spoiled] + rng.integers(1, 10, len(spoiled))) % 10
print(f"{len(problem.train)} labels, {len(spoiled)} of them wrong")

# %%
# Rank them
# ---------
# ``suspicious_labels`` ranks all labeled nodes. ``doubt`` is the largest probability of another
# class minus that of the given one.

model = LabelPropagation(0.9).fit(None, y, graph=problem.graph)
suspects = model.suspicious_labels(len(problem.train))
print(suspects)

wrong = np.isin(suspects.nodes, spoiled)
found = np.cumsum(wrong)
first = wrong[: len(spoiled)].sum()
suggested_right = (suspects.suggested == problem.y[suspects.nodes])[wrong]
print(f"among the first {len(spoiled)}: {first} of the {len(spoiled)} wrong labels")
print(f"the suggestion is right for {suggested_right.sum()} of them")
assert first > 0.8 * len(spoiled)

# %%
# The twelve most doubtful labels
# -------------------------------
# Titles show the given label and the suggested one: red where the label was spoiled, gray where it
# is as scikit-learn has it.

figure, axes = plt.subplots(2, 6, figsize=(8.4, 3.4), layout="constrained")
for axis, k in zip(axes.ravel(), range(12), strict=True):
    axis.imshow(problem.X[suspects.nodes[k]].reshape(8, 8), cmap="Greys")
    axis.set(xticks=[], yticks=[])
    color = RED if wrong[k] else GRAY
    axis.set_title(f"{suspects.given[k]}, rather {suspects.suggested[k]}", fontsize=11, color=color)
plt.show()

# %%
# How many to look at
# -------------------
# Doubt separates the two kinds of labels, so few images need a second look.

figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.4), layout="constrained")
bins = np.linspace(-1, 1, 31)
for mask, color, name in ((~wrong, GRAY, "true label"), (wrong, RED, "spoiled label")):
    axes[0].hist(suspects.doubt[mask], bins, color=color, alpha=0.8, label=name)
axes[0].set(xlabel="doubt", ylabel="labels", yscale="log")
axes[0].legend(frameon=False)
looked = np.arange(1, len(wrong) + 1)
axes[1].plot(looked, found, color=RED, linewidth=2, label="by doubt")
axes[1].plot(looked, looked * wrong.mean(), ":", color=GRAY, label="in any order")
axes[1].set(xlabel="labels looked at", ylabel="wrong labels found")
axes[1].legend(frameon=False)
for axis in axes:
    axis.spines[["top", "right"]].set_visible(False)
plt.show()
