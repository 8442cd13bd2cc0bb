"""The ledger: every cell of the paper's tables beside ours, as JSON and as a page."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from experiments.paper import CELLS, EXPERIMENTS, PaperCell
from experiments.verdicts import ABSENT, Judgement, judge, judge_limit
from labeltrick._utils.json_files import dumps
from labeltrick._utils.whole_files import replacing
from labeltrick.io import datasets

_PACKAGES = ("labeltrick", "numpy", "scipy", "numba", "scikit-learn", "lightgbm", "torch",
             "torch-geometric")  # fmt: skip
_NOT_RUN = "not run"
_STAND_IN = "features not available; ranked guesses of the class used instead"
_OTHER_EDGES = (
    "the paper's edges (from BGNN) are not available; ours connect each block to its five nearest"
)
_TITLES = {
    "table1": "Table 1: label propagation, accuracy in percent",
    "table2": "Table 2: boosted trees and Correct & Smooth, root mean squared error",
    "table3": "Table 3: linear propagation with and without labels, accuracy in percent",
    "table4": "Table 4: Correct & Smooth on an MLP, accuracy in percent",
    "figure1": "Figure 1: distance from the end of each curve to its limit, in accuracy points",
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
    """All cells, the checks of the theorems, and the versions and commits that produced them."""

    cells: list[LedgerCell]
    checks: list[dict[str, Any]] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    commits: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def count(self) -> dict[str, int]:
        """Number of cells per verdict."""
        verdicts = [cell.verdict for cell in self.cells]
        return {name: verdicts.count(name) for name in sorted(set(verdicts))}

    def to_json(self) -> str:
        return dumps(asdict(self), indent=1) + "\n"

    def to_markdown(self) -> str:
        total = ", ".join(f"{n} {verdict}" for verdict, n in self.count().items())
        lines = [f"{len(self.cells)} cells: {total}.", ""]
        for table, title in _TITLES.items():
            some = [cell for cell in self.cells if cell.table == table]
            if some:
                lines += [f"### {title}", "", *_rows(some), ""]
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


def _rows(cells: list[LedgerCell]) -> list[str]:
    lines = ["| dataset | method | paper | ours | difference | seeds | verdict | note |",
             "| --- | --- | ---: | ---: | ---: | ---: | --- | --- |"]  # fmt: skip
    for cell in cells:
        method = f"{cell.method}, validation" if cell.part == "val" and cell.paper else cell.method
        error = "" if cell.errors is None else f"{cell.errors:+.1f}"
        lines.append(
            f"| {cell.dataset} | {method} | {shown(cell.paper, cell.paper_std, cell.digits)} | "
            f"{shown(cell.ours, cell.ours_std)} | {error} | {cell.seeds or ''} | {cell.verdict} | "
            f"{cell.note} |"
        )
    return lines


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
    cells, used = [], []
    for cell in CELLS:
        rows = _of_cell(cell, stores[cell.table])
        used += rows
        choice = (choices or {}).get(cell.table, Choice("")).of(cell.method)
        make = _limit_cell if cell.table == "figure1" else _table_cell
        cells.append(make(cell, rows, data_dir, choice))
    checks = stores["theorems"]
    commits = {str(row.get("commit") or "") for row in [*used, *checks]}
    once = {id(row): row for row in used}.values()  # validation and test come from one fit
    seconds = sum(float(row.get("seconds", 0.0)) for row in once)
    return Ledger(cells, checks, _versions(), sorted(commits - {""}), seconds)


def read_results(path: Path) -> list[dict[str, Any]]:
    """The results of a store; the latest of several equal ones counts. Incomplete lines, left by an
    interruption, are skipped."""
    found: dict[Any, dict[str, Any]] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        keys = ("dataset", "method", "curve", "rate", "seed", "check")
        found[tuple(row.get(key) for key in keys)] = row
    return list(found.values())


def _of_cell(cell: PaperCell, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    mine = [row for row in rows if row["dataset"] == cell.dataset]
    for name in cell.ours:
        some = [row for row in mine if row.get("method", row.get("curve")) == name]
        if some:
            return some
    return []


def _table_cell(cell: PaperCell, rows: list[Any], data_dir: Any, choice: str) -> LedgerCell:
    needs_features = cell.table in ("table3", "table4")
    own = [row for row in rows if has_own_edges(row)]
    own = [row for row in own if not needs_features or has_own_features(row)]
    values = np.array([row[cell.part] for row in own or rows])
    mean = float(values.mean()) if len(values) else 0.0
    std = float(values.std(ddof=1)) if len(values) > 1 else None
    known = datasets.info(cell.dataset, data_dir)
    here = known["edges_here"] and (known["features_here"] or not needs_features)
    obstacle = ""
    if rows and not own:
        obstacle = _STAND_IN if needs_features else _OTHER_EDGES
    if obstacle and len(values):
        seeds = "seed" if len(values) == 1 else "seeds"
        obstacle += f": {shown(mean, std)} over {len(values)} {seeds}"
    if obstacle or not len(values):
        verdict = _NOT_RUN if here and not obstacle else ABSENT
        return _entry(cell, None, None, 0, Judgement(verdict, None), obstacle)
    rows = own
    assert cell.paper is not None
    assert cell.paper_std is not None
    how = {"digits": cell.digits, "lower_is_better": cell.lower_is_better, "choice": choice}
    judged = judge(cell.paper, cell.paper_std, mean, std or 0.0, len(values), **how)  # type: ignore[arg-type]
    method = rows[0]["method"]
    notes = [choice] if judged.verdict == "recipe underspecified" else []
    notes += [f"ours: {method}"] if method != cell.ours[0] or len(cell.ours) > 1 else []
    return _entry(cell, mean, std, len(values), judged, "; ".join(notes))


def has_own_features(row: dict[str, Any]) -> bool:
    """Whether a result used the dataset's own features. OGB's sets are often copied without them;
    older results without this entry did not use them."""
    return (row.get("features") or ("" if row["dataset"].startswith("ogbn-") else "own")) == "own"


def has_own_edges(row: dict[str, Any]) -> bool:
    """Whether a result used the dataset's own edges. California housing is often copied without
    them; older results without this entry did not use them."""
    return (row.get("edges") or ("nearest" if row["dataset"] == "house" else "own")) == "own"


def _limit_cell(cell: PaperCell, rows: list[Any], data_dir: Any, choice: str) -> LedgerCell:
    """Distance from the end of a curve to its limit; the paper's figure prints no numbers."""
    at_zero = cell.method.endswith("→ 0")
    limit_rate = 0.0 if at_zero else 1.0
    by_rate: dict[float, dict[int, float]] = {}
    for row in rows:
        by_rate.setdefault(row["rate"], {})[row["seed"]] = row["val"]
    limit = by_rate.get(limit_rate, {})
    inner = sorted(rate for rate in by_rate if 0 < rate < 1)
    if not limit or not inner:
        here = datasets.info(cell.dataset, data_dir)["here"]
        return _entry(cell, None, None, 0, Judgement(_NOT_RUN if here else ABSENT, None), choice)
    end = by_rate[inner[0] if at_zero else inner[-1]]
    gaps = np.array([end[seed] - limit[seed] for seed in end if seed in limit])
    means = np.array([np.mean(list(by_rate[rate].values())) for rate in inner])
    widest = float(np.abs(means - np.mean(list(limit.values()))).max())
    std = float(gaps.std(ddof=1)) if len(gaps) > 1 else None
    error = (std or 0.0) / np.sqrt(len(gaps))
    judged = judge_limit(float(gaps.mean()), float(error), widest)
    note = f"the largest distance of the curve from its limit is {widest:.2f} points"
    if not all(has_own_features(row) for row in rows):
        note += f"; {_STAND_IN}"
    return _entry(cell, float(gaps.mean()), std, len(gaps), Judgement(judged.verdict, None), note)


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
