"""The ledger: every cell and gain of the paper's tables beside ours, as JSON and as a page."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from experiments.figure_claims import STAND_IN, judge_claim
from experiments.gains import Gain, gain_rows, make_gains
from experiments.paper import CELLS, EXPERIMENTS, PaperCell
from experiments.rows import (
    Row,
    is_of_paper_data,
    needs_features,
    read_results,
    rows_of,
    rows_of_method,
)
from experiments.verdicts import ABSENT, NOT_RUN, Judgement, judge
from labeltrick._utils.json_files import dumps
from labeltrick._utils.whole_files import replacing
from labeltrick.io import datasets
from labeltrick.models.base.weights import PAPER_SPLIT_RATES

_PACKAGES = ("labeltrick", "numpy", "scipy", "numba", "scikit-learn", "lightgbm", "torch",
             "torch-geometric")  # fmt: skip
OURS = "our form"  # the verdict of a row beside a cell
_OTHER_EDGES = (
    "the paper's edges (from BGNN) are not available; ours connect each block to its five nearest"
)
_TITLES = {
    "table1": "Table 1: label propagation, accuracy in percent",
    "table2": "Table 2: boosted trees and Correct & Smooth, root mean squared error",
    "table3": "Table 3: linear propagation with and without labels, accuracy in percent",
    "table4": "Table 4: Correct & Smooth on an MLP, accuracy in percent",
    "figure1": (
        "Figure 1: distance from the end of each curve to its limit, in accuracy points, and "
        "difference of the best split rates"
    ),
}


@dataclass(frozen=True)
class Choice:
    """What a recipe leaves open, for all methods of a table or for some."""

    text: str
    methods: tuple[str, ...] = ()

    def of(self, method: str) -> str:
        return self.text if not self.methods or method in self.methods else ""


@dataclass(frozen=True)
class LedgerCell:
    """One cell. ``errors`` is the difference in standard errors, positive if ours is better."""

    table: str
    dataset: str
    method: str
    part: str
    paper: float | None
    paper_std: float | None
    digits: int
    ours: float | None
    ours_std: float | None
    seeds: int
    errors: float | None
    verdict: str
    note: str


@dataclass(frozen=True)
class Ledger:
    """All cells, our own forms beside them, the gains that the paper reports, the checks of the
    theorems, and the versions and commits that produced them."""

    cells: list[LedgerCell]
    beside: list[LedgerCell] = field(default_factory=list)
    gains: list[Gain] = field(default_factory=list)
    checks: list[dict[str, Any]] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    commits: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def count(self) -> dict[str, int]:
        """Number of cells per verdict."""
        return _count(self.cells)

    def to_json(self) -> str:
        return dumps(asdict(self), indent=1) + "\n"

    def to_markdown(self) -> str:
        lines = [f"{len(self.cells)} cells: {_listed(self.count())}. "
                 f"{len(self.gains)} gains: {_listed(_count(self.gains))}.", ""]  # fmt: skip
        for table, title in _TITLES.items():
            some = [cell for cell in self.cells if cell.table == table]
            if not some:
                continue
            lines += [f"### {title}", "", *_rows(some, self.beside), ""]
            gains = [gain for gain in self.gains if gain.table == table]
            if gains:
                lines += ["Gains, with standard errors:", "", *gain_rows(gains), ""]
        if self.checks:
            lines += ["### Theorems, compared with an enumeration of every split", "",
                      *_check_rows(self.checks), ""]  # fmt: skip
        packages = ", ".join(f"{name} {value}" for name, value in self.versions.items())
        commits = ", ".join(self.commits) or "not recorded"
        lines.append(
            "Differences are in standard errors of the difference; they are positive if ours is "
            f"better. The fits of the tables took {self.seconds / 3600:.1f} hours. Versions: "
            f"{packages}. Commits: {commits}."
        )
        return "\n".join(lines) + "\n"

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in (("ledger.json", self.to_json()), ("ledger.md", self.to_markdown())):
            with replacing(folder / name) as file:
                file.write_text(text, encoding="utf-8")


def _count(entries: Sequence[LedgerCell | Gain]) -> dict[str, int]:
    verdicts = [entry.verdict for entry in entries]
    return {name: verdicts.count(name) for name in sorted(set(verdicts))}


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{n} {verdict}" for verdict, n in counts.items())


def _rows(cells: list[LedgerCell], beside: list[LedgerCell]) -> list[str]:
    lines = ["| dataset | method | paper | ours | difference | seeds | verdict | note |",
             "| --- | --- | ---: | ---: | ---: | ---: | --- | --- |"]  # fmt: skip
    for cell in cells:
        lines.append(_row(cell))
        lines += [_row(other) for other in beside if _place(other) == _place(cell)]
    return lines


def _place(cell: LedgerCell) -> tuple[str, ...]:
    return cell.table, cell.dataset, cell.method, cell.part


def _row(cell: LedgerCell) -> str:
    method = f"{cell.method}, validation" if cell.part == "val" and cell.paper else cell.method
    error = "" if cell.errors is None else f"{cell.errors:+.1f}"
    paper = "" if cell.verdict == OURS else shown(cell.paper, cell.paper_std, cell.digits)
    return (
        f"| {cell.dataset} | {method} | {paper} | {shown(cell.ours, cell.ours_std)} | {error} | "
        f"{cell.seeds or ''} | {cell.verdict} | {cell.note} |"
    )


def _check_rows(checks: list[dict[str, Any]]) -> list[str]:
    lines = ["| claim | measure | value | cases | holds | note |",
             "| --- | --- | ---: | ---: | --- | --- |"]  # fmt: skip
    for check in checks:
        holds = "yes" if check["holds"] else "no"
        lines.append(
            f"| {check['check']} | {check['measure']} | {check['value']:.1g} | {check['cases']} | "
            f"{holds} | {check['note']} |"
        )
    return lines


def shown(mean: float | None, std: float | None, digits: int | None = None) -> str:
    """Mean ± standard deviation; small numbers get one digit more than in the paper."""
    if mean is None:
        return ""
    if digits is None:
        digits = 2 if abs(mean) >= 2 else 3
    return f"{mean:.{digits}f}" + ("" if std is None else f" ± {std:.{digits}f}")


# -- making ------------------------------------------------------------------------------------
def make_ledger(
    results: Path,
    data_dir: str | os.PathLike[str] | None = None,
    choices: dict[str, Choice] | None = None,
) -> Ledger:
    """The ledger of the results in a folder (``table1.jsonl``, …).

    ``choices`` are the open choices of each table's recipe.
    """
    stores = {name: read_results(results / f"{name}.jsonl") for name in EXPERIMENTS}
    cells, beside, used = [], [], []
    for cell in CELLS:
        store = stores[cell.table]
        choice = (choices or {}).get(cell.table, Choice("")).of(cell.method)
        if cell.table == "figure1":
            found, rows = _figure_cell(cell, store, data_dir, choice)
        else:
            rows = rows_of(cell, store)
            found = _table_cell(cell, rows, data_dir, choice)
        cells.append(found)
        for name in cell.beside:
            others = rows_of_method(store, cell.dataset, name)
            if others:
                beside.append(_our_form(cell, name, others))
                rows = [*rows, *others]
        used += rows
    gains = make_gains(stores, lambda cell: _is_here(cell, data_dir))
    checks = stores["theorems"]
    commits = {str(row.get("commit") or "") for row in [*used, *checks]}
    once = {id(row): row for row in used}.values()  # validation and test come from one fit
    # Exactly, since the sum of floats differs between versions of Python.
    seconds = math.fsum(float(row.get("seconds", 0.0)) for row in once)
    return Ledger(cells, beside, gains, checks, _versions(), sorted(commits - {""}), seconds)


def _is_here(cell: PaperCell, data_dir: Any) -> bool:
    """Whether the paper's data of a cell are available."""
    known = datasets.info(cell.dataset, data_dir)
    return known["edges_here"] and (known["features_here"] or not needs_features(cell))


