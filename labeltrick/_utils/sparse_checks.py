"""Checks sparse matrices that cannot be trusted.

The kernels of SciPy and numba trust index arrays: a column number out of range, or row pointers
that do not fit the entries, make them read and write outside the arrays. So matrices from files,
arguments and saved models are checked first, in a few passes of NumPy reductions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import scipy.sparse as sp

_FORMATS = ("csr", "csc", "bsr", "coo", "dia")


def check_sparse(name: str, matrix: Any) -> Any:
    """Check the index arrays of a SciPy sparse matrix; return it unchanged."""
    if matrix.format in _FORMATS:
        parts = {part: getattr(matrix, part) for part in _parts_of(matrix.format)}
        _check_parts(name, matrix.format, parts, matrix.shape)
    return matrix  # SciPy checks lists and dictionaries of entries when it converts them


def sparse_from_arrays(name: str, arrays: Mapping[str, np.ndarray]) -> Any:
    """The matrix of arrays written by ``scipy.sparse.save_npz``. Unlike SciPy's reader, this does
    not round fractions or wrap numbers that are out of range."""
    import scipy.sparse as sp

    written = np.asarray(arrays["format"]).ravel().tolist()
    kind = next((known for known in _FORMATS if written in ([known], [known.encode()])), None)
    if kind is None:
        raise _wrong(name, f"of format {', '.join(_FORMATS)}; got {written!r}"[:200])
    missing = [part for part in ("shape", *_parts_of(kind)) if part not in arrays]
    if missing:
        raise _wrong(name, f"complete; it has no array {missing[0]!r}")
    shape = check_shape(name, arrays["shape"])
    parts = {part: arrays[part] for part in _parts_of(kind)}
    _check_parts(name, kind, parts, shape)
    entries: Any = tuple(parts.values())
    if kind == "coo":
        entries = parts["data"], (parts["row"], parts["col"])
    return getattr(sp, f"{kind}_array")(entries, shape=shape)


def compressed_rows(name: str, arrays: Sequence[Any], shape: Any) -> sp.csr_array:
    """The CSR matrix of the arrays data, indices and indptr."""
    import scipy.sparse as sp

    data, indices, indptr = arrays
    size = check_shape(name, shape)
    _check_parts(name, "csr", {"data": data, "indices": indices, "indptr": indptr}, size)
    return sp.csr_array((data, indices, indptr), shape=size)


def check_compressed(name: str, indptr: Any, indices: Any, shape: tuple[int, int]) -> None:
    """Require row pointers that start at 0, never decrease and end at most at the number of
    entries, and column numbers from 0 to below ``shape[1]``."""
    pointers, columns = (_check_whole(name, part) for part in (indptr, indices))
    if len(pointers) != shape[0] + 1:
        raise _wrong(name, f"a matrix with {shape[0] + 1:,} row pointers; got {len(pointers):,}")
    if pointers[0] != 0 or pointers[-1] > len(columns) or (pointers[1:] < pointers[:-1]).any():
        raise _wrong(
            name,
            f"a matrix whose row pointers rise from 0 to at most its {len(columns):,} entries; "
            "they do not",
        )
    _check_range(name, columns, shape[1])


def check_shape(name: str, shape: Any) -> tuple[int, int]:
    """Two whole numbers ≥ 0."""
    size = np.asarray(shape)
    if size.shape != (2,) or size.dtype.kind not in "iu" or (size < 0).any():
        raise _wrong(name, f"a matrix with two sizes; got {size.tolist()!r}"[:200])
    return int(size[0]), int(size[1])


def _parts_of(kind: str) -> tuple[str, ...]:
    if kind == "coo":
        return "data", "row", "col"
    return ("data", "offsets") if kind == "dia" else ("data", "indices", "indptr")


def _check_parts(name: str, kind: str, parts: Mapping[str, Any], shape: Any) -> None:
    data = np.asarray(parts["data"])
    dimensions = {"dia": 2, "bsr": 3}.get(kind, 1)
    if data.ndim != dimensions or data.dtype.kind not in "biuf":
        raise _wrong(
            name, f"made of numbers in {dimensions} dimensions; got {data.dtype} of {data.shape}"
        )
    if len(shape) != 2:
        raise _wrong(name, f"a matrix; got {len(shape)} dimensions")
    if kind == "dia":
        offsets = _check_whole(name, parts["offsets"])
        if len(offsets) != len(data) or len(np.unique(offsets)) < len(offsets):
            raise _wrong(name, "a matrix with one distinct offset per diagonal; it is not")
        return
    if kind == "coo":
        for part, size in zip(("row", "col"), shape, strict=True):
            _check_same_count(name, _check_whole(name, parts[part]), data)
            _check_range(name, parts[part], size)
        return
    rows, columns = shape
    if kind == "bsr":
        height, width = data.shape[1:]
        if not height or not width or rows % height or columns % width:
            raise _wrong(
                name, f"made of whole blocks; got {height} × {width} in {rows} × {columns}"
            )
        rows, columns = rows // height, columns // width
    _check_same_count(name, _check_whole(name, parts["indices"]), data)
    size = (columns, rows) if kind == "csc" else (rows, columns)
    check_compressed(name, parts["indptr"], parts["indices"], size)


def _check_whole(name: str, numbers: Any) -> np.ndarray:
    found = np.asarray(numbers)
    if found.ndim != 1 or found.dtype.kind not in "iu":
        raise _wrong(
            name, f"indexed by vectors of whole numbers; got {found.dtype} of shape {found.shape}"
        )
    return found


def _check_range(name: str, numbers: np.ndarray, size: int) -> None:
    if len(numbers) and not 0 <= (low := numbers.min()) <= (high := numbers.max()) < size:
        bad = low if low < 0 else high
        raise _wrong(name, f"indexed by numbers from 0 to {size - 1:,}; got {bad}")


def _check_same_count(name: str, numbers: Any, data: np.ndarray) -> None:
    if len(numbers) != len(data):
        raise _wrong(name, f"a matrix with one index per entry ({len(data)}); got {len(numbers)}")


def _wrong(name: str, problem: str) -> ValueError:
    return ValueError(f"`{name}` must be {problem}. Build the matrix again.")
