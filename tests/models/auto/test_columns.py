"""Columns that AutoModel makes from tables and words."""

import numpy as np
import scipy.sparse as sp

from labeltrick import Graph
from labeltrick.models.auto.columns import AutoColumns, ColumnRecipe, Signal
from labeltrick.models.base.node_inputs import NodeInputs
from labeltrick.models.base.tables import read_table


def test_trees_see_single_words_unless_these_are_very_many():
    rng = np.random.default_rng(0)
    words = sp.random_array((80, 1500), density=0.02, rng=rng, format="csr")
    graph = Graph.from_edges(range(79), range(1, 80))
    for n_words, n_own in ((400, 400), (1500, 48)):
        table = read_table(words[:, :n_words])
        signal = Signal.of(table, 0)
        inputs = NodeInputs(None, graph, table)
        columns = AutoColumns.of(signal, inputs, [2])
        seen = columns.tree_features(inputs, ColumnRecipe(2, 0))
        assert seen.values.shape == (80, n_own + 2 * 48)
        assert signal.n_own_for_trees == n_own
        if n_words == n_own:
            np.testing.assert_allclose(seen.values[:, :400], signal.values(table))


def test_words_are_weighed_and_summed_up():
    rng = np.random.default_rng(0)
    words = sp.random_array((80, 1500), density=0.02, rng=rng, format="csr")
    wide = Signal.of(read_table(words), 0)
    assert wide.components.shape == (1500, 79)
    assert wide.for_trees.shape == (79, 48)
    some = Signal.of(read_table(words[:, :400]), 0)
    assert some.components is None
    values = some.values(read_table(words[:, :400]))
    np.testing.assert_allclose(np.linalg.norm(values[values.any(axis=1)], axis=1), 1, rtol=1e-5)
    assert some.tree_values(values).shape == (80, 48)
