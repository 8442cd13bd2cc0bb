"""People's files: every format, ids, columns, roles; and what is said about bad ones."""

import bz2
import gzip
import lzma
import re

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

from labeltrick import Graph
from labeltrick.io.tables import Roles, build_graph_folder, read_frame, read_problem, write_frame

EDGES = pl.DataFrame({"src": [10, 20, 30, 10], "dst": [20, 30, 40, 40]})
NODES = pl.DataFrame(
    {
        "id": [40, 10, 30, 20],
        "size": [1.5, None, 2.0, 3.0],
        "kind": ["a", "b", None, "a"],
        "big": ["yes", "no", "no", "yes"],
        "label": ["x", "y", None, "x"],
        "split": ["train", "train", None, "test"],
    }
)
EXPECTED = Graph.from_edges([1, 3, 2, 1], [3, 2, 0, 0], n_nodes=4)


def save(frame, path):
    """As a program of the user would."""
    name = path.name
    if ".parquet" in name:
        frame.write_parquet(path)
    elif ".jsonl" in name:
        text = "".join(__import__("json").dumps(row) + "\n" for row in frame.to_dicts())
        path.write_bytes(pack(name, text.encode()))
    else:
        text = frame.write_csv(separator="\t" if ".tsv" in name else ",")
        path.write_bytes(pack(name, text.encode()))
    return path


def pack(name, data):
    if name.endswith(".zst"):
        return pl.DataFrame({"x": [1]}) and pytest.importorskip("zstandard").compress(data)
    packers = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
    return next((f(data) for end, f in packers.items() if name.endswith(end)), data)


@pytest.mark.parametrize(
    "ending", ["csv", "tsv", "parquet", "jsonl", "csv.gz", "tsv.bz2", "jsonl.gz", "csv.xz"]
)
def test_every_format_gives_the_same_problem(tmp_path, ending):
    edges = save(EDGES, tmp_path / f"edges.{ending}")
    nodes = save(NODES, tmp_path / f"nodes.{ending}")
    problem = read_problem(edges, nodes, Roles(target="label", split="split"))
    assert problem.graph == EXPECTED
    assert problem.ids.to_list() == [40, 10, 30, 20]
    assert problem.labels.values.tolist() == ["x", "y", None, "x"]
    assert {k: v.tolist() for k, v in problem.split.items()} == {
        "train": [0, 1],
        "val": [],
        "test": [3],
    }
    kinds = {kind.name: (kind.kind, kind.role, kind.n_missing) for kind in problem.kinds}
    assert kinds["size"] == ("numeric", "feature", 1)
    assert kinds["kind"] == ("categorical", "feature", 1)
    assert kinds["big"] == ("boolean", "feature", 0)
    assert problem.X.columns == ["size", "kind", "big"]
    assert problem.X["size"].to_list() == [1.5, None, 2.0, 3.0]
    assert problem.known("train").tolist() == ["x", "y", None, None]


@pytest.mark.parametrize("ending", ["csv", "tsv.gz", "jsonl", "jsonl.gz", "parquet"])
def test_brackets_in_the_name_of_a_file_are_letters(tmp_path, ending):
    """And not a pattern, which would match another file."""
    folder = tmp_path / "files[1]*?"
    folder.mkdir()
    (tmp_path / "files1").mkdir()
    for name in ("e[1]", "n[1]"):
        save(
            pl.DataFrame({"src": [1], "dst": [2]}), folder / f"{name.replace('[1]', '1')}.{ending}"
        )
        save(pl.DataFrame({"src": [1], "dst": [2]}), tmp_path / "files1" / f"{name}.{ending}")
    edges, nodes = save(EDGES, folder / f"e[1].{ending}"), save(NODES, folder / f"n[1].{ending}")
    assert read_problem(edges, nodes).graph == EXPECTED
    build_graph_folder(edges, folder / "graph[1].lt")
    assert read_problem(folder / "graph[1].lt", nodes).ids.to_list() == [10, 20, 30, 40]


def test_a_folder_of_parquet_parts(tmp_path):
    folder = tmp_path / "edges"
    folder.mkdir()
    EDGES[:2].write_parquet(folder / "part-0.parquet")
    EDGES[2:].write_parquet(folder / "part-1.parquet")
    nodes = save(NODES, tmp_path / "nodes.csv")
    assert read_problem(folder, nodes).graph == EXPECTED
    with pytest.raises(ValueError, match="must hold Parquet files"):
        (tmp_path / "empty").mkdir()
        read_frame(tmp_path / "empty")


