"""Excel workbooks: the first sheet or a named one, with the rows that Excel shows."""

import sys
import zipfile

import polars as pl
import pytest

from labeltrick.io.tables import Roles, read_frame, read_problem
from labeltrick.io.tables.frames import read_part
from tests.support.people import other_notes

xlsxwriter = pytest.importorskip("xlsxwriter")
pytest.importorskip("fastexcel")


def write(path, **sheets):
    """Rows of each sheet; None is a blank cell."""
    with xlsxwriter.Workbook(path) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for k, row in enumerate(rows):
                sheet.write_row(k, 0, row)
    return path


PEOPLE = [["id", "height", "label"], [1, 1.5, "a"], [2, None, "b"], [3, 1.123456789012345, "a"]]


def test_a_workbook_gives_the_problem_of_the_same_table(tmp_path):
    nodes = write(tmp_path / "n.xlsx", People=PEOPLE)
    edges = write(tmp_path / "e.xlsx", Edges=[["src", "dst"], [1, 2], [2, 3]])
    (tmp_path / "e.csv").write_text("src,dst\n1,2\n2,3\n")
    found = read_problem(edges, nodes, Roles(target="label"))
    assert found.graph == read_problem(tmp_path / "e.csv", nodes).graph
    assert found.ids.to_list() == [1, 2, 3]
    assert found.X["height"].to_list() == [1.5, None, 1.123456789012345]
    assert found.labels.values.tolist() == ["a", "b", "a"]
    assert other_notes(found) == []


def test_one_of_several_sheets_is_read_and_named(tmp_path):
    path = write(tmp_path / "n.xlsx", People=PEOPLE, Other=[["x", "y"], ["007", 5]])
    part, frame = read_part(str(path))
    assert frame["id"].to_list() == [1, 2, 3]
    assert part.note == (
        "n.xlsx: the first of 2 sheets is read, 'People'; name another as n.xlsx#Other"
    )
    part, frame = read_part(f"{path}#Other")
    assert frame.rows() == [("007", 5)]
    assert part.note == ""
    with pytest.raises(ValueError, match=r"n\.xlsx` must have a sheet 'other'; it has People, Oth"):
        read_part(f"{path}#other")


def test_a_column_of_another_sheet_is_missed_with_the_names_of_sheets(tmp_path):
    link = [["src", "dst"], [1, 2]]
    path = write(tmp_path / "n.xlsx", Cover=[["Export"], ["2024"]], People=PEOPLE, Links=link)
    with pytest.raises(ValueError, match=r"'Cover'; name another as n.xlsx#People or n.xlsx#Link"):
        read_problem(f"{path}#Links", str(path), Roles(target="town"))


def test_messages_count_rows_as_excel_does(tmp_path):
    """With blank rows above and between, which are left out."""
    rows = [[None], [None, None], ["id", "s"], [1, "train"], [None], [2, "tset"], ["", ""]]
    nodes = write(tmp_path / "n.xlsx", People=rows)
    (tmp_path / "e.csv").write_text("src,dst\n1,2\n")
    with pytest.raises(ValueError, match=r"n\.xlsx`, row 6, column 's' must be train"):
        read_problem(tmp_path / "e.csv", nodes, Roles(split="s"))


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "must have rows"),
        ([["id", "x"]], "must have rows"),
        ([["id", "x", "x"], [1, 2, 3]], "two columns 'x'"),
        ([["id", None, "x"], [1, 2, 3]], "row 1 must name every column; column 2 has values"),
    ],
)
def test_sheets_that_are_not_tables(tmp_path, rows, words):
    with pytest.raises(ValueError, match=f"n.xlsx`.*{words}"):
        read_frame(write(tmp_path / "n.xlsx", People=rows))


@pytest.mark.parametrize("rows", [[], [["As of 1 March"]]])
def test_other_sheets_are_named_if_the_first_has_no_rows(tmp_path, rows):
    path = write(tmp_path / "n.xlsx", Info=rows, People=PEOPLE)
    with pytest.raises(ValueError, match=r"'Info' has none.*Name another as n\.xlsx#People\."):
        read_frame(path)


