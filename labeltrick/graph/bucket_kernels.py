"""Numba kernels that sort large edge lists by blocks of rows that fit the caches.

A counting sort over all rows writes each entry to a random place, and beyond some ten million
entries every write misses the caches. Here entries are first distributed to a thousand blocks of
rows, each written in order; then each block, which fits in the caches, is sorted.
"""

from __future__ import annotations

import numpy as np

from .._utils.jit import kernel

_jit = kernel()

_DIGIT = 11  # bits per pass of the sort: 2,048 counters stay in the innermost cache


@_jit
def count_entries(source, target, first, stop, shift, both, counts):
    """Count the entries of each block of rows (rows with equal ``row >> shift``)."""
    for k in range(first, stop):
        u, v = source[k], target[k]
        counts[u >> shift] += 1
        if both and u != v:
            counts[v >> shift] += 1


@_jit
def deal_entries(source, target, first, stop, shift, bits, both, cursor, keys):
    """Write each entry at its block's cursor, as one number: its row within the block and, in the
    last ``bits``, its column."""
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
    """Sort one block's numbers of ``n_bits``; write its columns without duplicates to ``indices``
    and the degrees of its rows to ``degree``. Returns how many columns were written.

    A radix sort, least digit first. ``indices`` may share memory with ``keys``.
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
    if n and a is not spare:  # keys are overwritten below
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
    """Move consecutive values to a lower place."""
    for k in range(size):
        values[place + k] = values[start + k]


@_jit
def mark_bits(values, low, first, stop, words):
    """Set bit v − low in 64-bit words, for values[first:stop]."""
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
    """Write the number of bits set before each word; return the total."""
    total = 0
    for w in range(len(words)):
        ranks[w] = total
        total += count_ones(words[w])
    return total


@_jit
def rank_values(values, low, words, ranks, first, stop, out):
    """Rank of each value among those whose bits are set. One bit per id and one rank per 64 ids
    are much smaller than a table of all ids, and stay in the caches."""
    for k in range(first, stop):
        at = values[k] - low
        word = words[at >> 6]
        below = word & ((np.uint64(1) << np.uint64(at & 63)) - np.uint64(1))
        out[k] = ranks[at >> 6] + count_ones(below)


@_jit
def look_up(values, low, place, first, stop, out):
    """``out[k] = place[values[k] − low]``, or −1 outside the table."""
    n = len(place)
    for k in range(first, stop):
        at = values[k] - low
        out[k] = place[at] if 0 <= at < n else -1
