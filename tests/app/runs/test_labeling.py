"""Which nodes to label next."""

import numpy as np
import polars as pl

from labeltrick.app.runs.labeling import choose_nodes
from tests.support.people import fit_arguments, invoke, write_files


def test_label_next_asks_for_unlabeled_nodes(fitted, tmp_path):
    folder, _ = fitted
    for by in ("reach", "uncertainty"):
        out = tmp_path / f"{by}.csv"
        invoke("label-next", folder / "run", "--count", 7, "--by", by, "--out", out, "--quiet")
        frame = pl.read_csv(out)
        assert frame.columns == ["id", "prediction", "uncertainty", "reach", "label"]
        assert frame["label"].null_count() == frame.height == 7
        stored = pl.read_parquet(folder / "run" / "predictions.parquet")
        labeled = stored.filter(pl.col("labeled"))["id"].to_list()
        assert not set(frame["id"]) & set(labeled)


def test_label_next_leaves_test_nodes_alone_while_there_are_others(tmp_path):
    write_files(tmp_path)
    nodes = pl.read_csv(tmp_path / "nodes.csv")
    blank = pl.int_range(pl.len()) % 5 == 0
    nodes = nodes.with_columns(
        pl.when(blank).then(None).otherwise("label").alias("label"),
        pl.when(blank).then(None).otherwise("split").alias("split"),
    )
    nodes.write_csv(tmp_path / "nodes.csv")
    arguments = fit_arguments(tmp_path, "run", "--split-column", "split", "-q")
    invoke(*arguments, "--model", "label-propagation")
    invoke("label-next", tmp_path / "run", "--count", 300, "--out", tmp_path / "ask.csv", "-q")
    asked = pl.read_csv(tmp_path / "ask.csv")["id"]
    assert sorted(asked) == sorted(nodes.filter(pl.col("label").is_null())["id"])


def test_label_next_spreads_its_choices():
    """Two far-apart stars of doubt: one center each, rather than a center and its leaf."""
    from labeltrick import Graph, Resolvent

    hub = np.repeat([0, 10], 9)
    graph = Graph.from_edges(hub, np.concatenate([np.arange(1, 10), np.arange(11, 20)]))
    P = Resolvent(graph, 0.8, norm="row")
    chosen = choose_nodes(np.ones(20), np.arange(20), P, 2, "reach")
    assert set(chosen) == {0, 10}
