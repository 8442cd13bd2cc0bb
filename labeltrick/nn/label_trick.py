"""`LabelTrick`: labels as inputs of any graph network, without a node seeing its own."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import nn

TASKS = ("classification", "multilabel", "regression")
FEATURE_NAMES = ("x", "feat", "features", "h")


class Step(NamedTuple):
    """What a training step gives: scores of all nodes, and the nodes whose loss may be taken."""

    scores: torch.Tensor
    out_mask: torch.Tensor


class LabelTrick(nn.Module):
    """Any module on features and a graph, made to take labels beside the features.

    Each training step draws a fresh split (paper, eq. 8): every training label is an input with
    probability α, and only nodes whose label is not one are trained on. At inference all training
    labels are inputs. The wrapped module is called as ever, with x widened by label columns.

    Parameters
    ----------
    model : takes ``(x, edge_index, …)`` as PyG's models, ``(graph, x)`` as DGL's, or anything
        with one feature matrix among its arguments; returns one row of ``n_labels`` scores a
        node. Build it with ``n_features + n_labels`` input columns ("concat") or
        ``n_features`` ("add").
    n_labels : classes, indicators or real targets a node.
    split_rate : α.
    rescale : multiply the labels of a split by 1/α, so that their sum is on average that of
        inference. "auto": yes, unless predictions fill the gaps (``n_reuse``).
    combine : "concat" puts label columns beside x; "add" adds a learned linear map of them to x,
        which then keeps its width ``n_features``.
    n_reuse : passes after the first that are also fed the soft predictions of the nodes whose
        label is not an input (label reuse).
    task : "classification" (``y`` holds class numbers), "multilabel" (0/1 rows) or
        "regression" (rows of numbers: scale them to about one).

    Notes
    -----
    In training call `step` or `loss`; `forward` is inference and refuses training mode, since
    it hands every node its own label: score nodes outside of ``train`` by it, or name the
    nodes to be scored in ``seeds``. Random draws follow torch.manual_seed, or ``generator``.

    Examples
    --------
    >>> class Mean(nn.Module):  # a layer of one's own
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.linear = nn.Linear(4 + 2, 2)
    ...     def forward(self, x, edge_index):
    ...         out = torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])
    ...         return self.linear(out)
    >>> net = LabelTrick(Mean(), n_labels=2, split_rate=0.5)
    >>> x, y = torch.ones(3, 4), torch.tensor([0, 1, -1])
    >>> edge_index, train = torch.tensor([[0, 1, 2], [1, 2, 0]]), torch.tensor([True, True, False])
    >>> net.loss(x, edge_index, y=y, train=train).backward()
    >>> net.eval()(x, edge_index, y=y, train=train).shape
    torch.Size([3, 2])
    """

    def __init__(
        self,
        model: nn.Module,
        n_labels: int,
        *,
        split_rate: float = 0.5,
        rescale: bool | str = "auto",
        combine: str = "concat",
        n_features: int | None = None,
        n_reuse: int = 0,
        task: str = "classification",
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        if not isinstance(model, nn.Module):
            raise TypeError(f"`model` must be a torch module; got {type(model).__name__}.")
        if not 0 < split_rate < 1:
            raise ValueError(
                f"`split_rate` must be strictly between 0 and 1; got {split_rate}. "
                "It is the share of the training labels that are inputs."
            )
        if combine not in ("concat", "add"):
            raise ValueError(f"`combine` must be 'concat' or 'add'; got {combine!r}.")
        if combine == "add" and n_features is None:
            raise ValueError("`n_features` must be given for combine='add'; got None.")
        if task not in TASKS:
            raise ValueError(f"`task` must be one of {', '.join(map(repr, TASKS))}; got {task!r}.")
        self.model = model
        self.n_labels = n_labels
        self.split_rate = split_rate
        self.rescale = n_reuse == 0 if rescale == "auto" else bool(rescale)
        self.combine = combine
        self.n_reuse = n_reuse
        self.task = task
        self.generator = generator
        self.recipe = ("label trick", {
            "model": model, "n_labels": n_labels, "split_rate": split_rate, "rescale": rescale,
            "combine": combine, "n_features": n_features, "n_reuse": n_reuse, "task": task,
        })  # fmt: skip
        self.embed = None
        if combine == "add":
            assert n_features is not None
            self.embed = nn.Linear(n_labels, n_features, bias=False)

    # -- training -------------------------------------------------------------------------
    def step(
        self,
        *args: Any,
        y: torch.Tensor,
        train: torch.Tensor,
        seeds: int | torch.Tensor | None = None,
        n_id: torch.Tensor | None = None,
        **kwargs: Any,
    ) -> Step:
        """Scores under a fresh split, and the mask of the nodes to take the loss on.

        Parameters
        ----------
        args, kwargs : those of the wrapped module.
        y, train : labels of all nodes in the batch, and the mask of those that may be inputs or
            targets. Labels elsewhere are not read.
        seeds : for mini-batches: the nodes that are trained on (a mask, numbers, or how many of
            the first, as PyG's ``batch.batch_size``). Their labels are never inputs; those
            of the other training nodes in the batch are, each with probability α.
        n_id : node numbers in the whole graph (PyG's ``batch.n_id``), where a batch may hold
            copies of a seed: these keep their labels to themselves too.
        """
        train = _as_mask("train", train, y)
        draw = torch.rand(len(y), generator=self.generator).to(y.device) < self.split_rate
        if seeds is None:
            out_mask = train & ~draw
            in_mask = train & draw & ~_copies(out_mask, n_id)
        else:
            own = _as_mask("seeds", seeds, y)
            in_mask, out_mask = train & ~_copies(own, n_id) & draw, train & own
        scale = 1 / self.split_rate if self.rescale else 1.0
        scores = self._run(args, kwargs, self._labels(y, in_mask) * scale, in_mask)
        return Step(scores, out_mask)

    def loss(self, *args: Any, y: torch.Tensor, train: torch.Tensor, **kwargs: Any) -> torch.Tensor:
        """Mean loss of the out-part of a fresh split: cross-entropy, or squared error."""
        scores, out = self.step(*args, y=y, train=train, **kwargs)
        if not out.any():  # a split that left no target: nothing to learn from it
            return scores.sum() * 0.0
        target = self._labels(y, out)[out]
        if self.task == "classification":
            return nn.functional.cross_entropy(scores[out], target)
        if self.task == "multilabel":
            return nn.functional.binary_cross_entropy_with_logits(scores[out], target)
        return nn.functional.mse_loss(scores[out], target)

    # -- inference ------------------------------------------------------------------------
    def forward(
        self,
        *args: Any,
        y: torch.Tensor,
        train: torch.Tensor,
        seeds: int | torch.Tensor | None = None,
        n_id: torch.Tensor | None = None,
        **kwargs: Any,
    ) -> torch.Tensor:
        """Scores of all nodes with all training labels as inputs, but for those of ``seeds``."""
        if self.training:
            raise RuntimeError(
                "LabelTrick's forward is for inference: in training it would show nodes their own "
                "label. Call step(…) or loss(…), or eval() first."
            )
        in_mask = _as_mask("train", train, y)
        if seeds is not None:
            in_mask = in_mask & ~_copies(_as_mask("seeds", seeds, y), n_id)
        return self._run(args, kwargs, self._labels(y, in_mask), in_mask)

    # -- inside ---------------------------------------------------------------------------
    def _labels(self, y: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """(n, n_labels), zeros outside of the mask; nothing of ``y`` is read there."""
        rows = torch.zeros(len(y), self.n_labels, device=mask.device)
        known = y[mask]
        width = known.numel() // max(len(known), 1)
        if len(known) and width != (1 if self.task == "classification" else self.n_labels):
            what = (
                "one class number a node"
                if self.task == "classification"
                else (f"n_labels={self.n_labels} columns")
            )
            raise ValueError(f"`y` must hold {what}; got shape {tuple(y.shape)}.")
        if self.task != "classification":
            rows[mask] = known.reshape(-1, self.n_labels).to(rows.dtype)
            return rows
        known = known.reshape(-1)
        if len(known) and (known.is_floating_point() or known.min() < 0):
            raise ValueError(
                "`y` must hold class numbers ≥ 0 at training nodes, as integers (y.long()); got "
                f"{known.dtype} from {float(known.min()):g} on."
            )
        if len(known) and known.max() >= self.n_labels:
            raise ValueError(
                f"`n_labels` must be above the largest class; got {self.n_labels} with class "
                f"{int(known.max())} in y."
            )
        rows[mask] = nn.functional.one_hot(known.long(), self.n_labels).to(rows.dtype)
        return rows

    def _run(
        self, args: tuple, kwargs: dict, labels: torch.Tensor, in_mask: torch.Tensor
    ) -> torch.Tensor:
        scores = self._call(args, kwargs, labels)
        for _ in range(self.n_reuse):
            # Detached: a guess is an input, not a way to shape the pass that made it.
            guess = self._soft(scores.detach())
            labels = torch.where(in_mask[:, None], labels, guess)
            scores = self._call(args, kwargs, labels)
        return scores

    def _soft(self, scores: torch.Tensor) -> torch.Tensor:
        if self.task == "classification":
            return scores.softmax(dim=1)
        return scores.sigmoid() if self.task == "multilabel" else scores

    def _call(self, args: tuple, kwargs: dict, labels: torch.Tensor) -> torch.Tensor:
        place, x = _features(args, kwargs, len(labels))
        labels = labels.to(device=x.device, dtype=x.dtype)
        wide = torch.cat([x, labels], dim=1) if self.embed is None else x + self.embed(labels)
        if isinstance(place, int):
            args = (*args[:place], wide, *args[place + 1 :])
        else:
            kwargs = {**kwargs, place: wide}
        try:
            scores = self.model(*args, **kwargs)
        except RuntimeError as error:
            if "shapes cannot be multiplied" not in str(error):
                raise
            raise ValueError(
                f"`model` must take {wide.shape[1]} input columns: {x.shape[1]} of x"
                + (f" and {self.n_labels} of labels" if self.embed is None else "")
                + f". Build it so ({error})."
            ) from error
        if scores.shape != labels.shape:
            raise ValueError(
                f"`model` must return one row of n_labels={self.n_labels} scores a node, "
                f"{tuple(labels.shape)}; got {tuple(scores.shape)}."
            )
        return scores


def _features(args: tuple, kwargs: dict, n_nodes: int) -> tuple[int | str, torch.Tensor]:
    """Where the features are among the arguments: the first dense float matrix of n rows."""

    def fits(value: Any) -> bool:
        return (
            torch.is_tensor(value)
            and value.layout == torch.strided
            and value.is_floating_point()
            and value.dim() == 2
            and len(value) == n_nodes
        )

    for place, value in enumerate(args):
        if fits(value):
            return place, value
    for name in FEATURE_NAMES:
        if fits(kwargs.get(name)):
            return name, kwargs[name]
    raise ValueError(
        f"`x` must be among the arguments: a dense float tensor of {n_nodes} rows, one a label in "
        "y. For a model without features pass x=torch.zeros(n, 0) and n_labels input columns."
    )


def _as_mask(name: str, value: Any, y: torch.Tensor) -> torch.Tensor:
    """A boolean mask beside ``y``, from a mask, node numbers, or (an int) how many of the first."""
    n_nodes = len(y)
    value = torch.as_tensor(value, device=y.device)
    if value.dtype == torch.uint8 or value.is_floating_point():
        raise TypeError(
            f"`{name}` must be a boolean mask or node numbers; got {value.dtype}. "
            "Make a mask of it: value.bool()."
        )
    if value.dim() == 0:
        return torch.arange(n_nodes, device=y.device) < value
    if value.dtype == torch.bool:
        if value.shape != (n_nodes,):
            raise ValueError(
                f"`{name}` must have one entry a node ({n_nodes}); got shape {tuple(value.shape)}."
            )
        return value
    mask = torch.zeros(n_nodes, dtype=torch.bool, device=y.device)
    mask[value.long()] = True
    return mask


def _copies(own: torch.Tensor, n_id: torch.Tensor | None) -> torch.Tensor:
    """The seeds and every copy of them in the batch."""
    return own if n_id is None else torch.isin(n_id, n_id[own])
