"""Streams of edges."""


def in_chunks(source, target, weights=None, size=10_000):
    def chunks():
        for first in range(0, len(source), size):
            part = slice(first, first + size)
            yield source[part], target[part], None if weights is None else weights[part]

    return chunks
