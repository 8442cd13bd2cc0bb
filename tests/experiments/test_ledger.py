"""The ledger: its arithmetic, its verdicts, resuming, and one cell of the paper from end to end."""

import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest

from experiments.__main__ import app
from experiments.ledger import make_ledger
from experiments.paper import CELLS
from experiments.rows import read_results
from experiments.running import (
    FOLDER,
    Job,
    choices,
    command,
    plan,
    run_jobs,
)
from experiments.verdicts import judge, judge_limit, judge_sign
from labeltrick.io import datasets
from tests.experiments.stores import cell_of, outcome, write
from tests.support.people import invoke_app

PAPER = Path(__file__).resolve().parents[3] / "shared" / "paper" / "why-propagate-alone.tex"


def invoke(*arguments):
    return invoke_app(app, *arguments)


def test_the_difference_is_in_standard_errors():
    found = judge(80.0, 1.0, 82.0, 2.0, 4)
    error = math.sqrt(1.0 / 10 + 4.0 / 4 + (0.005 / math.sqrt(3)) ** 2)
    assert found.errors == pytest.approx(2.0 / error)
    assert judge(1.0, 0.1, 0.8, 0.1, 10, lower_is_better=True).errors > 0


@pytest.mark.parametrize(
    ("ours", "options", "verdict"),
    [
        (85.0, {}, "reproduced"),
        (85.4, {}, "reproduced"),  # within the paper's own spread
        (86.0, {}, "better"),
        (84.0, {}, "below"),
        (84.0, {"choice": "no λ is given"}, "recipe underspecified"),
        (86.0, {"choice": "no λ is given"}, "better"),
        (84.0, {"lower_is_better": True}, "better"),
        (86.0, {"lower_is_better": True}, "below"),
    ],
)
def test_verdicts(ours, options, verdict):
    assert judge(85.0, 0.5, ours, 0.5, 10, **options).verdict == verdict


def test_a_single_seed_is_given_the_papers_spread():
    assert judge(85.0, 0.5, 85.6, 0.0, 1).verdict == "reproduced"
    assert judge(85.0, 0.5, 88.0, 0.0, 1).verdict == "better"


def test_limits():
    assert judge_limit(0.0, 0.0, 0.0).verdict == "reproduced"
    assert judge_limit(1.0, 0.01, 2.0).verdict == "below"


def test_every_cell_of_the_paper_is_there_once():
    assert [sum(cell.table == f"table{k}" for cell in CELLS) for k in (1, 2, 3, 4)] == [
        8,
        8,
        18,
        24,
    ]
    places = [(c.table, c.dataset, c.method, c.part) for c in CELLS]
    assert len(set(places)) == len(places)
    assert {cell.dataset for cell in CELLS} <= set(datasets.names())
    if not PAPER.is_file():
        pytest.skip(f"'{PAPER}' is not there to compare with")
    text = PAPER.read_text()
    for cell in CELLS:
        if cell.paper is not None:
            assert f"{cell.paper:.{cell.digits}f} ± {cell.paper_std:.{cell.digits}f}" in text


def test_the_ledger_of_a_folder(tmp_path):
    rows = [outcome(0, 10.0), outcome(0, 83.0), outcome(1, 84.0)]  # the first is of an older run
    write(tmp_path / "table1.jsonl", rows)
    with (tmp_path / "table1.jsonl").open("a") as file:
        file.write('{"dataset": "pubmed", "meth')  # cut short
    ledger = make_ledger(tmp_path, tmp_path / "data")
    cell = cell_of(ledger, "table1", "pubmed", "label propagation")
    assert (cell.ours, cell.seeds) == (83.5, 2)
    assert cell.ours_std == pytest.approx(np.std([83.0, 84.0], ddof=1))
    assert cell.verdict == "reproduced"
    assert ledger.seconds == 4.0
    assert ledger.commits == ["abc"]
    assert cell_of(ledger, "table1", "cora-full", "trainable").verdict == "data absent"
    assert len(ledger.cells) == len(CELLS)
    ledger.write(tmp_path / "out")
    again = json.loads((tmp_path / "out" / "ledger.json").read_text())
    wanted = {"table", "dataset", "method", "paper", "paper_std", "ours", "ours_std", "seeds",
              "verdict", "note"}  # fmt: skip
    assert all(wanted <= set(entry) for entry in again["cells"])
    assert again["versions"]["numpy"] == np.__version__
    page = (tmp_path / "out" / "ledger.md").read_text()
    assert "| pubmed | label propagation | 83.45 ± 0.63 | 83.50 ± 0.71 |" in page


