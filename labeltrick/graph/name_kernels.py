"""Numbering strings by their hashes: an open-addressing table of 96-bit keys.

A slot has two words: one hash, and the upper half of a second hash beside the number of the string
plus one (0 is an empty slot). Slots are requested many rows before they are needed, since they are
in unpredictable places of a table that no cache holds. A kernel and all that it inlines are in this
file, because numba's disk cache only watches the file of the kernel.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import impl_ret_untracked
from numba.extending import intrinsic

from .._utils.jit import kernel

_jit = kernel()
_AHEAD = 16  # rows between the request of a slot and its use
_NUMBER = np.uint64(0xFFFFFFFF)  # the lower half of the second word
_HALF = np.uint64(32)


def _prefetch_slot(typingctx, slots, place):
    """Ask the memory for a slot without waiting for it."""

    def emit(context, builder, signature, args):
        array = context.make_array(signature.args[0])(context, builder, args[0])
        at = [args[1], ir.Constant(ir.IntType(64), 0)]
        address = cgutils.get_item_pointer(context, builder, signature.args[0], array, at)
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        function = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(ir.VoidType(), [byte, word, word, word]),
            "llvm.prefetch.p0",
        )
        builder.call(function, [builder.bitcast(address, byte), word(0), word(3), word(1)])
        return impl_ret_untracked(context, builder, types.void, context.get_dummy_value())

    return types.void(slots, types.int64), emit


_prefetch: Any = intrinsic(_prefetch_slot)


@_jit
def insert(first, second, begin, slots, n_known, firsts, codes):
    """Number the keys from ``begin`` on in the order in which they first appear.

    ``firsts`` receives the row in which each key was first seen. Returns the row at which the table
    is half full, or the number of rows, and how many keys are known.
    """
    mask = np.uint64(len(slots) - 1)
    for row in range(begin, len(first)):
        if 2 * n_known >= len(slots):
            return row, n_known
        if row + _AHEAD < len(first):
            _prefetch(slots, np.int64(first[row + _AHEAD] & mask))
        place = first[row] & mask
        while True:
            word = slots[place, 1]
            if word == np.uint64(0):
                slots[place, 0] = first[row]
                slots[place, 1] = ((second[row] >> _HALF) << _HALF) | np.uint64(n_known + 1)
                firsts[n_known] = row
                codes[row] = n_known
                n_known += 1
                break
            if slots[place, 0] == first[row] and word >> _HALF == second[row] >> _HALF:
                codes[row] = np.int64(word & _NUMBER) - 1
                break
            place = (place + np.uint64(1)) & mask
    return len(first), n_known


@_jit
def move(old, slots):
    """Put the keys of a table into a larger, empty one."""
    mask = np.uint64(len(slots) - 1)
    for k in range(len(old)):
        if old[k, 1] == np.uint64(0):
            continue
        place = old[k, 0] & mask
        while slots[place, 1] != np.uint64(0):
            place = (place + np.uint64(1)) & mask
        slots[place, 0], slots[place, 1] = old[k, 0], old[k, 1]


@_jit
def find(first, second, slots, begin, end, codes):
    """The number of each key in rows [begin, end); −1 if it is not known."""
    mask = np.uint64(len(slots) - 1)
    for row in range(begin, end):
        if row + _AHEAD < end:
            _prefetch(slots, np.int64(first[row + _AHEAD] & mask))
        place = first[row] & mask
        codes[row] = -1
        while slots[place, 1] != np.uint64(0):
            word = slots[place, 1]
            if slots[place, 0] == first[row] and word >> _HALF == second[row] >> _HALF:
                codes[row] = np.int64(word & _NUMBER) - 1
                break
            place = (place + np.uint64(1)) & mask
