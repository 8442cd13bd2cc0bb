"""Numbering strings by their hashes: an open-addressing table of 128-bit keys."""

from __future__ import annotations

import numpy as np

from .._utils.jit import kernel

_jit = kernel()


@_jit
def _place(first, mask):
    """Where to look for a key; the bits of a hash are mixed already."""
    return np.int64(first & mask)


@_jit
def insert(keys, begin, slots, known, n_known, firsts, codes):
    """Number the keys from ``begin`` on in the order in which they first appear.

    ``slots`` holds the number in each place of the table or −1, ``known`` the keys by number, and
    ``firsts`` the row in which each was first seen. Returns the row at which the table is half
    full, or the number of rows, and how many keys are known.
    """
    mask = np.uint64(len(slots) - 1)
    for row in range(begin, len(keys)):
        if 2 * n_known >= len(slots):
            return row, n_known
        place = _place(keys[row, 0], mask)
        while True:
            code = slots[place]
            if code < 0:
                slots[place] = n_known
                known[n_known, 0], known[n_known, 1] = keys[row, 0], keys[row, 1]
                firsts[n_known] = row
                codes[row] = n_known
                n_known += 1
                break
            if known[code, 0] == keys[row, 0] and known[code, 1] == keys[row, 1]:
                codes[row] = code
                break
            place = (place + 1) & np.int64(mask)
    return len(keys), n_known


@_jit
def settle(known, n_known, slots):
    """Put the known keys into an empty table."""
    mask = np.uint64(len(slots) - 1)
    for code in range(n_known):
        place = _place(known[code, 0], mask)
        while slots[place] >= 0:
            place = (place + 1) & np.int64(mask)
        slots[place] = code


@_jit
def find(keys, slots, known, begin, end, codes):
    """The number of each key in rows [begin, end); −1 if it is not known."""
    mask = np.uint64(len(slots) - 1)
    for row in range(begin, end):
        place = _place(keys[row, 0], mask)
        codes[row] = -1
        while slots[place] >= 0:
            code = slots[place]
            if known[code, 0] == keys[row, 0] and known[code, 1] == keys[row, 1]:
                codes[row] = code
                break
            place = (place + 1) & np.int64(mask)