def _mean_and_std(rows: list[Row], part: str) -> tuple[float, float | None]:
    values = np.array([row[part] for row in rows])
    return float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else None


def _judge(cell: PaperCell, rows: list[Row], choice: str) -> tuple[float, float | None, Judgement]:
    assert cell.paper is not None
    assert cell.paper_std is not None
    mean, std = _mean_and_std(rows, cell.part)
    how = {"digits": cell.digits, "lower_is_better": cell.lower_is_better, "choice": choice}
    judged = judge(cell.paper, cell.paper_std, mean, std or 0.0, len(rows), **how)  # type: ignore[arg-type]
    return mean, std, judged


def _table_cell(cell: PaperCell, rows: list[Row], data_dir: Any, choice: str) -> LedgerCell:
    own = [row for row in rows if is_of_paper_data(cell, row)]
    if not own:
        note = ""
        if rows:
            why = STAND_IN if needs_features(cell) else _OTHER_EDGES
            seeds = "seed" if len(rows) == 1 else "seeds"
            note = f"{why}: {shown(*_mean_and_std(rows, cell.part))} over {len(rows)} {seeds}"
        verdict = NOT_RUN if _is_here(cell, data_dir) and not rows else ABSENT
        return _entry(cell, None, None, 0, Judgement(verdict, None), note)
    mean, std, judged = _judge(cell, own, choice)
    notes = [choice] if judged.verdict == "recipe underspecified" else []
    tried = {len((row.get("chosen") or {}).get("split_rates", ())) for row in own} - {0}
    if tried and min(tried) < len(PAPER_SPLIT_RATES):
        notes.append(f"α among {min(tried)} values instead of {len(PAPER_SPLIT_RATES)}")
    return _entry(cell, mean, std, len(own), judged, "; ".join(notes))


def _our_form(cell: PaperCell, name: str, rows: list[Row]) -> LedgerCell:
    """Our own form of a cell's method. Its difference from the paper is given, but not judged."""
    own = [row for row in rows if is_of_paper_data(cell, row)]
    if own:
        mean, std, judged = _judge(cell, own, "")
        return _entry(cell, mean, std, len(own), Judgement(OURS, judged.errors), name)
    mean, std = _mean_and_std(rows, cell.part)
    why = STAND_IN if needs_features(cell) else _OTHER_EDGES
    return _entry(cell, mean, std, len(rows), Judgement(OURS, None), f"{name}; {why}")


def _figure_cell(
    cell: PaperCell, store: list[Row], data_dir: Any, choice: str
) -> tuple[LedgerCell, list[Row]]:
    claim, rows = judge_claim(cell, store)
    if claim is None:
        verdict = NOT_RUN if datasets.info(cell.dataset, data_dir)["here"] else ABSENT
        return _entry(cell, None, None, 0, Judgement(verdict, None), choice), rows
    judged = Judgement(claim.verdict, None)
    return _entry(cell, claim.mean, claim.std, claim.seeds, judged, claim.note), rows


def _entry(
    cell: PaperCell, ours: Any, std: Any, seeds: int, judged: Judgement, note: str
) -> LedgerCell:
    place = (cell.table, cell.dataset, cell.method, cell.part, cell.paper, cell.paper_std,
             cell.digits)  # fmt: skip
    return LedgerCell(*place, ours, std, seeds, judged.errors, judged.verdict, note)


def _versions() -> dict[str, str]:
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