def test_other_data_than_the_papers_are_reported(tmp_path):
    (tmp_path / "data" / "house").mkdir(parents=True)
    (tmp_path / "data" / "house" / "cal_housing.data").write_text("")
    raw = tmp_path / "data" / "ogbn-arxiv" / "raw"
    raw.mkdir(parents=True)
    write(tmp_path / "table2.jsonl", [outcome(0, 0.4, dataset="house", method="trees, C&S")])
    write(tmp_path / "table3.jsonl", [outcome(0, 70.0, dataset="ogbn-arxiv", method="SGC")])
    ledger = make_ledger(tmp_path, tmp_path / "data")
    house = cell_of(ledger, "table2", "house", "C&S")
    assert (house.verdict, house.ours) == ("data absent", None)
    assert "0.400 over 1 seed" in house.note
    arxiv = cell_of(ledger, "table3", "ogbn-arxiv", "SGC")
    assert arxiv.verdict == "data absent"
    assert "70.00" in arxiv.note
    for data_dir in (tmp_path / "data", tmp_path / "nowhere"):  # whatever is here now
        ledger = make_ledger(tmp_path, data_dir)
        assert cell_of(ledger, "table2", "house", "C&S").verdict == "data absent"
        assert cell_of(ledger, "table3", "ogbn-arxiv", "SGC").verdict == "data absent"
    row = outcome(0, 70.0, dataset="ogbn-arxiv", method="SGC", features="own")
    write(tmp_path / "table3.jsonl", [row])
    ledger = make_ledger(tmp_path, tmp_path / "data")
    assert cell_of(ledger, "table3", "ogbn-arxiv", "SGC").verdict == "better"


def test_only_what_a_recipe_leaves_open_is_excused(tmp_path):
    methods = ("LP", "trainable, paper's recipe")
    rows = [outcome(s, 80.0 + s / 10, method=m) for m in methods for s in (0, 1)]
    write(tmp_path / "table1.jsonl", rows)
    ledger = make_ledger(tmp_path, tmp_path, choices())
    assert cell_of(ledger, "table1", "pubmed", "label propagation").verdict == "below"
    trained = cell_of(ledger, "table1", "pubmed", "trainable")
    assert trained.verdict == "recipe underspecified"
    assert choices()["table1"].text in trained.note
    assert choices()["table4"].of("MLP") == ""


def test_our_form_stands_beside_the_papers(tmp_path):
    methods = {"trainable, paper's recipe": 80.0, "trainable, stochastic": 84.5}
    rows = [outcome(s, v + s / 10, method=m) for m, v in methods.items() for s in (0, 1)]
    write(tmp_path / "table1.jsonl", rows)
    ledger = make_ledger(tmp_path, tmp_path)
    cell = cell_of(ledger, "table1", "pubmed", "trainable")
    assert (cell.ours, cell.verdict) == (pytest.approx(80.05), "below")
    (ours,) = ledger.beside
    assert (ours.ours, ours.verdict) == (pytest.approx(84.55), "our form")
    assert ours.errors > 0
    page = ledger.to_markdown().splitlines()
    (at,) = [k for k, line in enumerate(page) if "| pubmed | trainable | 83.52" in line]
    assert "| our form | trainable, stochastic |" in page[at + 1]
    assert sum(ledger.count().values()) == len(CELLS)
    # Ours alone are no result of the paper's predictor.
    write(tmp_path / "table1.jsonl", rows[2:])
    cell = cell_of(make_ledger(tmp_path, tmp_path), "table1", "pubmed", "trainable")
    assert (cell.ours, cell.verdict) == (None, "data absent")


def test_seconds_are_counted_once(tmp_path):
    write(tmp_path / "table4.jsonl", [outcome(0, 88.0, method="MLP")])  # test and validation
    assert make_ledger(tmp_path, tmp_path).seconds == 2.0


def test_a_store_that_was_cut_short_goes_on(tmp_path, monkeypatch):
    from experiments import record

    store = tmp_path / "table1.jsonl"
    write(store, [outcome(0, 83.0, ece=1.0, split_rate=None)])
    with store.open("a") as file:
        file.write('{"dataset": "pub')
    assert [o.seed for o in record.stored(store)] == [0]
    record.append(store, record.Outcome("pubmed", "LP", 1, 1.0, 2.0, 3.0, 4.0, None))
    assert [o.seed for o in record.stored(store)] == [0, 1]


def test_the_figures_limits(tmp_path):
    def point(rate, val, seed=0):
        return {"dataset": "pubmed", "seed": seed, "curve": "GCN", "rate": rate, "val": val}

    rows = [
        point(r, v, s) for s in (0, 1) for r, v in ((0.0, 80), (0.01, 80.1 + 0.1 * s), (0.9, 85))
    ]
    write(tmp_path / "figure1.jsonl", rows)
    ledger = make_ledger(tmp_path, tmp_path)
    cell = cell_of(ledger, "figure1", "pubmed", "GCN, α → 0")
    assert cell.ours == pytest.approx(0.15)
    assert cell.verdict == "reproduced"
    write(tmp_path / "figure1.jsonl", [*rows, point(0.01, 84.0), point(0.01, 84.1, 1)])
    cell = cell_of(make_ledger(tmp_path, tmp_path), "figure1", "pubmed", "GCN, α → 0")
    assert cell.verdict == "below"


