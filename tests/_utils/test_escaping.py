"""Names from data, escaped for each place that shows them."""

import json

from labeltrick._utils.escaping import chart_categories, for_chart, for_html, for_script, visible
from tests.support.hostile import NAMES


def test_what_each_place_would_obey():
    assert for_html("<&>\"'\x1b") == "&lt;&amp;&gt;&quot;&#x27;\\x1b"
    assert json.loads(for_script(NAMES)) == NAMES
    assert for_chart("<a href='x'>$y$ &amp;") == "&lt;a href='x'&gt;&#36;y&#36; &amp;amp;"
    assert visible("a\tb\u202ec\udcff\x9b") == r"a\tb\u202ec\udcff\x9b"
    assert visible("žluťoučký שלום 👩‍👩‍👧 x=1") == "žluťoučký שלום 👩‍👩‍👧 x=1"
    for name in chart_categories(["constructor", "__proto__", "1", "2024-01-01"]):
        assert name.endswith("\u200b")
