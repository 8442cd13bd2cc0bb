"""Sizes of memory as words."""

from labeltrick._utils.memory import bytes_of, shown_bytes


def test_sizes_in_words():
    assert bytes_of("m", "1kB") == 1000
    assert bytes_of("m", "2 MiB") == 2 * 2**20
    assert bytes_of("m", "0.5g") == 500_000_000
    assert shown_bytes(999) == "999 B"