def test_the_figures_best_rates(tmp_path):
    def curve(name, best, seed):
        return [{"dataset": "pubmed", "seed": seed, "curve": name, "rate": rate, "hidden": 64,
                 "val": 80 - abs(rate - best)} for rate in (0.0, 0.1, 0.5, 0.9, 1.0)]  # fmt: skip

    rows = [*curve("linear, closed form", 0.9, 0), *curve("linear, closed form", 0.9, 1),
            *curve("GCN", 0.1, 0), *curve("GCN", 0.5, 1)]  # fmt: skip
    write(tmp_path / "figure1.jsonl", rows)
    cell = cell_of(make_ledger(tmp_path, tmp_path), "figure1", "pubmed", "best α, linear minus GCN")
    assert (cell.ours, cell.seeds, cell.verdict) == (pytest.approx(0.6), 2, "reproduced")
    assert "is 0.9 for the linear model and 0.3 for the GCN" in cell.note
    assert "64 units instead of 256" in cell.note
    assert judge_sign(1.0, None) == "not resolved"  # one seed has no spread


def test_what_is_run_depends_on_the_data(tmp_path):
    assert [job.experiment for job in plan(["table1", "theorems"], None, True, tmp_path)] == [
        "theorems"
    ]
    assert plan(["table1"], ["pubmed"], False, tmp_path) == []
    with pytest.raises(ValueError, match="found none in"):
        invoke("table1", "--data-dir", tmp_path, "--results", tmp_path / "r")
    job = Job("table1", "pubmed", ("--methods", "LP"), 1.0, 3)
    made = command(job, 10, tmp_path, tmp_path)
    assert made[0] == sys.executable
    assert made[made.index("--seeds") + 1] == "3"


def test_every_setting_has_a_source(monkeypatch):
    from experiments import record

    for path in (FOLDER / "settings").glob("*.toml"):
        found = record.settings(path.stem)
        assert found
        assert choices()[path.stem].text
    monkeypatch.setattr(record, "SETTINGS", Path("nowhere"))
    with pytest.raises(FileNotFoundError):
        record.settings("table1")


def test_a_job_that_fails_is_one_line(tmp_path):
    job = Job("table1", "pubmed", ("--no-such-option",), 1.0)
    with pytest.raises(
        ChildProcessError, match=r"table1 pubmed must run to the end; it exited with 2"
    ):
        run_jobs([job], 1, tmp_path, tmp_path, progress=False)


def test_the_theorems(tmp_path):
    said = invoke("theorems", "--seeds", "1", "--results", tmp_path)
    assert "Theorem 1: holds" in said
    assert "Theorem 1 as printed: does not hold" in said
    checks = {row["check"]: row for row in read_results(tmp_path / "theorems.jsonl")}
    assert {name: row["holds"] for name, row in checks.items()} == {
        "Theorem 1": True, "Theorem 1 as printed": False, "Corollary 1": True,
        "Corollary 1, minimizer": True, "Theorem 2": True, "Theorem 3": True,
    }  # fmt: skip
    bound = checks["Theorem 2"]
    assert bound["cases"] >= 100
    assert 0 <= bound["value"] < 0.1  # some cases are close to the bound


def test_one_cell_from_end_to_end_and_resumed(data_dir, tmp_path):
    if not datasets.info("pubmed", data_dir)["here"]:
        pytest.skip("Pubmed is not there")
    job = Job("table1", "pubmed", ("--methods", "LP"), 1.0)
    reported = []
    run_jobs([job], 1, tmp_path, data_dir, progress=False, tell=reported.append)
    first = read_results(tmp_path / "table1.jsonl")
    run_jobs([job], 2, tmp_path, data_dir, progress=False, tell=reported.append)
    rows = read_results(tmp_path / "table1.jsonl")
    assert rows[0] == first[0]  # not run again
    assert [row["seed"] for row in rows] == [0, 1]
    assert len(reported) == 2
    cell = cell_of(make_ledger(tmp_path, data_dir), "table1", "pubmed", "label propagation")
    assert cell.verdict == "reproduced"
    assert 82.5 < cell.ours < 84.0


def test_why_there_is_nothing_to_run(tmp_path):
    with pytest.raises(ValueError, match="must be one of table1's .*pubmed.*; got 'house'"):
        invoke("table1", "--dataset", "house", "--data-dir", tmp_path, "--results",
               tmp_path / "r")  # fmt: skip
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="`--results` must be a folder"):
        invoke("theorems", "--results", tmp_path / "file")
