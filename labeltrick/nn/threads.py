"""Number of threads of torch: in small steps, several threads only wait for each other."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

# A second thread does not pay for training steps of fewer multiplications. On a machine with other
# work, waiting for it has made small steps twenty times slower.
_SMALL_STEP = 10_000_000


def _use_one_thread() -> None:
    torch.set_num_threads(1)


if hasattr(os, "register_at_fork"):
    # A forked child lacks OpenMP's threads: the first step that wakes them would hang.
    os.register_at_fork(after_in_child=_use_one_thread)


@contextmanager
def threads_for(model: nn.Module, n_rows: int) -> Iterator[None]:
    """Use one thread while a model is trained in small steps on ``n_rows`` rows."""
    step = n_rows * sum(weight.numel() for weight in model.parameters())
    before = torch.get_num_threads()
    if step < _SMALL_STEP:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
