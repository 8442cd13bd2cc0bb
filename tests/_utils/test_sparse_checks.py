"""Sparse matrices from outside: sound ones pass as they are, others never reach a kernel."""

import itertools
import json
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from labeltrick import SGC, Graph, GraphBoosting, Resolvent, load_model, save_model
from labeltrick._utils.json_files import sealed
from labeltrick._utils.sparse_checks import check_sparse, compressed_rows, sparse_from_arrays
from labeltrick._utils.whole_files import checksum
from labeltrick.io.tables import read_problem
from labeltrick.models.label_propagation.plain import LabelPropagation

BROKEN = {
    "column too large": {"indices": [1, 9, 0]},
    "column far too large": {"indices": [1, 2**31 - 1, 0]},
    "column negative": {"indices": [1, -1, 0]},
    "pointers fall": {"indptr": [0, 3, 1, 3]},
    "pointers beyond the entries": {"indptr": [0, 1, 2, 90]},
    "pointers from elsewhere": {"indptr": [1, 1, 2, 3]},
    "pointers negative": {"indptr": [0, -4, 2, 3]},
    "too few pointers": {"indptr": [0, 1]},
}


def changed(changes):
    """A path of three nodes with some of its arrays replaced, past SciPy's own checks."""
    matrix = sp.csr_matrix((np.ones(3), [1, 2, 0], [0, 1, 2, 3]), shape=(3, 3))
    for part, values in changes.items():
        setattr(matrix, part, np.array(values, np.int32))
    return matrix


@pytest.mark.parametrize("changes", BROKEN.values(), ids=BROKEN)
def test_unsound_matrices_are_refused_everywhere(changes):
    graph = Graph.from_edges([0, 1], [1, 2])
    y = np.array([0, 1, -1])
    for use in (
        lambda: Graph.from_scipy(changed(changes)),
        lambda: Resolvent(graph, 0.5) @ changed(changes),
        lambda: SGC(max_epochs=1, progress=False).fit(changed(changes), y, graph=graph),
        lambda: GraphBoosting(n_rounds=1, progress=False).fit(changed(changes), y, graph=graph),
    ):
        with pytest.raises(ValueError, match="Build the matrix again"):
            use()


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
def test_files_of_scipy_are_read_in_every_format(tmp_path, kind):
    A = sp.random_array((6, 6), density=0.4, rng=np.random.default_rng(0), format=kind)
    sp.save_npz(tmp_path / "graph.npz", A)
    found = read_problem(tmp_path / "graph.npz").graph
    np.testing.assert_allclose(found.to_scipy().toarray(), A.toarray())


@pytest.mark.parametrize(
    "changes",
    [
        *(
            {part: np.array(values) for part, values in broken.items()}
            for broken in BROKEN.values()
        ),
        {"indices": np.array([1.5, 2, 0])},
        {"indices": np.array([1.0, 2, 0])},
        {"indices": np.array([[1, 2, 0]])},
        {"indices": np.array(1)},
        {"indptr": np.array(["0", "1", "2", "3"])},
        {"data": np.array([1 + 2j, 1, 1])},
        {"shape": np.array([3, -3])},
        {"shape": np.array([3.0, 3.0])},
        {"shape": np.array([3])},
        {"shape": np.array([2**40, 2**40])},
        {"format": np.array(b"lil")},
        {"format": np.array([b"csr", b"csc"])},
    ],
)
def test_unsound_files_are_refused_in_one_line(tmp_path, changes):
    arrays = {"format": np.array(b"csr"), "shape": np.array([3, 3]), "data": np.ones(3),
              "indices": np.array([1, 2, 0]), "indptr": np.array([0, 1, 2, 3])}  # fmt: skip
    np.savez(tmp_path / "good.npz", **arrays)
    assert read_problem(tmp_path / "good.npz").n_nodes == 3
    path = tmp_path / "graph.npz"
    np.savez(path, **(arrays | changes))
    with pytest.raises(ValueError, match="graph.npz") as error:
        read_problem(path)
    assert "\n" not in str(error.value)


