"""Numba kernels that sort large edge lists by blocks of rows that fit the caches.

A counting sort over all rows writes to a random place for each entry, and from some ten million
entries on every write misses the caches. Here entries are first dealt into a thousand blocks of
rows, each written in order; then each block, small enough to stay near, is sorted by itself.
"""

from __future__ import annotations

import numpy as np

from .._utils.jit import kernel

_jit = kernel()

_DIGIT = 11  # bits a pass of the sort: 2,048 counters stay in the innermost cache


@_jit
def count_entries(source, target, first, stop, shift, both, counts):
    """Add the entries of each block of rows (rows with equal ``row >> shift``)."""
    for k in range(first, stop):
        u, v = source[k], target[k]
        counts[u >> shift] += 1
        if both and u != v:
            counts[v >> shift] += 1


@_jit
def deal_entries(source, target, first, stop, shift, bits, both, cursor, keys):
    """Write each entry at its block's cursor, as one number: its row within the block, then, in
    the last ``bits``, its column."""
    inside = (1 << shift) - 1
    for k in range(first, stop):
        u, v = np.int64(source[k]), np.int64(target[k])
        block = u >> shift
        p = cursor[block]
        cursor[block] = p + 1
        keys[p] = ((u & inside) << bits) | v
        if both and u != v:
            block = v >> shift
            p = cursor[block]
            cursor[block] = p + 1
            keys[p] = ((v & inside) << bits) | u


@_jit
def sort_block(keys, spare, n_bits, bits, indices, degree):
    """Sort one block's numbers of ``n_bits``, and write its columns to ``indices`` without
    duplicates, degrees of its rows to ``degree``. Returns how many were written.

    By counting, the least digit first. ``indices`` may be the memory of ``keys``.
    """
    n = len(keys)
    a, b = keys, spare
    mask = (1 << _DIGIT) - 1
    for low in range(0, n_bits, _DIGIT):
        count = np.zeros((1 << _DIGIT) + 1, np.int64)
        for k in range(n):
            count[((np.int64(a[k]) >> low) & mask) + 1] += 1
        for d in range(1 << _DIGIT):
            count[d + 1] += count[d]
        for k in range(n):
            digit = (np.int64(a[k]) >> low) & mask
            b[count[digit]] = a[k]
            count[digit] += 1
        a, b = b, a
    if n and a is not spare:  # written over below
        spare[:n] = a
    columns = (1 << bits) - 1
    written = 0
    for k in range(n):
        if k and spare[k] == spare[k - 1]:
            continue
        key = np.int64(spare[k])
        indices[written] = key & columns
        degree[key >> bits] += 1
        written += 1
    return written


@_jit
def move_down(values, start, size, place):
    """Move a stretch of values to a lower place."""
    for k in range(size):
        values[place + k] = values[start + k]


@_jit
def mark_bits(values, low, first, stop, words):
    """Set bit v − low in 64-bit words, for some of the values."""
    for k in range(first, stop):
        at = values[k] - low
        words[at >> 6] |= np.uint64(1) << np.uint64(at & 63)


@_jit
def count_ones(word):
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@_jit
def ranks_of_words(words, ranks):
    """How many bits are set before each word; returns how many in all."""
    total = 0
    for w in range(len(words)):
        ranks[w] = total
        total += count_ones(words[w])
    return total


@_jit
def rank_values(values, low, words, ranks, first, stop, out):
    """The number of each value among those whose bits are set. A bit and a rank for each 64 ids
    are some hundred times smaller than a table of all ids, and stay in the caches."""
    for k in range(first, stop):
        at = values[k] - low
        word = words[at >> 6]
        below = word & ((np.uint64(1) << np.uint64(at & 63)) - np.uint64(1))
        out[k] = ranks[at >> 6] + count_ones(below)


@_jit
def look_up(values, low, place, first, stop, out):
    """``out[k] = place[values[k] − low]``, −1 outside the table."""
    n = len(place)
    for k in range(first, stop):
        at = values[k] - low
        out[k] = place[at] if 0 <= at < n else -1
