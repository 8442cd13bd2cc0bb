"""Tables for spreadsheets: no cell is a formula there, and every text is read back as it was."""

import csv
import re

import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from labeltrick.io.tables import Roles, build_graph_folder, read_frame, read_problem, write_frame
from labeltrick.io.tables.spreadsheets import MARK, MISSING
from tests.support.hostile import TARGET, fit_hostile, write_hostile
from tests.support.people import invoke, write_files

QUICK = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
# Much of what is drawn begins as formulas and escapes do.
starts = st.lists(st.sampled_from("'=+-@\t\r\n ＝＋－＠\u3000\ufeff\x1b−"), max_size=3).map("".join)
letters = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
texts = st.one_of(
    st.builds(str.__add__, starts, st.text(letters, max_size=8)),
    st.sampled_from([*MISSING, "'NA", "''", "007", "-1.5", "'-1.5", "-5", "+5", '"', 'a"b', "a,b"]),
)


def risky(cell):
    """As spreadsheets read a cell, said once more in other words."""
    if re.fullmatch(r"-(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", cell):
        return False
    rest = re.sub(r"^[\s\x00-\x20\u200b-\u200f\u2060\ufeff]+", "", cell)
    return cell[:1] in ("\t", "\r", "\n") or rest[:1] in tuple("=+-@＝＋－＠")


def cells_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        separator = "\t" if path.suffix == ".tsv" else ","
        return [cell for row in csv.reader(file, delimiter=separator) for cell in row]


@QUICK
@given(
    ids=st.lists(texts, min_size=1, max_size=6),
    names=st.lists(texts.filter(bool), min_size=2, max_size=4, unique=True),
    ending=st.sampled_from(["csv", "tsv"]),
)
@example(["'=1", "=1", "''=1", "'a", "a"], ["=x", "'=x", 'q"', "q'"], "csv")
def test_texts_come_back_and_no_cell_is_a_formula(tmp_path, ids, names, ending):
    names = [name for name in names if name != MARK and not re.match(r'.*""|\^.*\$', name)]
    frame = pl.DataFrame(dict.fromkeys(names, ids), schema=dict.fromkeys(names, pl.String))
    frame = frame.with_columns(pl.lit(-1.5).alias("number of ours"))
    path = write_frame(frame, tmp_path / f"t.{ending}")
    assert not [cell for cell in cells_of(path) if risky(cell)]
    found = read_frame(path, text=True)
    assert found.columns == frame.columns
    assert found.drop("number of ours").equals(frame.drop("number of ours"))
    assert set(found["number of ours"]) == {"-1.5"}


@QUICK
@given(st.lists(texts.filter(lambda text: text not in MISSING), min_size=1, max_size=6))
def test_files_of_others_are_read_as_they_are(tmp_path, ids):
    frame = pl.DataFrame({"id": ids, "x": ["'=1+1"] * len(ids)})
    frame.write_csv(tmp_path / "t.csv")
    assert read_frame(tmp_path / "t.csv", text=True).equals(frame)


def test_a_table_without_formulas_has_no_mark(tmp_path):
    frame = pl.DataFrame({"id": ["a", "'b", "-1.5", "007"], "x": [-1.5, -2.0, 3.0, None]})
    assert write_frame(frame, tmp_path / "t.csv").read_text() == (
        "id,x\na,-1.5\n'b,-2.0\n-1.5,3.0\n007,\n"
    )


def test_the_mark_is_in_the_file_and_not_in_the_table(tmp_path):
    frame = pl.DataFrame({"id": ["=1", "'x", "'=1"], "x": [-1.5, None, 2.0]})
    path = write_frame(frame, tmp_path / "t.csv")
    assert path.read_text() == f"id,x,{MARK}\n'=1,-1.5,yes\n'x,,yes\n''=1,2.0,yes\n"
    assert read_frame(path).equals(frame)
    with pytest.raises(ValueError, match="must have no column named 'labeltrick_escaped'"):
        write_frame(pl.DataFrame({MARK: [1]}), tmp_path / "u.csv")
    # What a spreadsheet has taken away, or a person typed without it, is not taken for an escape.
    path.write_text(f"id,x,{MARK}\n=1,-1.5,yes\n'x,,yes\n''=1,2.0,yes\n")
    assert read_frame(path).equals(frame)


def test_what_a_text_file_cannot_hold_is_refused(tmp_path):
    for frame in (pl.DataFrame({"id": ["a\0b"]}), pl.DataFrame({"a\0b": ["a"]})):
        with pytest.raises(ValueError, match="NUL"):
            write_frame(frame, tmp_path / "t.csv")
        assert list(tmp_path.iterdir()) == []


