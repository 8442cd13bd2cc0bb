"""Stored results: reading them, and which of them are of the paper's data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from experiments.paper import PaperCell

Row = dict[str, Any]


def read_results(path: Path) -> list[Row]:
    """The results of a store; the latest of several equal ones counts. Incomplete lines, left by an
    interruption, are skipped."""
    found: dict[Any, Row] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        keys = ("dataset", "method", "curve", "rate", "seed", "check")
        found[tuple(row.get(key) for key in keys)] = row
    return list(found.values())


def has_own_features(row: Row) -> bool:
    """Whether a result used the dataset's own features. OGB's sets are often copied without them;
    older results without this entry did not use them."""
    return (row.get("features") or ("" if row["dataset"].startswith("ogbn-") else "own")) == "own"


def has_own_edges(row: Row) -> bool:
    """Whether a result used the dataset's own edges. California housing is often copied without
    them; older results without this entry did not use them."""
    return (row.get("edges") or ("nearest" if row["dataset"] == "house" else "own")) == "own"


def needs_features(cell: PaperCell) -> bool:
    return cell.table in ("table3", "table4")


def is_of_paper_data(cell: PaperCell, row: Row) -> bool:
    """Whether a result used the edges and, where the cell needs them, the features of the paper."""
    return has_own_edges(row) and (has_own_features(row) or not needs_features(cell))


def rows_of(cell: PaperCell, rows: list[Row]) -> list[Row]:
    """The results of the first of the cell's methods that has been run."""
    for name in cell.ours:
        some = rows_of_method(rows, cell.dataset, name)
        if some:
            return some
    return []


def rows_of_method(rows: list[Row], dataset: str, name: str) -> list[Row]:
    mine = [row for row in rows if row["dataset"] == dataset]
    return [row for row in mine if row.get("method", row.get("curve")) == name]
