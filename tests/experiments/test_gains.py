"""Gains of one row over another, paired by seed, and their verdicts."""

import math

import numpy as np
import pytest

from experiments.ledger import make_ledger
from experiments.paper import PAIRS
from experiments.verdicts import judge_gain
from tests.experiments.stores import outcome, write


def test_every_comparison_of_the_paper_is_a_gain():
    counts = {f"table{k}": sum(new.table == f"table{k}" for new, _ in PAIRS) for k in (1, 2, 3, 4)}
    assert counts == {"table1": 4, "table2": 4, "table3": 9, "table4": 8}
    for new, old in PAIRS:
        assert (new.table, new.dataset, new.part) == (old.table, old.dataset, old.part)


@pytest.mark.parametrize(
    ("ours", "error", "verdict"),
    [
        (1.3, 0.01, "reproduced"),
        (1.0, 0.3, "reproduced"),
        (2.0, 0.1, "larger"),
        (0.5, 0.1, "smaller"),
        (0.1, 0.1, "no gain"),
        (-0.5, 0.1, "loss"),
    ],
)
def test_verdicts_of_gains(ours, error, verdict):
    assert judge_gain(1.31, 0.01, ours, error) == verdict


def gain_of(ledger, table, dataset, method):
    return next(
        g for g in ledger.gains if (g.table, g.dataset, g.method) == (table, dataset, method)
    )


def test_gains_are_paired_by_seed(tmp_path):
    trained = "trainable, paper's recipe"
    rows = [outcome(s, 80.0 + s) for s in range(4)]
    rows += [outcome(s, 80.07 + s + (-1) ** s * 0.01, method=trained) for s in range(1, 4)]
    rows += [outcome(s, 81.0 + s, method="trainable, stochastic") for s in (0, 1)]
    write(tmp_path / "table1.jsonl", rows)
    ledger = make_ledger(tmp_path, tmp_path)
    gain = gain_of(ledger, "table1", "pubmed", "trainable")
    found = np.array([0.06, 0.08, 0.06])
    assert (gain.ours, gain.seeds) == (pytest.approx(found.mean()), 3)
    assert gain.ours_error == pytest.approx(found.std(ddof=1) / np.sqrt(3))
    assert gain.paper == pytest.approx(0.07)
    assert gain.paper_error == pytest.approx(math.hypot(0.63, 0.59) / math.sqrt(10))
    assert gain.verdict == "reproduced"
    assert gain.note.endswith("; trainable, stochastic: +1.000 ± 0.000")
    assert "| pubmed | trainable | label propagation | +0.07 ± 0.27 | +0.067 ± " in (
        ledger.to_markdown()
    )
    assert gain_of(ledger, "table3", "pubmed", "SGC, labels").verdict == "data absent"


def test_gains_on_an_official_split_and_of_errors(tmp_path):
    rows = [outcome(0, 67.11, dataset="ogbn-arxiv")]
    trained = {"dataset": "ogbn-arxiv", "method": "trainable, paper's recipe"}
    rows += [outcome(s, 68.4 + 0.01 * s, **trained) for s in range(3)]
    write(tmp_path / "table1.jsonl", rows)
    county = {"dataset": "county-2016"}
    errors = [outcome(0, 1.4, method="trees, C&S", **county),
              outcome(0, 1.1, method="trees, trainable C&S, end to end", **county)]  # fmt: skip
    write(tmp_path / "table2.jsonl", errors)
    guessed = [outcome(s, 70.0 + len(m), dataset="ogbn-arxiv", method=m, features="guesses")
               for s in (0, 1) for m in ("SGC", "SGC, labels")]  # fmt: skip
    write(tmp_path / "table3.jsonl", guessed)
    ledger = make_ledger(tmp_path, tmp_path)
    arxiv = gain_of(ledger, "table1", "ogbn-arxiv", "trainable")
    assert (arxiv.ours, arxiv.seeds) == (pytest.approx(1.3), 3)
    less = gain_of(ledger, "table2", "county-2016", "trainable C&S")
    assert less.ours == pytest.approx(0.3)
    assert less.paper == pytest.approx(0.29)
    assert less.ours_error is None
    other = gain_of(ledger, "table3", "ogbn-arxiv", "SGC, labels")
    assert (other.verdict, other.ours) == ("data absent", None)
    assert "+8.000 ± 0.000" in other.note
