"""Numba kernels of propagation: arrays in, arrays out, no classes, GIL released.

A *block* is a C-ordered (n, width) array that holds some columns of the user's matrix in the
engine's row order and scale; columns past the user's last are zero.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from . import _compile_notice  # noqa: F401  (announces the first compilation)
from ._gather import fused_row

_jit = njit(nogil=True, cache=True, error_model="numpy")


@_jit
def fused_step(
    lanes,
    vectors,
    indptr,
    indices,
    weights,
    row_factor,
    loop,
    source,
    base,
    out,
    coefficients,
    worst,
    check,
    clamp,
    bound_scale,
    first_row,
    end_row,
):
    """One fused step on the rows [first_row, end_row) of a block:

    ``out = a·M source + b·source + c·base + d·out``, with
    ``(M H)_i = row_factor_i·(Σ_j w_ij H_j + loop_i·H_i)``.

    ``coefficients`` = (a, b, c, d, z_factor, low, high). With ``check``, ``worst`` (one number a
    column) takes the largest |z_factor·(out − d·previous out) − source| / bound_scale. With
    ``clamp``, row i is cut to [low, high]·bound_scale_i.
    """
    a, b, c, d = coefficients[0], coefficients[1], coefficients[2], coefficients[3]
    z_factor, low, high = coefficients[4], coefficients[5], coefficients[6]
    last = indptr[-1] - 1
    one = row_factor.dtype.type(1)
    for i in range(first_row, end_row):
        a_i = a * row_factor[i]
        fused_row(
            lanes,
            vectors,
            indices,
            weights,
            source,
            base,
            out,
            worst,
            i,
            indptr[i],
            indptr[i + 1],
            last,
            a_i,
            a_i * loop[i] + b,
            c,
            d,
            check,
            z_factor,
            one / bound_scale[i],
            clamp,
            low * bound_scale[i],
            high * bound_scale[i],
        )


@_jit
def pack(matrix, first_column, n_columns, scale, position, block, largest, first_row, end_row):
    """``block[position[i], k] = scale[i]·matrix[i, first_column + k]`` for a chunk of rows.

    ``position`` None means the identity. ``largest`` takes each column's largest |entry|.
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
            size = abs(value)
            if not size <= np.inf or size == np.inf:
                bad = True
            largest[k] = max(largest[k], size)
            block[target, k] = value * factor
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
