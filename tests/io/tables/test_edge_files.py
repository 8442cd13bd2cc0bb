"""Files of edges that are read in chunks: how they are written, and several at once."""

import polars as pl
import pytest

from labeltrick import open_graph
from labeltrick.io.tables import TextFormat, build_graph_folder, read_problem
from tests.support.commands import run_command


def weights_by_ends(graph):
    """The weight of each edge by the ids of its ends, in both directions."""
    ids, matrix = graph.ids().to_list(), graph.to_scipy().tocoo()
    return {(ids[i], ids[j]): w for i, j, w in zip(*matrix.coords, matrix.data, strict=True)}


def test_titles_and_decimal_commas_are_read_as_in_a_fit(tmp_path):
    text = "Überweisungen 2020\n\nvon;nach;weight;Kurs\na;b;1.250;0,5\nb;c;1.500,5;1,5\n"
    (tmp_path / "e.csv").write_bytes(text.encode("cp1252"))
    graph, notes = build_graph_folder(tmp_path / "e.csv", tmp_path / "g.lt")
    weights = weights_by_ends(graph)
    assert weights["a", "b"] == 1250
    assert weights["b", "c"] == 1500.5
    assert "semicolons, decimal comma, Windows-1252, 2 lines above the header" in notes[0]
    assert any("'1.250' is read as 1250" in note for note in notes)
    (tmp_path / "bad.csv").write_text(text + "c;d;viel;1,5\n")
    with pytest.raises(ValueError, match="bad.csv`, row 6, column 'weight' must be .* got 'viel'"):
        build_graph_folder(tmp_path / "bad.csv", tmp_path / "bad.lt")


def test_a_later_weight_with_another_decimal_sign_is_refused(tmp_path):
    rows = ["a;b;1,5"] * 20_000 + ["c;d;2.25"]
    (tmp_path / "e.csv").write_text("src;dst;weight\n" + "\n".join(rows) + "\n")
    with pytest.raises(ValueError, match="row 20002, column 'weight' .* got '2.25'"):
        build_graph_folder(tmp_path / "e.csv", tmp_path / "g.lt", max_memory="1MB")


def test_options_say_how_text_is_written(tmp_path):
    (tmp_path / "e.csv").write_text("src~dst~weight\na~b~1,025\nb~c~2,050\n", encoding="utf-16")
    with pytest.raises(ValueError, match="may have a decimal sign"):
        build_graph_folder(tmp_path / "e.csv", tmp_path / "g.lt", text_format=TextFormat("~"))
    options = ("--delimiter", "~", "--encoding", "utf-16", "--decimal", "comma", "--json")
    done = run_command("graph", "build", tmp_path / "e.csv", tmp_path / "g.lt", *options)
    assert done.returncode == 0, done.stderr
    assert weights_by_ends(open_graph(tmp_path / "g.lt"))["a", "b"] == 1.025


def test_several_tables_of_edges_are_read_as_one(tmp_path):
    (tmp_path / "jan.csv").write_text("src,dst,weight\na,b,1\nb,c,2\n")
    (tmp_path / "feb.csv").write_text("weight;dst;src\n3;d;a\n4;;b\n")
    with pytest.raises(ValueError, match="feb.csv`, row 3, column 'dst' must be a node"):
        build_graph_folder([tmp_path / "jan.csv", tmp_path / "feb.csv"], tmp_path / "g.lt")
    (tmp_path / "feb.csv").write_text("weight;dst;src\n3;d;a\n4;c;b\n")
    files = tmp_path / "jan.csv", tmp_path / "feb.csv"
    done = run_command("graph", "build", *files, tmp_path / "g.lt")
    assert done.returncode == 0, done.stderr
    assert "feb.csv: semicolons" in done.stdout
    weights = weights_by_ends(open_graph(tmp_path / "g.lt"))
    assert (weights["a", "d"], weights["b", "c"]) == (3, 6)
    (tmp_path / "mar.csv").write_text("src,dst\na,b\n")
    with pytest.raises(ValueError, match="mar.csv` must have the columns of .* lacks 'weight'"):
        build_graph_folder([files[0], tmp_path / "mar.csv"], tmp_path / "h.lt")
    with pytest.raises(ValueError, match="must name each file once"):
        build_graph_folder([files[0], files[0]], tmp_path / "h.lt")


def test_notes_on_merged_edges_are_those_of_a_fit(tmp_path):
    (tmp_path / "e.csv").write_text("src,dst,weight\na,b,1\nb,a,2\nb,c,0\nc,a,1\n")
    _, notes = build_graph_folder(tmp_path / "e.csv", tmp_path / "g.lt")
    assert notes == read_problem(tmp_path / "e.csv").notes
    assert "1 edge with weight 0 was left out" in notes
    assert "1 repeated or reversed edge was merged with others, and their weights were added" in (
        notes
    )


def test_text_options_without_a_text_file_are_reported(tmp_path):
    pl.DataFrame({"src": ["a", "b"], "dst": ["b", "c"]}).write_parquet(tmp_path / "e.parquet")
    done = run_command(
        "graph", "build", tmp_path / "e.parquet", tmp_path / "g.lt", "--delimiter", ";"
    )
    assert done.returncode == 0, done.stderr
    assert "not used, because no file is a text table: --delimiter" in done.stdout


@pytest.mark.parametrize(
    ("name", "kind"), [("book.xlsx#Links", "sheet"), ("duckdb:data.db?links", "database")]
)
def test_sheets_and_databases_are_refused(tmp_path, name, kind):
    with pytest.raises(ValueError, match=f"must be a file of edges; it is a {kind}"):
        build_graph_folder(name, tmp_path / "g.lt")
    assert not (tmp_path / "g.lt").exists()
