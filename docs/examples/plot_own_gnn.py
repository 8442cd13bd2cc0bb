"""
Your own GNN with the label trick
=================================

``labeltrick.nn.LabelTrick`` wraps any PyTorch network on a graph and gives it the known labels as
inputs. In each training step, a random part of the training labels are inputs and the loss is
taken on the others, so the network cannot copy. This example compares a small network without
labels, with all labels (which leaks), and with the trick. It needs PyTorch, but no other graph
library.
"""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from torch import nn

from labeltrick import datasets
from labeltrick.nn import LabelTrick

torch.set_num_threads(1)
COLORS = {"no labels": "#333333", "all labels as inputs": "#c1272d", "label trick": "#0071bc"}

# %%
# A Minesweeper board
# -------------------
# Each cell knows the number of mines around it, and for half of the cells it is known whether
# they are mines. Numbers of neighbors and known mines together tell where the others are.

board = datasets.make_minesweeper(30)
x = nn.functional.one_hot(torch.tensor(board.X[:, 0]).long(), 9).float()
y = torch.tensor(board.y)
train = torch.zeros(len(y), dtype=torch.bool)
train[board.train] = True
links = board.graph.to_scipy().tocoo()
edge_index = torch.tensor(np.stack([links.row, links.col])).long()

# %%
# A network
# ---------
# Three layers; each adds a linear map of the sum over the neighbors to one of the node itself.


class Net(nn.Module):
    def __init__(self, n_inputs, n_hidden=32, n_classes=2):
        super().__init__()
        widths = [n_inputs, n_hidden, n_hidden, n_classes]
        pairs = list(itertools.pairwise(widths))
        self.own = nn.ModuleList(nn.Linear(a, b) for a, b in pairs)
        self.around = nn.ModuleList(nn.Linear(a, b, bias=False) for a, b in pairs)

    def forward(self, x, edge_index):
        source, target = edge_index
        for k, (own, around) in enumerate(zip(self.own, self.around, strict=True)):
            total = torch.zeros_like(x).index_add(0, target, x[source]) / 8
            x = own(x) + around(total)
            if k < 2:
                x = torch.relu(x)
        return x


# %%
# Three ways to train it
# ----------------------
# The second way gives the network every training label as an input while it is trained on the
# same labels. The third is the label trick: ``loss`` draws a new split in each step, and calling
# the network in evaluation mode uses all training labels.


def auc(scores, mask):
    probability = scores.softmax(dim=1)[:, 1].detach()
    return roc_auc_score(y[mask], probability[mask])


def run(kind, n_epochs=250):
    torch.manual_seed(0)
    labels = nn.functional.one_hot(y, 2).float() * train[:, None]
    if kind == "label trick":
        net = LabelTrick(Net(9 + 2), n_labels=2, split_rate=0.5)
    else:
        net = Net(9 if kind == "no labels" else 9 + 2)
    inputs = x if kind != "all labels as inputs" else torch.cat([x, labels], dim=1)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    history = []
    for _ in range(n_epochs):
        net.train()
        optimizer.zero_grad()
        if kind == "label trick":
            loss = net.loss(x, edge_index, y=y, train=train)
        else:
            loss = nn.functional.cross_entropy(net(inputs, edge_index)[train], y[train])
        loss.backward()
        optimizer.step()
        net.eval()
        with torch.no_grad():
            if kind == "label trick":
                scores = net(x, edge_index, y=y, train=train)
            else:
                scores = net(inputs, edge_index)
        history.append((loss.item(), auc(scores, ~train)))
    return np.array(history), scores


results = {kind: run(kind) for kind in COLORS}
for kind, (history, _) in results.items():
    print(f"{kind:>21}: training loss {history[-1, 0]:.4f}, test AUC {history[-1, 1]:.3f}")

# %%
# The network that sees its own labels has the lowest training loss and the worst predictions.
# With the label trick, the known mines help.

leaky, tricked = (results[kind][0][-1] for kind in ("all labels as inputs", "label trick"))
assert leaky[0] < 0.05
assert tricked[1] > leaky[1]

figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.6), layout="constrained")
for kind, (history, _) in results.items():
    for axis, column in zip(axes, history.T, strict=True):
        axis.plot(column, color=COLORS[kind], linewidth=2, label=kind)
axes[0].set(xlabel="epoch", title="training loss", yscale="log")
axes[1].set(xlabel="epoch", title="AUC on hidden cells")
for axis in axes:
    axis.grid(alpha=0.3)
axes[1].legend(frameon=False, loc="lower right")
plt.show()

# %%
# The board
# ---------

maps = {"known": np.where(train, y, np.nan)}
for kind in ("no labels", "label trick"):
    maps[kind] = results[kind][1].softmax(dim=1)[:, 1].numpy()
maps["truth"] = y.numpy()
colors = plt.get_cmap("Reds").copy()
colors.set_bad("#d9dee5")
figure, axes = plt.subplots(1, 4, figsize=(10.5, 3), layout="constrained")
for axis, (title, values) in zip(axes, maps.items(), strict=True):
    axis.imshow(np.asarray(values, float).reshape(30, 30), cmap=colors, vmin=0, vmax=1)
    axis.set(xticks=[], yticks=[])
    axis.set_title(title, fontsize=11)
plt.show()
