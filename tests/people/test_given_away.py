"""A column that was filled in together with the label, and files in another order."""

import numpy as np
import polars as pl
import pytest

from tests.support.stories import BOOSTING, accuracy, assert_same, fit_files, fit_here, make_world

N = 240


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cases")
    world = make_world(N, seed=12, mixing=0.5)
    ids = np.array([f"case-{k}" for k in world.rng.permutation(N)])
    truth, known = world.classes("granted", "refused")
    code = world.known(np.array(["A1", "R7"])[world.group])  # blank where the label is
    nodes = pl.DataFrame({"case": ids, "income": world.hint, "code": code, "decision": known})
    edges = pl.DataFrame({"source": ids[world.source], "target": ids[world.target]})
    nodes.write_csv(folder / "nodes.csv")
    edges.write_csv(folder / "edges.csv")
    options = ("--target", "decision", *BOOSTING)
    fooled = fit_files(folder, "--nodes", "nodes.csv", "--edges", "edges.csv", *options)
    rows = world.rng.permutation(N)
    nodes[rows].write_csv(folder / "shuffled.csv")
    flipped = edges.sample(fraction=1, shuffle=True, seed=1).select(
        source="target", target="source"
    )
    flipped.write_csv(folder / "other_edges.csv")
    without = (*options, "--ignore", "code")
    honest = fit_files(
        folder, "--nodes", "nodes.csv", "--edges", "edges.csv", *without, out="honest"
    )
    shuffled = fit_here(folder, "shuffled.csv", "other_edges.csv", *without, out="shuffled")
    return fooled, honest, shuffled, ids[world.hidden], truth[world.hidden]


def test_the_score_is_marked(cases):
    fooled, honest, _, ids, truth = cases
    assert not fooled.metrics["trusted"]
    assert fooled.metrics["score"]["value"] > 0.99
    (column,) = fooled.metrics["suspicious_columns"]
    assert column["column"] == "code"
    assert "NOT TO BE TRUSTED" in fooled.said
    assert "column 'code' gives the answer away" in fooled.said
    assert "Pass --ignore code" in fooled.said
    # The score without the column is near the truth about the other rows.
    real = accuracy(honest.predictions, ids, truth)
    assert honest.metrics["trusted"]
    assert abs(fooled.metrics["score_without"]["score"]["value"] - real) < 0.1
    assert honest.metrics["score"]["value"] == fooled.metrics["score_without"]["score"]["value"]


def test_another_order_of_rows_gives_the_same_predictions(cases):
    _, honest, shuffled, _, _ = cases
    assert honest.predictions["case"].to_list() != shuffled["case"].to_list()
    assert_same(shuffled, honest.predictions)
