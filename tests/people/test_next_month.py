"""New customers a month later: added to a run, then scored when their labels become known."""

import json

import numpy as np
import polars as pl
import pytest

from tests.support.stories import BOOSTING, accuracy, fit_files, labeltrick, make_world

N, OLD = 200, 160


@pytest.fixture(scope="module")
def months(tmp_path_factory):
    folder = tmp_path_factory.mktemp("months")
    world = make_world(N, seed=11)
    ids = np.array([f"C{k:03}" for k in world.rng.permutation(N)])
    truth, known = world.classes("stays", "leaves")
    nodes = pl.DataFrame({"customer": ids, "visits": world.hint, "status": known})
    ends = pl.DataFrame({"from": ids[world.source], "to": ids[world.target]})
    old = (world.source < OLD) & (world.target < OLD)
    nodes[:OLD].write_csv(folder / "nodes.csv")
    ends.filter(old).write_csv(folder / "edges.csv")
    # The new table has no labels, and an old customer with another number of visits.
    moved = int(np.flatnonzero(~world.hidden[:OLD])[0])
    later = pl.concat([nodes[moved : moved + 1].with_columns(visits=pl.lit(9.5)), nodes[OLD:]])
    later.drop("status").write_csv(folder / "new.csv")
    ends.filter(~old).write_csv(folder / "new_edges.csv")
    done = fit_files(folder, "--nodes", "nodes.csv", "--edges", "edges.csv", "--target", "status",
               *BOOSTING)  # fmt: skip
    added = labeltrick(folder, "predict", "run", "--nodes", "new.csv", "--edges", "new_edges.csv",
                       "--out", "new_predictions.csv")  # fmt: skip
    assert added.code == 0, added.said
    written = pl.read_csv(folder / "new_predictions.csv")
    return folder, done, added, written, ids, truth, ids[moved]


def test_only_new_and_replaced_rows_are_written(months):
    _, _, added, written, ids, _, moved = months
    assert sorted(written["customer"]) == sorted([moved, *ids[OLD:]])
    assert f"1 row replaces a row of the run: {moved}" in added.said
    assert "other 159 nodes" in added.said


def test_labels_of_old_customers_are_kept(months):
    _, _, _, written, ids, truth, moved = months
    assert written.filter(customer=moved)["labeled"].to_list() == [True]
    assert not written.filter(customer=ids[-1])["labeled"].any()
    # New customers are mostly linked to old ones: their labels must be inputs.
    assert accuracy(written, ids[OLD:], truth[OLD:]) > 0.8


def test_the_run_is_not_changed(months):
    _, done, _, _, ids, _, _ = months
    assert sorted(pl.read_parquet(done.run / "predictions.parquet")["customer"]) == sorted(
        ids[:OLD]
    )


def test_evaluate_scores_only_what_the_run_predicted_without_a_label(months):
    folder, done, _, _, ids, truth, _ = months
    pl.DataFrame({"customer": ids, "status": truth}).write_csv(folder / "truth.csv")
    scored = labeltrick(folder, "evaluate", "run", "--nodes", "truth.csv", "--json")
    assert scored.code == 0, scored.said
    found = json.loads(scored.stdout)
    unknown = done.predictions.filter(~pl.col("labeled"))["customer"].to_list()
    of = dict(zip(ids, truth, strict=True))
    expected = accuracy(done.predictions, unknown, [of[customer] for customer in unknown])
    assert found["nodes"] == len(unknown)
    assert found["scores"]["accuracy"]["value"] == pytest.approx(expected)
    # The new customers are not nodes of the run.
    assert f"{N - OLD} rows are not nodes of the run and not scored" in found["notes"][0]