def test_one_cell_far_away_does_not_take_all_memory(tmp_path):
    path = write(tmp_path / "n.xlsx", People=PEOPLE)
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(tmp_path / "m.xlsx", "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b'r="C4"', b'r="XFD1048576"'))
    with pytest.raises(ValueError, match=r"m\.xlsx` must .* 1,048,576 rows and 16,384 columns"):
        read_frame(tmp_path / "m.xlsx")


def test_damaged_workbooks_are_refused(tmp_path):
    path = write(tmp_path / "n.xlsx", People=PEOPLE)
    whole = path.read_bytes()
    for data in (b"", b"PK\x03\x04", whole[:-200], b"src,dst\n1,2\n"):
        path.write_bytes(data)
        with pytest.raises(ValueError, match=r"n\.xlsx` must be an Excel workbook"):
            read_frame(path)


def test_what_to_install_is_said(tmp_path, monkeypatch):
    path = write(tmp_path / "n.xlsx", People=PEOPLE)
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    words = (
        r"reading 'n.xlsx' needs fastexcel. Install it with: pip install \"labeltrick\[excel\]\""
    )
    with pytest.raises(ImportError, match=words):
        read_frame(path)


def test_a_workbook_and_a_text_file_are_one_table(tmp_path):
    from labeltrick.io.tables.several_files import TableFiles, read_tables

    path = write(tmp_path / "a.xlsx", S=[["id", "x"], [1, 2.5]])
    (tmp_path / "b.csv").write_text("x,id\n3.5,2\n")
    _, frame = read_tables(TableFiles.of([path, tmp_path / "b.csv"], "--nodes"), [])
    assert frame.equals(pl.DataFrame({"id": ["1", "2"], "x": ["2.5", "3.5"]}))


def test_cells_whose_formula_failed_are_counted(tmp_path):
    pytest.importorskip("pyarrow")  # which reports them
    with xlsxwriter.Workbook(tmp_path / "n.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["id", "size", "label"])
        for k in range(1, 61):
            sheet.write_row(k, 0, [k, k + 0.5, "ab"[k % 2]])
        sheet.write_formula(7, 1, "=NA()", None, "#N/A")
        sheet.write_formula(8, 1, "=1/0", None, "#DIV/0!")
        sheet.write(9, 1, "#N/A")
        sheet.write_formula(10, 2, "=VLOOKUP(1,A1:B2,2)", None, "#N/A")
    (tmp_path / "e.csv").write_text("src,dst\n1,2\n2,3\n")
    found = read_problem(tmp_path / "e.csv", tmp_path / "n.xlsx", Roles(target="label"))
    assert "cells of column 'size' are read as missing: '#N/A' (2), '#DIV/0!' (1)" in found.notes
    assert "cells of column 'label' are read as missing: '#N/A' (1)" in found.notes
    assert found.labels.known.sum() == 59


def test_a_sheet_of_nodes_that_is_read_as_edges_is_named(tmp_path):
    links = [["src", "dst"], [1, 2], [2, 3]]
    people = [["id", "town", "job", "label"], [1, "Ulm", "cook", "a"], [2, "Ulm", "cook", "b"],
              [3, "Bonn", "maid", "a"]]  # fmt: skip
    path = str(write(tmp_path / "n.xlsx", People=people, Links=links))
    with pytest.raises(ValueError, match=r"'People'; name another as n\.xlsx#Links"):
        read_problem(path, path, Roles(target="label"))


def test_the_same_sheet_as_nodes_and_edges_is_named(tmp_path):
    file = tmp_path / "book.xlsx"
    ids = [f"K-{k:03}" for k in range(30)]
    people = pl.DataFrame({"nr": ids, "code": [f"{97 * k:05}" for k in range(30)]})
    with xlsxwriter.Workbook(str(file)) as book:
        people.write_excel(book, "People")
        pl.DataFrame({"from": ids[:9], "to": ids[1:10]}).write_excel(book, "Links")
    with pytest.raises(ValueError, match=r"the first of 2 sheets is read, .* as book.xlsx#Links"):
        read_problem(file, file)
