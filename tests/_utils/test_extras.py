"""Optional dependencies."""

import sys

import pytest

import labeltrick
from labeltrick._utils.extras import require


def test_a_missing_extra_is_one_line_that_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError) as caught:
        labeltrick.Graph.from_edges([0], [1]).to_edge_index("torch")
    assert str(caught.value) == (
        "to_edge_index(backend='torch') needs torch. "
        'Install it with: pip install "labeltrick[torch]"'
    )
    with pytest.raises(ImportError, match="no_such_module"):
        require("no_such_module", "a test")
