"""`LabelTrick`: labels as inputs of any graph network, without any node seeing its own."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import nn

from .._utils.checks import check_choice, check_number
from .training import linked, losses

LINKS = {"classification": "softmax", "multilabel": "sigmoid", "regression": "identity"}
FEATURE_NAMES = ("x", "feat", "features", "h")


class Step(NamedTuple):
    """Result of a training step.

    Parameters
    ----------
    scores : torch.Tensor of shape (n, n_labels)
        Scores of all nodes.
    out_mask : torch.Tensor of bool, shape (n,)
        Nodes on which the loss may be taken: their labels were not inputs.

    See Also
    --------
    nn.LabelTrick : The label trick around any network.

    Examples
    --------
    >>> import torch
    >>> from labeltrick.nn import LabelTrick
    >>> net = LabelTrick(torch.nn.Linear(4 + 2, 2), n_labels=2, split_rate=0.5)
    >>> y, train = torch.tensor([0, 1, 0, 1, 0]), torch.tensor([True, True, True, True, False])
    >>> scores, out = net.train().step(torch.ones(5, 4), y=y, train=train)
    >>> loss = torch.nn.functional.cross_entropy(scores[out], y[out])
    >>> bool(out[~train].any())
    False
    """

    scores: torch.Tensor
    out_mask: torch.Tensor


class LabelTrick(nn.Module):
    """Wrapper that lets any network on features and a graph use labels as inputs.

    Each training step draws a fresh split (paper, eq. 2): every training label is an input with
    probability α, and only nodes whose label is not an input are trained on. At inference all
    training labels are inputs. The wrapped module is called as usual, with label columns added to
    x.

    Parameters
    ----------
    model : nn.Module
        Takes ``(x, edge_index, …)`` like PyG's models, ``(graph, x)`` like DGL's, or any arguments
        that include one feature matrix, and returns one row of ``n_labels`` scores per node. Build
        it with ``n_features + n_labels`` input columns for "concat", and ``n_features`` for "add".
    n_labels : int
        Number of classes, indicators or real targets per node.
    split_rate : float, default=0.5
        α, the probability in (0, 1) that a training label is an input.
    rescale : bool or "auto", default="auto"
        Whether to multiply the labels of a split by 1/α, so that their expected sum equals that of
        inference. "auto" does so unless predictions fill the gaps (``n_reuse`` > 0).
    combine : {"concat", "add"}, default="concat"
        "concat" appends the label columns to x. "add" adds a learned linear map of them to x, which
        keeps its width ``n_features``.
    n_features : int, default=None
        Number of columns of x; needed for "add".
    n_reuse : int, default=0
        Number of further passes that also receive the soft predictions of the nodes whose labels
        are not inputs (label reuse).
    task : {"classification", "multilabel", "regression"}, default="classification"
        Whether ``y`` holds class numbers, rows of 0 and 1, or rows of numbers. Scale numbers to a
        size of about one.
    generator : torch.Generator, default=None
        Source of the random splits. None uses torch's global generator.

    See Also
    --------
    GNN : A graph network with labels beside the features.
    nn.propagate : Propagate a tensor, with gradients.
    audit_leakage : Check whether predictions depend on a node's own label.

    Notes
    -----
    Call `step` or `loss` in training. `forward` is inference and raises an error in training mode,
    because it gives every node its own label as an input. Score only nodes outside of ``train``
    with it, or pass the nodes to be scored as ``seeds``.

    On a graph without labels, pass a ``train`` that is False everywhere. The label columns are then
    zero, and the network predicts from the features.

    Examples
    --------
    >>> class Mean(nn.Module):  # a custom layer
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
        hint = "It is the share of the training labels that are inputs."
        check_number("split_rate", split_rate, 0.0, 1.0, hint)
        check_choice("combine", combine, ("concat", "add"))
        if combine == "add" and n_features is None:
            raise ValueError("`n_features` must be given for combine='add'; got None.")
        check_choice("task", task, LINKS)
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
        """Compute scores under a fresh split, and the mask of the nodes on which to take the loss.

        Parameters
        ----------
        *args : tuple
            Positional arguments of the wrapped module.
        y : torch.Tensor of shape (n,) or (n, n_labels)
            Labels of all nodes in the batch. Labels outside of ``train`` are not read.
        train : torch.Tensor of bool or int
            Mask or numbers of the nodes whose labels may be inputs or targets.
        seeds : int, torch.Tensor of bool or int, or None, default=None
            For mini-batches: the nodes that are trained on, as a mask, as numbers, or as the number
            of leading nodes (PyG's ``batch.batch_size``). Their labels are never inputs; those of
            the other training nodes in the batch are inputs with probability α.
        n_id : torch.Tensor of int, default=None
            Node numbers in the whole graph (PyG's ``batch.n_id``), for batches that may hold copies
            of a seed: the labels of the copies are not inputs either.
        **kwargs : dict
            Keyword arguments of the wrapped module.

        Returns
        -------
        step : Step
            Scores of all nodes, and the mask of the nodes on which to take the loss.
        """
        _check_given(y, train)
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
        """Compute the mean loss at the targets of a fresh split: cross-entropy, or squared error.

        Parameters
        ----------
        *args : tuple
            Positional arguments of the wrapped module.
        y : torch.Tensor of shape (n,) or (n, n_labels)
            Labels of all nodes in the batch. Labels outside of ``train`` are not read.
        train : torch.Tensor of bool or int
            Mask or numbers of the nodes whose labels may be inputs or targets.
        **kwargs : dict
            ``seeds`` and ``n_id`` of `step`, and keyword arguments of the wrapped module.

        Returns
        -------
        loss : torch.Tensor
            A scalar to call ``backward`` on; 0 if the split has no targets.
        """
        scores, out = self.step(*args, y=y, train=train, **kwargs)
        if not out.any():  # a split without targets
            return scores.sum() * 0.0
        target = self._labels(y, out)[out].to(scores.dtype)
        return losses(scores[out], target, LINKS[self.task]).mean()

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
        """Compute scores of all nodes with all training labels as inputs.

        Parameters
        ----------
        *args : tuple
            Positional arguments of the wrapped module.
        y : torch.Tensor of shape (n,) or (n, n_labels)
            Labels of all nodes in the batch. Labels outside of ``train`` are not read.
        train : torch.Tensor of bool or int
            Mask or numbers of the nodes whose labels are inputs.
        seeds : int, torch.Tensor of bool or int, or None, default=None
            Nodes whose labels are not inputs, as a mask, as numbers, or as the number of leading
            nodes.
        n_id : torch.Tensor of int, default=None
            Node numbers in the whole graph, for batches that may hold copies of a seed.
        **kwargs : dict
            Keyword arguments of the wrapped module.

        Returns
        -------
        scores : torch.Tensor of shape (n, n_labels)
            One row of scores per node.
        """
        if self.training:
            raise RuntimeError(
                "LabelTrick.forward is for inference: in training it would give nodes their own "
                "label. Call step(…) or loss(…), or eval() first."
            )
        _check_given(y, train)
        in_mask = _as_mask("train", train, y)
        if seeds is not None:
            in_mask = in_mask & ~_copies(_as_mask("seeds", seeds, y), n_id)
        return self._run(args, kwargs, self._labels(y, in_mask), in_mask)

    # -- inside ---------------------------------------------------------------------------
    def _labels(self, y: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Labels of shape (n, n_labels), zero outside of the mask, where ``y`` is not read."""
        rows = torch.zeros(len(y), self.n_labels, device=mask.device)
        known = y[mask]
        width = known.numel() // max(len(known), 1)
        if len(known) and width != (1 if self.task == "classification" else self.n_labels):
            classes = self.task == "classification"
            what = "one class number per node" if classes else f"n_labels={self.n_labels} columns"
            raise ValueError(f"`y` must hold {what}; got shape {tuple(y.shape)}.")
        if self.task != "classification":
            rows[mask] = known.reshape(-1, self.n_labels).to(rows.dtype)
            return rows
        known = known.reshape(-1)
        if len(known) and (known.is_floating_point() or known.min() < 0):
            raise ValueError(
                "`y` must hold integer class numbers ≥ 0 at training nodes; got "
                f"{known.dtype} with smallest value {float(known.min()):g}. Convert it: y.long()."
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
            # Detached: the loss must not train the pass that makes the guess.
            guess = linked(scores.detach(), LINKS[self.task])
            labels = torch.where(in_mask[:, None], labels, guess)
            scores = self._call(args, kwargs, labels)
        return scores

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
                + f" ({error}). Build it with that width."
            ) from error
        if scores.shape != labels.shape:
            raise ValueError(
                f"`model` must return one row of n_labels={self.n_labels} scores per node, "
                f"{tuple(labels.shape)}; got {tuple(scores.shape)}."
            )
        return scores


def _features(args: tuple, kwargs: dict, n_nodes: int) -> tuple[int | str, torch.Tensor]:
    """Position and value of the features: the first dense float matrix of n rows."""

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
        f"`x` must be among the arguments: a dense float tensor with one row per label in y "
        f"({n_nodes}); got none. For a model without features, pass x=torch.zeros(n, 0) and build "
        "it with n_labels input columns."
    )


def _check_given(y: Any, train: Any) -> None:
    """No labels are said to be none: forgotten ones would only show as worse predictions."""
    for name, value in (("y", y), ("train", train)):
        if value is None:
            raise TypeError(
                f"`{name}` must be a tensor; got None. For a graph without labels, pass "
                "train=torch.zeros(n, dtype=torch.bool) and any y of n entries: it is not read."
            )


def _as_mask(name: str, value: Any, y: torch.Tensor) -> torch.Tensor:
    """A boolean mask from a mask, node numbers, or (an int) the number of leading nodes."""
    n_nodes = len(y)
    value = torch.as_tensor(value, device=y.device)
    if value.dtype == torch.uint8 or value.is_floating_point():
        raise TypeError(
            f"`{name}` must be a boolean mask or node numbers; got {value.dtype}. "
            "Convert it to a mask: value.bool()."
        )
    if value.dim() == 0:
        return torch.arange(n_nodes, device=y.device) < value
    if value.dtype == torch.bool:
        if value.shape != (n_nodes,):
            raise ValueError(
                f"`{name}` must have one entry per node ({n_nodes}); got {tuple(value.shape)}."
            )
        return value
    mask = torch.zeros(n_nodes, dtype=torch.bool, device=y.device)
    mask[value.long()] = True
    return mask


def _copies(own: torch.Tensor, n_id: torch.Tensor | None) -> torch.Tensor:
    """The seeds and every copy of them in the batch."""
    return own if n_id is None else torch.isin(n_id, n_id[own])
