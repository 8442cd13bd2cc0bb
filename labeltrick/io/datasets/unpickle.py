"""Reading arrays from pickles of any version without executing their code.

A pickle is a program that calls the functions that it names. Here, the few names that arrays need
are replaced by records that only store their arguments, and every other name is refused. Arrays are
made from the records afterwards, so the NumPy and SciPy versions of the writer do not matter.
"""

from __future__ import annotations

import io
import pickle
import pickletools
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from ..._utils.sparse_checks import compressed_rows
from .files import require_file


class _Record:
    args: tuple[Any, ...] = ()
    state: Any = None

    def __init__(self, *args: Any) -> None:
        self.args = args

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _Dtype(_Record):
    """numpy.dtype: the arguments begin with its code, the state with (version, byte order)."""


class _Array(_Record):
    """numpy.ndarray: the state is (version, shape, dtype, Fortran order?, bytes)."""


class _Sparse(_Record):
    """scipy.sparse.csr_matrix: the state is a dict of data, indices, indptr and shape."""


class _Bytes(_Record):
    """Bytes as Python 3 writes them in protocol 2: latin-1 text."""


_ALLOWED: dict[tuple[str, str], type] = {
    ("numpy", "dtype"): _Dtype,
    ("numpy", "ndarray"): _Array,
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("scipy.sparse.csr", "csr_matrix"): _Sparse,
    ("scipy.sparse._csr", "csr_matrix"): _Sparse,
    ("_codecs", "encode"): _Bytes,
    ("collections", "defaultdict"): defaultdict,
    ("__builtin__", "dict"): dict,
    ("__builtin__", "list"): list,
    ("builtins", "dict"): dict,
    ("builtins", "list"): list,
}
_PUTS = ("PUT", "BINPUT", "LONG_BINPUT")


class _ForbiddenName(Exception):
    pass


class _ArrayUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise _ForbiddenName(f"{module}.{name}")
        return _ALLOWED[module, name]


def read_pickle(path: Path) -> Any:
    """Read an ndarray, a SciPy CSR array, or dicts and lists of plain numbers.

    Raises
    ------
    ValueError
        If the pickle names anything but arrays, dicts and lists, or is damaged.
    """
    content = require_file(path).read_bytes()
    try:
        _check_memo(content)
        # Python 2 wrote the arrays' bytes as text.
        found = _ArrayUnpickler(io.BytesIO(content), encoding="latin1").load()
        return _build(found)
    except _ForbiddenName as error:
        raise ValueError(
            f"`{path}` must hold only arrays, dicts and lists; it names '{error}'. Nothing in it "
            "was executed. Do not trust this file; fetch the original one."
        ) from None
    # A damaged pickle can raise any exception.
    except Exception as error:
        raise ValueError(
            f"`{path}` must be a pickle of arrays, dicts and lists; got a damaged one "
            f"({type(error).__name__}: {error}). Fetch the original file again."
        ) from None


def _check_memo(content: bytes) -> None:
    """Refuse large memo indices: the unpickler allocates a table up to the largest one, so nine
    bytes can request 64 GB."""
    for code, place, _ in pickletools.genops(content):
        if code.name in _PUTS and int(place or 0) > len(content):
            raise ValueError(f"memo index {place} in {len(content)} bytes")


def _build(found: Any) -> Any:
    if isinstance(found, _Sparse):
        parts = [_array(found.state[part]) for part in ("data", "indices", "indptr")]
        shape = found.state["_shape"] if "_shape" in found.state else found.state["shape"]
        return compressed_rows("matrix", parts, shape)
    if isinstance(found, _Array):
        return _array(found)
    if isinstance(found, (dict, list)):
        return found
    raise ValueError(f"unexpected {type(found).__name__}")


def _array(record: _Array) -> np.ndarray:
    _, shape, dtype, fortran, raw = record.state
    code, order = dtype.args[0], dtype.state[1]
    if code[0] not in "biuf":
        raise ValueError(f"array of type {code!r}, not of numbers")
    if isinstance(raw, _Bytes):
        raw = raw.args[0]
    if isinstance(raw, str):
        raw = raw.encode("latin1")
    flat = np.frombuffer(raw, np.dtype(code).newbyteorder(order))
    native = flat.astype(flat.dtype.newbyteorder("="))
    return native.reshape(shape, order="F" if fortran else "C")