def test_marked_tables_as_edges_and_nodes(tmp_path):
    ids = ["=a", "'=a", "'a", "a"]
    nodes = pl.DataFrame({"id": ids, "=label": ["=x", "'=x", "=x", None], "k": [1, 2, 3, 5]})
    edges = pl.DataFrame({"src": ids[:3], "dst": ids[1:]})
    paths = write_frame(edges, tmp_path / "e.csv"), write_frame(nodes, tmp_path / "n.csv")
    problem = read_problem(*paths, Roles(target="=label"))
    assert problem.ids.to_list() == ids
    assert problem.labels.values.tolist() == ["=x", "'=x", "=x", None]
    assert [kind.name for kind in problem.kinds] == ["id", "=label", "k"]
    build_graph_folder(paths[0], tmp_path / "graph.lt")
    assert read_problem(tmp_path / "graph.lt", paths[1]).ids.to_list() == ids


def test_names_that_are_patterns_for_polars(tmp_path):
    nodes = pl.DataFrame({"id": [f"={k}" for k in range(24)], "*": ["x", "y", "NA"] * 8})
    nodes = nodes.with_columns(nodes["*"].alias("kind"), nodes["*"].alias("label"))
    edges = pl.DataFrame({"*": ["=0", "=1"], "to": ["=1", "=2"], "more": ["a", "b"]})
    paths = write_frame(edges, tmp_path / "e.csv"), write_frame(nodes, tmp_path / "n.csv")
    problem = read_problem(*paths, Roles(target="label"))
    assert problem.X.columns == ["*", "kind"]
    assert problem.labels.values[:3].tolist() == ["x", "y", "NA"]
    build_graph_folder(paths[0], tmp_path / "graph.lt")
    write_frame(nodes.head(3), tmp_path / "n.csv")
    assert read_problem(tmp_path / "graph.lt", paths[1]).graph.n_edges == 2
    write_frame(nodes.rename({"kind": "^b$"}), tmp_path / "n.csv")
    with pytest.raises(ValueError, match="n.csv` must have no column whose name begins with"):
        read_problem(*paths)


def test_names_with_quotes_in_a_header(tmp_path):
    (tmp_path / "t.csv").write_text('id,"the ""label"""\n1,a\n')
    assert read_frame(tmp_path / "t.csv").columns == ["id", 'the "label"']


@pytest.fixture(scope="module")
def hostile_run(tmp_path_factory):
    folder = write_hostile(tmp_path_factory.mktemp("sheets"))
    invoke(*fit_hostile(folder, "--model", "label-propagation", "--quiet"))
    return folder


def test_ids_and_targets_with_names_that_label_next_uses(tmp_path):
    folder = write_files(tmp_path, split=False)
    nodes = pl.read_csv(folder / "nodes.csv").rename({"id": "prediction", "label": "reach"})
    nodes.write_csv(folder / "nodes.csv")
    names = ("--id", "prediction", "--target", "reach", "--model", "label-propagation")
    tables = ("--edges", folder / "edges.csv", "--nodes", folder / "nodes.csv")
    invoke("fit", *tables, *names, "--out", folder / "run", "--quiet")
    invoke("label-next", folder / "run", "--count", "5", "--out", folder / "ask.csv", "--quiet")
    asked = read_frame(folder / "ask.csv", text=True)
    assert asked.columns == [
        "prediction", "labeltrick_prediction", "uncertainty", "labeltrick_reach", "reach",
    ]  # fmt: skip
    assert asked["prediction"].is_in(nodes["prediction"].implode()).all()
    assert asked["reach"].null_count() == 5


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_what_the_commands_write_is_safe_and_comes_back(hostile_run, tmp_path, ending):
    run, asked, filled, out = (
        hostile_run / "[red]run[", tmp_path / f"ask.{ending}", tmp_path / f"filled.{ending}",
        tmp_path / f"out.{ending}",
    )  # fmt: skip
    invoke("label-next", run, "--count", "40", "--out", asked, "--quiet")
    invoke("predict", run, "--out", out, "--quiet")
    for path in (asked, out):
        assert not [cell for cell in cells_of(path) if risky(cell)]
    stored = pl.read_parquet(run / "predictions.parquet", glob=False)
    found = read_frame(out, text=True)
    assert found["id"].equals(stored["id"])
    assert found["prediction"].equals(stored["prediction"])
    assert found.columns == stored.columns
    # filled in as text, as a person does it, with the predictions copied over
    rows = asked.read_text(encoding="utf-8")
    frame = pl.read_csv(rows.encode(), separator="\t" if ending == "tsv" else ",")
    target = [name for name in frame.columns if "label<" in name]
    frame = frame.with_columns(frame["prediction"].alias(target[0]))
    frame.write_csv(filled, separator="\t" if ending == "tsv" else ",")
    invoke("predict", run, "--labels", filled, "--out", tmp_path / "after.parquet", "--quiet")
    after = pl.read_parquet(tmp_path / "after.parquet")
    ids = read_frame(asked, text=True)["id"]
    assert after.filter(pl.col("id").is_in(ids.implode()))["labeled"].all()
    assert TARGET in read_frame(filled).columns