@pytest.mark.parametrize("seed", range(5))
def test_ids_of_any_kind_order_and_gaps_are_the_same_graph(tmp_path, seed):
    rng = np.random.default_rng(seed)
    n, m = 30, 80
    a, b = rng.integers(0, n, (2, m))
    expected = Graph.from_edges(a, b, n_nodes=n)
    names = {
        "gaps": rng.permutation(1000)[:n] - 500,
        "huge": rng.choice(2**60, n, replace=False),
        "dense": np.arange(n) + 7,
        "text": np.array([f"node {k}" for k in rng.permutation(n)]),
        "zeros": np.array([f"{k:04d}" for k in rng.permutation(n)]),
    }
    for kind, ids in names.items():
        edges = pl.DataFrame({"u": ids[a], "v": ids[b]})
        nodes = pl.DataFrame({"id": ids, "x": rng.normal(size=n)})
        problem = read_problem(
            save(edges, tmp_path / f"{kind}-e.csv"), save(nodes, tmp_path / f"{kind}-n.csv")
        )
        assert problem.graph == expected, kind
        assert problem.ids.to_list() == ids.tolist()
    alone = read_problem(tmp_path / "gaps-e.csv")
    used = np.unique(np.concatenate([a, b]))
    assert sorted(alone.ids.to_list()) == sorted(names["gaps"][used].tolist())
    assert alone.graph.n_edges == expected.n_edges


def test_text_ids_that_look_like_numbers_stay_apart(tmp_path):
    (tmp_path / "e.csv").write_text("src,dst\n007,7\n7,8\n")
    (tmp_path / "n.csv").write_text("id,x\n7,1\n007,2\n8,3\n")
    problem = read_problem(tmp_path / "e.csv", tmp_path / "n.csv")
    assert problem.ids.to_list() == ["7", "007", "8"]
    assert problem.graph == Graph.from_edges([1, 0], [0, 2])


def test_edges_alone_keep_texts_apart_and_need_a_header(tmp_path):
    (tmp_path / "e.csv").write_text("src,dst\n007,1\n7,2\n")
    assert sorted(read_problem(tmp_path / "e.csv").ids.to_list()) == ["007", "1", "2", "7"]
    (tmp_path / "bare.csv").write_text("0,1\n1,2\n2,3\n")
    with pytest.raises(ValueError, match="a row of column names"):
        read_problem(tmp_path / "bare.csv")
    pl.DataFrame({"src": [2**63 + 1, 2**63], "dst": [2**63, 5]}, schema_overrides={
        "src": pl.UInt64, "dst": pl.UInt64}).write_parquet(tmp_path / "hash.parquet")  # fmt: skip
    assert read_problem(tmp_path / "hash.parquet").graph.n_edges == 2


def test_minus_one_is_a_label_like_others_and_blanks_are_missing_everywhere(tmp_path):
    (tmp_path / "e.csv").write_text("src,dst\n0,1\n")
    frame = pl.DataFrame({"id": [0, 1, 2, 3], "y": [-1, 1, -1, 1], "t": ["a", "NA", "", "b"]})
    for name in ("n.jsonl", "n.parquet", "n.csv"):
        save(frame, tmp_path / name)
        read = read_problem(tmp_path / "e.csv", tmp_path / name, Roles(target="y"))
        assert read.labels.values.tolist() == ["-1", "1", "-1", "1"], name
        read = read_problem(tmp_path / "e.csv", tmp_path / name, Roles(target="t"))
        assert read.labels.values.tolist() == ["a", None, None, "b"], name
    pl.DataFrame({"id": [0, 1], "y": [[1], [2]]}).write_parquet(tmp_path / "lists.parquet")
    with pytest.raises(ValueError, match="must hold one text or number per row"):
        read_problem(tmp_path / "e.csv", tmp_path / "lists.parquet", Roles(target="y"))