def test_coordinates_and_diagonals_are_checked():
    arrays = {"format": np.array("coo"), "shape": np.array([3, 3]), "data": np.ones(2)}
    ends = {"row": np.array([0, 1]), "col": np.array([1, 2])}
    assert sparse_from_arrays("A", arrays | ends).nnz == 2
    for wrong in ([0, 3], [0, -1], [0.5, 1], [0]):
        with pytest.raises(ValueError, match="`A` must be"):
            sparse_from_arrays("A", arrays | ends | {"col": np.array(wrong)})
    with pytest.raises(ValueError, match="no array 'row'"):
        sparse_from_arrays("A", arrays)
    diagonals = {"format": np.array("dia"), "shape": np.array([3, 3]), "data": np.ones((2, 3))}
    assert sparse_from_arrays("A", diagonals | {"offsets": np.array([0, 1])}).nnz == 5
    for wrong in ([0], [0, 0], [0.5, 1]):
        with pytest.raises(ValueError, match="`A` must be"):
            sparse_from_arrays("A", diagonals | {"offsets": np.array(wrong)})


def test_graphs_in_saved_models_are_checked(tmp_path):
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3])
    model = LabelPropagation().fit(None, ["a", None, None, "b"], graph=graph)
    folder = save_model(model, tmp_path / "model")
    with np.load(folder / "arrays.npz") as kept:
        arrays = dict(kept)
    name = next(k for k, array in arrays.items() if array.dtype == np.int32 and len(array) == 6)
    for wrong in ([1, 0, 2, 1, 3, 90], [1, 2, 0, 1, 3, 2], [1, 0, 0, 1, 3, 2], [1, 0, 2, 1, 3]):
        np.savez(folder / "arrays.npz", **(arrays | {name: np.array(wrong, np.int32)}))
        index = json.loads((folder / "model.json").read_text())
        index["files"]["arrays.npz"] = checksum(folder / "arrays.npz")
        del index["sha256"]
        (folder / "model.json").write_text(sealed(index))
        with pytest.raises(ValueError, match="damaged or changed"):
            load_model(folder)


@settings(max_examples=200, deadline=None)
@given(
    indptr=st.lists(st.integers(-3, 9), min_size=0, max_size=6),
    indices=st.lists(st.integers(-3, 9), max_size=8),
    n=st.integers(0, 5),
)
def test_what_passes_agrees_with_a_literal_reading(indptr, indices, n):
    data = np.arange(1.0, len(indices) + 1)
    sound = (
        len(indptr) == n + 1
        and indptr[0] == 0
        and all(a <= b for a, b in itertools.pairwise(indptr))
        and indptr[-1] <= len(indices)
        and all(0 <= j < n for j in indices)
    )
    arrays = np.array(indices, np.int64), np.array(indptr, np.int64)
    if not sound:
        with pytest.raises(ValueError, match="`A` must be"):
            compressed_rows("A", [data, *arrays], (n, n))
        return
    dense = np.zeros((n, n))
    for i in range(n):
        for k in range(indptr[i], indptr[i + 1]):
            dense[i, indices[k]] += data[k]
    np.testing.assert_array_equal(compressed_rows("A", [data, *arrays], (n, n)).toarray(), dense)


def test_sound_matrices_pass_as_they_are():
    for kind in ("csr", "csc", "coo", "bsr", "dia", "lil", "dok"):
        A = sp.eye_array(4, format=kind)
        assert check_sparse("A", A) is A


def test_no_signal_from_wild_indices():
    """In a process of its own, where a crash would be seen."""
    code = """
import numpy as np, scipy.sparse as sp
from labeltrick import Graph
rng = np.random.default_rng(0)
for _ in range(200):
    A = sp.random_array((50, 50), density=0.1, rng=rng, format="csr")
    part = rng.choice(["indices", "indptr"])
    array = getattr(A, part)
    array[rng.integers(len(array))] = rng.integers(-2**31, 2**31)
    try:
        Graph.from_scipy(A)
    except ValueError:
        continue
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-500:]
