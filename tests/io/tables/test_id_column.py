"""Which column of a table of nodes or labels holds the ids."""

import numpy as np
import polars as pl
import pytest

from labeltrick import Graph, save_graph
from labeltrick.io.tables import Roles, read_label_file, read_problem, with_labels
from labeltrick.io.tables.kinds import shown_name


def write_edges(folder, ids, name="e.csv", columns=("src", "dst")):
    rng = np.random.default_rng(0)
    pl.DataFrame(rng.choice(np.array(ids), (120, 2)), schema=list(columns)).write_csv(folder / name)
    return folder / name


def write_nodes(folder, **columns):
    pl.DataFrame(columns).write_csv(folder / "n.csv")
    return folder / "n.csv"


def used_id(*paths, **roles):
    problem = read_problem(*paths, Roles(**roles))
    return next(kind.name for kind in problem.kinds if kind.role == "id")


CODES = [f"C-{k:05}" for k in range(40)]


def test_the_ids_are_what_edges_refer_to(tmp_path):
    columns = {"name": CODES[::-1], "number": range(40), "customer": CODES, "x": [0.5] * 40}
    columns["name"] = [f"Ann {k}" for k in range(40)]
    nodes = write_nodes(tmp_path, **columns)
    assert used_id(write_edges(tmp_path, CODES), nodes) == "customer"
    assert used_id(write_edges(tmp_path, range(40)), nodes) == "number"
    assert used_id(write_edges(tmp_path, columns["name"]), nodes) == "name"
    # Fewer than half of the nodes of the edges are listed.
    edges = write_edges(tmp_path, range(100))
    some = read_problem(edges, nodes, Roles(id="number"), unknown_nodes="add")
    assert some.n_nodes > 80


def test_two_columns_that_could_be_the_id_are_an_error(tmp_path):
    nodes = write_nodes(tmp_path, id=range(40), customer_id=range(39, -1, -1), age=[3] * 40)
    edges = write_edges(tmp_path, range(40))
    with pytest.raises(ValueError, match="'id' and 'customer_id' could. .* --id id") as caught:
        read_problem(edges, nodes)
    assert "n.csv" in str(caught.value)
    assert used_id(edges, nodes, id="customer_id") == "customer_id"
    named = write_edges(tmp_path, range(40), columns=("from_customer", "to_customer"))
    assert used_id(named, nodes) == "customer_id"
    # Other columns of all different numbers are no doubt about a column that is named so.
    assert used_id(edges, write_nodes(tmp_path, rank=range(40), id=range(40))) == "id"


def test_all_edges_decide_between_columns_that_fit_the_sample(tmp_path):
    n = 3000
    nodes = write_nodes(tmp_path, id=range(n), person_id=range(1, n + 1))
    row = np.arange(1, n)
    ends = {"src": row, "dst": np.where(row == 1500, n, row)}
    pl.DataFrame(ends).write_csv(tmp_path / "e.csv")
    assert used_id(tmp_path / "e.csv", nodes) == "person_id"


def test_row_numbers_are_ids_if_edges_refer_to_them_and_nothing_else_fits(tmp_path):
    def problem_of(**columns):
        nodes = pl.DataFrame(columns).to_pandas()
        nodes.to_csv(tmp_path / "n.csv")
        return read_problem(write_edges(tmp_path, range(40)), tmp_path / "n.csv")

    x = np.arange(40) / 7
    problem = problem_of(customer=CODES, x=x)
    assert problem.ids.to_list() == list(range(40))
    assert "ids are the row numbers in column '': edges refer to them" in problem.notes
    assert any(note.startswith("nodes: id (no name); 1 feature") for note in problem.notes)
    named = problem_of(node=range(40), x=x)
    assert "nodes: id node; 1 feature; not used: (no name) (row numbers)" in named.notes
    assert named.X.columns == ["x"]


@pytest.mark.parametrize("name", ["Unnamed: 0", "index", "Unnamed: 0.1", "__index_level_0__"])
def test_row_numbers_are_not_features(tmp_path, name):
    nodes = write_nodes(tmp_path, **{name: range(40), "id": CODES, "x": np.arange(40) / 7})
    problem = read_problem(write_edges(tmp_path, CODES), nodes)
    assert problem.X.columns == ["x"]
    assert problem.kinds[0].note == "row numbers"
    assert f"nodes: id id; 1 feature; not used: {shown_name(name)} (row numbers)" in problem.notes


def test_an_index_column_with_other_values_is_a_column(tmp_path):
    index = np.random.default_rng(0).integers(0, 9, 40)  # a price index
    nodes = write_nodes(tmp_path, index=index, id=CODES)
    assert read_problem(write_edges(tmp_path, CODES), nodes).X.columns == ["index"]


def test_label_files_with_an_index(tmp_path):
    nodes = write_nodes(tmp_path, id=range(40), label=["a", "b"] * 20)
    problem = read_problem(write_edges(tmp_path, range(40)), nodes, Roles(target="label"))
    labels = pl.DataFrame({"person": [30, 31, 32], "label": ["b", "b", "b"]}).to_pandas()
    labels.to_csv(tmp_path / "more.csv")
    more = with_labels(problem, tmp_path / "more.csv", None, "label")
    assert more.labels.values[[30, 31, 32]].tolist() == ["b", "b", "b"]
    assert more.labels.values[:3].tolist() == ["a", "b", "a"]
    ids, _ = read_label_file(tmp_path / "more.csv", None, "label", "auto", graph_ids=problem.ids)
    assert ids.to_list() == ["30", "31", "32"]


def test_ids_of_a_graph_folder_decide_as_well(tmp_path):
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3])
    folder = save_graph(graph, tmp_path / "g.lt")
    nodes = write_nodes(
        tmp_path, name=["d", "c", "b", "a"], number=[3, 2, 1, 0], x=[3.0, 2.0, 1.0, 0.5]
    )
    problem = read_problem(folder, nodes)
    assert problem.X["x"].to_list() == [0.5, 1, 2, 3]


def test_nothing_that_edges_refer_to_is_an_error_with_the_row(tmp_path):
    nodes = write_nodes(tmp_path, FIPS=range(1000, 1040), x=[0.5] * 40)
    with pytest.raises(ValueError, match="row 2, column 'src' must be a node of the node table"):
        read_problem(write_edges(tmp_path, range(40)), nodes)
