"""
Correct & Smooth on a random forest
===================================

A random forest looks at each node by itself. Where it is wrong, it is often wrong on neighboring
nodes in the same way. Correct & Smooth uses this: it spreads the forest's known errors along the
edges to correct its predictions, and then smooths predictions and labels together. The forest is
not changed.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier

from labeltrick import CorrectAndSmooth, datasets

BLUE, RED, GRAY = "#0071bc", "#c1272d", "#333333"

# %%
# A forest with few labels
# ------------------------
# The images of digits are joined to the ten most similar ones, and 5 % of them have a label. The
# forest is fitted on these; ``base_prediction_`` holds what it says alone.

problem = datasets.make_digits(label_share=0.05)
forest = RandomForestClassifier(random_state=0)
model = CorrectAndSmooth(forest, correct=0.9, smooth=0.8)
model.fit(problem.X, problem.known, graph=problem.graph)

before = model.base_prediction_.argmax(axis=1)
after = model.predict()
test, y = problem.test, problem.y
print(f"labels:           {len(problem.train)}")
print(f"forest alone:     {np.mean((before == y)[test]):.3f}")
print(f"with both steps:  {np.mean((after == y)[test]):.3f}")
print(f"promised by oof_score_, without any test label: {model.oof_score_:.3f}")

# %%
# Images that were repaired
# -------------------------

repaired = test[(before[test] != y[test]) & (after[test] == y[test])]
broken = test[(before[test] == y[test]) & (after[test] != y[test])]
print(f"{len(repaired)} images were repaired, {len(broken)} were broken")
figure, axes = plt.subplots(2, 6, figsize=(8.4, 3.6), layout="constrained")
for axis, node in zip(axes.ravel(), repaired[:: max(1, len(repaired) // 12)], strict=False):
    axis.imshow(problem.X[node].reshape(8, 8), cmap="Greys")
    axis.set(xticks=[], yticks=[])
    axis.set_title(f"{before[node]} → {after[node]}", fontsize=13, color=BLUE)
figure.suptitle("forest → Correct & Smooth", fontsize=12)
plt.show()

# %%
# With more labels
# ----------------
# ``correct=None`` or ``smooth=None`` skips a step, which shows what each of them contributes.

kinds = {
    "forest alone": {"correct": None, "smooth": None},
    "correct": {"correct": 0.9, "smooth": None},
    "correct and smooth": {"correct": 0.9, "smooth": 0.8},
}
shares = [0.02, 0.05, 0.1, 0.2, 0.4]
accuracy = np.zeros((len(kinds), len(shares), 3))
for j, share in enumerate(shares):
    for seed in range(3):
        problem = datasets.make_digits(label_share=share, seed=seed)
        base = RandomForestClassifier(random_state=seed)
        base.fit(problem.X[problem.train], problem.y[problem.train])
        for k, steps in enumerate(kinds.values()):
            model = CorrectAndSmooth(base, calibrate=False, **steps)
            model.fit(problem.X, problem.known, graph=problem.graph)
            accuracy[k, j, seed] = np.mean((model.predict() == problem.y)[problem.test])

figure, axis = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for k, (name, color) in enumerate(zip(kinds, (GRAY, RED, BLUE), strict=True)):
    mean, spread = 100 * accuracy[k].mean(axis=1), 100 * accuracy[k].std(axis=1)
    percent = 100 * np.array(shares)
    axis.plot(percent, mean, "o-", color=color, label=name)
    axis.fill_between(percent, mean - spread, mean + spread, color=color, alpha=0.12)
    print(f"{name:>20}: " + "  ".join(f"{value:5.1f}" for value in mean))
axis.set_xscale("log")
axis.set_xticks(percent, [f"{value:g}" for value in percent])
axis.minorticks_off()
axis.set(xlabel="labeled images, %", ylabel="test accuracy, %")
axis.grid(alpha=0.3)
axis.legend(frameon=False)
plt.show()
