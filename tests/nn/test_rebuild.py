"""Networks that are made again from files."""

import pytest


def test_a_file_cannot_ask_for_endless_layers():
    pytest.importorskip("torch")
    from labeltrick.nn import MLP
    from labeltrick.nn.rebuild import rebuilt, recipe_of, weights_of

    kind, arguments = recipe_of(MLP(3, 2, hidden=4))
    weights = weights_of(MLP(3, 2, hidden=4))
    assert rebuilt(kind, arguments, weights)(torch_rows(5, 3)).shape == (5, 2)
    for count in (10**9, 10**12):
        with pytest.raises(ValueError, match="does not fit"):
            rebuilt(kind, {**arguments, "n_layers": count}, weights)


def torch_rows(*shape):
    import torch

    return torch.ones(shape)
