"""Which columns of a table of edges are its ends and its weight."""

import json
import shlex

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeltrick.io.tables import Roles, build_graph_folder, read_problem
from labeltrick.io.tables.content import Sample
from labeltrick.io.tables.edge_columns import choose_edge_columns
from tests.support.commands import run_command
from tests.support.people import invoke, write_files

PROPAGATE = ("--model", "label-propagation", "--split-column", "split", "--json")


def fit(folder, out):
    files = ("--edges", folder / "edges.csv", "--nodes", folder / "nodes.csv", "--target", "label")
    done = run_command("fit", *files, *PROPAGATE, "--out", folder / out)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_an_index_that_pandas_has_written_changes_nothing(tmp_path):
    folder = write_files(tmp_path)
    n = 150  # ids that are numbers: then the index could pass for ids
    names = pl.read_csv(folder / "nodes.csv")["id"]
    number = {name: place for place, name in enumerate(names.to_list())}
    nodes = pl.read_csv(folder / "nodes.csv").with_columns(pl.Series("id", np.arange(n)))
    edges = pl.read_csv(folder / "edges.csv").select(pl.all().replace_strict(number))
    nodes.write_csv(folder / "nodes.csv")
    edges.write_csv(folder / "edges.csv")
    plain = fit(folder, "plain")
    edges.to_pandas().to_csv(folder / "edges.csv")
    assert (folder / "edges.csv").read_text().startswith(",from,to\n0,")
    nodes.to_pandas().to_csv(folder / "nodes.csv")
    indexed = fit(folder, "indexed")
    assert indexed["score"] == plain["score"]
    assert indexed["edges"] == plain["edges"]
    assert "edges: from → to; not used: (no name)" in indexed["notes"]
    assert any("not used: (no name) (row numbers)" in note for note in indexed["notes"])


TRANSFERS = "tx_id,from_customer,to_customer,amount,date\n"


def write_transfers(folder, ids):
    """Transfers between customers, whose numbers and amounts are ids as well."""
    rng = np.random.default_rng(0)
    a, b = rng.choice(ids, (2, 60))
    rows = [f"{k},{a[k]},{b[k]},{rng.choice(ids)},2024-01-{k % 28 + 1:02}" for k in range(60)]
    (folder / "e.csv").write_text(TRANSFERS + "\n".join(rows))
    rows = [f"{name},{rng.random():.3f}" for name in ids]
    (folder / "n.csv").write_text("customer_id,income\n" + "\n".join(rows))
    return folder / "e.csv", folder / "n.csv"


@pytest.mark.parametrize("ids", [range(60), [f"C-{k:05}" for k in range(30)]], ids=["0…n", "codes"])
def test_ends_are_found_by_name_and_content(tmp_path, ids):
    paths = write_transfers(tmp_path, np.array(ids))
    problem = read_problem(*paths)
    assert problem.notes[0] == (
        "edges: from_customer → to_customer; time date (not used); not used: tx_id, amount"
    )
    assert "nodes: id customer_id; 1 feature" in problem.notes
    frame = pl.read_csv(paths[0])
    frame.write_parquet(tmp_path / "e.parquet")
    again = read_problem(tmp_path / "e.parquet", paths[1])
    assert again.graph == problem.graph
    assert again.notes == problem.notes
    graph, notes = build_graph_folder(tmp_path / "e.parquet", tmp_path / "g.lt")
    assert notes[0] == problem.notes[0]
    assert graph.n_edges == problem.graph.n_edges


def test_content_decides_where_names_do_not(tmp_path):
    rng = np.random.default_rng(0)
    ids = [f"C{k}" for k in range(30)]
    frame = pl.DataFrame({
        "order": [f"O{k}" for k in range(80)],
        "buyer": rng.choice(ids, 80),
        "shop": rng.choice(ids, 80),
        "basket": rng.integers(0, 30, 80),
    })  # fmt: skip
    frame.write_csv(tmp_path / "e.csv")
    pl.DataFrame({"customer": ids, "x": np.arange(30) / 7}).write_csv(tmp_path / "n.csv")
    problem = read_problem(tmp_path / "e.csv", tmp_path / "n.csv")
    assert problem.notes[0] == "edges: buyer → shop; not used: order, basket"
    assert "nodes: id customer; 1 feature" in problem.notes


