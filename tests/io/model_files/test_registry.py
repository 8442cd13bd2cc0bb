"""The list of classes that files may name."""

from labeltrick.io.model_files.registry import PARTS, PROPAGATIONS, find_class, is_listed


def test_every_listed_class_exists():
    for listed in (PARTS, PROPAGATIONS):
        for name in listed:
            assert is_listed(find_class(name, listed), listed)
