"""Several files of one table: read as one, with messages that name the right file and row."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeltrick.io.tables import Roles, read_problem
from labeltrick.io.tables.several_files import TableFiles, read_tables
from tests.support.packed_tables import save

EDGES = pl.DataFrame({"src": ["1", "2", "3", "1"], "dst": ["2", "3", "4", "4"]})
NODES = pl.DataFrame({"id": ["4", "1", "3", "2"], "x": ["1.5", "2", None, "3"], "y": list("abab")})


def tables(files):
    return read_tables(TableFiles.of(files, "--nodes"), [])


def two_files(folder, frame, at, name, kinds=("csv", "csv")):
    first, second = frame[:at], frame[at:].select(frame.columns[::-1])
    return [
        save(first, folder / f"{name}1.{kinds[0]}"),
        save(second, folder / f"{name}2.{kinds[1]}"),
    ]


def test_files_in_pieces_give_the_problem_of_the_whole(tmp_path):
    whole = read_problem(
        save(EDGES, tmp_path / "e.csv"), save(NODES, tmp_path / "n.csv"), Roles(target="y")
    )
    edges, nodes = two_files(tmp_path, EDGES, 3, "e"), two_files(tmp_path, NODES, 1, "n")
    found = read_problem(edges, nodes, Roles(target="y"))
    assert found.graph == whole.graph
    assert found.ids.to_list() == whole.ids.to_list()
    assert found.X.equals(whole.X)
    assert found.labels.values.tolist() == whole.labels.values.tolist()


@given(at=st.integers(1, 3), kinds=st.permutations(["csv", "tsv", "parquet", "jsonl"]))
@settings(max_examples=10, deadline=None)
def test_files_of_different_formats_are_one_table(tmp_path_factory, at, kinds):
    folder = tmp_path_factory.mktemp("files")
    source, frame = tables(two_files(folder, NODES, at, "n", kinds[:2]))
    assert frame.equals(NODES)
    assert [part.n_rows for part in source.parts] == [at, 4 - at]


def test_a_number_in_one_file_and_text_in_another_are_the_same_id(tmp_path):
    save(pl.DataFrame({"id": [7.0, 8.0], "x": [1.5, None]}), tmp_path / "a.parquet")
    save(pl.DataFrame({"id": ["9", "007"], "x": ["2.5", "1"]}), tmp_path / "b.csv")
    _, frame = tables([tmp_path / "a.parquet", tmp_path / "b.csv"])
    assert frame["id"].to_list() == ["7", "8", "9", "007"]
    assert frame["x"].to_list() == ["1.5", None, "2.5", "1"]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (["id", "x"], r"n2.csv` must have the columns of '.*n1.csv', in any order; it lacks 'y'"),
        (["id", "x", "y", "z"], "it also has 'z'"),
        (["id", "x", "Y"], "it lacks 'y'"),
    ],
)
def test_columns_that_differ_are_named(tmp_path, columns, words):
    save(NODES, tmp_path / "n1.csv")
    save(pl.DataFrame({name: ["5"] for name in columns}), tmp_path / "n2.csv")
    edges = save(EDGES, tmp_path / "e.csv")
    with pytest.raises(ValueError, match=words):
        read_problem(edges, [tmp_path / "n1.csv", tmp_path / "n2.csv"])


def test_types_that_cannot_be_joined_are_named(tmp_path):
    save(pl.DataFrame({"id": [1], "x": [[1, 2]]}), tmp_path / "a.parquet")
    save(pl.DataFrame({"id": [2], "x": [1.5]}), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"b\.parquet`, column 'x' must hold the type .* List"):
        tables([tmp_path / "a.parquet", tmp_path / "b.parquet"])


def test_messages_name_the_file_and_the_row_within_it(tmp_path):
    nodes = pl.DataFrame({"id": [str(k) for k in range(60)], "x": [str(k / 2) for k in range(60)]})
    edges = save(pl.DataFrame({"src": ["0"], "dst": ["1"]}), tmp_path / "e.csv")
    wrong = nodes.with_columns(x=pl.Series(["12a" if k == 45 else str(k) for k in range(60)]))
    with pytest.raises(ValueError, match=r"n2\.csv`, row 7, column 'x' must be a number"):
        read_problem(edges, two_files(tmp_path, wrong, 40, "n"))
    twice = nodes.with_columns(id=nodes["id"].replace("45", "3"))
    words = r"'3' is in row 5 of '.*n1\.csv' and row 7 of '.*n2\.csv'"
    with pytest.raises(ValueError, match=words):
        read_problem(edges, two_files(tmp_path, twice, 40, "n"))
    strange = pl.DataFrame({"src": ["0", "1", "2"], "dst": ["1", "2", "99"]})
    with pytest.raises(ValueError, match=r"s2\.csv`, row 3, column 'dst' must be a node of the"):
        read_problem(two_files(tmp_path, strange, 1, "s"), save(nodes, tmp_path / "n.csv"))
    heavy = strange.with_columns(weight=pl.Series(["1", "1", "1e-310"]))
    with pytest.raises(ValueError, match=r"column 'weight'.* in row 3 of '.*h2\.csv'"):
        read_problem(two_files(tmp_path, heavy, 1, "h"))


def test_a_file_is_read_once_and_a_graph_comes_alone(tmp_path):
    edges = save(EDGES, tmp_path / "e.csv")
    with pytest.raises(ValueError, match=r"`--edges` must name each file once; got '.*e\.csv'"):
        read_problem([edges, edges])
    (tmp_path / "g.graphml").write_text("")
    with pytest.raises(ValueError, match=r"must be one file if it holds a graph, as '.*graphml'"):
        read_problem([edges, tmp_path / "g.graphml"])
    with pytest.raises(ValueError, match="`--nodes` must name a file"):
        read_problem(edges, [])


def test_files_with_different_decimal_signs_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("id;x\n1;2,5\n")
    (tmp_path / "b.csv").write_text("id;x\n2;2.5\n")
    with pytest.raises(
        ValueError, match=r"b\.csv` must have the decimal sign of '.*a\.csv', a comma"
    ):
        tables([tmp_path / "a.csv", tmp_path / "b.csv"])
