"""Numba kernels around a propagation step: columns in and out of the engine's blocks.

A *block* is a C-ordered (n, width) array that holds some columns of the user's matrix in the
engine's row order and scale; columns past the user's last are zero.
"""

from __future__ import annotations

import numpy as np

from ._jit import kernel

_jit = kernel(error_model="numpy")


@_jit
def pack(matrix, first_column, n_columns, scale, position, block, largest, first_row, end_row):
    """``block[position[i], k] = scale[i]·matrix[i, first_column + k]`` for a chunk of rows.

    ``position`` None means the identity. ``largest`` takes each column's largest |scaled entry|.
    Returns the first row with an entry that is not finite, or −1.
    """
    width = block.shape[1]
    for i in range(first_row, end_row):
        target = i
        if position is not None:
            target = position[i]
        factor = scale[i]
        bad = False
        for k in range(n_columns):
            value = matrix[i, first_column + k]
            scaled = value * factor
            if not abs(scaled) < np.inf:
                bad = True
            largest[k] = max(largest[k], abs(scaled))
            block[target, k] = scaled
        for k in range(n_columns, width):
            block[target, k] = 0
        if bad:
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
        for k in range(n_columns):
            matrix[i, first_column + k] = block[origin, k] * s
