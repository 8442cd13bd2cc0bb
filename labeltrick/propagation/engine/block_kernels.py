"""Numba kernels around a propagation step: columns into and out of the engine's blocks.

A *block* is a C-ordered (n, width) array that holds some columns of the user's matrix in the
engine's row order and scale; columns past the user's last are zero.
"""

from __future__ import annotations

import numpy as np

from ..._utils.jit import kernel

_jit = kernel(error_model="numpy")


@_jit
def pack(matrix, first_column, n_columns, scale, position, block, largest, first_row, end_row):
    """``block[position[i], k] = scale[i]·matrix[i, first_column + k]`` for a chunk of rows.

    ``position`` None means the identity. ``largest`` receives each column's largest
    |scaled entry|. Returns the first row with an entry that is not finite, or −1.
    """
    # Slices of rows and unconditional stores let the compiler vectorize the loops.
    width = block.shape[1]
    for i in range(first_row, end_row):
        target = i
        if position is not None:
            target = position[i]
        factor = scale[i]
        given = matrix[i, first_column : first_column + n_columns]
        row = block[target]
        for k in range(n_columns):
            scaled = given[k] * factor
            row[k] = scaled
            size = abs(scaled)
            size = size if size < np.inf else np.inf  # NaN too
            largest[k] = size if size > largest[k] else largest[k]
        for k in range(n_columns, width):
            row[k] = 0
    for k in range(n_columns):
        if largest[k] == np.inf:
            return _first_not_finite(block, position, n_columns, first_row, end_row)
    return -1


@_jit
def _first_not_finite(block, position, n_columns, first_row, end_row):
    for i in range(first_row, end_row):
        target = i
        if position is not None:
            target = position[i]
        for k in range(n_columns):
            if not abs(block[target, k]) < np.inf:
                return i
    return -1


@_jit
def unpack(block, first_column, n_columns, scale, position, factor, matrix, first_row, end_row):
    """``matrix[i, first_column + k] = factor·scale[i]·block[position[i], k]``; undoes `pack`."""
    for i in range(first_row, end_row):
        origin = i
        if position is not None:
            origin = position[i]
        s = factor * scale[i]
        row = block[origin]
        target = matrix[i, first_column : first_column + n_columns]
        for k in range(n_columns):
            target[k] = row[k] * s


@kernel(error_model="numpy", fastmath={"contract"})
def add_product(indptr, indices, values, source, out):
    """out += X·source"""
    for i in range(len(indptr) - 1):
        for entry in range(indptr[i], indptr[i + 1]):
            value, j = values[entry], indices[entry]
            for k in range(source.shape[1]):
                out[i, k] += value * source[j, k]


@kernel(error_model="numpy", fastmath={"contract"})
def add_transposed_product(indptr, indices, values, source, out):
    """out += Xᵀ·source"""
    for i in range(len(indptr) - 1):
        for entry in range(indptr[i], indptr[i + 1]):
            value, j = values[entry], indices[entry]
            for k in range(source.shape[1]):
                out[j, k] += value * source[i, k]
