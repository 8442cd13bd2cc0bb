"""Normalized adjacency matrices."""

import numpy as np
import pytest
from hypothesis import given

from labeltrick import Graph
from tests import reference
from tests.support.graphs import graphs


@pytest.mark.parametrize("norm", ["sym", "row", "col"])
@pytest.mark.parametrize("self_loops", [False, True])
@given(pair=graphs())
def test_normalized_matches_the_reference(norm, self_loops, pair):
    A, graph = pair
    dense = reference.with_self_loops(A) if self_loops else A
    S = graph.normalized(norm, self_loops=self_loops)
    expected = reference.normalized(dense, norm)
    np.testing.assert_allclose(S.to_scipy().toarray(), expected, atol=1e-12)
    np.testing.assert_allclose(S.T.to_scipy().toarray(), expected.T, atol=1e-12)
    F = np.arange(1.0, graph.n_nodes + 1)
    np.testing.assert_allclose(S @ F, expected @ F, atol=1e-10)
    np.testing.assert_allclose(S.T @ F, expected.T @ F, atol=1e-10)


def test_normalized_rejects_bad_arguments():
    graph = Graph.from_edges([0], [1])
    with pytest.raises(ValueError, match="`norm` must be one of 'sym', 'row', 'col'; got 'both'"):
        graph.normalized("both")
    with pytest.raises(TypeError, match="`self_loops` must be True or False; got 2"):
        graph.normalized("sym", self_loops=2)
