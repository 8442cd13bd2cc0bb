"""
Label columns in a scikit-learn pipeline
========================================

``SelfExcludedLabels`` is a scikit-learn transformer. It adds the labels of nearby nodes as
columns, so that any classifier or regressor can use them. The rows it is fitted on get columns
without their own label; other rows get columns from all training labels. ``cross_val_score`` and
other tools of scikit-learn work as usual.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, ShuffleSplit, cross_val_score
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from labeltrick import Graph, SelfExcludedLabels

BLUE, GRAY = "#0071bc", "#9aa3ad"
# sphinx_gallery_thumbnail_number = 2

# %%
# A table and a graph that tell different things
# ----------------------------------------------
# Images of digits are cut in half. The upper halves are the table; the lower halves say which
# images are alike, and are only used as edges. The index of the data frame names the nodes, so
# that rows keep their node when scikit-learn splits the table.

pixels, digit = load_digits(return_X_y=True)
upper, lower = pixels[:, :32], pixels[:, 32:]
graph = Graph.from_edges(*kneighbors_graph(lower, 8).nonzero())
X = pd.DataFrame(upper, columns=[f"pixel {k}" for k in range(32)])
y = pd.Series(digit, index=X.index)

figure, axes = plt.subplots(2, 8, figsize=(8.4, 1.5), layout="constrained")
for k in range(8):
    axes[0, k].imshow(upper[k].reshape(4, 8), cmap="Greys")
    axes[1, k].imshow(lower[k].reshape(4, 8), cmap="Blues")
for axis in axes.ravel():
    axis.set(xticks=[], yticks=[])
axes[0, 0].set_ylabel("table", fontsize=9)
axes[1, 0].set_ylabel("graph", fontsize=9)
plt.show()

# %%
# The columns
# -----------
# Mean labels one and two steps away, a mean by distance, and how many labels were seen.

columns = SelfExcludedLabels(graph, fill="prior")
names = columns.fit(X, y).get_feature_names_out()
print(f"{len(names)} columns, {len(names) - 32} of them from labels, such as {list(names[32:35])}")

# %%
# Three models, with and without
# ------------------------------
# Each model learns from a tenth of the images and is scored on others, three times.

models = {
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "random forest": RandomForestClassifier(random_state=0),
    "boosted trees": HistGradientBoostingClassifier(max_iter=30, random_state=0),
}
splits = ShuffleSplit(3, train_size=0.1, test_size=0.5, random_state=0)
scores = {}
for name, model in models.items():
    alone = cross_val_score(model, X, y, cv=splits)
    pipeline = make_pipeline(SelfExcludedLabels(graph, fill="prior"), model)
    both = cross_val_score(pipeline, X, y, cv=splits)
    scores[name] = 100 * alone.mean(), 100 * both.mean()
    print(f"{name:>20}: table {scores[name][0]:.1f} %, with label columns {scores[name][1]:.1f} %")

# %%
figure, axis = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
place = np.arange(len(models))
for k, (label, color) in enumerate((("table alone", GRAY), ("with label columns", BLUE))):
    values = [pair[k] for pair in scores.values()]
    bars = axis.barh(place + 0.2 - 0.4 * k, values, 0.38, color=color, label=label)
    axis.bar_label(bars, fmt="%.1f", padding=3)
axis.set_yticks(place, list(scores))
axis.set(xlabel="accuracy on other images, %", xlim=(50, 105))
axis.invert_yaxis()
axis.spines[["top", "right"]].set_visible(False)
axis.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.4, 1.15), ncols=2)
plt.show()

# %%
# Categories, and a search
# ------------------------
# The transformer reads the nodes from the index of the data frame, so it comes first: most steps
# of scikit-learn return arrays without an index. Steps behind it choose columns by name and let
# those of labels through. (A step that must come before it keeps the index with
# ``set_output(transform="pandas")``.) Its parameters are searched like those of any step.

table = X.assign(ink=np.where(upper.sum(axis=1) > np.median(upper.sum(axis=1)), "much", "little"))
pipeline = make_pipeline(
    SelfExcludedLabels(graph, fill="prior"),
    make_column_transformer((OneHotEncoder(), ["ink"]), remainder=StandardScaler()),
    LogisticRegression(max_iter=1000),
)
search = GridSearchCV(pipeline, {"selfexcludedlabels__n_hops": [1, 2, 3]}, cv=splits)
search.fit(table, y)
print(f"best: {search.best_params_}, accuracy {100 * search.best_score_:.1f} %")
