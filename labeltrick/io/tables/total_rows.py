"""Rows such as "Total" below a table, which would be nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from .sources import Source, TableName, row_name

_TOTAL = (
    r"^(grand |sub)?-?(total|totals|sum|sums|summe|summen|gesamt|gesamtsumme|insgesamt"
    r"|total général|suma|totale|totaal|average|mean|mittelwert|durchschnitt)\s*:?$"
)


def warnings_on_totals(table: TableName, ids: pl.Series, graph: Any) -> list[str]:
    """A sentence about a node that is called like a sum or a mean of the others and has no edges.
    A node with edges may be called so: Total is a company."""
    if ids.dtype != pl.String:
        return []
    named = ids.str.strip_chars().str.to_lowercase().str.contains(_TOTAL).fill_null(False)
    rows = np.intersect1d(named.arg_true().to_numpy(), graph.isolated)
    several = isinstance(table, Source) and len(table.parts) > 1
    file = "" if several else f" of {table}"  # else the row is named with its file
    return [
        f"{ids[row]!r} in {row_name(table, row)}{file} looks like a sum of the other rows, but is "
        "a node (without edges) and is predicted. Delete the row if it is a sum"
        for row in rows[:3].tolist()
    ]
