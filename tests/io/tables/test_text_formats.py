"""Text tables as people have them: any delimiter, decimal sign and encoding."""

import codecs
import csv
import gzip
import io

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeltrick.io.tables import Roles, TextFormat, build_graph_folder, read_frame, read_problem
from labeltrick.io.tables.frames import read_part
from labeltrick.io.tables.text_formats import SAMPLE
from tests.support.people import other_notes

ROWS = [["id", "town", "height"], ["1", "Köln", "1.5"], ["2", "Besançon", "2.25"],
        ["3", "Málaga", "0.5"], ["4", "Århus", "12"]]  # fmt: skip


def text_of(rows, delimiter=",", decimal="."):
    out = io.StringIO()
    cells = [rows[0], *([c.replace(".", decimal) for c in row] for row in rows[1:])]
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(cells)
    return out.getvalue()


def problem(folder, name, data, **given):
    (folder / name).write_bytes(data)
    (folder / "e.csv").write_text("src,dst\n1,2\n2,3\n3,4\n")
    return read_problem(folder / "e.csv", folder / name, text_format=TextFormat(**given))


@pytest.mark.parametrize("ending", ["csv", "tsv", "txt", "csv.gz"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", " "])
def test_the_delimiter_is_found_whatever_the_ending_says(tmp_path, ending, delimiter):
    data = text_of(ROWS, delimiter).encode()
    found = problem(tmp_path, f"n.{ending}", gzip.compress(data) if "gz" in ending else data)
    assert found.X["height"].to_list() == [1.5, 2.25, 0.5, 12]
    word = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "spaces"}[delimiter]
    usual = "," if ending.startswith("csv") else "\t"
    assert other_notes(found) == ([] if delimiter == usual else [f"n.{ending}: {word}"])


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        ("utf-8", ""),
        ("utf-8-sig", ""),
        ("utf-16", "UTF-16"),
        ("utf-16-le", "UTF-16-LE"),
        ("utf-16-be", "UTF-16-BE"),
        ("latin-1", "Windows-1252"),
        ("cp1252", "Windows-1252"),
    ],
)
def test_the_encoding_is_found(tmp_path, encoding, words):
    found = problem(tmp_path, "n.csv", text_of(ROWS).encode(encoding))
    assert found.X["town"].to_list() == ["Köln", "Besançon", "Málaga", "Århus"]
    assert other_notes(found) == ([f"n.csv: {words}"] if words else [])
    big_endian = codecs.BOM_UTF16_BE + text_of(ROWS).encode("utf-16-be")
    assert problem(tmp_path, "n.csv", big_endian).X["town"][0] == "Köln"


def test_everything_at_once_is_one_note(tmp_path):
    data = text_of(ROWS, ";", ",").encode("cp1252")
    found = problem(tmp_path, "customers.csv", data)
    assert other_notes(found) == ["customers.csv: semicolons, decimal comma, Windows-1252"]
    assert found.X["height"].to_list() == [1.5, 2.25, 0.5, 12]


cells = st.text(st.sampled_from('ab cé,;|"\t\n1.5'), min_size=1, max_size=6).filter(
    lambda cell: cell.strip() and cell == cell.strip()
)


@given(
    rows=st.lists(st.tuples(cells, cells), min_size=2, max_size=8),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    encoding=st.sampled_from(["utf-8", "utf-16", "utf-16-be"]),
)
@settings(max_examples=60, deadline=None)
def test_what_is_given_is_used_and_all_cells_come_back(tmp_path_factory, rows, delimiter, encoding):
    path = tmp_path_factory.mktemp("cells") / "t.csv"
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(
        [("a", "b"), *rows]
    )
    path.write_bytes(out.getvalue().encode(encoding))
    frame = read_frame(path, text=True, text_format=TextFormat(delimiter, encoding))
    assert frame.rows() == rows
    assert read_frame(path, text=True).rows() == rows  # and found


@pytest.mark.parametrize("cell", [";1", "1;,", "2,3"])
def test_a_sign_in_a_later_cell_does_not_make_the_header_a_title(tmp_path, cell):
    (tmp_path / "t.csv").write_text(f'"a"\t"b"\n"1"\t"1 1"\n"1"\t"{cell}"\n"1"\t"{cell}"\n')
    assert read_frame(tmp_path / "t.csv", text=True)["b"].to_list() == ["1 1", cell, cell]


def test_options_override_what_would_be_found(tmp_path):
    (tmp_path / "n.csv").write_bytes("id;näme\n1;a\n2;c\n".encode("cp1250"))
    frame = read_frame(tmp_path / "n.csv", text_format=TextFormat("comma", "windows-1250"))
    assert frame.columns == ["id;näme"]
    found = problem(tmp_path, "p.csv", b'id,x\n1,"1,025"\n2,"2,300"\n3,"4,100"\n4,"1,500"\n',
                    decimal="comma")  # fmt: skip
    assert found.X["x"].to_list() == [1.025, 2.3, 4.1, 1.5]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"delimiter": "ab"}, "`--delimiter` must be one character"),
        ({"delimiter": "x"}, "`--delimiter` must be"),
        ({"encoding": "latin-99"}, "`--encoding` must be an encoding such as utf-8"),
        ({"encoding": "hex"}, "`--encoding` must be"),
        ({"decimal": ";"}, r"`--decimal` must be \. \(point\) or , \(comma\); got ';'"),
    ],
)
def test_options_are_checked(given, words):
    with pytest.raises(ValueError, match=words):
        TextFormat(**given)


