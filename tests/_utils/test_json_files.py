"""JSON that other programs can read."""

import json

from labeltrick._utils.json_files import dumps


def test_json_is_the_same_and_harmless():
    value = {"name": ["\x9b2J", "\u202e", "\udcff", "\x1b", "é"], "n": 1}
    text = dumps(value, indent=2)
    assert json.loads(text) == value
    assert text.encode("utf-8")
    assert not {"\x9b", "\u202e", "\x1b"} & set(text)
    assert "é" in text
    assert text.count("\n") == 9
