"""Customers and their calls in a DuckDB file and in SQLite: tables, and a query."""

import sqlite3

import numpy as np
import polars as pl
import pytest

from tests.support.stories import BOOSTING, accuracy, assert_same, fit_files, fit_plain, make_world

duckdb = pytest.importorskip("duckdb")
pytest.importorskip("sqlalchemy")

N = 140


@pytest.fixture(scope="module")
def phone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("phone")
    world = make_world(N, seed=10)
    ids = 500 + world.rng.permutation(N)
    truth, known = world.classes("private", "business")
    m = len(world.source)
    customers = pl.DataFrame({"customer_id": ids, "usage": world.hint, "segment": known})
    calls = pl.DataFrame(
        {
            "call_id": np.arange(1, m + 1),
            "caller": ids[world.source],
            "callee": ids[world.target],
            "seconds": world.rng.integers(1, 700, m),
        }
    )
    with duckdb.connect(str(folder / "phone.db")) as base:
        for name, table in (("customers", customers), ("calls", calls)):
            base.register("given", table.to_arrow())
            base.execute(f"create table {name} as select * from given")
    with sqlite3.connect(folder / "phone.sqlite") as base:
        base.execute("create table customers (customer_id integer, usage real, segment text)")
        base.executemany("insert into customers values (?, ?, ?)", customers.rows())
        base.execute("create table calls (call_id, caller, callee, seconds)")
        base.executemany("insert into calls values (?, ?, ?, ?)", calls.rows())
    base.close()
    before = {path: path.read_bytes() for path in folder.iterdir()}
    query = "select caller, callee from calls where seconds > 0"
    runs = [
        fit_files(
            folder, "--nodes", nodes, "--edges", edges, "--target", "segment", *BOOSTING, out=out
        )
        for nodes, edges, out in (
            ("duckdb:phone.db?customers", "duckdb:phone.db?calls", "duck"),
            ("sqlite:///phone.sqlite?customers", f"sqlite:///phone.sqlite?{query}", "lite"),
        )
    ]
    plain = fit_plain(
        folder,
        {"id": ids, "usage": world.hint, "answer": known},
        {"source": calls["caller"], "target": calls["callee"]},
        *BOOSTING,
    )
    assert all(path.read_bytes() == content for path, content in before.items())
    return runs, plain, ids[world.hidden], truth[world.hidden]


def test_predictions_are_those_of_plain_files(phone):
    runs, plain, ids, truth = phone
    for done in runs:
        assert done.predictions.columns[0] == "customer_id"
        assert_same(done.predictions, plain)
        assert accuracy(done.predictions, ids, truth) > 0.8


def test_what_was_decided_is_said(phone):
    duck, lite = (done.said for done in phone[0])
    assert "edges: caller → callee; not used: call_id, seconds" in duck
    assert "edges: caller → callee" in lite
    assert "nodes: id customer_id; target segment; 1 feature" in duck
