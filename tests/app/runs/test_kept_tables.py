"""The tables that a run keeps."""

import json
import shutil

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

from labeltrick.app.runs.applying import Given, apply_run
from labeltrick.app.runs.kept_tables import open_tables
from labeltrick.io.tables import build_graph_folder, read_frame
from tests.support.people import write_files
from tests.support.runs import bare_run


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = write_files(tmp_path_factory.mktemp("kept"), n=40, split=False)
    labels = pl.read_csv(folder / "truth.csv").head(5).rename({"id": "who"})
    labels.write_csv(folder / "labels.csv")
    paths = {name: str(folder / f"{name}.csv") for name in ("edges", "nodes", "labels")}
    return bare_run(folder / "run", **paths, target="label", model="label-propagation")


def test_tables_are_kept_as_they_were_read(run):
    kept = open_tables(run)
    assert kept.columns == {"id": "id", "src": "from", "dst": "to"}
    for name in ("nodes", "edges", "labels"):
        frame = read_frame(run.parent / f"{name}.csv", text=True)
        assert kept.read(name).frame.equals(frame)


@pytest.mark.parametrize("name", ["nodes", "edges", "labels"])
def test_a_damaged_or_exchanged_table_is_refused(run, tmp_path, name):
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    path = copy / "inputs" / f"{name}.parquet"
    whole = path.read_bytes()
    some = Given(nodes=str(run.parent / "nodes.csv"))
    middle = len(whole) // 2
    changed = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    other = (
        copy / "inputs" / ("edges.parquet" if name == "nodes" else "nodes.parquet")
    ).read_bytes()
    for content in (changed, whole[:-9], other, None):
        path.unlink() if content is None else path.write_bytes(content)
        with pytest.raises(ValueError, match=rf"{name}\.parquet` must") as caught:
            apply_run(copy, some)
        assert "\n" not in str(caught.value)
    path.write_bytes(whole)
    apply_run(copy, some)


def test_a_changed_list_is_refused_and_an_old_run_says_what_to_do(run, tmp_path):
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    listed = copy / "inputs" / "inputs.json"
    listed.write_text(listed.read_text().replace('"from"', '"to"'))
    with pytest.raises(ValueError, match=r"inputs.json` must be as the run wrote it"):
        apply_run(copy, Given())
    listed.unlink()
    with pytest.raises(ValueError, match=r"inputs.json` must exist"):
        apply_run(copy, Given())
    sums = json.loads((copy / "checksums.json").read_text())
    del sums["files"]["inputs/inputs.json"]  # as earlier versions wrote it
    (copy / "checksums.json").write_text(json.dumps(sums))
    assert apply_run(copy, Given())[0].height == 40
    with pytest.raises(ValueError, match="earlier version. Pass all rows with --replace"):
        apply_run(copy, Given(nodes=str(run.parent / "nodes.csv")))
    listed.write_text("{}")  # a list without a checksum
    with pytest.raises(ValueError, match=r"checksums.json` must be as the run wrote it"):
        apply_run(copy, Given())


def test_the_files_of_the_fit_are_not_needed(run, tmp_path):
    """Tables were kept: the original files may change or disappear."""
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    config = copy / "config.toml"
    assert str(run.parent) in config.read_text()
    labels = run.parent / "labels.csv"
    away = labels.rename(labels.with_suffix(".away"))
    try:
        new = pl.DataFrame({"id": ["new"], "height": [1.0], "town": ["Ulm"]})
        new.write_csv(tmp_path / "new.csv")
        frame, _ = apply_run(copy, Given(nodes=str(tmp_path / "new.csv")), everything=True)
    finally:
        away.rename(labels)
    known = dict(zip(frame["id"], frame["labeled"], strict=True))
    asked = pl.read_csv(labels)["who"].to_list()
    assert all(known[name] for name in asked)
    assert not known["new"]


def test_a_replaced_row_wins_over_the_label_file_of_the_run(run, tmp_path):
    who = pl.read_csv(run.parent / "labels.csv")["who"][0]
    pl.DataFrame({"id": [who, "b"], "label": [None, "red"]}).write_csv(tmp_path / "new.csv")
    frame, _ = apply_run(run, Given(nodes=str(tmp_path / "new.csv")))
    assert frame["labeled"].to_list() == [False, True]


@pytest.mark.parametrize("kind", ["folder", "npz"])
def test_a_run_on_a_graph_refers_to_it(tmp_path, kind):
    write_files(tmp_path, n=40, split=False)
    nodes = pl.read_csv(tmp_path / "nodes.csv")
    number = dict(zip(nodes["id"], range(40), strict=True))
    nodes = nodes.with_columns(id=pl.int_range(pl.len()))[::-1]
    nodes.write_csv(tmp_path / "nodes.csv")
    edges = pl.read_csv(tmp_path / "edges.csv").with_columns(pl.all().replace_strict(number))
    edges.write_csv(tmp_path / "edges.csv")
    if kind == "folder":
        graph = tmp_path / "graph"
        build_graph_folder(tmp_path / "edges.csv", graph, n_nodes=40, progress=False)
    else:
        graph = tmp_path / "graph.npz"
        A = sp.coo_array((np.ones(len(edges)), (edges["from"], edges["to"])), (40, 40))
        sp.save_npz(graph, sp.csr_array(A + A.T))
    options = {"nodes": str(tmp_path / "nodes.csv"), "target": "label"}
    run = bare_run(tmp_path / "run", edges=str(graph), **options, model="regression")
    said = []
    one = nodes.filter(pl.col("id") == 7).with_columns(height=9.0)
    one.write_csv(tmp_path / "one.csv")
    frame, _ = apply_run(run, Given(nodes=str(tmp_path / "one.csv")), show=said.append)
    assert frame["id"].cast(pl.String).to_list() == ["7"]
    assert str(graph) in said[0]
    whole, _ = apply_run(run, Given(nodes=str(tmp_path / "nodes.csv")), everything=True)
    stored = pl.read_parquet(run / "predictions.parquet")
    np.testing.assert_allclose(whole["p_red"], stored["p_red"], atol=1e-9)
    with pytest.raises(ValueError, match="to which no rows can be added. .* --replace --edges"):
        apply_run(run, Given(edges=str(tmp_path / "edges.csv")))
    one.with_columns(id=pl.lit(99)).write_csv(tmp_path / "one.csv")
    with pytest.raises(ValueError, match=r"one.csv`, row 2, column 'id' must be a node of the gr"):
        apply_run(run, Given(nodes=str(tmp_path / "one.csv")))
    if kind == "folder":
        build_graph_folder(
            tmp_path / "edges.csv", graph, n_nodes=40, directed=True, overwrite=True, progress=False
        )
    else:
        graph.write_bytes(graph.read_bytes() + b"\0")
    with pytest.raises(ValueError, match="must be the graph that the run was fitted to"):
        apply_run(run, Given(nodes=str(tmp_path / "nodes.csv")))