def test_unknown_nodes(tmp_path):
    (tmp_path / "e.csv").write_text("src,dst,weight\n1,2,0.5\n2,9,2\n1,3,1\n")
    (tmp_path / "n.csv").write_text("id,x,label\n1,1,a\n2,5,b\n3,7,a\n")
    paths = tmp_path / "e.csv", tmp_path / "n.csv"
    with pytest.raises(
        ValueError, match=r"e.csv`, row 3, column 'dst' .* got 9, .*--unknown-nodes"
    ):
        read_problem(*paths)
    added = read_problem(*paths, Roles(target="label"), unknown_nodes="add")
    assert added.ids.to_list() == [1, 2, 3, 9]
    assert added.X["x"].to_list() == [1, 5, 7, None]
    assert added.labels.values.tolist() == ["a", "b", "a", None]
    dropped = read_problem(*paths, unknown_nodes="drop")
    assert dropped.graph == Graph.from_edges([0, 0], [1, 2], weight=[0.5, 1.0], n_nodes=3)
    assert "1 edges" in dropped.notes[-1]


CASES = {
    "duplicate id": ("src,dst\n1,2\n", "id,x\n1,2\n2,3\n1,4\n", {}, "is in row 2 and row 4"),
    "missing id": ("src,dst\n1,2\n", "id,x\n1,2\n,3\n", {}, "row 3, column 'id'"),
    "missing end": ("src,dst\n1,2\n2,\n", "id,x\n1,2\n2,3\n", {}, "row 3, column 'dst'"),
    "no target": ("src,dst\n1,2\n", "id,lable\n1,a\n2,b\n", {"target": "label"}, "'lable'"),
    "empty edges": ("", "id,x\n1,2\n", {}, "is empty"),
    "header only": ("src,dst\n", "id,x\n1,2\n", {}, "no rows"),
    "bad weight": ("src,dst,w\n1,2,-3\n", "id,x\n1,2\n2,1\n", {"weight": "w"}, "row 2, column 'w'"),
    "one column": ("src\n1\n", "id,x\n1,2\n", {}, "1 column"),
    "semicolons": ("src;dst\n1;2\n", "id,x\n1,2\n2,1\n", {}, "semicolons"),
    "infinite": ("src,dst\n1,2\n", "id,x\n1,inf\n2,1\n", {}, "row 2, column 'x'"),
    "bad split": ("src,dst\n1,2\n", "id,s\n1,train\n2,tset\n", {"split": "s"}, "row 3, column 's'"),
    "empty target": ("src,dst\n1,2\n", "id,y\n1,\n2,\n", {"target": "y"}, "is empty"),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_files_are_named_with_row_and_column(tmp_path, case):
    edges, nodes, roles, said = CASES[case]
    (tmp_path / "e.csv").write_text(edges)
    (tmp_path / "n.csv").write_text(nodes)
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        read_problem(tmp_path / "e.csv", tmp_path / "n.csv", Roles(**roles))
    assert ".csv" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_number_that_cannot_be_read_is_named(tmp_path):
    rows = [f"{k},{k * 0.5}" for k in range(50)]
    rows[30] = "30,12a"
    (tmp_path / "n.csv").write_text("id,x\n" + "\n".join(rows))
    (tmp_path / "e.csv").write_text("src,dst\n1,2\n")
    with pytest.raises(ValueError, match=r"row 32, column 'x' .* got '12a'"):
        read_problem(tmp_path / "e.csv", tmp_path / "n.csv")
    ignored = read_problem(tmp_path / "e.csv", tmp_path / "n.csv", Roles(ignore=("x",)))
    assert ignored.X is None


def test_files_that_are_not_what_their_ending_says(tmp_path):
    save(EDGES, tmp_path / "edges.parquet").rename(tmp_path / "edges.csv")
    with pytest.raises(ValueError, match="looks like a Parquet file"):
        read_frame(tmp_path / "edges.csv")
    (tmp_path / "text.parquet").write_text("src,dst\n1,2\n")
    with pytest.raises(ValueError, match="does not begin like a Parquet file"):
        read_frame(tmp_path / "text.parquet")
    (tmp_path / "plain.csv.gz").write_text("src,dst\n1,2\n")
    with pytest.raises(ValueError, match=r"plain.csv.gz"):
        read_frame(tmp_path / "plain.csv.gz")
    (tmp_path / "x.xlsx").write_bytes(b"PK\x03\x04")
    with pytest.raises(ValueError, match="its ending is '.xlsx'"):
        read_frame(tmp_path / "x.xlsx")
    with pytest.raises(FileNotFoundError, match="Did you mean 'edges.csv'"):
        read_frame(tmp_path / "edge.csv")


def test_what_labels_are(tmp_path):
    (tmp_path / "e.csv").write_text("src,dst\n0,1\n")
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "id": range(200),
            "code": rng.integers(0, 3, 200),
            "count": rng.permutation(200),
            "price": rng.normal(size=200),
            "name": rng.choice(["a", "b"], 200),
        }
    )
    frame.write_csv(tmp_path / "n.csv")

    def labels(name, task="auto"):
        return read_problem(
            tmp_path / "e.csv", tmp_path / "n.csv", Roles(target=name), task=task
        ).labels

    assert [labels(n).task for n in ("code", "count", "price", "name")] == [
        "classification", "regression", "regression", "classification",
    ]  # fmt: skip
    assert "whole numbers" in labels("count").notes[0]
    assert labels("code", "regression").values.tolist() == frame["code"].to_list()
    with pytest.raises(ValueError, match="row 2, column 'name' must be a number"):
        labels("name", "regression")


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (["01", "1", "1", "01"], ["01", "1", "1", "01"]),
        (["007", "7", "8", ""], ["007", "7", "8", None]),
        (["1", "2", "", "1"], ["1", "2", None, "1"]),
        (["1.0", "2.0", "", "1.0"], ["1", "2", None, "1"]),  # as blanks make of whole numbers
        (["-1", "1", "0", "00"], ["-1", "1", "0", "00"]),
        (["1e1", "10", "10", "10"], ["1e1", "10", "10", "10"]),
        (["01", "1.0", "2", "2"], ["01", "1.0", "2", "2"]),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_labels_that_differ_stay_apart_as_ids_do(tmp_path, given, wanted, ending):
    write_frame(EDGES, tmp_path / "e.csv")
    frame = pl.DataFrame({"id": ["1", "01", "2", "3"], "y": [text or None for text in given]})
    write_frame(pl.DataFrame({"src": ["1", "01"], "dst": ["2", "3"]}), tmp_path / "e.csv")
    write_frame(frame, tmp_path / f"n.{ending}")
    found = read_problem(tmp_path / "e.csv", tmp_path / f"n.{ending}", Roles(target="y"))
    assert found.labels.task == "classification"
    assert found.labels.values.tolist() == wanted


