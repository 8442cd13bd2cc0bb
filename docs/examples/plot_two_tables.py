"""
From two tables to predictions
==============================

Many people have a graph as two tables: one row per customer, and one row per payment between two
of them. A column of the first table is to be predicted, and it is blank where nobody knows it
yet. This example writes two such files, runs the commands ``labeltrick fit`` and ``labeltrick
predict`` on them, and reads the predictions back.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

# %%
# Two files
# ---------
# Customers live in three communities with different habits. People mostly pay people of their own
# community, and the communities differ in how many of their members leave. The columns of a
# customer say a little about this.

rng = np.random.default_rng(0)
n = 600
community = rng.integers(0, 3, n)
left = rng.random(n) < np.array([0.05, 0.4, 0.9])[community]
payer, payee = rng.integers(0, n, (2, 10 * n))
kept = (community[payer] == community[payee]) | (rng.random(10 * n) < 0.05)
names = np.array([f"C-{k:04}" for k in rng.permutation(n)])

customers = pd.DataFrame(
    {
        "customer_id": names,
        "age": rng.integers(18, 80, n),
        "monthly_fee": (30 + 5 * left + rng.normal(0, 8, n)).round(2),
        "left": np.where(left, "yes", "no"),
    }
)
hidden = rng.random(n) < 0.6
truth = customers["left"].copy()
customers.loc[hidden, "left"] = None  # blank: not known yet
payments = pd.DataFrame({"payer": names[payer[kept]], "payee": names[payee[kept]]})

folder = tempfile.TemporaryDirectory()
place = Path(folder.name)
customers.to_csv(place / "customers.csv", index=False)
payments.to_csv(place / "payments.csv", index=False)
print(customers.head(4))
print(f"{len(customers)} customers, {hidden.sum()} of them to predict; {len(payments)} payments")

# %%
# Two commands
# ------------
# In a terminal, type the commands that are printed below. ``--budget`` limits the time, so that
# this page is built quickly; without it, more models are tried.


def run(command):
    print(f"$ labeltrick {command}")
    done = subprocess.run(
        [sys.executable, "-m", "labeltrick", *command.split()],
        cwd=place,
        env={**os.environ, "COLUMNS": "100", "LABELTRICK_QUIET": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    print((done.stderr + done.stdout).replace(f"{place}/", ""))


run("fit --edges payments.csv --nodes customers.csv --target left --budget 4s --out run")

# %%
# The folder ``run`` holds a report to read, the predictions, and the model. Predictions are a
# Parquet file there; ``predict`` writes them as CSV.

print(sorted(path.name for path in (place / "run").iterdir()))
run("predict run --out predictions.csv")
predictions = pd.read_csv(place / "predictions.csv", index_col="customer_id").loc[names]
print(predictions.head(4))

# %%
# The score was computed on labeled customers, each predicted without its own label. Here the
# truth is known, so it can be compared with the accuracy on the customers that were hidden.

metrics = json.loads((place / "run" / "metrics.json").read_text())
accuracy = (predictions["prediction"].to_numpy() == truth.to_numpy())[hidden].mean()
print(f"score in the report:      {metrics['score']['value']:.3f}")
print(f"accuracy on hidden nodes: {accuracy:.3f}")

# %%
# Probabilities of the hidden customers
# -------------------------------------
# Probabilities are calibrated: among customers with a probability of about 0.9, about nine in ten
# left.

probability = predictions["p_yes"].to_numpy()[hidden]
is_left = left[hidden]
edges = np.quantile(probability, np.linspace(0, 1, 6))
group = np.clip(np.searchsorted(edges, probability, side="right") - 1, 0, 4)

figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.6), layout="constrained")
bins = np.linspace(0, 1, 21)
axes[0].hist(
    [probability[~is_left], probability[is_left]],
    bins,
    stacked=True,
    color=["#0071bc", "#c1272d"],
    label=["stayed", "left"],
)
axes[0].set(xlabel="predicted probability of leaving", ylabel="hidden customers")
axes[0].legend(frameon=False)
axes[1].plot([0, 1], [0, 1], ":", color="#333333", label="perfect calibration")
means = [(probability[group == k].mean(), is_left[group == k].mean()) for k in range(5)]
axes[1].plot(*zip(*means, strict=True), "o-", color="#0071bc", label="fifths of the customers")
axes[1].set(xlabel="mean predicted probability", ylabel="share that left")
axes[1].legend(frameon=False)
for axis in axes:
    axis.spines[["top", "right"]].set_visible(False)
plt.show()

folder.cleanup()
