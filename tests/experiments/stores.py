"""Small stores of results, and finding a cell in a ledger."""

import json


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def outcome(seed, test, **more):
    base = {"dataset": "pubmed", "method": "LP", "seed": seed, "val": 80.0, "test": test}
    return {**base, "seconds": 2.0, "commit": "abc", **more}


def cell_of(ledger, table, dataset, method):
    return next(
        c for c in ledger.cells if (c.table, c.dataset, c.method) == (table, dataset, method)
    )