def test_codes_with_leading_zeros_are_classes_however_many(tmp_path):
    codes = [f"{k:04}" for k in range(300)]
    nodes = pl.DataFrame({"id": range(300), "code": codes})
    write_frame(pl.DataFrame({"src": [0], "dst": [1]}), tmp_path / "e.csv")
    write_frame(nodes, tmp_path / "n.csv")

    def labels(task):
        return read_problem(
            tmp_path / "e.csv", tmp_path / "n.csv", Roles(target="code"), task=task
        ).labels

    assert labels("auto").values.tolist() == codes
    assert labels("regression").values.tolist() == list(range(300))


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz"])
def test_two_columns_of_one_name(tmp_path, ending):
    separator = "\t" if ending == "tsv" else ","
    text = separator.join(["id", "x", "x"]) + "\n" + separator.join("123") + "\n"
    path = tmp_path / f"n.{ending}"
    path.write_bytes(gzip.compress(text.encode()) if ending.endswith("gz") else text.encode())
    with pytest.raises(ValueError, match=r"it has two columns 'x'\. Rename one") as caught:
        read_frame(path)
    assert str(path) in str(caught.value)


def test_two_values_under_one_key(tmp_path):
    (tmp_path / "n.jsonl").write_text('{"id": 1, "x": 1}\n{"id": 2, "x": 2, "x": 3}\n')
    with pytest.raises(ValueError, match=r"n\.jsonl` .* it has two columns 'x'"):
        read_frame(tmp_path / "n.jsonl")


def test_columns_of_lists_are_reported_as_left_out(tmp_path):
    (tmp_path / "e.csv").write_text("src,dst\n0,1\n")
    lines = ['{"id": 0, "x": 1, "tags": [1], "at": {"a": 1}}', '{"id": 1, "x": 2, "tags": []}']
    (tmp_path / "n.jsonl").write_text("\n".join(lines))
    problem = read_problem(tmp_path / "e.csv", tmp_path / "n.jsonl")
    assert problem.X.columns == ["x"]
    oof = {kind.name: kind.note for kind in problem.kinds if kind.role == "left out"}
    assert oof["tags"].startswith("holds List")
    assert oof["at"].startswith("holds Struct")
    with pytest.raises(ValueError, match="must hold one text or number per row; it holds List"):
        read_problem(tmp_path / "e.csv", tmp_path / "n.jsonl", Roles(target="tags"))


