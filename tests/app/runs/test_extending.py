"""Rows that are added to the tables of a run."""

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labeltrick.app.runs.applying import Given, apply_run
from tests.support.people import invoke, write_files
from tests.support.runs import bare_run


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run on 60 people, with columns and a split."""
    folder = write_files(tmp_path_factory.mktemp("people"), n=60)
    options = {"target": "label", "split_column": "split", "model": "regression"}
    paths = {name: str(folder / f"{name}.csv") for name in ("edges", "nodes")}
    return bare_run(folder / "run", **paths, **options)


def tables(run):
    return (pl.read_csv(run.parent / f"{name}.csv") for name in ("nodes", "edges"))


def write(path, **columns):
    pl.DataFrame(columns).write_csv(path)
    return str(path)


def same(found, expected):
    """Equal ids, classes and marks; numbers equal up to rounding."""
    assert found.columns == expected.columns
    assert found.height == expected.height
    for name in found.columns:
        if found[name].dtype.is_float():
            np.testing.assert_allclose(found[name], expected[name], atol=1e-9)
        else:
            assert found[name].to_list() == expected[name].to_list()


# -- what is written and said ------------------------------------------------------------------
def test_new_customers_with_edges_to_old_ones(run, tmp_path):
    nodes, _ = tables(run)
    red = nodes.filter((pl.col("label") == "red") & (pl.col("split") == "train"))["id"][:4]
    new = write(tmp_path / "n.csv", id=["new 1", "alone"], height=[0.1, 2.0], town=["Ulm", "Bonn"],
                shoe=[1, 2])  # fmt: skip
    edges = write(tmp_path / "e.csv", **{"from": ["new 1"] * 4, "to": red})
    frame, notes = apply_run(run, Given(nodes=new, edges=edges))
    assert frame.to_series(0).to_list() == ["new 1", "alone"]
    assert frame["prediction"][0] == "red"
    assert frame["reached"].to_list() == [True, False]
    said = "\n".join(notes)
    assert "has a column that the run does not have; it is not used: 'shoe'" in said
    assert "1 node has no edges, so no label reaches it: alone" in said
    assert "the other 60 nodes" in said
    everything, _ = apply_run(run, Given(nodes=new, edges=edges), everything=True)
    assert everything.to_series(0).to_list() == [*nodes["id"], "new 1", "alone"]
    same(everything[60:], frame)


def test_with_nothing_new_predictions_are_those_of_the_run(run):
    stored = pl.read_parquet(run / "predictions.parquet")
    nodes, edges = (str(run.parent / f"{name}.csv") for name in ("nodes", "edges"))
    found, notes = apply_run(run, Given(nodes=nodes), everything=True)
    same(found, stored)
    assert any("60 rows replace rows of the run: person" in note for note in notes)
    same(apply_run(run, Given(nodes=nodes, edges=edges), alone=True)[0], stored)
    found, notes = apply_run(run, Given(edges=edges))  # no node is new: all are written
    same(found, stored)
    assert any("already in the run: which changes nothing" in note for note in notes)


def test_a_replaced_row_has_its_label_or_keeps_the_old_one(run, tmp_path):
    nodes, _ = tables(run)
    part = {name: nodes.filter(pl.col("split") == name)["id"][0] for name in ("train", "test")}
    ids = [part["train"], part["test"]]
    columns = {"id": ids, "height": [5.0, 5.0], "town": ["Ulm", "Ulm"]}
    without = write(tmp_path / "without.csv", **columns)
    frame, notes = apply_run(run, Given(nodes=without))
    assert dict(zip(frame.to_series(0), frame["labeled"], strict=True)) == dict(
        zip(ids, [True, False], strict=True)
    )
    assert f"2 rows replace rows of the run: {', '.join(frame.to_series(0))}" in notes
    blank = write(tmp_path / "blank.csv", **columns, label=[None, None])
    same(apply_run(run, Given(nodes=blank))[0], frame)
    # Labels of test nodes are not inputs, whatever they are.
    found = [
        apply_run(run, Given(nodes=write(tmp_path / "x.csv", **columns, label=["red", label])))[0]
        for label in ("red", "blue")
    ]
    same(*found)
    assert found[0]["labeled"].to_list() == frame["labeled"].to_list()
    mixed = write(tmp_path / "mixed.csv", **columns, label=[None, "red"])  # takes a label away
    assert not apply_run(run, Given(nodes=mixed))[0]["labeled"].any()


def test_labels_of_new_nodes_are_inputs_unless_they_are_scored(run, tmp_path):
    columns = {"id": ["a", "b"], "height": [1.0, 1.0], "town": ["Ulm", "Ulm"]}
    labels = {"label": ["red", "blue"]}
    new = write(tmp_path / "new.csv", **columns, **labels)
    assert apply_run(run, Given(nodes=new))[0]["labeled"].to_list() == [True, True]
    scored = write(tmp_path / "scored.csv", **columns, **labels, split=["train", "test"])
    assert apply_run(run, Given(nodes=scored))[0]["labeled"].to_list() == [True, False]


def test_what_cannot_be_added_is_refused_by_file_and_row(run, tmp_path):
    nodes, _ = tables(run)
    less = write(tmp_path / "less.csv", id=["a"])
    with pytest.raises(ValueError, match=r"less.csv` must have .* 'height', 'town' are missing"):
        apply_run(run, Given(nodes=less))
    bad = write(tmp_path / "bad.csv", id=["a", nodes["id"][3]], height=["1", "tall"], town=["", ""])
    with pytest.raises(ValueError, match=r"bad.csv`, row 3, column 'height' .* got 'tall'"):
        apply_run(run, Given(nodes=bad))
    edges = write(tmp_path / "e.csv", **{"from": [nodes["id"][0], "x"], "to": [nodes["id"][1]] * 2})
    with pytest.raises(ValueError, match=r"e.csv`, row 3, column 'from' .* got 'x'"):
        apply_run(run, Given(edges=edges))
    frame, _ = apply_run(run, Given(edges=edges, unknown_nodes="add"))
    assert frame.to_series(0).to_list() == ["x"]
    with pytest.raises(ValueError, match="`--src` must name a column .* got 'from'"):
        apply_run(run, Given(edges=write(tmp_path / "o.csv", a=["x"], b=["y"])))
    upper = write(tmp_path / "u.csv", id=["new 1"], HEIGHT=[0.1], town=["Ulm"])
    with pytest.raises(ValueError, match=r"'height' is missing. Rename 'HEIGHT', or add it, with"):
        apply_run(run, Given(nodes=upper))
    other = write(tmp_path / "o.csv", a=[nodes["id"][0]], b=[nodes["id"][1]])
    assert apply_run(run, Given(edges=other, src="a", dst="b"))[0].height == 60
    with pytest.raises(ValueError, match="`--replace` must come with --edges"):
        apply_run(run, Given(nodes=less), alone=True)


@pytest.mark.parametrize("unknown", ["add", "drop"])
def test_settings_of_the_run_hold_for_new_rows(tmp_path, unknown):
    write_files(tmp_path, n=60, split=False)
    files = ("--edges", tmp_path / "edges.csv", "--nodes", tmp_path / "nodes.csv")
    options = ("--unknown-nodes", unknown, "--model", "label-propagation", "-q")
    invoke("fit", *files, "--target", "label", *options, "--out", tmp_path / "run")
    known = pl.read_csv(tmp_path / "nodes.csv")["id"][0]
    new = write(tmp_path / "e.csv", **{"from": ["nobody", known], "to": [known, known]})
    asked = ("predict", tmp_path / "run", "--edges", new, "--all", "--out")
    invoke(*asked, tmp_path / "p.csv")
    found = pl.read_csv(tmp_path / "p.csv")
    assert ("nobody" in found["id"].to_list()) == (unknown == "add")
    with pytest.raises(ValueError, match="must be a node of the node table; got 'nobody'"):
        invoke(*asked, tmp_path / "q.csv", "--unknown-nodes", "error")


def test_one_prediction_is_counted_as_one(run, tmp_path):
    new = write(tmp_path / "n.csv", id=["new 1"], height=[0.1], town=["Ulm"])
    said = invoke("predict", run, "--nodes", new, "--out", tmp_path / "p.csv")
    assert "1 prediction: " in said


def test_the_command_writes_new_nodes_or_all(run, tmp_path):
    new = write(tmp_path / "n.csv", id=["new 1"], height=[0.1], town=["Ulm"])
    out = tmp_path / "o.csv"
    invoke("predict", run, "--nodes", new, "--out", out, "--quiet")
    assert pl.read_csv(out).height == 1
    invoke("predict", run, "--nodes", new, "--out", out, "--all", "--overwrite", "--quiet")
    assert pl.read_csv(out).height == 61


# -- the same as files that hold all rows -------------------------------------------------------
@st.composite
def additions(draw):
    """Tables of a run, new rows, and the tables that hold all of them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m = 24, draw(st.integers(0, 5))
    numbers = draw(st.booleans())
    name = (lambda k: k) if numbers else (lambda k: f"node {k}")
    group, parts = np.arange(n + m) % 2, ["train", "train", "val", "test"]
    nodes = pl.DataFrame(
        {
            "id": [name(k) for k in range(n + m)],
            "x": group + rng.normal(size=n + m),
            "town": rng.choice(["Ulm", "Bonn", "Kiel"], n + m),
            "label": [
                None if k > 3 and rng.random() < 0.3 else "ab"[g] for k, g in enumerate(group)
            ],
            "split": ["train"] * 4 + rng.choice(parts, n + m - 4).tolist(),
        }
    )
    replaced = rng.choice(n, draw(st.integers(0, 3)), replace=False)
    changed = nodes[replaced.tolist()].with_columns(x=pl.col("x") + 1, label=pl.lit("a"))
    ends = rng.integers(0, n, (2, 60))
    more = rng.integers(0, n + m, (2, draw(st.integers(1, 12))))
    weights = {} if draw(st.booleans()) else {"weight": rng.random(60)}
    edges = pl.DataFrame({"src": [name(k) for k in ends[0].tolist()],
                          "dst": [name(k) for k in ends[1].tolist()], **weights})  # fmt: skip
    weights = weights and {"weight": rng.random(more.shape[1])}
    extra = pl.DataFrame({"src": [name(k) for k in more[0].tolist()],
                          "dst": [name(k) for k in more[1].tolist()], **weights})  # fmt: skip
    new = pl.concat([nodes[n:], changed])
    whole = nodes.update(changed, on="id")
    return nodes[:n], edges, new, extra, whole, pl.concat([edges, extra])


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(additions(), st.sampled_from(["label-propagation", "regression"]), st.booleans())
def test_adding_rows_is_predicting_on_all_rows(tmp_path_factory, found, model, directed):
    folder = tmp_path_factory.mktemp("extend")
    names = ("nodes", "edges", "new", "extra", "all_nodes", "all_edges")
    path = {name: str(folder / f"{name}.csv") for name in names}
    for name, frame in zip(names, found, strict=True):
        frame.write_csv(path[name])
    options = {"target": "label", "split_column": "split", "model": model, "directed": directed}
    run = bare_run(folder / "run", edges=path["edges"], nodes=path["nodes"], **options)
    new = {"nodes": path["new"]} if found[2].height else {}
    together, _ = apply_run(run, Given(edges=path["extra"], **new), everything=True)
    alone = Given(edges=path["all_edges"], nodes=path["all_nodes"])
    same(together, apply_run(run, alone, alone=True)[0])
    fresh, _ = apply_run(run, Given(edges=path["extra"], **new))
    if found[2].height:
        same(fresh, together.filter(pl.col("id").is_in(found[2]["id"].implode())))
