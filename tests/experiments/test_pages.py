"""The ledger that is kept is that of the stored results."""

import json

from experiments.gains import Gain
from experiments.ledger import Ledger, LedgerCell, make_ledger
from experiments.record import ROOT
from experiments.running import choices
from experiments.theorems import BOUND_CASES, IDENTITIES, LIMIT
from experiments.verdicts import ABSENT, NOT_RUN

RESULTS = ROOT / "results"
KEPT = json.loads((RESULTS / "ledger.json").read_text(encoding="utf-8"))


def without_whereabouts(entries):
    """Whether a cell without results is absent or not run depends on where the data are."""
    return [
        {**entry, "verdict": ABSENT} if entry["verdict"] == NOT_RUN else entry for entry in entries
    ]


def test_the_ledger_equals_the_results(tmp_path):
    made = json.loads(make_ledger(RESULTS, tmp_path, choices()).to_json())
    for part in ("cells", "beside", "gains"):
        assert without_whereabouts(KEPT[part]) == without_whereabouts(made[part]), (
            f"results/ledger.json is older than the results: {part}. "
            "Run: python -m experiments all --only-ledger"
        )
    for part in ("checks", "commits", "seconds"):
        assert KEPT[part] == made[part]


def test_the_page_equals_the_ledger():
    page = (RESULTS / "ledger.md").read_text(encoding="utf-8")
    kinds = {"cells": LedgerCell, "beside": LedgerCell, "gains": Gain}
    read = {part: [kind(**entry) for entry in KEPT[part]] for part, kind in kinds.items()}
    assert Ledger(**{**KEPT, **read}).to_markdown() == page


def test_the_theorems_are_those_of_the_paper():
    names = [check["check"] for check in KEPT["checks"]]
    assert names == [*(given[0] for given in IDENTITIES), "Theorem 2", LIMIT[0]]
    (bound,) = [check for check in KEPT["checks"] if check["check"] == "Theorem 2"]
    assert bound["cases"] >= BOUND_CASES
