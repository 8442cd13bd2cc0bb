"""
A graph from disk
=================

A graph that does not fit into memory is built once, as a folder, from a stream of edges. After
that it is opened and used like any other graph; it is read piece by piece. The graph of this
example is small enough to compare both ways.
"""

import tempfile
import time
import tracemalloc
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from labeltrick import Graph, LabelPropagation, build_graph, open_graph

BLUE, GRAY = "#0071bc", "#9aa3ad"

# %%
# Build
# -----
# The nodes are the cells of a map, each joined to the cells around it. Edges are given in chunks
# by a function that can be called again, because they are read twice. Nothing holds all of them
# at once.

size = 400
cells = np.arange(size * size).reshape(size, size)


def chunks():
    for first in range(0, size, 50):
        rows = cells[first : first + 51]  # one more, for the edges to the next chunk
        yield rows[:, :-1].ravel(), rows[:, 1:].ravel(), None  # to the right
        yield rows[:-1].ravel(), rows[1:].ravel(), None  # down
        yield rows[:-1, :-1].ravel(), rows[1:, 1:].ravel(), None  # diagonally


folder = tempfile.TemporaryDirectory()
path = build_graph(chunks, Path(folder.name) / "map.lt", n_nodes=size * size, progress=False)
stored = open_graph(path)
print(stored)
print(f"on disk: {sum(f.stat().st_size for f in path.iterdir()) / 1e6:.1f} MB")

# %%
# Labels
# ------
# Six countries are known at a few hundred cells. Borders follow rivers, which here are wavy
# lines.

rng = np.random.default_rng(0)
down, right = np.divmod(cells.ravel(), size)
wave = 25 * np.sin(right / 30) + 18 * np.cos(down / 22)
country = 3 * (down + wave > size / 2) + np.digitize(right + wave, [size / 3, 2 * size / 3])
known = np.full(size * size, -1)
cities = rng.choice(size * size, 600, replace=False)
known[cities] = country[cities]

# %%
# In memory and from disk
# -----------------------
# ``on("disk", max_memory=...)`` limits what is held at a time. What Python and NumPy allocate is
# measured while labels are propagated; the graph itself is part of it in memory, and not from
# disk. Labels and predictions, which the limit does not count, are part of both.


def measured(make_graph):
    tracemalloc.start()
    start = time.perf_counter()
    model = LabelPropagation(0.999, n_steps=200, calibrate=False)
    model.fit(None, known, graph=make_graph())
    proba = model.predict_proba()
    seconds, peak = time.perf_counter() - start, tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return proba, seconds, peak


def in_memory():
    parts = list(chunks())
    ends = [np.concatenate([part[k] for part in parts]) for k in (0, 1)]
    return Graph.from_edges(*ends, n_nodes=size * size)


def from_disk():
    return open_graph(path).on("disk", max_memory="24MB")


results = {"memory": measured(in_memory), "disk": measured(from_disk)}
for name, (_, seconds, peak) in results.items():
    print(f"{name:>7}: {seconds:.1f} s, at most {peak:.0f} MB allocated")
difference = np.abs(results["memory"][0] - results["disk"][0]).max()
print(f"largest difference of a probability: {difference:.1e}")
assert difference < 1e-5

# %%
proba = results["disk"][0]
accuracy = np.mean((proba.argmax(axis=1) == country)[known < 0])
print(f"right: {accuracy:.1%} of the unknown cells")
figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.6), layout="constrained")
for axis, values in zip(axes, (country, proba.argmax(axis=1)), strict=False):
    axis.imshow(values.reshape(size, size), cmap="Set2", vmin=0, vmax=7)
    axis.set(xticks=[], yticks=[])
axes[0].scatter(right[cities], down[cities], s=3, color="black")
axes[0].set_title("truth, and the cells that are known", fontsize=11)
axes[1].set_title("propagated from disk", fontsize=11)
bars = axes[2].bar(list(results), [peak for _, _, peak in results.values()], color=[GRAY, BLUE])
axes[2].bar_label(bars, fmt="%.0f MB")
axes[2].set_ylabel("allocated at most, MB")
axes[2].spines[["top", "right"]].set_visible(False)
plt.show()

folder.cleanup()