def ends(columns, roles=None, rows=40, **values):
    """The ends that are chosen among columns of the same ids."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({name: values.get(name, rng.integers(0, 20, rows)) for name in columns})
    found = choose_edge_columns("e.csv", Sample.of(frame), roles or Roles(), None)
    return found.source, found.target


@pytest.mark.parametrize("pair", [
    "source target", "src dst", "from to", "head tail", "u v", "node1 node2", "citing cited",
    "SourceID TargetID", "FROM TO", "from_customer to_customer", "customer_from customer_to",
    "Source Target", "srcid dstid", "id1 id2", "user_a user_b", "start end",
    "sender_id receiver_id", "citingPaper citedPaper", "from_user to_page", "node_i node_j",
])  # fmt: skip
def test_common_names_of_ends(pair):
    source, target = pair.split()
    others = ["code", "amount", "batch"]
    assert ends([target, *others, source]) == (source, target)
    assert ends(["code", source, "batch", target]) == (source, target)


def test_dates_and_periods_are_not_ends():
    days = [f"2024-01-{k % 28 + 1:02}" for k in range(40)]
    columns = ["start_date", "end_date", "from", "to"]
    assert ends(columns, start_date=days, end_date=days) == ("from", "to")
    assert ends(["from_year", "to_year", "from_city", "to_city"]) == ("from_city", "to_city")
    assert ends(["source", "target", "start", "end"]) == ("source", "target")


def test_three_columns_that_could_be_ends_are_an_error(tmp_path):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(rng.integers(0, 20, (60, 3)), schema=["one a", "b", "c"])
    frame.write_csv(tmp_path / "e.csv")
    pl.DataFrame({"id": range(20)}).write_csv(tmp_path / "n.csv")
    paths = tmp_path / "e.csv", tmp_path / "n.csv"
    with pytest.raises(ValueError, match="could be") as caught:
        read_problem(*paths)
    said = str(caught.value)
    for name in frame.columns:
        assert f"{name!r} (100% of its values are ids of nodes)" in said
    options = shlex.split(said[said.index("--src") :].replace(",", ""))
    assert options[:5] == ["--src", "one a", "and", "--dst", "c"]
    assert read_problem(*paths, Roles(src="b", dst="c")).notes[0] == (
        "edges: b → c; not used: 'one a'"
    )
    with pytest.raises(ValueError, match=r"'one a' .* and 'c' .* could be. Choose with --dst c"):
        (tmp_path / "d.csv").write_bytes((tmp_path / "e.csv").read_bytes())
        read_problem(tmp_path / "d.csv", tmp_path / "n.csv", Roles(src="b"))
    with pytest.raises(ValueError, match="'one a', 'b' and 'c' could be"):
        read_problem(paths[0])
    two = ["source_x", "target_x", "source_y", "target_y"]
    with pytest.raises(ValueError, match="--src source_x and --dst target_x"):
        ends(two)
    assert ends(two, Roles(src="source_y")) == ("source_y", "target_y")


@pytest.mark.parametrize("name", ["Betrag", "Anzahl Käufe", "minutes"])
def test_amounts_in_other_words_are_suggested_as_weights(tmp_path, name):
    (tmp_path / "e.csv").write_text(f"src,dst,{name}\n1,2,5\n2,3,7\n")
    assert f"pass --weight {shlex.quote(name)}" in "".join(read_problem(tmp_path / "e.csv").notes)


def test_amounts_are_weights_only_when_named(tmp_path):
    (tmp_path / "e.csv").write_text("src,dst,amount\n1,2,5\n2,3,7\n")
    plain = read_problem(tmp_path / "e.csv")
    assert not plain.graph.weighted
    assert plain.notes[0] == "edges: src → dst; not used: amount"
    assert "pass --weight amount" in plain.notes[1]
    weighted = read_problem(tmp_path / "e.csv", None, Roles(weight="amount"))
    assert weighted.graph.weighted
    assert weighted.notes == ["edges: src → dst; weight amount"]
    (tmp_path / "w.csv").write_text("src,dst,Weight\n1,2,5\n2,3,7\n")
    found = read_problem(tmp_path / "w.csv")
    assert found.graph.weighted
    assert found.notes == [
        "edges: src → dst; weight Weight", "edges are weighted by the column 'Weight'",
    ]  # fmt: skip
    (tmp_path / "two.csv").write_text("src,dst,weight,edge_weight\n1,2,5,1\n2,3,7,1\n")
    with pytest.raises(ValueError, match="'weight' and 'edge_weight' could be.*--weight weight"):
        read_problem(tmp_path / "two.csv")


def test_values_that_are_ids_by_chance_do_not_overrule_clear_names(tmp_path):
    (tmp_path / "e.csv").write_text("src,dst,size,level\n" + "x,y,1,2\n" * 9)
    (tmp_path / "n.csv").write_text("id,label\n1,a\n2,b\n")
    with pytest.raises(ValueError, match="column 'src' must be a node"):
        read_problem(tmp_path / "e.csv", tmp_path / "n.csv")
    named = ["src_name", "dst_name", "src_id", "dst_id"]
    pl.DataFrame([["x", "y", 1, 2]] * 9, schema=named, orient="row").write_csv(tmp_path / "d.csv")
    problem = read_problem(tmp_path / "d.csv", tmp_path / "n.csv")
    assert problem.notes[0] == "edges: src_id → dst_id; not used: src_name, dst_name"


@given(st.permutations(["from", "to", "amount", "tx_id", "note"]), st.integers(1, 60))
def test_the_order_of_columns_does_not_matter(names, rows):
    assert ends(names, rows=rows) == ("from", "to")


def test_row_numbers_are_nodes_if_nothing_else_is_there(tmp_path):
    (tmp_path / "e.csv").write_text(",next\n0,1\n1,2\n2,0\n")
    (tmp_path / "n.csv").write_text("id,label\n0,a\n1,b\n2,a\n")
    problem = read_problem(tmp_path / "e.csv", tmp_path / "n.csv")
    assert problem.notes[0] == "edges: (no name) → next"
    assert problem.graph.n_edges == 3


def test_merged_edges_are_counted(tmp_path):
    (tmp_path / "e.csv").write_text("src,dst\n1,2\n2,1\n1,2\n2,3\n")
    assert "2 repeated or reversed edges were merged with others" in (
        read_problem(tmp_path / "e.csv").notes
    )
    directed = read_problem(tmp_path / "e.csv", directed=True)
    assert "1 repeated edge was merged with others" in directed.notes
    (tmp_path / "w.csv").write_text("src,dst,weight\n1,2,1\n2,1,2\n2,3,0\n")
    notes = read_problem(tmp_path / "w.csv").notes
    assert "1 edge with weight 0 was left out" in notes
    assert notes[-1].endswith("merged with others, and their weights were added")


def test_the_id_of_the_nodes_may_be_an_end_although_it_is_different_in_each_row(tmp_path):
    """Each employee has one manager, and grades are ids by chance."""
    n = 40
    table = {"employee_id": range(n), "manager": [k // 7 for k in range(n)]}
    pl.DataFrame(table | {"grade": [k % 3 for k in range(n)]}).write_csv(tmp_path / "n.csv")
    with pytest.raises(ValueError, match=r"'employee_id' .*, 'manager' .* and 'grade' .* could be"):
        read_problem(tmp_path / "n.csv", tmp_path / "n.csv")
    pl.DataFrame(table).write_csv(tmp_path / "e.csv")
    notes = read_problem(tmp_path / "e.csv", tmp_path / "n.csv").notes
    assert notes[0] == "edges: employee_id → manager"


def test_the_columns_with_most_ids_are_suggested(tmp_path):
    rng, n = np.random.default_rng(0), 60
    clerks = [f"c{k % 5}" if k < 20 else f"c{k}" for k in range(n)]
    table = {"one": [f"c{k}" for k in rng.integers(0, 40, n)],
             "two": [f"c{k}" for k in rng.integers(0, 40, n)],
             "clerk": clerks, "town": ["Ulm", "Bonn", "Köln"] * 20}  # fmt: skip
    pl.DataFrame(table).write_csv(tmp_path / "e.csv")
    pl.DataFrame({"id": [f"c{k}" for k in range(40)]}).write_csv(tmp_path / "n.csv")
    with pytest.raises(ValueError, match="--src one and --dst two, for example") as caught:
        read_problem(tmp_path / "e.csv", tmp_path / "n.csv")
    assert "'clerk'" in str(caught.value)
    assert "(0%" not in str(caught.value)


def test_only_numbers_are_suggested_as_weights(tmp_path):
    rows = '1,2,EUR,"5,5"\n2,3,EUR,"7,25"\n'
    (tmp_path / "e.csv").write_text(f"src,dst,currency,amount\n{rows}")
    assert "pass --weight amount" in "".join(read_problem(tmp_path / "e.csv").notes)
    (tmp_path / "f.csv").write_text("src,dst,amount\n1,2,high\n2,3,low\n")
    assert not any("--weight" in note for note in read_problem(tmp_path / "f.csv").notes)


@pytest.mark.parametrize("corner", ["", "name"])
def test_a_matrix_is_not_taken_as_a_list_of_edges(tmp_path, corner):
    (tmp_path / "m.csv").write_text(f"{corner},a,b,c\na,0,1,1\nb,1,0,0\nc,1,0,0\n")
    for command in (("inspect", "--edges"), ("graph", "build")):
        place = (tmp_path / "g.lt",) if command[0] == "graph" else ()
        with pytest.raises(ValueError, match="one row per edge; it looks like a matrix"):
            invoke(*command, tmp_path / "m.csv", *place)
