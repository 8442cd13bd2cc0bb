"""A sample of the attack: damaged and hostile files are read rightly or refused in one line.

``make attack`` runs more than a hundred times as many cases; each can be run again by the command
that is printed with it.
"""

import sys

import pytest

pytest.importorskip("resource", reason="cases are limited in memory, which this system cannot do")
pytest.importorskip("torch_geometric")

from tests.attack.__main__ import cases_of
from tests.attack.pool import make_seeds, run_cases
from tests.attack.seeds import MAKERS

OWN = ("model", "run", "graph", "config")
PARTS = {"files of others": [name for name in MAKERS if name not in OWN], "our own": list(OWN)}
CASES = {"files of others": 400, "our own": 200}


@pytest.mark.skipif(sys.platform == "win32", reason="children are watched by select")
@pytest.mark.parametrize("part", PARTS)
def test_nothing_breaks_and_nothing_changes_in_silence(part, tmp_path):
    formats, cases = PARTS[part], CASES[part]
    make_seeds(tmp_path, formats)
    result = run_cases(tmp_path, cases_of(formats, cases), formats)
    assert sum(counts["cases"] for counts in result.counts.values()) == cases
    accepted = sum(counts["accepted"] for counts in result.counts.values())
    assert 0.1 * cases < accepted < 0.9 * cases  # or the cases would test nothing
    shown = [
        f"{found.fault}: {found.what}\n  {found.text[:300]}\n  {found.command}"
        for found in result.findings
    ]
    assert not shown, f"{len(shown)} faults\n" + "\n".join(shown[:20])