def test_dates_are_features_only_when_asked(tmp_path):
    (tmp_path / "e.csv").write_text("src,dst\n0,1\n")
    (tmp_path / "n.csv").write_text("id,when,x\n0,2024-01-01,1\n1,2024-01-03,2\n2,,3\n")
    plain = read_problem(tmp_path / "e.csv", tmp_path / "n.csv")
    assert plain.X.columns == ["x"]
    timed = read_problem(tmp_path / "e.csv", tmp_path / "n.csv", Roles(time="when"))
    assert timed.X["when"].to_list() == [0.0, 2.0, None]
    with pytest.raises(ValueError, match="--time"):
        (tmp_path / "t.csv").write_text("id,when\n0,soon\n1,later\n")
        read_problem(tmp_path / "e.csv", tmp_path / "t.csv", Roles(time="when"))


def test_scipy_archives(tmp_path):
    A = sp.random_array((20, 20), density=0.2, rng=0)
    A = (A + A.T).tocsr()
    sp.save_npz(tmp_path / "a.npz", A)
    problem = read_problem(tmp_path / "a.npz")
    assert problem.graph == Graph.from_scipy(A)
    frame = pl.DataFrame({"id": list(range(19, -1, -1)), "y": ["a", "b"] * 10})
    frame.write_csv(tmp_path / "n.csv")
    joined = read_problem(tmp_path / "a.npz", tmp_path / "n.csv", Roles(target="y"))
    assert joined.labels.values.tolist() == frame["y"].to_list()[::-1]
    np.savez(tmp_path / "other.npz", x=np.ones(3))
    with pytest.raises(ValueError, match="it holds x"):
        read_problem(tmp_path / "other.npz")
    np.savez(tmp_path / "objects.npz", data=np.array([{}, 1], dtype=object))
    with pytest.raises(ValueError, match=r"objects.npz"):
        read_problem(tmp_path / "objects.npz")


def test_graphml(tmp_path):
    networkx = pytest.importorskip("networkx")
    G = networkx.karate_club_graph()
    networkx.write_graphml(G, tmp_path / "karate.graphml")
    problem = read_problem(tmp_path / "karate.graphml", roles=Roles(target="club"))
    assert problem.graph == Graph.from_networkx(G)
    assert set(problem.labels.values) == {"Mr. Hi", "Officer"}
    (tmp_path / "cut.graphml").write_text("<graphml><graph><node id='1'/>")
    with pytest.raises(ValueError, match="must be GraphML"):
        read_problem(tmp_path / "cut.graphml")


def test_public_files_are_read_as_they_are(data_dir):
    cora = read_problem(data_dir / "planetoid" / "ind.cora.graph")
    assert (cora.n_nodes, cora.graph.n_edges, len(cora.split["test"])) == (2708, 5278, 1000)
    photo = read_problem(data_dir / "npz" / "amazon_photo.npz")
    assert photo.graph.n_edges == 119081
    assert photo.labels.task == "classification"
    arxiv = read_problem(data_dir / "ogbn-arxiv")
    assert (arxiv.n_nodes, len(arxiv.split["train"])) == (169343, 90941)
    county = read_problem(data_dir / "county" / "edges.csv", None, Roles(src="src", dst="dst"))
    assert county.graph.n_edges == 9467


def test_writing_is_all_or_nothing(tmp_path):
    target = write_frame(EDGES, tmp_path / "deep" / "out.csv")
    assert read_frame(target).equals(EDGES)
    before = target.read_bytes()
    with pytest.raises(ValueError, match="must end in"):
        write_frame(EDGES, tmp_path / "out.docx")
    with pytest.raises(pl.exceptions.PolarsError):
        write_frame(pl.DataFrame({"x": [[1, 2]]}), target)  # CSV has no lists
    assert target.read_bytes() == before
    assert [p.name for p in target.parent.iterdir()] == ["out.csv"]