@pytest.mark.parametrize(
    "data",
    [
        "id,имя\n1,Москва\n2,Казань\n".encode("cp1251"),
        "id,miasto\n1,Łódź\n2,Gdańsk\n".encode("cp1250"),
        "id,şehir\n1,Eskişehir\n2,Iğdır\n".encode("cp1254"),
        "id,名前\n1,東京\n2,大阪\n".encode("shift-jis"),
        "id,town\n1,Köln\n2,".encode() + b"M\xfcnchen\n",  # damaged UTF-8
        "id,town\n1,Köln\n".encode("utf-16")[1:],
    ],
)
def test_an_encoding_that_cannot_be_told_is_an_error_that_names_the_option(tmp_path, data):
    (tmp_path / "n.csv").write_bytes(data)
    with pytest.raises(ValueError, match=r"n\.csv` must be text .* --encoding"):
        read_frame(tmp_path / "n.csv")


def test_a_delimiter_that_cannot_be_told_is_an_error_that_names_the_option(tmp_path):
    (tmp_path / "n.csv").write_text("a;b|c\n1;2|3\n4;5|6\n")
    words = r"n\.csv` must have .* semicolons or bars\. Name it with --delimiter"
    with pytest.raises(ValueError, match=words):
        read_frame(tmp_path / "n.csv")


def test_a_wrong_encoding_is_an_error_that_names_the_option(tmp_path):
    (tmp_path / "n.csv").write_bytes("id,town\n1,Köln\n".encode("cp1252"))
    with pytest.raises(ValueError, match=r"n\.csv` must be text in UTF-8; it is not.*--encoding"):
        read_frame(tmp_path / "n.csv", text_format=TextFormat(encoding="utf-8"))


def test_letters_beyond_the_sample_are_found(tmp_path):
    rows = [f"{k},Ulm" for k in range(SAMPLE // 6)] + ["-1,Köln"]
    (tmp_path / "n.csv").write_bytes("\n".join(["id,town", *rows, ""]).encode("cp1252"))
    part, frame = read_part(str(tmp_path / "n.csv"))
    assert frame["town"][-1] == "Köln"
    assert part.note == "n.csv: Windows-1252"


def test_converting_is_bounded_by_memory(tmp_path, monkeypatch):
    monkeypatch.setenv("LABELTRICK_MAX_MEMORY", "1MB")
    rows = "".join(f"{k},Köln\n" for k in range(40_000))
    (tmp_path / "n.csv").write_bytes(f"id,town\n{rows}".encode("utf-16"))
    with pytest.raises(ValueError, match=r"n\.csv` must be UTF-8 to be read in pieces"):
        read_frame(tmp_path / "n.csv")


def test_utf8_is_read_by_polars_alone(tmp_path, monkeypatch):
    """No bytes pass through Python."""
    pl.DataFrame({"src": ["ä", "b"], "dst": ["c", "d"]}).write_csv(tmp_path / "e.csv")
    seen = []
    read_csv = pl.read_csv
    monkeypatch.setattr(
        pl, "read_csv", lambda source, **o: seen.append(source) or read_csv(source, **o)
    )
    read_frame(tmp_path / "e.csv", text=True)
    assert set(seen) == {tmp_path / "e.csv"}


def test_zstd_is_found_too(tmp_path):
    text = b"a;b\n1;x\n2;y\n"
    # A frame with one block that is stored as it is.
    head = b"\x28\xb5\x2f\xfd\x20" + bytes([len(text)]) + (len(text) << 3 | 1).to_bytes(3, "little")
    (tmp_path / "t.csv.zst").write_bytes(head + text)
    part, frame = read_part(str(tmp_path / "t.csv.zst"))
    assert frame.columns == ["a", "b"]
    assert part.note == "t.csv.zst: semicolons"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_a_graph_folder_is_built_from_such_files(tmp_path, encoding):
    (tmp_path / "e.csv").write_bytes("from;to\nKöln;Ulm\nUlm;Málaga\n".encode(encoding))
    _, notes = build_graph_folder(tmp_path / "e.csv", tmp_path / "g.lt")
    assert notes[0].startswith("e.csv: semicolons")
    assert set(read_problem(tmp_path / "g.lt").ids) == {"Köln", "Ulm", "Málaga"}


def test_names_with_spaces_and_one_column_are_not_split(tmp_path):
    (tmp_path / "n.csv").write_text("person id\nAnn Lee\nBo Li\n")
    with pytest.raises(ValueError, match=r"separated by spaces or be one column.*--delimiter"):
        read_frame(tmp_path / "n.csv")
    found = read_frame(tmp_path / "n.csv", text_format=TextFormat("comma"))
    assert found.columns == ["person id"]
    (tmp_path / "n.csv").write_text("person id\nAnn Lee\nBo Kim Li\n")
    assert read_frame(tmp_path / "n.csv").columns == ["person id"]
    (tmp_path / "m.csv").write_text("first name,last name\nAnn B,Lee K\nBo C,Li D\n")
    assert read_frame(tmp_path / "m.csv").columns == ["first name", "last name"]


def test_roles_are_unchanged_in_other_formats(tmp_path):
    (tmp_path / "e.txt").write_text("a;b;w\nx;y;0,5\ny;z;1,5\n")
    found = read_problem(tmp_path / "e.txt", None, Roles(src="a", dst="b", weight="w"))
    assert sorted(found.graph.weights.tolist()) == [0.5, 0.5, 1.5, 1.5]
